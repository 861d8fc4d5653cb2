"""Load the rule files into one form, whichever reviewer they belong to.

A TOML file under this folder holds `[[rule]]` tables; a YAML file holds one document a rule in ast-grep's own format,
with our fields under `metadata`. Both give a `Rule`; what only its reviewer understands (a pattern, keywords, a tree
rule) stays in `extra`.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cli_guard.model import Category, Confidence, Finding, Severity

FOLDER = Path(__file__).parent
# Folders of data that is not rules: kinds of file with commands, definitions in languages, the
# tables of the programs, what projects are like, errors in the output of processes.
NOT_RULES = (
    "__pycache__",
    "command_files",
    "flow",
    "languages",
    "processes",
    "programs",
    "projects",
)


@dataclass(frozen=True)
class Rule:
    """One rule.

    `fires` are examples that it must report, `silent` near misses that it must not. An example is text with, where a
    whole file is needed, its path in front as `path: text`; see `cli_guard.rules.examples`.
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

    def finding(
        self,
        *,
        path: str,
        line: int | None,
        message: str,
        fingerprint: str,
        end_line: int | None = None,
        severity: Severity | None = None,
        suggestion: str | None = None,
        evidence: str = "",
    ) -> Finding:
        """Build a finding of this rule, with the rule's own values as defaults."""
        return Finding(
            rule=self.id,
            category=self.category,
            severity=severity or self.severity,
            confidence=self.confidence,
            path=path,
            line=line,
            end_line=end_line,
            message=message,
            remedy=self.remedy,
            suggestion=suggestion,
            evidence=evidence,
            fingerprint=fingerprint,
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
    "fires",
    "silent",
)


def rule_of(data: Mapping[str, Any]) -> Rule:
    """Build a rule from its table. Raises KeyError or ValueError for a wrong one."""
    return Rule(
        id=data["id"],
        title=data["title"],
        category=Category(data.get("category", "risk")),
        severity=Severity(data["severity"]),
        confidence=Confidence(data.get("confidence", "high")),
        why=data["why"].strip(),
        remedy=data["remedy"].strip(),
        source=data.get("source", ""),
        fires=tuple(data.get("fires", ())),
        silent=tuple(data.get("silent", ())),
        extra=MappingProxyType(
            {key: value for key, value in data.items() if key not in KNOWN}
        ),
    )


def read_toml(path: Path) -> Iterator[Rule]:
    """Return the rules of one TOML file, in its order."""
    with path.open("rb") as file:
        yield from (rule_of(table) for table in tomllib.load(file).get("rule", ()))


def read_yaml(path: Path) -> Iterator[Rule]:
    """Return the rules of one file of ast-grep YAML documents; the tree rule itself is `extra["document"]`."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    with path.open("rb") as file:
        for document in yaml.load_all(file, Loader=loader):
            metadata = document.pop("metadata")
            yield rule_of({**metadata, "id": document["id"], "document": document})


@cache
def read_table(path: str) -> Mapping[str, Any]:
    """Return the data of a TOML file in this folder that holds no rules, such as `languages/files.toml`."""
    with (FOLDER / path).open("rb") as file:
        return MappingProxyType(tomllib.load(file))


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
def load(group: str) -> tuple[Rule, ...]:
    """Return the rules of one group: a folder of this package (`secrets`) or a single file (`message`)."""
    folder = FOLDER / group
    files = sorted(folder.glob("*")) if folder.is_dir() else [folder.with_suffix(".toml")]
    readers = {".toml": read_toml, ".yml": read_yaml}
    return tuple(
        rule
        for file in files
        if file.suffix in readers
        for rule in readers[file.suffix](file)
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
    groups = {
        p.stem
        for p in FOLDER.iterdir()
        if p.suffix == ".toml" or (p.is_dir() and p.name not in NOT_RULES)
    }
    rules = (rule for group in groups for rule in load(group))
    return MappingProxyType(
        {rule.id: rule for rule in sorted(rules, key=lambda rule: rule.id)}
    )


def rule_ids() -> Iterator[str]:
    """Yield the ids of all rules without reading the rules, which takes a shell's completion too long."""
    for path in sorted(FOLDER.rglob("*.*")):
        if (
            path.suffix in (".toml", ".yml")
            and path.relative_to(FOLDER).parts[0] not in NOT_RULES
        ):
            yield from re.findall(
                r"^id(?: = |: )[\"']?([a-z]+-[a-z0-9-]+)[\"']?$",
                path.read_text("utf-8"),
                re.MULTILINE,
            )
