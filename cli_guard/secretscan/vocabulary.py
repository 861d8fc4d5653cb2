"""Which keywords a text can hold, told by its words: most of the search for secrets is spent on finding nothing."""

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
