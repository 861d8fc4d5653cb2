"""The types that describe one function or class of a source file."""

from dataclasses import field
from typing import TYPE_CHECKING

from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from ast_grep_py import SgNode


@frozen
class Parameter:
    """One parameter; `name` is empty for a destructured one.

    `star` is "", "*" or "**" (a JavaScript, Go or Java rest parameter is "*"), `keyword_only` means that a caller must
    name it, `optional` that a caller may leave it out. `default` is the value then, as written; two signatures that
    differ in it alone are equal.
    """

    name: str
    annotation: str = ""
    star: str = ""
    optional: bool = False
    keyword_only: bool = False
    default: str = field(default="", compare=False)


@frozen
class Doc:
    """A documentation comment or string: its source text with delimiters, and its lines."""

    text: str
    line: int
    end_line: int


@frozen
class Symbol:
    """A function, method or class ("type" covers Go's and TypeScript's types too).

    `top` is the first line with its decorators, `line` that of the definition itself, `head_end` the last line of its
    head (signature), `body` the line where its body begins, `end_line` its last line. `qualname` names the enclosing
    symbols too; `owner` is the innermost of them. `quiet` says why documentation is not expected ("override",
    "trivial", ...), empty if it is. `decorators` are the names of decorators and annotations, without arguments.
    """

    kind: str
    name: str
    qualname: str
    top: int
    line: int
    head_end: int
    body: int
    end_line: int
    public: bool
    parameters: tuple[Parameter, ...] = ()
    returns: str = ""
    doc: Doc | None = None
    quiet: str = ""
    owner: str = ""
    decorators: tuple[str, ...] = ()
    node: "SgNode | None" = field(default=None, compare=False, repr=False)

    @property
    def is_function(self) -> bool:
        return self.kind in ("function", "method")

    @property
    def signature(self) -> tuple[tuple[Parameter, ...], str]:
        """Return what callers see: parameters and result."""
        return self.parameters, self.returns
