"""The tree of a shell script: commands, words and their parts, redirections.

Offsets are characters of the text that was parsed.
"""

from dataclasses import dataclass

from cli_guard.commands.model import Span


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text. Unquoted, it may hold globs, braces and a tilde."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name op argument}`; an unknown operator is `?`."""

    name: str
    quoted: bool
    operator: str = ""
    argument: "Word | None" = None
    braced: bool = False


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)`, `<(...)` or the commands inside an arithmetic expansion: `kind` is "$", "<", ">" or "(("."""

    script: "Script"
    quoted: bool
    kind: str = "$"


Part = Text | Parameter | Substitution


@dataclass(frozen=True, slots=True)
class Word:
    """One word as written."""

    parts: tuple[Part, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Assignment:
    """`name=value`, `name+=value` (`append`), an array (its elements are `values`), or one element of it."""

    name: str
    values: tuple[Word, ...]
    append: bool
    span: Span
    array: bool = False
    element: bool = False


@dataclass(frozen=True, slots=True)
class Redirect:
    """`2> file`, `<<< word`, or a here-document, whose body is the target of `<<`."""

    operator: str
    descriptor: str
    target: Word | None
    span: Span


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command."""

    words: tuple[Word, ...]
    span: Span
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Commands joined by pipes."""

    stages: "tuple[Node, ...]"
    span: Span


@dataclass(frozen=True, slots=True)
class Block:
    """Commands one after the other under one heading.

    `kind` is "list", "group", "subshell", "if", "loop", "case" or "background".
    """

    kind: str
    items: "tuple[Node, ...]"
    span: Span
    redirects: tuple[Redirect, ...] = ()


@dataclass(frozen=True, slots=True)
class For:
    """`for name in words; do body; done`; `words` is None for a loop over the arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """An expression that is computed: `((...))`, an offset, a number in `[[ ]]`, a subscript of `array`."""

    expression: Word
    span: Span
    array: str = ""


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition."""

    name: str
    body: "Node"
    span: Span


Node = Command | Pipeline | Block | For | Arithmetic | Function


@dataclass(frozen=True)
class Script:
    """The commands of a text. `errors` are the places that the grammar did not understand."""

    items: tuple[Node, ...] = ()
    errors: tuple[Span, ...] = ()
