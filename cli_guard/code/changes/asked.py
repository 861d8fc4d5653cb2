"""What a condition asks: its tokens as the tree has them, compared whatever the style they are written in."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from cli_guard.code.changes.facts import IDENTIFIER
from cli_guard.code.changes.kinds import SourceTree
from cli_guard.code.syntax import walk_nodes
from cli_guard.code.taint.tree_reader import COMMENTS

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NODES = 500
ACCESS = frozenset((".", "->", "::", "?.", "&.", "?->"))
SELVES = ("self", "this")
# What ends a statement says nothing.
SILENT = (";", "")
QUOTES = "\"'`"


def asked_tokens(node: "SgNode", tree: SourceTree) -> tuple[str, ...]:
    """Return the tokens of a condition; a path such as `a.b().c` is one, and so is a constant text in quotes."""
    found: list[str] = []
    is_joined = False
    for piece in leaves_of(node, tree):
        if piece in SILENT:
            continue
        if piece in ACCESS and found:
            is_joined = True
        elif piece == ")" and found[-1:] == ["("]:
            # A call without arguments is written like a field elsewhere.
            found.pop()
        elif is_joined:
            found[-1] += f".{piece}"
            is_joined = False
        else:
            found.append(piece)
    return tuple(found)


def leaves_of(node: "SgNode", tree: SourceTree) -> Iterator[str]:
    """Yield the texts of the leaves of a tree, the first of one that is too big; no comments."""
    waiting = [node]
    count = 0
    while waiting and count < MOST_NODES:
        each = waiting.pop()
        count += 1
        shape = tree.shape(each)
        inner = each.children()
        if each.kind() in COMMENTS:
            continue
        if shape == "text" and (words := constant_text(each, tree)) is not None:
            yield words
        elif inner and shape != "name":
            waiting += reversed(inner)
        else:
            yield quoted_in_text(each, tree)


def quoted_in_text(leaf: "SgNode", tree: SourceTree) -> str:
    """Return the text of a leaf, in quotes if it is a piece of a text that a value is put into."""
    around = leaf.parent()
    is_piece = around is not None and tree.shape(around) == "text"
    is_name = tree.shape(leaf) == "name"
    return f"'{leaf.text()}'" if is_piece and not is_name else leaf.text()


def constant_text(node: "SgNode", tree: SourceTree) -> str | None:
    """Return a text in one sort of quotes, None for one that a value is put into."""
    inside = walk_nodes(node, MOST_NODES)
    if any(tree.shape(each) in ("name", "member", "call") for each in inside):
        return None
    return f"'{node.text().strip(QUOTES)}'"


def names_in(tokens: Sequence[str]) -> Iterator[str]:
    """Yield the names among the tokens of a condition: what is quoted is none."""
    for piece in tokens:
        if piece[:1] not in QUOTES:
            yield from IDENTIFIER.findall(piece)


@lru_cache(maxsize=20_000)
def plain_tokens(tokens: tuple[str, ...]) -> str:
    """Return what tokens ask in one style: `self._isOpen()` and `is_open` are the same."""
    return " ".join(map(plain_path, tokens))


def plain_path(piece: str) -> str:
    """Return a piece in one style: a quoted one as it is."""
    if piece[:1] in QUOTES:
        return piece.lower()
    parts = piece.lower().replace("_", "").split(".")
    if parts[0].lstrip("$@") in SELVES and len(parts) > 1:
        del parts[0]
    return ".".join(part.lstrip("$@") for part in parts)
