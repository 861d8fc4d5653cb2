"""Which of many words occur in a text: one pass over the text, however many words there are.

    SINKS = WordSet(("eval(", "os.system", "subprocess"))   # once a process: 1,000 words are built in 1 ms
    SINKS.found_in(text)                                    # those that occur, in the order in which they were given

A word occurs anywhere, also inside a longer one: `pass` in `bypassed`. For words in any case, give them in lower case,
and the text as `fold(text)`. For the bytes of a file, whatever their encoding, give ASCII words and
`raw.decode("latin-1")`: every byte is a character.

The pass is an automaton of Aho and Corasick, of pyahocorasick. Where that is not installed (it has no wheel for every
system), each word is searched for by itself: the same answer in twenty times the time.

It costs 20 ns a character. A text repeats its identifiers, so who has `words_in(text)` gives it as well: then the pass
is over that, and only words of which an identifier is there are searched for in the text.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, filterfalse

# The one letter whose lower case is longer.
GROWING = "\u0130"
IDENTIFIER = re.compile(r"\w+")
BLANKS = {number: " " for number in range(128) if not IDENTIFIER.match(chr(number))}
# What of a word stands in `words_in` of each text with that word.
CORE = re.compile(r" ?\w+ ?")
# Yields where each word ends in a text, with its place in the list; those of one word in the order of the text.
Search = Callable[[str], Iterable[tuple[int, int]]]


class WordSet:
    """Words that are looked for together."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = tuple(dict.fromkeys(words))
        # A search for their cores has found these.
        self._cores = frozenset(filter(IDENTIFIER.fullmatch, self._words))

    def found_in(self, text: str, words: str | None = None) -> list[str]:
        """Return the words that a text contains, in the order in which the set was given them.

        `words` is `words_in(text)`, in lower case if the words are.
        """
        places = sorted(self._find_places(text if words is None else words))
        found = (self._words[place] for place in places)
        return [word for word in found if word in self._cores or word in text]

    def ends_in(self, text: str) -> dict[str, "array[int]"]:
        """Return the same words, each with the offsets of its last letter, in four bytes each."""
        ends: dict[int, array[int]] = {}
        for end, place in self._search(text):
            if place not in ends:
                ends[place] = array("I")
            ends[place].append(end)
        return {self._words[place]: ends[place] for place in sorted(ends)}

    @cached_property
    def _search(self) -> Search:
        return build_search(self._words)

    @cached_property
    def _find_places(self) -> Callable[[str], Iterable[int]]:
        """The places of the words whose core stands in a text."""
        places: dict[str, list[int]] = {}
        for place, word in enumerate(self._words):
            core = max(CORE.findall(word), key=len, default="")
            places.setdefault(core, []).append(place)
        without_core = places.pop("", [])
        search = build_search(list(places))
        of_core = list(places.values())
        return lambda text: chain(
            without_core, *(of_core[core] for core in {core for _, core in search(text)})
        )


def build_search(words: Sequence[str]) -> Search:
    """Return the search of a text for words."""
    try:
        import ahocorasick  # a command that is judged without a word to look for does without
    except ImportError:
        return lambda text: search_one_by_one(words, text)

    automaton = ahocorasick.Automaton(ahocorasick.STORE_INTS)
    for place, word in enumerate(words):
        automaton.add_word(word, place)
    automaton.make_automaton()
    if not words:  # such an automaton cannot be asked
        return lambda _text: ()
    search: Search = automaton.iter
    return search


def search_one_by_one(words: Iterable[str], text: str) -> Iterator[tuple[int, int]]:
    for place, word in enumerate(words):
        at = text.find(word)
        while at >= 0:
            yield at + len(word) - 1, place
            at = text.find(word, at + 1)


def split_identifiers(text: str) -> list[str]:
    """Return all identifiers of a text, those of lines in ASCII first: they are found in a third of the time."""
    if text.isascii():
        return text.translate(BLANKS).split()
    lines = text.split("\n")
    plain = "\n".join(filter(str.isascii, lines))
    others = "\n".join(filterfalse(str.isascii, lines))
    return plain.translate(BLANKS).split() + IDENTIFIER.findall(others)


@lru_cache(maxsize=4)
def words_in(text: str) -> str:
    """Return each identifier of a text once, between blanks, and `@` if it is there."""
    return space_words(text)


def space_words(text: str) -> str:
    """Return the same of a text that is not asked about again."""
    signs = "@ " if "@" in text else ""
    return f" {' '.join(dict.fromkeys(split_identifiers(text)))} {signs}"


def fold(text: str) -> str:
    """Lower the case without changing the length: one letter (U+0130) would grow, and offsets must not move."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return GROWING.join(part.lower() for part in text.split(GROWING))
