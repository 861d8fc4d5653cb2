"""The tree of a shell script: commands, words and their parts, redirections.

Every node says how it was written, so that `plain` can tell what is in the subset. Offsets are characters of the text
that was parsed.
"""

from cli_guard.commands.model import Span
from cli_guard.lazy import dataclass, frozen


@frozen
class Text:
    """Literal text. Unquoted, it may hold globs, braces and a tilde.

    `form` is how it is quoted: `"`, `'`, a backslash, `$'` or `$"`; "" if it is not.
    """

    text: str
    form: str = ""

    @property
    def quoted(self) -> bool:
        return bool(self.form)


@frozen
class ParameterExpansion:
    """`$name` or `${name operator argument}`.

    The operators of the prefix forms are `#name` (the length) and `!name`; that of an element is `[`, or `[?` with
    more behind it; that of the list `(...)` of an array, which has no name, is `(`.
    """

    name: str
    quoted: bool
    operator: str = ""
    argument: "Word | None" = None


@frozen
class Substitution:
    """Commands in a word: `kind` is `$` for `$(...)`, a backquote, `<` or `>` for `<(...)` and `>(...)`."""

    script: "Script"
    quoted: bool
    kind: str = "$"


@frozen
class Computation:
    """`$((expression))`, `$[expression]` or a subscript; the expression is expanded like quoted text."""

    expression: "Word"
    quoted: bool


Part = Text | ParameterExpansion | Substitution | Computation


@frozen
class Word:
    """One word as written."""

    parts: tuple[Part, ...]
    span: Span


@frozen
class Assignment:
    """`name=value` or `name+=value` (`append`); `element`: the value begins with the subscript of `name[...]=`."""

    name: str
    value: Word
    append: bool
    span: Span
    element: bool = False


@dataclass(slots=True, eq=False)
class Redirect:
    """`2> file`, `<<< word`, or a here-document, whose body becomes the target of `<<` at the next line end.

    `loose`: a here-document has no end line, or is not quoted and has something to expand in it.
    """

    operator: str
    descriptor: str
    target: Word
    span: Span
    loose: bool = False


Redirects = tuple[Redirect, ...]


@frozen
class ParsedCommand:
    """A simple command."""

    words: tuple[Word, ...]
    span: Span
    assignments: tuple[Assignment, ...] = ()
    redirects: Redirects = ()


@frozen
class Pipeline:
    """Commands joined by pipes."""

    stages: "tuple[Node, ...]"
    span: Span


@frozen
class AndOr:
    """Commands joined by `&&` and `||`: operator n stands before item n + 1."""

    items: "tuple[Node, ...]"
    operators: tuple[str, ...]
    span: Span


@frozen
class CommandGroup:
    """Commands one after the other: `kind` is "group", "subshell", "background", "coproc" or "time"."""

    kind: str
    items: "tuple[Node, ...]"
    span: Span
    redirects: Redirects = ()


@frozen
class If:
    """`if ...; then ...; elif ...; else ...; fi`: each branch is its condition and its body."""

    branches: "tuple[tuple[Nodes, Nodes], ...]"
    otherwise: "Nodes"
    span: Span
    redirects: Redirects = ()


@frozen
class Loop:
    """`while`, `until` or `for ((...))`: what is tested, and the body."""

    kind: str
    condition: "Nodes"
    body: "Nodes"
    span: Span
    redirects: Redirects = ()


@frozen
class For:
    """`for name in words; do body; done`, or `select`; `words` is None for a loop over the arguments."""

    kind: str
    name: str
    words: tuple[Word, ...] | None
    body: "Nodes"
    span: Span
    redirects: Redirects = ()


@frozen
class Case:
    """`case word in pattern) ... ;; esac`: each branch is its patterns, its body and what ends it."""

    word: Word
    branches: "tuple[tuple[tuple[Word, ...], Nodes, str], ...]"
    span: Span
    redirects: Redirects = ()


@frozen
class Test:
    """`[[ ... ]]`: its words and operators in order."""

    words: tuple[Word, ...]
    span: Span
    redirects: Redirects = ()


@frozen
class Compute:
    """`((expression))`."""

    expression: Word
    span: Span
    redirects: Redirects = ()


@frozen
class FunctionDefinition:
    """A function definition."""

    name: str
    body: "Node"
    span: Span


Compound = CommandGroup | If | Loop | For | Case | Test | Compute
Node = ParsedCommand | Pipeline | AndOr | Compound | FunctionDefinition
Nodes = tuple[Node, ...]


@frozen
class Script:
    """The commands of a text. `errors` are the places that are no shell syntax."""

    items: Nodes = ()
    errors: tuple[Span, ...] = ()
