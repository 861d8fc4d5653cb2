"""What is known of languages and frameworks: sources, sinks, sanitizers, guards and steps, from rules/flow/.

A pattern must match the whole of a dotted name; see docs/code.md for the tables, which users can add to.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any

from cli_guard.code.languages import FAMILY
from cli_guard.rules import data as rule_files
from cli_guard.rules.catalog import read_table

ALL = "all"
SECTIONS = ("source", "sink", "sanitizer", "guard", "step")
WORD = re.compile(r"[A-Za-z_]{3,}")
# Parts of dotted names that stand for what is written otherwise: attributes of JSX, backticks, @fields of Ruby.
INVENTED = ("jsx", "subshell", "self", "this")
TOKEN = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]])*\]|\(\?(?:[a-z]+:|[:!=]|<[!=]|P<\w+>)?|[()|]|[?*]|\{[\d,]+\}|[^\\\[(|)?*{]+"
)
MOST_KNOWN = 50_000


@dataclass(frozen=True, slots=True, eq=False)
class FlowEntry:
    """One table of a file: its section and fields, patterns compiled."""

    section: str
    data: Mapping[str, Any]
    patterns: Mapping[str, re.Pattern[str]]
    needs: tuple[frozenset[str], ...] = ()

    @property
    def kinds(self) -> frozenset[str]:
        return frozenset(
            self.data["kinds"] if "kinds" in self.data else [self.data["kind"]]
        )

    def fits(self, text: str) -> bool:
        """Return whether a text has the words without which no name in it matches."""
        return all(any(map(text.__contains__, words)) for words in self.needs)

    def allows(self, text: str) -> bool:
        """Return whether the text of a call fits `when` and `unless`."""
        when = self.patterns.get("when")
        unless = self.patterns.get("unless")
        return not (when and not when.search(text)) and not (unless and unless.search(text))


NAMES = ("reads", "call", "assign")
PATTERNS = (
    *NAMES,
    "returns",
    "handlers",
    "parameters",
    "when",
    "unless",
    "object",
    "condition",
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
    named = [patterns[name].pattern for name in NAMES if name in patterns]
    around = [
        patterns[name].pattern for name in ("handlers", "parameters") if name in patterns
    ]
    needs = (
        words_of(named[0])
        if len(named) == 1
        else tuple(need for each in around for need in words_of(each))
    )
    return FlowEntry(
        section, data, patterns, (frozenset(data["words"]),) if "words" in data else needs
    )


def words_of(pattern: str) -> tuple[frozenset[str], ...]:
    """Return sets of words, of each of which a text that the pattern matches holds one.

    Each part of a dotted name is written somewhere in the file: in an import, a declaration, or at its use.
    """
    tokens = TOKEN.findall(pattern)
    if "(?i:" in tokens:
        return ()
    needs, _ = _alternatives(tokens, 0)
    return tuple(needs)


def _alternatives(tokens: list[str], at: int) -> tuple[list[frozenset[str]], int]:
    branches: list[list[frozenset[str]]] = [[]]
    while at < len(tokens) and tokens[at] != ")":
        piece = tokens[at]
        if piece == "|":
            branches.append([])
        elif piece.startswith("("):
            inner, at = _alternatives(tokens, at + 1)
            optional = at + 1 < len(tokens) and tokens[at + 1] in ("?", "*")
            if not optional and not piece.startswith(("(?!", "(?<!", "(?=", "(?<=")):
                branches[-1] += inner
        elif not piece.startswith(("\\", "[", "?", "*", "{")):
            follows = tokens[at + 1] if at + 1 < len(tokens) else ""
            literal = (
                piece[:-1] if follows in ("?", "*") or follows.startswith("{0") else piece
            )
            branches[-1] += [
                frozenset((w,)) for w in WORD.findall(literal) if w not in INVENTED
            ]
        at += 1
    if len(branches) == 1:
        return branches[0], at
    # One word of each alternative, the rarest: most likely the longest.
    best = [
        max(needs, key=lambda words: min(map(len, words)), default=None)
        for needs in branches
    ]
    united = frozenset(word for words in best if words for word in words)
    return ([united] if all(best) else []), at


@dataclass(slots=True, eq=False)
class Tables:
    """The entries of one language."""

    entries: tuple[FlowEntry, ...]
    _having: dict[tuple[str, str], tuple[FlowEntry, ...]] = field(default_factory=dict)
    _known: dict[tuple[str, str, tuple[str, ...]], tuple[FlowEntry, ...]] = field(
        default_factory=dict
    )

    def find(self, section: str, by: str, names: tuple[str, ...]) -> tuple[FlowEntry, ...]:
        """Return the entries of a section whose pattern `by` matches one of the names as a whole."""
        key = (section, by, names)
        found = self._known.get(key)
        if found is None:
            having = self.of(section, by)
            found = tuple(
                e for e in having if any(e.patterns[by].fullmatch(name) for name in names)
            )
            if len(self._known) > MOST_KNOWN:
                self._known.clear()
            self._known[key] = found
        return found

    def of(self, section: str, by: str) -> tuple[FlowEntry, ...]:
        """Return the entries of a section that have a pattern `by`."""
        found = self._having.get((section, by))
        if found is None:
            found = tuple(
                e for e in self.entries if e.section == section and by in e.patterns
            )
            self._having[section, by] = found
        return found

    def may_hold_flow(self, text: str) -> bool:
        """Return whether a text has the words of a source, and those of a sink for it."""
        sources = {
            e.data.get("secret", False)
            for e in self.entries
            if e.section == "source" and e.fits(text)
        }
        if not sources:
            return False
        sinks = (e for e in self.entries if e.section == "sink" and e.fits(text))
        return any((entry.data["kind"] == "log-secret") in sources for entry in sinks)


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
