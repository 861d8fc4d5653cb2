"""The tree of a shell script: commands, words and their parts, redirections.

Offsets are characters of the text that was parsed.
"""

from dataclasses import dataclass

from cli_guard.commands.model import Span


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text. What is not quoted may hold globs, braces and a tilde."""

    text: str
    quoted: bool


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `${name op argument}`; an operator that is not understood is `?`."""

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
    """`name=value`, `name+=value` (`append`), an array, whose elements are all of `values`, or one element of it."""

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
    """Commands that are joined by pipes."""

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
    """`for name in words; do body; done`; `words` is None when it runs over the arguments."""

    name: str
    words: tuple[Word, ...] | None
    body: Block
    span: Span


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is defined."""

    name: str
    body: "Node"
    span: Span


Node = Command | Pipeline | Block | For | Function


@dataclass(frozen=True)
class Script:
    """What a text runs. `errors` are the places that the grammar did not understand."""

    items: tuple[Node, ...] = ()
    errors: tuple[Span, ...] = ()
