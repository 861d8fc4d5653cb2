"""What is known of languages and frameworks: sources, sinks, sanitizers, guards and steps, from rules/flow/.

A pattern must match the whole of a dotted name; see docs/code.md for the tables, which users can add to.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from cli_guard.rules.catalog import FOLDER, read_table

ALL = "all"
SECTIONS = ("source", "sink", "sanitizer", "guard", "step")
# What a text must hold, for a pattern to match a name in it.
LITERAL = re.compile(r"[A-Za-z_]{3,}")
ESCAPE = re.compile(r"\\[a-zA-Z]|\(\?[a-z:!=<]+")
LANGUAGES = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One table of a file: its section and fields, patterns compiled."""

    section: str
    data: Mapping[str, Any]
    patterns: Mapping[str, re.Pattern[str]]

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.data["kinds"] if "kinds" in self.data else [self.data["kind"]])

    def allows(self, text: str) -> bool:
        """Return whether the text of a call fits `when` and `unless`."""
        when, unless = self.patterns.get("when"), self.patterns.get("unless")
        return not (when and not when.search(text)) and not (unless and unless.search(text))


NAMES = ("reads", "call", "assign")
PATTERNS = (*NAMES, "handlers", "parameters", "when", "unless", "object", "condition")
# What `{x}` stands for in the condition of a guard.
CHECKED = r"[!&*$@(]*(?P<x>[\w$@.]+)"


def compile_entry(section: str, data: Mapping[str, Any]) -> Entry:
    """Raises re.error for a pattern that is none."""
    patterns = {name: re.compile(data[name].replace("{x}", CHECKED)) for name in PATTERNS if name in data}
    return Entry(section, data, patterns)


@dataclass(slots=True, eq=False)
class Tables:
    """The entries of one language."""

    entries: tuple[Entry, ...]
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    _known: dict[tuple[str, str, tuple[str, ...]], tuple[Entry, ...]] = field(default_factory=dict)

    def find(self, section: str, by: str, names: tuple[str, ...]) -> tuple[Entry, ...]:
        """Return the entries of a section whose pattern `by` matches one of the names as a whole."""
        key = (section, by, names)
        found = self._known.get(key)
        if found is None:
            named = [e for e in self.entries if e.section == section and by in e.patterns]
            found = tuple(e for e in named if any(e.patterns[by].fullmatch(name) for name in names))
            self._known[key] = found
        return found

    def of(self, section: str, by: str) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.section == section and by in e.patterns)

    def may_hold_flow(self, text: str) -> bool:
        """Return whether a text has a word of any source and one of any sink."""
        return all(any(map(text.__contains__, self.words[section])) for section in ("source", "sink"))


def build(entries: Iterable[Entry]) -> Tables:
    entries = tuple(entries)
    words = {section: _words(e for e in entries if e.section == section) for section in ("source", "sink")}
    return Tables(entries, words)


def _words(entries: Iterable[Entry]) -> frozenset[str]:
    patterns = (
        e.patterns[by].pattern
        for e in entries
        for by in (*NAMES, "handlers", "parameters")
        if by in e.patterns
    )
    return frozenset(word for pattern in patterns for word in LITERAL.findall(ESCAPE.sub(" ", pattern)))


@cache
def tables_of(language: str) -> Tables | None:
    """Return the tables of a language as ast-grep names it, None if nothing is known of it."""
    folder = FOLDER / "flow" / LANGUAGES.get(language, language)
    files = sorted(folder.glob("*.toml"))
    if not files:
        return None
    common = read_table("flow/common.toml")["secrets"]
    secret = compile_entry("source", {**common, "reads": _joined(common["reads"]), "secret": True})
    read = (tomllib.loads(file.read_text("utf-8")) for file in files)
    return build(
        [secret, *(compile_entry(s, data) for table in read for s in SECTIONS for data in table.get(s, ()))]
    )


def _joined(pattern: str) -> str:
    return pattern.replace("\n", "")


@cache
def _common(section: str, name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:.*[. ])?(?:{_joined(read_table('flow/common.toml')[section][name])})")


@lru_cache(maxsize=20_000)
def is_common(section: str, name: str, called: str) -> bool:
    """Return whether the end of a dotted name is in a list that all languages share."""
    return _common(section, name).fullmatch(called) is not None
