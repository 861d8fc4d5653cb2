"""Which of many words occur in a text: one pass over the text, however many words there are.

    SINKS = WordSet(("eval(", "os.system", "subprocess"))   # once a process: 1,000 words are built in 1 ms
    SINKS.found_in(text)                                    # those that occur, in the order in which they were given

A word occurs anywhere, also inside a longer one: `pass` in `bypassed`. For words in any case, give them in lower case,
and the text as `fold(text)`. For the bytes of a file, whatever their encoding, give ASCII words and
`raw.decode("latin-1")`: every byte is a character.

The pass is an automaton of Aho and Corasick, of pyahocorasick. Where that is not installed (it has no wheel for every
system), each word is searched for by itself: the same answer in twenty times the time.
"""

from collections.abc import Callable, Iterable
from functools import cached_property

# The one letter whose lower case is longer.
GROWING = "\u0130"
# Returns the places of the words that a text contains, in no order.
FindPlaces = Callable[[str], Iterable[int]]


class WordSet:
    """Words that are looked for together."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(dict.fromkeys(words))

    def found_in(self, text: str) -> list[str]:
        """Return the words that a text contains, in the order in which the set was given them."""
        return [self._words[place] for place in sorted(self._find_places(text))]

    @cached_property
    def _find_places(self) -> FindPlaces:
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
        return lambda text: {place for _, place in automaton.iter(text)}


def search_one_by_one(words: Iterable[str], text: str) -> Iterable[int]:
    return (place for place, word in enumerate(words) if word in text)


def fold(text: str) -> str:
    """Lower the case without changing the length: one letter (U+0130) would grow, and offsets must not move."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return GROWING.join(part.lower() for part in text.split(GROWING))
