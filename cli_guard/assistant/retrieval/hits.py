"""Where in one text the words of a query stand, found by one pass, and what kind of line each stands on."""

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from cli_guard.assistant.retrieval.question import Query
from cli_guard.assistant.retrieval.words import PART, needles_of, parts_of, stem
from cli_guard.code.definitions import Definition

MOST_HITS = 4_000
# A word inside another one ("parse" in "urlparse") counts for this much, if it is not too short to mean anything.
INSIDE, BEGINS = 0.35, 0.5
SHORTEST_INSIDE = 5
COMMENT = re.compile(
    r"\s*(?:#(?!\s*(?:include|define|if|endif))|//|/\*|\*(?!\w)|--(?!\w)|;;|<!--|%%|\"\"\"|''')"
)
QUOTES = re.compile(r"\s*[rRbBuUfF]{0,2}(\"\"\"|''')")
DECORATOR = re.compile(r"\s*(?:@[\w.]|#\[|\[[A-Z]\w*)")
MOST_ABOVE = 40
ENVIRONMENT = re.compile(
    r"\benviron\b|getenv|\bprocess\.env\b|\bmeta\.env\b|env::var|\bENV[.\[]|LookupEnv|EnvironmentVariable"
)


@dataclass(frozen=True, slots=True)
class Hit:
    """A word of concept number `concept`, on a line (from 1); `weight` is how well it stands for what was asked."""

    line: int
    concept: int
    weight: float


class Vocabulary:
    """The words of a query, made ready to be found in many texts."""

    def __init__(self, query: Query) -> None:
        self._halves = {number: each.halves for number, each in enumerate(query.concepts) if each.halves}
        self._literals = {
            number: re.compile(re.escape(each.literal).replace(r"\-", "[-_ ]?"))
            for number, each in enumerate(query.concepts)
            if each.literal
        }
        self.meanings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, concept in enumerate(query.concepts):
            for stemmed, weight in () if concept.literal else concept.variants:
                self.meanings[stemmed].append((number, weight))
        inside = {needle: stemmed for stemmed in self.meanings for needle in needles_of(stemmed)}
        self._inside = {n: s for n, s in inside.items() if len(n) >= SHORTEST_INSIDE}
        longest_first = sorted(inside, key=lambda needle: (-len(needle), needle))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def hits(self, text: str) -> list[Hit]:
        """The hits in a text, in order, at most `MOST_HITS`."""
        low = lowered(text)
        found = [
            hit
            for number, literal in self._literals.items()
            for hit in self._literal_hits(number, literal, low)
        ]
        if self._pattern is None:
            return found
        line, counted = 1, 0
        last = -1
        for match in self._pattern.finditer(low):
            start = match.start()
            if start < last:
                continue
            weights = self._meant(text, low, start, match[0])
            if not weights:
                continue
            line += text.count("\n", counted, start)
            counted = start
            found.extend(Hit(line, concept, weight) for concept, weight in weights)
            if len(found) >= MOST_HITS:
                break
        return found

    def _literal_hits(self, number: int, literal: re.Pattern[str], low: str) -> list[Hit]:
        found = []
        line, counted = 1, 0
        for match in literal.finditer(low):
            line += low.count("\n", counted, match.start())
            counted = match.start()
            found.append(Hit(line, number, 1.0))
            if len(found) >= MOST_HITS:
                break
        return found

    def _meant(self, text: str, low: str, start: int, needle: str) -> list[tuple[int, float]]:
        before = text[start - 1] if start else " "
        here = text[start]
        begins = not before.isalpha() or (here.isupper() and not before.isupper())
        if not begins and here.isupper():
            # An acronym runs into a word: HTTPProxy.
            follows = text[start + 1 : start + 2]
            begins = bool(follows) and follows.islower()
        if begins:
            part = PART.match(text, start)
            if part is not None:
                whole = part[0].lower()
                meant = self.meanings.get(stem(whole))
                if meant:
                    return meant
        stemmed = self._inside.get(needle)
        if stemmed is None:
            return []
        after = text[start + len(needle) : start + len(needle) + 1]
        # A compound that is written with capitals inside (SQLite) stands there whole.
        share = 1.0 if begins and not after.islower() else BEGINS if begins else INSIDE
        return [(concept, weight * share) for concept, weight in self.meanings[stemmed] if weight >= 0.8]

    def of_name(self, name: str) -> dict[int, float]:
        """How well a name stands for each concept; two of its parts may be one word: `TimeStamp`."""
        parts = parts_of(name)
        joined = (stem(left + right) for left, right in pairwise(parts))
        return self.of_parts([*map(stem, parts), *(each for each in joined if each in self.meanings)])

    def of_parts(self, stems: list[str]) -> dict[int, float]:
        """How well some stems stand for each concept: the best of each."""
        found: dict[int, float] = {}
        for each in stems:
            for concept, weight in self.meanings.get(each, ()):
                found[concept] = max(weight, found.get(concept, 0.0))
        for number, literal in self._literals.items():
            if literal.search(" ".join(stems)):
                found[number] = 1.0
        for concept, halves in self._halves.items():
            if all(half in stems for half in halves):
                found[concept] = 1.0
        for each in stems:
            if each in self.meanings or len(each) <= SHORTEST_INSIDE:
                continue
            for needle, stemmed in self._inside.items():
                if needle in each:
                    for concept, weight in self.meanings[stemmed]:
                        if weight >= 0.8:
                            found[concept] = max(weight * 0.6, found.get(concept, 0.0))
        return found


def lowered(text: str) -> str:
    """Lower case, character by character, so that every position holds."""
    low = text.lower()
    if len(low) == len(text):
        return low
    return "".join(char.lower() if len(char.lower()) == 1 else char for char in text)


def lines_read(text: str) -> frozenset[int]:
    """The numbers of the lines that read the environment."""
    found, line, counted = set(), 1, 0
    for match in ENVIRONMENT.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        found.add(line)
    return frozenset(found)


class Lines:
    """The lines of a text, and what each is: comment or documentation, or code."""

    def __init__(self, text: str, symbols: tuple[Definition, ...]) -> None:
        self.lines = text.split("\n")
        self.symbols = symbols

    def line(self, number: int) -> str:
        """A line by its number, empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    @cached_property
    def documented(self) -> frozenset[int]:
        """The numbers of the lines that are comments or documentation strings."""
        found = set()
        closing = ""
        for number, line in enumerate(self.lines, 1):
            if closing:
                found.add(number)
                if closing in line:
                    closing = ""
                continue
            quoted = QUOTES.match(line)
            if quoted:
                found.add(number)
                if quoted[1] not in line[quoted.end() :]:
                    closing = quoted[1]
            elif COMMENT.match(line):
                found.add(number)
        return frozenset(found)

    @cached_property
    def documented_before(self) -> list[int]:
        """By line, how many documented lines stand above it."""
        found = [0] * (len(self.lines) + 2)
        for number in range(1, len(self.lines) + 2):
            found[number] = found[number - 1] + ((number - 1) in self.documented)
        return found

    def documented_in(self, start: int, end: int) -> int:
        """How many lines from `start` to `end` are comments or documentation."""
        last = len(self.lines) + 1
        return self.documented_before[min(end + 1, last)] - self.documented_before[min(start, last)]

    @cached_property
    def tops(self) -> list[int]:
        """By symbol, the first line of the comments and decorators directly above it."""
        found = []
        for symbol in self.symbols:
            top = symbol.line
            while top > 1 and symbol.line - top < MOST_ABOVE:
                above = self.line(top - 1)
                if (top - 1) in self.documented or DECORATOR.match(above):
                    top -= 1
                else:
                    break
            found.append(top)
        return found

    @cached_property
    def owners(self) -> list[int]:
        """By line (from 1), the number of the innermost symbol around it, -1 outside of any."""
        found = [-1] * (len(self.lines) + 2)
        for number, (symbol, top) in enumerate(zip(self.symbols, self.tops, strict=True)):
            end = min(symbol.end_line, len(self.lines))
            for line in range(top, symbol.line):
                if found[line] < 0 or self.symbols[found[line]].line < top:
                    found[line] = number
            found[symbol.line : end + 1] = [number] * (end + 1 - symbol.line)
        return found
