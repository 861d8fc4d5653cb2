"""Rule out keywords by the words of a text: most of the search for secrets is spent on finding nothing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain

# The one letter whose lower case is longer.
GROWING = "\u0130"
# Only ASCII is known byte by byte; anything beyond it counts as a letter.
WORDS_ALONE = bytes(
    byte if chr(byte).isalnum() or byte == ord("_") or byte > 127 else 32
    for byte in range(256)
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Each word of a text once, and all their runs of three characters, in which keywords are looked up.

    Words are runs of letters, digits and underscores. A usual text lacks hundreds of keywords, and the three characters
    show that for nearly all of them without a search.
    """

    words: bytes
    threes: set[tuple[int, ...]]

    @classmethod
    def of(cls, lower: str) -> "Vocabulary":
        """Build the vocabulary of a text in lower case."""
        words = b"\n".join(
            set(lower.encode("utf-8", "surrogatepass").translate(WORDS_ALONE).split())
        )
        return cls(words, set(zip(words, words[1:], words[2:], strict=False)))

    def may_hold(self, keyword: str) -> bool:
        core, threes = _core(keyword)
        return threes <= self.threes and core in self.words


class Keywords:
    """Keywords, each under one of its runs of three characters: a text without this run skips it."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._places = {keyword: place for place, keyword in enumerate(keywords)}
        common = Counter(chain.from_iterable(_core(keyword)[1] for keyword in self._places))
        self._under: dict[tuple[int, ...], list[tuple[str, tuple[int, ...]]]] = {}
        self._short: list[str] = []
        for keyword in self._places:
            # The rarest run leads to the fewest other keywords; most of those lack the next one.
            runs = sorted(_core(keyword)[1], key=common.__getitem__)
            if runs:
                self._under.setdefault(runs[0], []).append(
                    (keyword, runs[min(1, len(runs) - 1)])
                )
            else:
                self._short.append(keyword)
        self._threes = frozenset(self._under)

    def held_by(self, lower: str, vocabulary: Vocabulary) -> list[str]:
        """Return the keywords that a text in lower case contains, in their order."""
        threes = vocabulary.threes
        near = [
            word
            for three in threes & self._threes
            for word, other in self._under[three]
            if other in threes
        ]
        found = [
            each
            for each in (*self._short, *near)
            if vocabulary.may_hold(each) and each in lower
        ]
        return sorted(found, key=self._places.__getitem__)


@cache
def _core(keyword: str) -> tuple[bytes, frozenset[tuple[int, ...]]]:
    """Return the longest part of a keyword inside one word, and its runs of three characters."""
    core = max(keyword.encode("utf-8").translate(WORDS_ALONE).split(), key=len, default=b"")
    return core, frozenset(zip(core, core[1:], core[2:], strict=False))


def fold(text: str) -> str:
    """Lower the case without changing the length: one letter (U+0130) would grow, and offsets must not move."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return GROWING.join(part.lower() for part in text.split(GROWING))
