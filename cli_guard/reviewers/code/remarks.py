"""Build findings from a rule and a location; choose the rule files for a path.

A topic names the rule files that apply: a language, or a dialect of one with its own meaning (`workflow`: a GitHub
workflow, which is YAML; `kubernetes`, `compose`, `gitlab`).
"""

from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain

from cli_guard.code.languages import FAMILY
from cli_guard.code.test_files import is_test_code, is_test_or_example
from cli_guard.lazy import frozen
from cli_guard.model import Finding, Severity
from cli_guard.rules.catalog import Rule, flow_languages, read_patterns, read_table
from cli_guard.secrets.engine import scan
from cli_guard.secrets.printable import clip
from cli_guard.secrets.redact import mask_hits

PUT_INTO_EFFECT = "the change puts this line into effect without touching it"
EVIDENCE_CHARS = 120
# How much on each side of what is shown is searched for secrets that reach into it.
SECRET_CHARS = 1_000
MAX_PER_RULE = 50
STEPS = list(Severity)
# What asks or denies by default; the rest is advice.
STOPPING = (Severity.CRITICAL, Severity.HIGH)
# Languages with rules about single constructs alone.
UNFOLLOWED = ("yaml", "hcl", "elixir", "lua", "dart")
TOPICS = {name: name for name in (*flow_languages(), *UNFOLLOWED)} | FAMILY

YAML_PATHS, YAML_TEXTS, LINE_RULES = (
    read_patterns("languages/patterns.toml", name)
    for name in ("yaml_paths", "yaml_texts", "line_rules")
)


@frozen
class Location:
    """Where a rule applies: lines of the new side, the line to show, and the content for the fingerprint.

    `column` is where in the line that is shown it begins.
    """

    path: str
    line: int | None
    end_line: int | None
    shown: str
    content: str
    column: int = 0


@frozen
class CodeEffect:
    """What happens if a finding is true, which is the reason of its severity; `rules/code/effects.toml` is the list."""

    name: str
    severity: Severity
    means: str
    rules: tuple[str, ...]


@cache
def effects() -> tuple[CodeEffect, ...]:
    """Return the closed list of effects, gravest first."""
    table = read_table("code/effects.toml")
    return tuple(
        CodeEffect(
            each["name"],
            Severity(each["severity"]),
            each["means"],
            tuple(table["rules"][each["name"]].split()),
        )
        for each in table["effect"]
    )


def effects_of(rule_id: str) -> tuple[CodeEffect, ...]:
    """Return the effects of a code rule: that with its id in full, else those with a pattern that matches it."""
    name = rule_id.removeprefix("code-")
    exact = tuple(effect for effect in effects() if name in effect.rules)
    return exact or tuple(
        effect
        for effect in effects()
        if any(fnmatchcase(name, pattern) for pattern in effect.rules)
    )


def weigh(rule: Rule, path: str) -> Severity:
    """Return the severity of a rule at a path: one step lower in tests, unless its `in_tests` is "same"."""
    if rule.extra.get("in_tests", "lower") == "same" or not is_test_or_example(path):
        return rule.severity
    return STEPS[min(STEPS.index(rule.severity) + 1, len(STEPS) - 1)]


def applies(rule: Rule, path: str) -> bool:
    """Return whether the rule applies here: `in_tests` is "off" or "only" for some.

    Mere advice is not told in tests and examples, nor what one step less makes advice in code that only tests use: no
    reader acts on it.
    """
    wanted = rule.extra.get("in_tests")
    if wanted is None:
        if is_test_code(path):
            return weigh(rule, path) in STOPPING
        return rule.severity in STOPPING or not is_test_or_example(path)
    return wanted not in ("off", "only") or (wanted == "only") == is_test_or_example(path)


def remark(
    rule: Rule,
    place: Location,
    *,
    message: str | None = None,
    suggestion: str | None = None,
) -> Finding:
    end_line = place.end_line if place.end_line != place.line else None
    return rule.finding(
        severity=weigh(rule, place.path),
        path=place.path,
        line=place.line,
        end_line=end_line,
        message=message or rule.extra.get("message", rule.title),
        suggestion=suggestion,
        evidence=cut_around(place.shown, place.column, place.path),
        content=place.content,
    )


def cut_around(line: str, column: int, path: str) -> str:
    """Return at most EVIDENCE_CHARS of a line, with some of what is before a column, and mark where it is cut."""
    blanks = len(line) - len(line.lstrip())
    line = line.strip()
    first = min(column - blanks - EVIDENCE_CHARS // 4, len(line) - EVIDENCE_CHARS)
    if first <= 0:
        return clip(line, EVIDENCE_CHARS)
    # A secret that is cut in two is none for the mask that all evidence goes through.
    low = max(0, first - SECRET_CHARS)
    near = line[low : first + EVIDENCE_CHARS + SECRET_CHARS]
    start = first - low
    shown = mask_hits(near, scan(near, path).hits, start, start + EVIDENCE_CHARS)
    more = "..." if first + EVIDENCE_CHARS < len(line) else ""
    return f"...{shown}{more}"


def tell(finding: Finding) -> Finding:
    """Say of a finding on lines that the change does not touch why it comes up: its code did not run before."""
    return replace(finding, message=f"{finding.message.rstrip('.')}; {PUT_INTO_EFFECT}.")


def topic_of(path: str, language: str | None, text: str = "") -> str | None:
    """Return the topic of a file in a known language, None if there are no tree rules for it."""
    if language == "yaml":
        kinds = (topic for topic, pattern in YAML_PATHS.items() if pattern.search(path))
        by_text = (topic for topic, pattern in YAML_TEXTS.items() if pattern.search(text))
        return next(chain(kinds, by_text), language)
    return TOPICS.get(language) if language else None


def line_topics(path: str) -> tuple[str, ...]:
    """Return the topics of the line rules for a path."""
    return tuple(topic for topic, pattern in LINE_RULES.items() if pattern.search(path))
