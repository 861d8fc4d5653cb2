"""What is known of languages and frameworks: sources, sinks, sanitizers, guards and steps, from rules/flow/.

A pattern must match the whole of a dotted name; see docs/code.md for the tables, which users can add to.
"""

# ruff: noqa: B019 - what a method keeps lives as long as the process, and so do the tables

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from cli_guard.code.languages import FAMILY
from cli_guard.code.taint.needs import (
    NeededWords,
    Needs,
    either,
    has_needed,
    needs_of,
)
from cli_guard.lazy import frozen
from cli_guard.rules import data as rule_files
from cli_guard.rules.catalog import read_table
from cli_guard.words import space_words, words_in

ALL = "all"
SECTIONS = ("source", "sink", "sanitizer", "guard", "step")
MOST_KNOWN = 50_000
# The texts of a file and of those beside it, each asked about a source and a sink.
MOST_FITTING = 60
MOST_CONDITIONS = 2_000
# Of all tables: sections, and patterns in them.
MOST_ASKED = 1_000


@frozen(eq=False)
class FlowEntry:
    """One table of a file, patterns compiled; what a text needs that holds it, and a name that matches."""

    section: str
    data: Mapping[str, Any]
    patterns: Mapping[str, re.Pattern[str]]
    needs: Needs = ()
    name_needs: Needs = ()

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(
            self.data["kinds"] if "kinds" in self.data else [self.data["kind"]]
        )

    @property
    def is_secret(self) -> bool:
        """Whether it is about a secret, and not about what somebody else chose."""
        return self.data.get("secret", False) or self.data.get("kind") == "log-secret"

    def allows(self, text: str, options: str = "") -> bool:
        """Return whether the text of a call fits `when` and `unless`; what it is given by variables is behind it."""
        texts = (text, text + options) if options else (text,)
        when = self.patterns.get("when")
        unless = self.patterns.get("unless")
        if when and not any(map(when.search, texts)):
            return False
        return not (unless and any(map(unless.search, texts)))


NAMES = ("reads", "call", "assign")
# What is written around what a framework gives: a function, a parameter, a field.
AROUND = ("handlers", "parameters", "members")
PATTERNS = (
    *NAMES,
    *AROUND,
    "returns",
    "when",
    "unless",
    "object",
    "condition",
    "file",
)
# What `{x}` stands for in the condition of a guard.
CHECKED = r"[!&*$@(]*(?P<x>[\w$@.]+)(?:\([^\n]{0,200}\))?"


def compile_entry(section: str, data: Mapping[str, Any]) -> FlowEntry:
    """Compile the patterns of an entry. Raises re.error for an invalid one."""
    patterns = {
        name: re.compile(data[name].replace("{x}", CHECKED))
        for name in PATTERNS
        if name in data
    }
    needs = find_needs(data, patterns)
    # Words that are given are those of a text alone.
    return FlowEntry(section, data, patterns, needs, () if "words" in data else needs)


def is_ours(pattern: re.Pattern[str]) -> bool:
    """Return whether a pattern is from our own files: that of a repository is wrapped, see `policy.user_rules.Cut`."""
    return isinstance(pattern, re.Pattern)


def find_needs(data: Mapping[str, Any], patterns: Mapping[str, re.Pattern[str]]) -> Needs:
    """Return the words without which a text holds nothing that an entry matches."""
    if "words" in data:
        return (tuple((word,) for word in data["words"]),)
    named = [patterns[name].pattern for name in NAMES if name in patterns]
    if named:
        return either(needs_of(pattern, is_whole=True) for pattern in named)
    around = [patterns[name].pattern for name in AROUND if name in patterns]
    return tuple(need for pattern in around for need in needs_of(pattern, is_whole=False))


# A guard, and where in the text of a condition what it checks begins and ends.
GuardPlace = tuple[FlowEntry, int, int]


@frozen(eq=False)
class Tables:
    """The entries of one language. What is asked of them is kept; there are few tables, and none is made for a file."""

    entries: tuple[FlowEntry, ...]

    @lru_cache(maxsize=MOST_KNOWN)
    def find(self, section: str, by: str, names: tuple[str, ...]) -> tuple[FlowEntry, ...]:
        """Return the entries of a section whose pattern `by` matches one of the names as a whole."""
        needed = self._name_needs(section, by)
        known = [(name, needed.found_in(space_words(name))) for name in names]
        # Most names have no word of ours, and of a table few entries need one that a name has.
        places = {place for _, held in known for place in needed.find_near(held)}
        entries = self.of(section, by)
        return tuple(
            entry
            for entry in map(entries.__getitem__, sorted(places))
            if any(
                has_needed(entry.name_needs, held) and entry.patterns[by].fullmatch(name)
                for name, held in known
            )
        )

    @lru_cache(maxsize=MOST_CONDITIONS)
    def find_guards(self, text: str) -> tuple[GuardPlace, ...]:
        """Return the guards whose `condition` a text holds, each at its first place."""
        having = self.of("guard", "condition")
        tried = ((entry, entry.patterns["condition"].search(text)) for entry in having)
        return tuple((entry, *match.span("x")) for entry, match in tried if match)

    @lru_cache(maxsize=MOST_ASKED)
    def _name_needs(self, section: str, by: str) -> NeededWords:
        return NeededWords(each.name_needs for each in self.of(section, by))

    @lru_cache(maxsize=MOST_ASKED)
    def of(self, section: str, by: str) -> tuple[FlowEntry, ...]:
        """Return the entries of a section that have a pattern `by`."""
        return tuple(e for e in self.entries if e.section == section and by in e.patterns)

    def may_hold_flow(self, text: str) -> bool:
        """Return whether a text has the words of a source, and those of a sink for it."""
        words = words_in(text)
        return any(
            self.has("source", words, secret=secret)
            and self.has("sink", words, secret=secret)
            for secret in (False, True)
        )

    @lru_cache(maxsize=MOST_FITTING)
    def has(self, section: str, words: str, *, secret: bool = False) -> bool:
        """Return whether a text with these words may hold one of a section, of a `secret` or of what is untrusted."""
        return self.needed_words(section, is_secret=secret).fit(words)

    @lru_cache(maxsize=MOST_ASKED)
    def needed_words(self, section: str, *, is_secret: bool) -> NeededWords:
        """Return what the entries of a section need that are about a secret, or about what is untrusted."""
        having = (e for e in self.entries if e.section == section)
        wanted = (e.needs for e in having if e.is_secret is is_secret)
        return NeededWords(dict.fromkeys(wanted))


@cache
def tables_of(language: str) -> Tables | None:
    """Return the tables of a language as ast-grep names it, None if nothing is known of it."""
    folder = f"flow/{FAMILY.get(language, language)}"
    files = rule_files.names(folder)
    if not files:
        return None
    common = read_table("flow/common.toml")["secrets"]
    secret = compile_entry(
        "source",
        {
            **common,
            "reads": _on_one_line(common["reads"]),
            "words": common["words"].split(),
            "secret": True,
        },
    )
    tables = (rule_files.read(f"{folder}/{name}") for name in files)
    known = (
        compile_entry(section, data)
        for table in tables
        for section in SECTIONS
        for data in table.get(section, ())
    )
    return Tables((secret, *known))


def _on_one_line(pattern: str) -> str:
    return pattern.replace("\n", "")


@cache
def _common(section: str, name: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:.*[. ])?(?:{_on_one_line(read_table('flow/common.toml')[section][name])})"
    )


@lru_cache(maxsize=20_000)
def is_common(section: str, name: str, called: str) -> bool:
    """Return whether the end of a dotted name is in a list that all languages share."""
    return _common(section, name).fullmatch(called) is not None
