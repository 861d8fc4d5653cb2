"""Which keywords a text can hold, told by its words: most of the search for secrets is spent on finding nothing."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

# ASCII alone is known byte by byte; what is beyond it counts as a letter.
WORDS_ALONE = bytes(
    byte if chr(byte).isalnum() or byte == ord("_") or byte > 127 else 32 for byte in range(256)
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Each word of a text once, and every three characters in a row of them: what a keyword is looked up in.

    Words are runs of letters, digits and underscores. Hundreds of keywords are not in a usual text, and the three
    characters tell that of nearly all of them without a search.
    """

    words: bytes
    threes: set[bytes]

    @classmethod
    def of(cls, lower: str) -> "Vocabulary":
        """The vocabulary of a text in lower case."""
        words = b"\n".join(set(lower.encode("utf-8", "surrogatepass").translate(WORDS_ALONE).split()))
        return cls(words, {words[at : at + 3] for at in range(len(words) - 2)})

    def may_hold(self, keyword: str) -> bool:
        """Is there what the keyword holds of a word? Only then can it be in the text."""
        core, threes = _core(keyword)
        return threes <= self.threes and core in self.words


class Keywords:
    """Keywords, each under one of its runs of three characters: those whose run no text has are never looked at."""

    def __init__(self, keywords: Iterable[str]) -> None:
        self._places = {keyword: place for place, keyword in enumerate(keywords)}
        common = Counter(three for keyword in self._places for three in _core(keyword)[1])
        self._under: dict[bytes, list[str]] = {}
        self._short: list[str] = []
        for keyword in self._places:
            threes = _core(keyword)[1]
            # Of the rarest one the fewest others are found.
            under = min(threes, key=lambda three: (common[three], three), default=None)
            (self._short if under is None else self._under.setdefault(under, [])).append(keyword)
        self._threes = frozenset(self._under)

    def held_by(self, lower: str, vocabulary: Vocabulary) -> list[str]:
        """Those that a text in lower case holds, in their order."""
        near = [keyword for three in vocabulary.threes & self._threes for keyword in self._under[three]]
        found = [each for each in (*self._short, *near) if vocabulary.may_hold(each) and each in lower]
        return sorted(found, key=self._places.__getitem__)


@cache
def _core(keyword: str) -> tuple[bytes, frozenset[bytes]]:
    """The longest part of a keyword that stands inside one word, and every three characters in a row of it."""
    core = max(keyword.encode("utf-8").translate(WORDS_ALONE).split(), key=len, default=b"")
    return core, frozenset(core[at : at + 3] for at in range(len(core) - 2))


def fold(text: str) -> str:
    """Lower case of the same length: a few letters (U+0130) grow when lowered, and offsets have to hold."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)
