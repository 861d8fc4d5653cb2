"""Snippets out of the values of a configuration: a text, a list of commands, or the words of one command."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from cli_guard.reviewers.commands.extract.nodes import Items, Node, Scalar, scalars
from cli_guard.reviewers.commands.extract.snippet import Pieces, Snippet, Where, snippet

# What the shell takes as it stands, also with a variable in it that is filled in before.
PLAIN_WORD = re.compile(r"(?:[\w@%+=:,./~^-]|\$\{\w+\})+", re.ASCII)


def lines(node: Node | None, where: Where, shell: str = "sh") -> Iterator[Snippet]:
    """A text, or a list of commands that one shell runs after the other."""
    found = [each.pieces for each in scalars(node) if each.text.strip()]
    if found:
        yield snippet(end_lines(found), where, shell)


def each_line(node: Node | None, where: Where, shell: str = "sh") -> Iterator[Snippet]:
    """A text, or a list of commands that know nothing of one another."""
    yield from (snippet(each.pieces, where, shell) for each in scalars(node) if each.text.strip())


def end_lines(texts: Iterable[Pieces]) -> Pieces:
    """The pieces of several texts, each with a line end after it."""
    return [piece for pieces in texts for piece in (*pieces, (pieces[-1][0], "\n"))]


def words(node: Node | None, where: Where) -> Iterator[Snippet]:
    """A text, or the words of one command, quoted as a shell would need them."""
    pieces = word_pieces(node)
    if any(text.strip() for _, text in pieces):
        yield snippet(pieces, where)


def word_pieces(*nodes: Node | None) -> Pieces:
    """A text as it is and each word of a list in quotes, with blanks between."""
    texts = (
        _quote(each) if isinstance(node, Items) else each.pieces for node in nodes for each in scalars(node)
    )
    return list(chain.from_iterable((*pieces, (pieces[-1][0], " ")) for pieces in texts))


def _quote(word: Scalar) -> Pieces:
    if PLAIN_WORD.fullmatch(word.text):
        return word.pieces
    (first, _), (last, _) = word.pieces[0], word.pieces[-1]
    return ((first, "'"), *((line, text.replace("'", "'\\''")) for line, text in word.pieces), (last, "'"))
