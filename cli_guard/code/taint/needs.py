"""The words without which a pattern of the tables matches nothing: they say at once that a file needs no walk.

A pattern is cut into a small tree, as far as words depend on it; what is not understood needs nothing. Each part of a
dotted name is written somewhere in the file: in an import, a declaration, or at its use.
"""

import re
from collections.abc import Container, Iterable, Iterator

from cli_guard.lazy import dataclass
from cli_guard.words import WordSet

# What a text holds: all of these words, and of each inner tuple all of one alternative. A blank before or behind a word
# is a place where an identifier begins or ends.
Needs = tuple["str | tuple[Needs, ...]", ...]

TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\(\?(?:[a-z-]+:|[:!=]|<[!=]|P<\w+>)?|[()|.+?*^$]|\{[\d,]+\}|[^\\\[()|.+?*^${]+"
)
FLAGS = re.compile(r"\A\(\?[a-z]+\)")
WORD = re.compile(r"\w{2,}|@")
# Parts of dotted names that stand for what is written otherwise: attributes of JSX, backticks, @fields of Ruby.
INVENTED = frozenset(("jsx", "subshell", "self", "this"))
LOOKS = ("(?!", "(?=", "(?<!", "(?<=")
WORD_CLASSES = frozenset(("\\w", "\\d", "\\D", "\\S"))


@dataclass(slots=True)
class PatternPart:
    """A literal, a group (its branches), or anything else of a pattern (neither).

    `is_optional`: it may be missing; `is_repeated`: it may be followed by itself; `is_edge`: no identifier goes on
    across it.
    """

    literal: str = ""
    branches: "tuple[tuple[PatternPart, ...], ...] | None" = None
    is_optional: bool = False
    is_repeated: bool = False
    is_edge: bool = False


class NeededWords:
    """What entries need, of which a text is asked at once."""

    def __init__(self, needed: Iterable[Needs]) -> None:
        self._needed = tuple(needed)
        self._words = WordSet(word for each in self._needed for word in list_words(each))
        # By the words of which a text has at least one, the longest of those that it needs: most texts have few, and a
        # table has hundreds of entries. Those that need none stand by "".
        self._by_word: dict[str, list[int]] = {}
        for place, needs in enumerate(self._needed):
            words = [each for each in needs if isinstance(each, str)]
            rarest = (max(words, key=len),) if words else needs[:1]
            for word in dict.fromkeys(list_words(rarest)) or ("",):
                self._by_word.setdefault(word, []).append(place)

    def fit(self, words: str) -> bool:
        """Return whether a text with these words (see `words_in`) has all that one of the entries needs."""
        return self.are_met(self.found_in(words))

    def found_in(self, words: str) -> frozenset[str]:
        return frozenset(self._words.found_in(words))

    def are_met(self, found: frozenset[str]) -> bool:
        return any(has_needed(self._needed[each], found) for each in self.find_near(found))

    def find_near(self, found: Iterable[str]) -> Iterator[int]:
        """Yield the places of the entries that these words may be enough for; of the others one is missing."""
        return (place for each in ("", *found) for place in self._by_word.get(each, ()))


def list_words(needs: Needs) -> Iterator[str]:
    for need in needs:
        if isinstance(need, str):
            yield need
        else:
            for branch in need:
                yield from list_words(branch)


def has_needed(needs: Needs, words: Container[str]) -> bool:
    for need in needs:
        if isinstance(need, str):
            if need not in words:
                return False
        elif not any(has_needed(branch, words) for branch in need):
            return False
    return True


def either(branches: Iterable[Needs]) -> Needs:
    """Return what a choice needs: nothing if one of the branches needs nothing."""
    listed = tuple(dict.fromkeys(branches))
    if not all(listed):
        return ()
    return listed[0] if len(listed) == 1 else (listed,)


def needs_of(pattern: str, *, is_whole: bool, is_folded: bool = False) -> Needs:
    """Return the words that a text holds if a pattern matches the whole of a name in it, or is found anywhere in it.

    Where case may be ignored nothing is needed, unless `is_folded`: then the words are in lower case, as is the text.
    """
    tokens = TOKEN.findall(FLAGS.sub("", pattern) if is_folded else pattern)
    # Ignoring case, and flags for the whole pattern, which begin with a bare `(?`.
    if not is_folded and any(
        each == "(?" or (each[-1] == ":" and "i" in each) for each in tokens
    ):
        return ()
    branches, _ = read_branches(tokens, 0)
    found = either(find_needs(branch, is_whole, is_whole) for branch in branches)
    return fold_needs(found) if is_folded else found


def fold_needs(needs: Needs) -> Needs:
    return tuple(
        need.casefold() if isinstance(need, str) else tuple(map(fold_needs, need))
        for need in needs
    )


def read_branches(
    tokens: list[str], at: int
) -> tuple[tuple[tuple[PatternPart, ...], ...], int]:
    """Read alternatives up to the bracket that closes them; return where it is."""
    branches: list[list[PatternPart]] = [[]]
    while at < len(tokens) and tokens[at] != ")":
        part = tokens[at]
        pieces = branches[-1]
        if part == "|":
            branches.append([])
        elif part in LOOKS:
            _, at = read_branches(tokens, at + 1)
        elif part.startswith("("):
            inner, at = read_branches(tokens, at + 1)
            pieces.append(PatternPart(branches=inner))
        elif part[0] in "?*+{":
            repeat_last(pieces, part)
        elif part[0] in "\\[.^$":
            is_edge = part[0] == "\\" and part not in WORD_CLASSES
            pieces.append(PatternPart(is_edge=is_edge))
        else:
            pieces.append(PatternPart(literal=part))
        at += 1
    return tuple(map(tuple, branches)), at


def repeat_last(pieces: list[PatternPart], quantifier: str) -> None:
    """Apply a quantifier to the last piece; of a literal to its last character."""
    if not pieces:
        return
    last = pieces[-1]
    if last.literal[:-1]:
        pieces.append(PatternPart(literal=last.literal[-1]))
        last.literal = last.literal[:-1]
        last = pieces[-1]
    last.is_optional = last.is_optional or quantifier[0] in "?*" or quantifier[:2] == "{0"
    last.is_repeated = last.is_repeated or quantifier != "?"


def find_needs(pieces: tuple[PatternPart, ...], left: bool, right: bool) -> Needs:
    """Return what a sequence needs; `left` and `right`: an identifier begins and ends around it."""
    found: Needs = ()
    for number, piece in enumerate(pieces):
        if piece.is_optional:
            continue
        before = is_at_edge(pieces[:number], left, end=True) and not piece.is_repeated
        behind = (
            is_at_edge(pieces[number + 1 :], right, end=False) and not piece.is_repeated
        )
        if piece.branches is not None:
            found += either(find_needs(each, before, behind) for each in piece.branches)
        elif piece.literal:
            found += words_of_literal(piece.literal, before, behind)
    return found


def words_of_literal(literal: str, before: bool, behind: bool) -> tuple[str, ...]:
    """Return the words of a literal; within it they begin and end where others signs do."""
    found = []
    for match in WORD.finditer(literal):
        if match[0] in INVENTED:
            continue
        begins = before if match.start() == 0 else True
        ends = behind if match.end() == len(literal) else True
        found.append(f"{' ' * begins}{match[0]}{' ' * ends}")
    return tuple(found)


def is_at_edge(pieces: tuple[PatternPart, ...], outside: bool, *, end: bool) -> bool:
    """Return whether a sequence can only begin (or, of its `end`, end) with what no identifier goes on across.

    `outside`: what is so of the place beyond it.
    """
    if not pieces:
        return outside
    nearest = pieces[-1] if end else pieces[0]
    rest = pieces[:-1] if end else pieces[1:]
    if nearest.is_optional and not is_at_edge(rest, outside, end=end):
        return False
    if nearest.branches is not None:
        return all(
            is_at_edge((*rest, *each) if end else (*each, *rest), outside, end=end)
            for each in nearest.branches
        )
    sign = nearest.literal[-1:] if end else nearest.literal[:1]
    return nearest.is_edge or not is_word_sign(sign)


def is_word_sign(sign: str) -> bool:
    """Return whether a sign may be part of an identifier; what is not known ("") may be."""
    return not sign or sign.isalnum() or sign == "_"
