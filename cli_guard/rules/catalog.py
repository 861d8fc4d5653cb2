"""Load the rule files into one form, whichever reviewer they belong to.

A TOML file under this folder holds `[[rule]]` tables; a YAML file holds one document a rule in ast-grep's own format,
with our fields under `metadata`. Both give a `Rule`; what only its reviewer understands (a pattern, keywords, a tree
rule) stays in `extra`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from types import MappingProxyType
from typing import Any

from cli_guard.lazy import frozen
from cli_guard.model import Category, Confidence, Finding, Severity, fingerprint
from cli_guard.rules import data

# Folders of data that is not rules: kinds of file with commands, definitions in languages, the tables of the programs,
# what projects are like, errors in the output of processes.
NOT_RULES = frozenset("command_files flow languages processes programs projects".split())


@frozen
class Rule:
    """One rule.

    `worst` is the severity of its gravest findings, None if that is its own. `fires` are examples that it must report,
    `silent` near misses that it must not. An example is text with, where a whole file is needed, its path in front as
    `path: text`; see `cli_guard.rules.examples`.
    """

    id: str
    title: str
    category: Category
    severity: Severity
    confidence: Confidence
    why: str
    remedy: str
    source: str = ""
    fires: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    worst: Severity | None = None

    def finding(
        self,
        *,
        message: str,
        content: str,
        path: str = "",
        line: int | None = None,
        end_line: int | None = None,
        severity: Severity | None = None,
        remedy: str | None = None,
        suggestion: str | None = None,
        evidence: str = "",
        subject: str = "",
    ) -> Finding:
        """Build a finding of this rule, with the rule's own values as defaults.

        Its fingerprint is of the rule, the path (or of the `subject`, where there is none) and the `content`.
        """
        return Finding(
            rule=self.id,
            category=self.category,
            severity=severity or self.severity,
            confidence=self.confidence,
            path=path,
            line=line,
            end_line=end_line,
            message=message,
            remedy=remedy or self.remedy,
            suggestion=suggestion,
            evidence=evidence,
            fingerprint=fingerprint(self.id, path or subject, content),
        )


KNOWN = (
    "id",
    "title",
    "category",
    "severity",
    "confidence",
    "why",
    "remedy",
    "source",
    "worst",
    "fires",
    "silent",
)


def rule_of(table: Mapping[str, Any]) -> Rule:
    """Build a rule from its table. Raises KeyError or ValueError for a wrong one."""
    return Rule(
        id=table["id"],
        title=table["title"],
        category=Category(table.get("category", "risk")),
        severity=Severity(table["severity"]),
        confidence=Confidence(table.get("confidence", "high")),
        why=table["why"].strip(),
        remedy=table["remedy"].strip(),
        source=table.get("source", ""),
        fires=tuple(table.get("fires", ())),
        silent=tuple(table.get("silent", ())),
        worst=Severity(table["worst"]) if "worst" in table else None,
        extra=MappingProxyType(
            {key: value for key, value in table.items() if key not in KNOWN}
        ),
    )


def rules_in(path: str, *, examples: bool = False) -> Iterator[Rule]:
    """Yield the rules of one file in its order; `extra["document"]` of one in YAML is ast-grep's part."""
    content = data.read(path, examples=examples)
    if path.endswith(".toml"):
        yield from (rule_of(table) for table in content.get("rule", ()))
        return
    for document in content:
        tree = {key: each for key, each in document.items() if key != "metadata"}
        yield rule_of({**document["metadata"], "id": document["id"], "document": tree})


@cache
def read_table(path: str) -> Mapping[str, Any]:
    """Return the data of a TOML file in this folder that holds no rules, such as `languages/files.toml`."""
    return MappingProxyType(data.read(path))


@cache
def read_measured() -> Mapping[str, tuple[int, ...]]:
    """Return what is measured of each rule on the labelled sets: cases, true and false findings, missed labels."""
    rows = (
        row.split()
        for each in read_table("measured.toml").values()
        for row in each["rows"].split(",")
    )
    measured: dict[str, tuple[int, ...]] = {}
    for rule, *figures in rows:
        before = measured.get(rule, (0, 0, 0, 0))
        measured[rule] = tuple(
            old + int(new) for old, new in zip(before, figures, strict=True)
        )
    return MappingProxyType(measured)


@cache
def read_patterns(path: str, section: str) -> Mapping[str, re.Pattern[str]]:
    """Compile the regular expressions in a section of a data file; a list has the parts of one."""
    return {
        name: re.compile("".join(parts))
        for name, parts in read_table(path)[section].items()
    }


@cache
def load(group: str, *, examples: bool = False) -> tuple[Rule, ...]:
    """Return the rules of one group: a folder of this package (`secrets`) or a single file (`message`).

    They have the first of their examples; `examples` reads all, which only a checkout has.
    """
    files = [f"{group}/{name}" for name in data.names(group)] or [f"{group}.toml"]
    return tuple(
        rule
        for path in files
        if not path.endswith(".txt")
        for rule in rules_in(path, examples=examples)
    )


@cache
def by_id(group: str) -> Mapping[str, Rule]:
    """Return the rules of one group by their ids, in their order."""
    return MappingProxyType({rule.id: rule for rule in load(group)})


def one(group: str, rule_id: str) -> Rule:
    """Return the rule of an id. Raises KeyError if the group does not hold it, which is a bug."""
    return by_id(group)[rule_id]


@cache
def load_all() -> Mapping[str, Rule]:
    """Return every rule by its id, sorted."""
    groups = {path.partition("/")[0].removesuffix(".toml") for path in data.paths()}
    rules = (rule for group in groups - NOT_RULES for rule in load(group))
    return MappingProxyType(
        {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
    )


@cache
def flow_languages() -> tuple[str, ...]:
    """Return the languages with tables of flows: the names of their folders."""
    below = (path.split("/") for path in data.paths() if path.startswith("flow/"))
    return tuple(sorted({parts[1] for parts in below if len(parts) == 3}))
