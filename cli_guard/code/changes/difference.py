"""What went and what came, in one file and over a change."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import islice
from operator import attrgetter

from cli_guard.code.changes.facts import (
    CodeFact,
    CodeUnit,
    FactKind,
    Key,
    short_name,
    words_of_text,
)
from cli_guard.code.changes.plain_text import (
    MOST_FACTS,
    is_settings_file,
    is_template,
    setting_facts,
    template_facts,
)
from cli_guard.code.changes.reading import FactReader
from cli_guard.code.changes.touched import TouchedLines, touched_lines
from cli_guard.code.classify import has_long_line
from cli_guard.code.languages import language_for, suffix_of
from cli_guard.code.syntax import Trees, indents_too_deep
from cli_guard.code.templates import PAGE_LANGUAGE, PAGES, readable, script_in
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import FileChange, Hunk, group_by, unmatched

# Half of the words of a unit must be in another that is taken for the same.
LIKENESS = 0.5
MOST_COMPARED = 500
MOST_LIKENESSES = 50_000
# Languages whose templates are no code, and whose code is in scripts.
PRINTED = ("html", "css")
PLACEHOLDER = "\0"
LONGEST_UNIT = 20_000
MOST_RENAMES = 100


@frozen
class Side:
    """The facts and units of one side of a file, as far as the change touches them. `unread`: why some are missing."""

    facts: tuple[CodeFact, ...] = ()
    units: tuple[CodeUnit, ...] = ()
    unread: str = ""

    def unit_named(self, name: str) -> CodeUnit | None:
        """Return the unit of this name, None if the change touches none."""
        return next((unit for unit in self.units if unit.name == name), None)


NO_SIDE = Side()


def read_side(trees: Trees, path: str, text: str, touched: TouchedLines) -> Side:
    """Return one side of a file; one that no reader of ours understands has no facts."""
    if not touched or has_long_line(text):
        return NO_SIDE
    facts: list[CodeFact] = []
    units: tuple[CodeUnit, ...] = ()
    unread = ""
    if is_template(path):
        facts += islice(template_facts(path, text, touched), MOST_FACTS)
    language = language_for(path, text)
    if suffix_of(path) in PAGES and "<script" in text:
        language = PAGE_LANGUAGE
        text = script_in(trees, text)
    if language and language not in PRINTED and not indents_too_deep(language, text):
        source, _ = readable(language, text)
        reader = FactReader(language, source, path, touched)
        reader.read(trees)
        facts += reader.facts
        units = tuple(reader.units)
        unread = "more nodes than are compared" if reader.is_cut else ""
    elif is_settings_file(path):
        facts += islice(setting_facts(text, touched), MOST_FACTS)
    return Side(tuple(facts), units, unread)


@dataclass(frozen=True, eq=False)
class FileDifference:
    """What one file has lost and won. What stands on both sides is in neither, wherever it moved in the file.

    `excused` facts may go: in a merge those that another parent had taken away. `renames` are by old name the new ones
    of what the change renames and leaves as it was.
    """

    change: FileChange
    old: Side
    new: Side
    excused: tuple[CodeFact, ...] = ()
    renames: Mapping[str, str] = field(default_factory=dict)

    @property
    def language(self) -> str:
        """Return the language of its new side by its path, "" for none."""
        path = self.change.path
        return PAGE_LANGUAGE if suffix_of(path) in PAGES else language_for(path) or ""

    @property
    def size(self) -> int:
        """Return how much it holds: the facts of both sides, and the lines of their units."""
        sides = (self.old, self.new)
        lines = (u.end_line - u.line + 1 for side in sides for u in side.units)
        return sum(len(side.facts) for side in sides) + sum(lines)

    def hunk_of(self, fact: CodeFact) -> Hunk | None:
        """Return the first hunk that removed lines of a fact."""
        for hunk in self.change.hunks:
            last = hunk.old_start + len(hunk.removed) - 1
            if hunk.removed and hunk.old_start <= fact.end_line and last >= fact.line:
                return hunk
        return None

    def is_alike(self, was: CodeUnit, now: CodeUnit) -> bool:
        """Return whether a unit goes on doing what it did. What new comments say is nothing that it does."""
        said = (
            words_of_text(fact.name)
            for fact in self.came
            if fact.kind is FactKind.COMMENT and fact.unit == now.name
        )
        words = now.words - (frozenset().union(*said) - was.words)
        return len(was.words & words) >= LIKENESS * len(was.words | words)

    def goes_on(self, fact: CodeFact, was: CodeUnit, now: CodeUnit) -> bool:
        """Return whether a unit goes on doing what it did beside a fact: in a short one that may be few words."""
        lines = was.text.split("\n")
        del lines[fact.line - was.line : fact.end_line - was.line + 1]
        left = words_of_text("\n".join(lines))
        common = len(left & now.words)
        return common >= LIKENESS * len(left | now.words) or self.is_alike(was, now)

    @cached_property
    def _before(self) -> tuple[CodeFact, ...]:
        """The facts of the old side under the new names."""
        if not self.renames:
            return self.old.facts
        return tuple(rename_facts(self.old.facts, self.renames))

    @cached_property
    def went(self) -> tuple[CodeFact, ...]:
        """The facts that the file had before and has no longer."""
        left = without(without(self._before, self.new.facts), self.excused)
        as_it_was = dict(zip(self._before, self.old.facts, strict=True))
        return tuple(as_it_was[fact] for fact in left)

    @cached_property
    def came(self) -> tuple[CodeFact, ...]:
        """The facts that the file did not have before."""
        return tuple(without(self.new.facts, self._before))

    @cached_property
    def names_before(self) -> frozenset[str]:
        """The short names of the units that are touched on the old side, and of the options that went."""
        names = [unit.name for unit in self.old.units]
        names += (fact.name for fact in self.went if fact.is_option)
        return frozenset(map(short_name, names))


def compare_file(
    trees: Trees, change: FileChange, old: str | None, new: str | None
) -> FileDifference:
    """Compare the two texts of a file, None for a side that it does not have."""
    before, after = touched_lines(change.hunks)
    old_path = change.old_path or change.path
    was = read_side(trees, old_path, old, before) if old is not None else NO_SIDE
    now = read_side(trees, change.path, new, after) if new is not None else NO_SIDE
    if why := was.unread or now.unread:
        # Half of a comparison would call everything gone that was not read.
        return FileDifference(change, Side(unread=why), NO_SIDE)
    return FileDifference(change, was, now)


def without(facts: Sequence[CodeFact], others: Sequence[CodeFact]) -> list[CodeFact]:
    """Return the facts that are not among the others, each of which takes away one that is the same.

    One that stood in the same unit is taken away first, so that of two alike the one that really went is left.
    """

    def here(fact: CodeFact) -> tuple[Key, str]:
        return fact.key, fact.unit

    elsewhere = unmatched(others, facts, here)
    return unmatched(unmatched(facts, others, here), elsewhere, attrgetter("key"))


@dataclass(frozen=True, eq=False)
class ChangeDifference:
    """The differences of the files of a change, together."""

    files: Sequence[FileDifference] = field(default_factory=tuple)
    # Pairs of units that were compared, by the names that ask: each is asked once, and all are bounded together.
    _alike: dict[tuple[str, str], CodeUnit | None] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Sequence[FileDifference]) -> "ChangeDifference":
        """Return the differences of files that may rename what others of them use."""
        renames = find_renames(
            (unit for file in files for unit in file.old.units),
            (unit for file in files for unit in file.new.units),
        )
        if renames:
            files = [replace(file, renames=renames) for file in files]
        return cls(tuple(files))

    @cached_property
    def calls_now(self) -> Mapping[str, Sequence[tuple[FileDifference, CodeFact]]]:
        """The calls of all new sides by the last part of their names, in lower case."""
        calls = ((f, fact) for f in self.files for fact in f.new.facts if fact.is_call)
        return group_by(calls, lambda call: call[1].last_name.lower())

    @cached_property
    def _new_units(self) -> Mapping[str, Sequence[CodeUnit]]:
        """The units that the change touches on its new side, by the last part of their names."""
        units = (unit for file in self.files for unit in file.new.units)
        return group_by(units, lambda unit: short_name(unit.name))

    def pair_of(self, file: FileDifference, name: str) -> CodeUnit | None:
        """Return what a unit of the file became: by name here, by name elsewhere, by likeness."""
        by_name = self._new_units.get(short_name(name), ())
        here = (u for u in by_name if u.path == file.change.path and u.name == name)
        found = next(here, None) or next(iter(by_name), None)
        if found is not None:
            return found
        key = (file.change.path, name)
        if key not in self._alike:
            was = file.old.unit_named(name)
            self._alike[key] = self._most_alike(was) if was else None
        return self._alike[key]

    @cached_property
    def _candidates(self) -> Sequence[CodeUnit]:
        every = (new for units in self._new_units.values() for new in units)
        return tuple(islice(every, MOST_COMPARED))

    def _most_alike(self, unit: CodeUnit) -> CodeUnit | None:
        if len(self._alike) * len(self._candidates) > MOST_LIKENESSES:
            return None
        best = max(self._candidates, key=lambda new: likeness(unit, new), default=None)
        return best if best is not None and likeness(unit, best) >= LIKENESS else None


def likeness(one: CodeUnit, other: CodeUnit) -> float:
    """Return how many of the words of two units are in both, from 0 to 1."""
    united = len(one.words | other.words)
    return len(one.words & other.words) / united if united else 0.0


def find_renames(old: Iterable[CodeUnit], new: Iterable[CodeUnit]) -> Mapping[str, str]:
    """Return by old name the new one of each unit that went and came again with the same text but for its name.

    Both names are the last parts; one of which there are several on a side says nothing.
    """
    went = units_by_name(old)
    came = units_by_name(new)
    by_text: defaultdict[str, list[str]] = defaultdict(list)
    for name, units in came.items():
        if name not in went and len(units) == 1:
            by_text[text_without_name(units[0], name)].append(name)
    found: dict[str, str] = {}
    for name, units in went.items() if by_text else ():
        if name in came or len(units) > 1 or len(found) >= MOST_RENAMES:
            continue
        names = by_text.get(text_without_name(units[0], name), ())
        if len(names) == 1:
            found[name] = names[0]
    return found


def units_by_name(units: Iterable[CodeUnit]) -> Mapping[str, list[CodeUnit]]:
    """Return the units that are not too big by the last part of their names."""
    small = (unit for unit in units if len(unit.text) <= LONGEST_UNIT)
    return group_by(small, lambda unit: short_name(unit.name))


def text_without_name(unit: CodeUnit, name: str) -> str:
    """Return what a unit does, however its lines are broken."""
    return " ".join(whole_word(name).sub(PLACEHOLDER, unit.text).split())


def whole_word(*names: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w$])(?:{'|'.join(map(re.escape, names))})(?![\w$])")


def rename_facts(
    facts: Iterable[CodeFact], renames: Mapping[str, str]
) -> Iterator[CodeFact]:
    """Yield each fact with the new names of what it speaks of."""
    pattern = whole_word(*renames)

    def rename(text: str) -> str:
        return pattern.sub(lambda match: renames[match[0]], text)

    for fact in facts:
        yield replace(
            fact,
            name=rename(fact.name),
            detail=rename(fact.detail),
            operands=tuple(map(rename, fact.operands)),
            asked=tuple(map(rename, fact.asked)),
        )
