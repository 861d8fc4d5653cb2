"""From a rule and a location to a finding, and which rule files a path asks for.

A topic names the rule files that apply: a language, or a dialect of one that has its own meaning (`workflow`: a GitHub
workflow, which is YAML).
"""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import Finding, Severity, fingerprint
from cli_guard.rules.catalog import Rule

EVIDENCE_CHARS = 120
MAX_PER_RULE = 50
STEPS = list(Severity)
TOPICS = {name: name for name in ("python", "javascript", "go", "java", "bash", "yaml")} | {
    "typescript": "javascript",
    "tsx": "javascript",
}

DOCKER_NAME = re.compile(r"(?:^|\.)(?:docker|container)file(?:$|\.)", re.IGNORECASE)
SQL_ENDINGS = frozenset((".sql", ".ddl", ".psql", ".pgsql", ".mysql", ".tsql"))
SOURCE_ENDINGS = re.compile(
    r"\.(?:[cm]?[jt]sx?|pyi?|vue|svelte|go|java|kts?|scala|groovy|gradle|rs|[chm]|cc|cpp|cxx|hpp|mm|cs|fs|vb|swift"
    r"|rb|erb|rake|php|p[lm]|lua|exs?|erl|hs|clj|dart|r|jl|sh|bash|zsh|ps1|sql|tf|hcl|ya?ml|toml|s?css)$",
    re.IGNORECASE,
)

WORKFLOW = re.compile(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$|(?:^|/)action\.ya?ml$")
CUT_LINES_OVER = 100_000


@dataclass(frozen=True, slots=True)
class Location:
    """Where a rule applies: lines of the new side, the line to show, and the content that identifies it."""

    path: str
    line: int | None
    end_line: int | None
    shown: str
    content: str


def weigh(rule: Rule, path: str) -> Severity:
    """The severity of a rule at a path: one step lower in tests, unless its `in_tests` is "same"."""
    if rule.extra.get("in_tests", "lower") == "same" or not is_test_or_example(path):
        return rule.severity
    return STEPS[min(STEPS.index(rule.severity) + 1, len(STEPS) - 1)]


def applies(rule: Rule, path: str) -> bool:
    """Does the rule say anything about tests, or about what is not a test, if that is what the path is?"""
    wanted = rule.extra.get("in_tests", "lower")
    return wanted not in ("off", "only") or (wanted == "only") == is_test_or_example(path)


def remark(
    rule: Rule, place: Location, *, message: str | None = None, suggestion: str | None = None
) -> Finding:
    """The finding of `rule` at `place`."""
    end_line = place.end_line if place.end_line != place.line else None
    return rule.finding(
        severity=weigh(rule, place.path),
        path=place.path,
        line=place.line,
        end_line=end_line,
        message=message or rule.extra.get("message", rule.title),
        suggestion=suggestion,
        evidence=place.shown.strip()[:EVIDENCE_CHARS],
        fingerprint=fingerprint(rule.id, place.path, place.content),
    )


def topic_of(path: str, language: str | None) -> str | None:
    """The topic of a path whose language is known, None where there are no tree rules for it."""
    if language == "yaml" and WORKFLOW.search(path):
        return "workflow"
    return TOPICS.get(language) if language else None


def line_topics(path: str) -> tuple[str, ...]:
    """The topics of the line rules that can apply to a path."""
    pure = PurePosixPath(path)
    ending = pure.suffix.lower()
    asked = {
        "docker": bool(DOCKER_NAME.search(pure.name)),
        "powershell": ending == ".ps1",
        "source": bool(SOURCE_ENDINGS.search(pure.name)),
        "sql": ending in SQL_ENDINGS,
    }
    return tuple(topic for topic, applies in asked.items() if applies)


def without_long_lines(text: str) -> str:
    """The text with lines that no parser should be given left blank; all others keep their numbers."""
    if len(text) <= CUT_LINES_OVER:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= CUT_LINES_OVER:
        return text
    return "\n".join(line if len(line) <= CUT_LINES_OVER else "" for line in lines)
