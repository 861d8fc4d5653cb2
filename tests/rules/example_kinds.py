"""What an example in a rule file is, by the kind of the file, and what is said of it.

A kind is the file or folder below `cli_guard/rules` that the file lies in. One that is named nowhere here holds the
rules of the reviewer with its name, and an example is the text of a new file, its path in the first line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reviewers.code.code_changes import Texts, new_file
from reviewers.dependencies.trees import Tree
from reviewers.example_inputs import message_input, policy_input, push_input

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.flows import find_flows
from cli_guard.code.taint.tables import SECTIONS, tables_of
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import ChangeSet, Finding
from cli_guard.repository.between import changes_between
from cli_guard.reviewers.code import flows
from cli_guard.reviewers.registry import reviewer_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog, data
from cli_guard.rules.catalog import Rule
from cli_guard.rules.data import FOLDER
from cli_guard.rules.examples import expand, split_path
from cli_guard.secrets import scan

# Kinds whose examples need a repository, processes or the other half: the test that runs them wherever they lie.
ELSEWHERE = {
    "checks": "execution/checks/test_pushes.py",
    "drift": "reviewers/drift/test_drift_rules.py",
    "processes": "execution/test_errors.py",
    "programs": "commands/test_tables.py",
    "routing": "llm/test_routing.py",
}
# Of these, an example shows its rule and no other, and a near miss shows nothing at all.
ALONE = ("commands", "push", "secrets")
PATHS = {
    "Python": "src/sample.py",
    "JavaScript": "src/sample.js",
    "TypeScript": "src/sample.ts",
    "Go": "pkg/sample.go",
    "Java": "src/Sample.java",
    "Kotlin": "src/Sample.kt",
    "Elixir": "lib/sample.ex",
    "Lua": "src/sample.lua",
    "Dart": "lib/sample.dart",
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
FILE_MARK = re.compile(r"(?m)^<<path:")
TYPED = re.compile(r"/>|\w: (?:string|any|[A-Z]\w+)[,);= ]")
Row = tuple[Any, Any, bool]


def kind_of(file: Path) -> str:
    """Return the kind of a rule file."""
    return file.relative_to(FOLDER).parts[0].partition(".")[0]


def has_examples(data: Any) -> bool:
    """Return whether there are examples and near misses anywhere in a file."""
    if isinstance(data, list):
        return any(map(has_examples, data))
    if not isinstance(data, dict):
        return False
    if {"fires", "silent"} <= data.keys() or {"match", "near"} <= data.keys():
        return True
    return any(map(has_examples, data.values()))


def rows_of(file: Path) -> Iterator[Row]:
    """Yield the examples of a file: what they belong to, the example, and whether it fires."""
    if kind_of(file) == "flow":
        yield from rows_of_flow(file)
        return
    if kind_of(file) == "protections":
        yield from rows_of_signs(file)
    path = file.relative_to(FOLDER).as_posix()
    for rule in catalog.rules_in(path, examples=True):
        yield from ((rule, text, True) for text in rule.fires)
        yield from ((rule, text, False) for text in rule.silent)
        changes = rule.extra.get("change", ())
        yield from ((rule, change, change["fires"]) for change in changes)


def rows_of_flow(file: Path) -> Iterator[Row]:
    """Yield the examples of the tables of flows."""
    table = data.parse(file)
    for entry in (entry for section in SECTIONS for entry in table.get(section, ())):
        yield from ((entry, text, True) for text in entry["fires"])
        yield from ((entry, text, False) for text in entry["silent"])


def rows_of_signs(file: Path) -> Iterator[Row]:
    """Yield the examples of the signs by which the members of a family of protections are recognised."""
    for sign in data.parse(file).get("sign", ()):
        yield from ((sign, text, True) for text in sign["fires"])
        yield from ((sign, text, False) for text in sign["silent"])


def check_example(file: Path, owner: Any, example: Any, *, fires: bool) -> None:
    """Assert that an example fires, or that a near miss does not."""
    kind = kind_of(file)
    if kind == "flow":
        check_flow(file.parent.name, owner, example, fires=fires)
        return
    if kind == "protections":
        check_protection(owner, example, fires=fires)
        return
    if kind == "secrets" and "names" not in owner.extra:
        check_secret(owner, example, fires=fires)
        return
    findings = findings_in(kind, owner, example)
    own = [each for each in findings if each.rule == owner.id]
    assert bool(own) is fires, f"reported: {sorted({each.rule for each in findings})}"
    if kind in ALONE:
        assert len(own) == len(findings), sorted({each.rule for each in findings})
    for each in own:
        assert each.message and each.fingerprint
        if kind == "code":
            check_code(owner, each)
        if kind == "policy":
            assert each.path == example.partition("\n")[0]
    if isinstance(example, Mapping):
        shown = own[0].suggestion if own else ""
        assert [each for each in example.get("suggests", ()) if each not in shown] == []


def findings_in(kind: str, rule: Rule, example: Any) -> Sequence[Finding]:
    """Return what the reviewer of the rule says of an example."""
    subject = subject_of(kind, rule, example)
    with pytest.MonkeyPatch.context() as patch:
        # Where data is followed to the same line, that alone is told; here each construct is tried by itself.
        patch.setattr(flows, "inspect", lambda *_: iter(()))
        report = reviewer_of(kind).review(subject)
    assert report.skipped == ()
    return report.findings


def subject_of(kind: str, rule: Rule, example: Any) -> ReviewInput:
    """Return the review that an example describes."""
    if isinstance(example, Mapping):
        return changed_file(example)
    if kind == "message":
        return message_input(rule, example)
    if kind == "policy":
        return policy_input(example)
    if kind == "push":
        return push_input(example)
    return added_file(rule, example)


def added_file(rule: Rule, example: str) -> ReviewInput:
    """Return the review of a new file."""
    path, text = split_path(expand(example))
    path = path or PATHS[rule.extra.get("document", {}).get("language", "Python")]
    return ReviewInput("test", ChangeSet((new_file(path, text),)), Texts({path: text}))


def changed_file(change: Mapping[str, Any]) -> ReviewInput:
    """Return the review of a changed file, new if there is no text before; `beside` are others, `added` new ones."""
    path = change["path"]
    before, after = (change[side].removeprefix("\n") for side in ("before", "after"))
    beside = change.get("beside", {})
    old = {path: before, **beside} if before else beside
    new = {path: after, **beside, **change.get("added", {})}
    return ReviewInput("pre-commit", changes_between(old, new), Tree(old, new))


def check_protection(owner: Any, example: str, *, fires: bool) -> None:
    """Assert that the change in an example takes away what its rule or sign is about, and that a near miss does not."""
    wanted = owner.id if isinstance(owner, Rule) else f"protection-{owner['family']}"
    subject = replace(changed_files(example), own_guards=("require_tenant",))
    findings = reviewer_of("protections").review(subject).findings
    own = [each for each in findings if each.rule == wanted]
    assert bool(own) is fires, f"reported: {sorted({each.rule for each in findings})}"
    for each in own:
        assert each.line and each.fingerprint and each.evidence[:2] in ("- ", "+ ")


def changed_files(example: str) -> ReviewInput:
    """Return the review of the change in an example: lines with `-` before it, with `+` after it, others on both sides.

    Each file begins with its path, as `<<path:NAME>>`.
    """
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    for part in FILE_MARK.split(example)[1:]:
        path, text = split_path(f"<<path:{part}")
        lines = text.splitlines(keepends=True)
        old[path] = "".join(each[1:] for each in lines if not each.startswith("+"))
        new[path] = "".join(each[1:] for each in lines if not each.startswith("-"))
    before = {path: text for path, text in old.items() if text}
    after = {path: text for path, text in new.items() if text}
    return ReviewInput("pre-commit", changes_between(before, after), Tree(before, after))


def check_secret(rule: Rule, example: str, *, fires: bool) -> None:
    """Assert that each variant of an example is found by its rule alone, and that of a near miss by none."""
    for seed in range(3):
        path, text = split_path(expand(example, seed))
        found = {hit.rule for hit in scan(text, path or "").hits}
        assert found == ({rule.id} if fires else set())


def check_code(rule: Rule, finding: Finding) -> None:
    """Assert that a finding has what a rule of code promises."""
    assert finding.severity is rule.severity or is_test_or_example(finding.path)
    assert finding.evidence and "$" not in finding.message
    assert finding.line is not None


def check_flow(
    language: str, entry: Mapping[str, Any], example: str, *, fires: bool
) -> None:
    """Assert that data is followed in an example, and not in its twin."""
    if language == "javascript" and TYPED.search(example):
        language = "tsx"
    if language == "c" and "std::" in example:
        language = "cpp"
    tables = tables_of(language)
    assert tables is not None
    text = expand(example)
    kinds = {
        flow.kind
        for flow in find_flows(Trees().root(language, text), language, text, tables)
    }
    assert not kinds or tables.may_hold_flow(text)
    wanted = {entry["kind"]} if "kind" in entry else kinds
    assert bool(wanted & kinds) is fires, kinds
