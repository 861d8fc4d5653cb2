"""Every rule of the code reviewer reports its `fires` examples and none of its `silent` ones."""

import pytest
from examples import examples, examples_of, table
from reviewers.code.code_changes import Texts, new_file

from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import ChangeSet, Finding, Severity
from cli_guard.reviewers.code import flows, review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule
from cli_guard.rules.examples import expand, split_path

RULES = [rule for rule in catalog.load("code", examples=True) if rule.fires]
DEFAULT_PATHS = {
    "Python": "src/sample.py",
    "JavaScript": "src/sample.js",
    "TypeScript": "src/sample.ts",
    "Go": "pkg/sample.go",
    "Java": "src/Sample.java",
    "Kotlin": "src/Sample.kt",
    "CSharp": "src/Sample.cs",
    "Php": "src/sample.php",
    "Ruby": "lib/sample.rb",
    "Rust": "src/sample.rs",
    "C": "src/sample.c",
    "Cpp": "src/sample.cpp",
    "Swift": "Sources/Sample.swift",
    "Hcl": "infra/sample.tf",
    "Bash": "bin/sample.sh",
    "Yaml": ".github/workflows/sample.yml",
}


@pytest.fixture(autouse=True)
def without_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where data is followed to the same line, that alone is told; here each construct is tried by itself."""
    monkeypatch.setattr(flows, "inspect", lambda *_: iter(()))


def findings_in(rule: Rule, example: str) -> tuple[Finding, ...]:
    path, text = split_path(expand(example))
    path = path or DEFAULT_PATHS[rule.extra["document"]["language"]]
    subject = ReviewInput("test", ChangeSet((new_file(path, text),)), Texts({path: text}))
    report = review(subject)
    assert report.skipped == ()
    return tuple(f for f in report.findings if f.rule == rule.id)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@examples(("example", "fires"), examples_of, fires="fires")
def test_rule_fires_on_its_examples_and_on_no_near_miss(
    rule: Rule, example: str, fires: bool
) -> None:
    found = findings_in(rule, example)
    assert bool(found) is fires
    for finding in found:
        assert finding.severity is rule.severity or is_test_or_example(finding.path)
        assert finding.evidence and "$" not in finding.message
        assert finding.line is not None


@table("rule", catalog.load("code", examples=True), ids=lambda rule: rule.id)
def test_rule_is_complete(rule: Rule) -> None:
    assert rule.id.startswith("code-")
    assert rule.why and rule.remedy and rule.title
    whole_file = "document" not in rule.extra and "pattern" not in rule.extra
    assert whole_file or (rule.fires and rule.silent and rule.extra["keywords"])
    assert rule.extra.get("in_tests", "lower") in ("lower", "same", "off", "only")


def test_only_a_whole_conflict_is_critical() -> None:
    critical = [
        rule.id
        for rule in catalog.load("code", examples=True)
        if rule.severity is Severity.CRITICAL
    ]
    assert critical == ["code-conflict-marker"]


def test_ids_are_unique() -> None:
    ids = [rule.id for rule in catalog.load("code", examples=True)]
    assert len(ids) == len(set(ids))
