"""Finds the words of a query in one text, and tells its comments, its code and the definition around each line."""

import re
from functools import cached_property
from itertools import pairwise

from cli_guard.assistant.request_question import SearchQuery
from cli_guard.assistant.stems import PART, needles_of, parts_of, stem
from cli_guard.code.definitions import Definition
from cli_guard.lazy import frozen

MOST_HITS = 4_000
COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|endif))|//|/\*|\*(?!\w)|--(?!\w)|;;|<!--|%%|\"\"\"|''')"
)
QUOTES = re.compile(r"\s*[rRbBuUfF]{0,2}(\"\"\"|''')")
DECORATOR = re.compile(r"\s*(?:@[\w.]|#\[|\[[A-Z]\w*)")
MOST_ABOVE = 40


@frozen
class WordHit:
    """A word of the concept with this index, on a line (from 1); `weight` is how well it stands for it."""

    line: int
    concept: int
    weight: float


class Matcher:
    """The words of a query, compiled once and matched in many texts."""

    def __init__(self, query: SearchQuery) -> None:
        self.concepts_of: dict[str, dict[int, float]] = {}
        for index, concept in enumerate(query.concepts):
            for stemmed, weight in concept.stems.items():
                self.concepts_of.setdefault(stemmed, {})[index] = weight
        needles = {needle for stemmed in self.concepts_of for needle in needles_of(stemmed)}
        longest_first = sorted(needles, key=lambda needle: (-len(needle), needle))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def find(self, text: str) -> list[WordHit]:
        """List the hits in a text, at most `MOST_HITS`."""
        found: list[WordHit] = []
        line = 1
        counted = 0
        for match in self._pattern.finditer(_lower(text)):
            concepts = self._match_part(text, match.start())
            if concepts:
                line += text.count("\n", counted, match.start())
                counted = match.start()
                found += (
                    WordHit(line, concept, weight) for concept, weight in concepts.items()
                )
                if len(found) >= MOST_HITS:
                    break
        return found

    def _match_part(self, text: str, start: int) -> dict[int, float]:
        before = text[start - 1 : start]
        here = text[start]
        if before.isalpha():
            # The last capital of an acronym begins the next word: HTTPProxy.
            after_acronym = before.isupper() and not text[start + 1 : start + 2].islower()
            if not here.isupper() or after_acronym:
                return {}
        part = PART.match(text, start)
        return self.concepts_of.get(stem(part[0].lower()), {}) if part else {}

    def match_name(self, name: str) -> dict[int, float]:
        """Weigh the concepts in a name; two of its parts may be one word: `TimeStamp`."""
        parts = parts_of(name)
        return self.match_stems(
            [*map(stem, parts), *(stem(a + b) for a, b in pairwise(parts))]
        )

    def match_stems(self, stems: list[str]) -> dict[int, float]:
        """Weigh the concepts of some stems: the best of each."""
        found: dict[int, float] = {}
        for each in stems:
            for concept, weight in self.concepts_of.get(each, {}).items():
                found[concept] = max(weight, found.get(concept, 0.0))
        return found

    def measure_share(self, stems: list[str]) -> float:
        """Measure which share of some stems the query asks for, from 0 to 1."""
        return sum(each in self.concepts_of for each in stems) / (len(stems) or 1)


def _lower(text: str) -> str:
    """Lower each character by itself where that changes the length, so that positions stay."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


class TextLines:
    """The lines of a text, counted from 1, with its definitions."""

    def __init__(self, text: str, definitions: tuple[Definition, ...]) -> None:
        self.lines = text.split("\n")
        self.definitions = definitions

    @cached_property
    def documented(self) -> frozenset[int]:
        """Return the numbers of the lines that are comments or documentation strings."""
        found = set()
        closing = ""
        for number, line in enumerate(self.lines, 1):
            if closing:
                found.add(number)
                closing = "" if closing in line else closing
            elif quoted := QUOTES.match(line):
                found.add(number)
                closing = "" if quoted[1] in line[quoted.end() :] else quoted[1]
            elif COMMENT.match(line):
                found.add(number)
        return frozenset(found)

    def _find_top(self, definition: Definition) -> int:
        """Find the first of the comments and decorators directly above a definition."""
        top = definition.line
        while top > max(1, definition.line - MOST_ABOVE):
            if (top - 1) not in self.documented and not DECORATOR.match(
                self.lines[top - 2]
            ):
                break
            top -= 1
        return top

    def text_of(self, definition: Definition) -> str:
        """Return a definition with the comments and decorators above it."""
        return "\n".join(self.lines[self._find_top(definition) - 1 : definition.end_line])

    @cached_property
    def owners(self) -> list[int]:
        """Return by line the index of the innermost definition around it, -1 outside of any."""
        found = [-1] * (len(self.lines) + 1)
        for index, definition in enumerate(self.definitions):
            top = self._find_top(definition)
            end = min(definition.end_line, len(self.lines))
            found[top : end + 1] = [index] * (end + 1 - top)
        return found
