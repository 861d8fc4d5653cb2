"""Which of many words occur in a text: one pass over the text, however many words there are.

    SINKS = WordSet(("eval(", "os.system", "subprocess"))   # once a process: 1,000 words are built in 1 ms
    SINKS.found_in(text)                                    # those that occur, in the order in which they were given

A word occurs anywhere, also inside a longer one: `pass` in `bypassed`. For words in any case, give them in lower case,
and the text as `fold(text)`. For the bytes of a file, whatever their encoding, give ASCII words and
`raw.decode("latin-1")`: every byte is a character.

The pass is an automaton of Aho and Corasick, of pyahocorasick. Where that is not installed (it has no wheel for every
system), each word is searched for by itself: the same answer in twenty times the time.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

# The one letter whose lower case is longer.
GROWING = "\u0130"
# Yields where each word ends in a text, with its place in the set; those of one word in the order of the text.
Find = Callable[[str], Iterable[tuple[int, int]]]


class WordSet:
    """Words that are looked for together."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(dict.fromkeys(words))

    def found_in(self, text: str) -> list[str]:
        """Return the words that a text contains, in the order in which the set was given them."""
        return [self._words[place] for place in sorted({at for _, at in self._find(text)})]

    def ends_in(self, text: str) -> dict[str, "array[int]"]:
        """Return the same words, each with the offsets of its last letter, in four bytes each."""
        ends: dict[int, array[int]] = {}
        for end, place in self._find(text):
            if place not in ends:
                ends[place] = array("I")
            ends[place].append(end)
        return {self._words[place]: ends[place] for place in sorted(ends)}

    @cached_property
    def _find(self) -> Find:
        try:
            import ahocorasick  # a command that is judged without a word to look for does without
        except ImportError:
            return lambda text: search_one_by_one(self._words, text)

        automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
        for place, word in enumerate(self._words):
            automaton.add_word(word, place)
        automaton.make_automaton()
        if not self._words:  # such an automaton cannot be asked
            return lambda _text: ()
        find: Find = automaton.iter
        return find


def search_one_by_one(words: Iterable[str], text: str) -> Iterator[tuple[int, int]]:
    for place, word in enumerate(words):
        at = text.find(word)
        while at >= 0:
            yield at + len(word) - 1, place
            at = text.find(word, at + 1)


def fold(text: str) -> str:
    """Lower the case without changing the length: one letter (U+0130) would grow, and offsets must not move."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return GROWING.join(part.lower() for part in text.split(GROWING))
