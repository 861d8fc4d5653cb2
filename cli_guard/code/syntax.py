"""The one seam to ast-grep: the syntax tree of a text, parsed once a review.

An unknown language makes ast-grep raise a BaseException, so only the names in `GRAMMARS` ever reach it.
"""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar, cast

from cli_guard.code.languages import GRAMMARS

if TYPE_CHECKING:
    from ast_grep_py import SgNode

T = TypeVar("T")

# The scanner of the bash grammar looks characters up in a table of the C library that ends with Latin-1, and reads
# beyond it for others, until the process crashes. One letter replaces them all, which keeps every position.
BEYOND_LATIN = re.compile("[^\x00-\xfe]")
STAND_IN = "\xff"
# Where a grammar makes no tree of a text, it is read once more without what the grammar gives up at, and with another
# character in each place of it: a dollar that begins no expansion (`sed s/a$/b/`), and the conditions of a
# preprocessor, of which the branches need not be whole statements.
CONDITION = re.compile(
    r"(?m)^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else|endif)\b(?:\\\n|.)*"
)
GIVES_UP_AT = {
    "bash": (re.compile(r"\$(?=[/,:%^+=~.])"), STAND_IN),
    **dict.fromkeys(("c", "cpp", "csharp"), (CONDITION, " ")),
}
NOT_LINE_END = re.compile(r"[^\n]")

# The scanners of indentation keep their state within 1,024 bytes, and the parser aborts the process beyond that
# (tree-sitter, TREE_SITTER_SERIALIZATION_BUFFER_SIZE): YAML does at some 250 levels of any kind.
INDENTED = ("yaml", "haskell", "elixir", "scala")
INDENT = re.compile(r"^[ \t]+", re.MULTILINE)
STACKED = re.compile(r"(?:[-?:][ \t]+){60}")
DEEPEST = 100


def indents_too_deep(language: str, text: str) -> bool:
    """Return whether the grammar of a language might abort the process on this text."""
    if language not in INDENTED:
        return False
    return (
        len(set(map(len, INDENT.findall(text)))) > DEEPEST
        or STACKED.search(text) is not None
    )


# At each comment the scanner of the Python grammar looks ahead over all that follow, for the next indentation.
MOST_COMMENTS = 200


def without_long_comments(text: str) -> str:
    """Blank runs of comments in Python that are too long for the parser; every position stays."""
    if text.count("#") <= MOST_COMMENTS:
        return text
    lines = text.split("\n")
    start = 0
    for number, line in enumerate((*lines, "end")):
        if line.strip() and not line.lstrip().startswith("#"):
            if number - start > MOST_COMMENTS:
                lines[start:number] = [" " * len(each) for each in lines[start:number]]
            start = number + 1
    return "\n".join(lines)


def find_nodes(root: "SgNode", kinds: Iterable[str]) -> "list[SgNode]":
    """Return the nodes of some kinds in a tree, in their order; a kind that its grammar does not know is an error."""
    return root.find_all(any=[{"kind": kind} for kind in kinds])


def walk_nodes(top: "SgNode", most: int) -> "Iterator[SgNode]":
    """Yield a node and those in it, in their order; of a tree that is too big the first."""
    waiting = [top]
    for _ in range(most):
        if not waiting:
            return
        node = waiting.pop()
        yield node
        waiting += reversed(node.named_children())


MOST_CHARS = 2_500_000


class Trees:
    """Syntax trees by content, so that three reviewers of one file parse it once.

    A tree takes thirty times the memory of its text, so only trees of the last texts, up to a total length, are kept.
    """

    def __init__(self, most_chars: int = MOST_CHARS) -> None:
        self._most = most_chars
        self._roots: dict[tuple[str, str], SgNode] = {}
        self._derived: dict[tuple[str, str], dict[Hashable, object]] = {}
        self._chars = 0

    def root(self, language: str, text: str) -> "SgNode":
        """Return the root node of `text`; broken text gives a tree with ERROR nodes, never an error.

        Raises ValueError for a language without a grammar, and for text that `indents_too_deep`.
        """
        if language not in GRAMMARS:
            raise ValueError(f"no grammar for {language}")
        if indents_too_deep(language, text):
            raise ValueError(f"{language} text nests too deep for its grammar")
        key = (language, text)
        if key not in self._roots:
            from ast_grep_py import SgRoot

            # Lone surrogates are not UTF-8 and the parser refuses them; "?" keeps every position.
            clean = text.encode("utf-8", "replace").decode("utf-8")
            if language == "bash":
                clean = BEYOND_LATIN.sub(STAND_IN, clean)
            if language == "python":
                clean = without_long_comments(clean)
            if language == "php":
                from cli_guard.code.templates import without_pages

                clean = without_pages(clean)
            self._make_room(len(text))
            root = SgRoot(clean, language).root()
            if root.kind() == "ERROR" and language in GIVES_UP_AT:
                hindrance, instead = GIVES_UP_AT[language]
                again = hindrance.sub(
                    lambda found: NOT_LINE_END.sub(instead, found[0]), clean
                )
                if again != clean:
                    root = SgRoot(again, language).root()
            self._roots[key] = root
        return self._roots[key]

    def is_broken(self, language: str, text: str) -> bool:
        """Return whether the grammar could make no tree of a text, only pieces of one, or takes pages for PHP."""
        from cli_guard.code.templates import has_unclear_pages

        root = self.root(language, text)
        if language == "php" and has_unclear_pages(text):
            return root.find(kind="ERROR") is not None
        return root.kind() == "ERROR"

    def unparsed_line(self, text: str) -> int:
        """Return the line at which neither the grammar nor Python itself parses a program, 0 if one of them does."""
        root = self.root("python", text)
        if root.find(any=[{"kind": "ERROR"}, {"regex": "^$"}]) is None:
            return 0
        import ast
        from warnings import catch_warnings, simplefilter

        with suppress(ValueError, MemoryError, RecursionError), catch_warnings():
            simplefilter("ignore")
            try:
                ast.parse(text)
            except SyntaxError as error:
                return error.lineno or 1
        return 0

    def _make_room(self, chars: int) -> None:
        self._chars += chars
        while self._roots and self._chars > self._most:
            oldest = next(iter(self._roots))
            del self._roots[oldest]
            self._derived.pop(oldest, None)
            self._chars -= len(oldest[1])

    def derive(
        self, what: Hashable, language: str, text: str, make: Callable[["SgNode"], T]
    ) -> T:
        """Return what `make` finds in the tree of `text`, computed once; `what` names it and fixes its type."""
        root = self.root(language, text)
        found = self._derived.setdefault((language, text), {})
        if what not in found:
            found[what] = make(root)
        return cast("T", found[what])
