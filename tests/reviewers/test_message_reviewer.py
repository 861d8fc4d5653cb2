from dataclasses import replace

import pytest
from examples import near_misses, table
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.example_inputs import OID, TextOfHunks, change_set

from cli_guard.model import (
    ChangeSet,
    FileChange,
    Finding,
    Kind,
    RefUpdate,
    Severity,
    Skipped,
    Status,
)
from cli_guard.repository.message import parse_message
from cli_guard.repository.pushes import Graph, Line, PushedRef
from cli_guard.reviewers.message import CHECKS, review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import load

RULES = {rule.id: rule for rule in load("message", examples=True)}


def reported(subject: ReviewInput) -> dict[str, Finding]:
    return {found.rule: found for found in review(subject).findings}


def written(message: str, style: str = "plain", **more: object) -> set[str]:
    subject = ReviewInput(
        "commit-msg", ChangeSet(()), message=parse_message(message.encode()), style=style
    )
    return set(reported(replace(subject, **more)))  # type: ignore[arg-type]


def test_every_rule_has_a_check_and_both_kinds_of_example() -> None:
    assert set(CHECKS) == set(RULES)
    assert all(rule.fires and rule.silent for rule in RULES.values())


@near_misses(
    "message",
    [
        "Close the file when the parser fails",
        "Close the file when the parser fails\n\nIt stayed open on Windows.",
        "解析に失敗したときファイルを閉じる",
        "Schließe die Datei, wenn das Lesen scheitert",
        "Merge branch 'a-branch-with-a-rather-long-name' of https://example.test/repo into main.",
        'Revert "fix"',
        "",
    ],
)
def test_a_good_message_is_let_alone(message: str) -> None:
    assert written(message) == set()


@table("style", ["plain", "conventional"])
def test_only_the_conventional_style_denies(style: str) -> None:
    message = parse_message(
        b"Add a parser. It reads and reads and reads, "
        + b"x " * 40
        + b"\nBreaking change: b"
    )
    subject = ReviewInput("commit-msg", ChangeSet(()), message=message, style=style)
    critical = [
        found.rule
        for found in review(subject).findings
        if found.severity is Severity.CRITICAL
    ]
    assert bool(critical) == (style == "conventional")


LONG = "Teach the importer to read files that were written by the old exporter, too"


def test_style_is_not_advised_by_default() -> None:
    assert "message-subject-long" not in written(LONG)


def test_configured_style_is_advised() -> None:
    assert "message-subject-long" in written(f"feat: {LONG}", style="conventional")


def test_nothing_of_the_message_is_quoted() -> None:
    message = (
        "wip s3cr3t-of-mine." + " s3cr3t-of-mine" * 12 + "\nBreaking change: s3cr3t-of-mine"
    )
    for style in ("plain", "conventional"):
        parsed = parse_message(message.encode())
        subject = ReviewInput("commit-msg", ChangeSet(()), message=parsed, style=style)
        found = review(subject).findings
        assert found or style == "plain"
        assert not any(
            "s3cr3t" in each.message + each.remedy + each.evidence for each in found
        )


def push(message: str, branch: str) -> ReviewInput:
    update = RefUpdate("refs/heads/a", OID, f"refs/heads/{branch}", "2" * 40)
    commit = ChangeSet((), commit=OID, message=message)
    protected = ("main", "release/*")
    pushed = (PushedRef(update, commits=Line(Graph({OID: ()}), OID)),)
    return ReviewInput(
        "pre-push",
        ChangeSet(()),
        history=(commit,),
        pushed=pushed,
        protected_branches=protected,
    )


@table(
    ("branch", "severity"),
    [
        ("main", Severity.HIGH),
        ("release/1.x", Severity.HIGH),
        ("topic", Severity.MEDIUM),
        ("main-copy", Severity.MEDIUM),
    ],
)
@table("message", ["WIP", "fixup! Add a"])
def test_unfinished_commits_weigh_more_on_a_protected_branch(
    message: str, branch: str, severity: Severity
) -> None:
    found = reported(push(message, branch))["message-wip-pushed"]
    assert (found.severity, found.commit) == (severity, OID)


def test_a_commit_weighs_only_on_the_branch_that_it_goes_to() -> None:
    subject = push("WIP", "main")
    other = replace(subject.pushed[0], commits=Line(Graph({"3" * 40: ()}), "3" * 40))
    assert (
        reported(replace(subject, pushed=(other,)))["message-wip-pushed"].severity
        is Severity.MEDIUM
    )


def test_a_push_is_not_told_of_matters_of_taste() -> None:
    assert reported(push("fix.\nbody " + "x " * 60, "main")) == {}


def test_a_pushed_commit_has_to_be_conventional_too() -> None:
    assert set(reported(replace(push("Add a", "topic"), style="conventional"))) == {
        "message-conventional-form"
    }


def test_a_recorded_commit_is_reviewed_once() -> None:
    commit = ChangeSet((), commit=OID, message="fix")
    assert len(review(ReviewInput("review", commit)).findings) == 1
    assert len(review(ReviewInput("review", commit, history=(commit,))).findings) == 1


def claim(message: str, changes: ChangeSet) -> bool:
    commit = replace(changes, commit=OID, message=message)
    subject = ReviewInput("review", commit, contents=TextOfHunks())
    return "message-contradicts-change" in reported(subject)


CONTRADICTED = change_set("M a.py\n-a = 1\n+a = 2\n")


@table(
    "changes",
    [
        pytest.param(
            replace(CONTRADICTED, skipped=(Skipped("b", "over a limit"),)),
            id="a skipped file",
        ),
        pytest.param(
            replace(
                CONTRADICTED,
                files=(
                    *CONTRADICTED.files,
                    FileChange("b", Status.MODIFIED, Kind.SUBMODULE),
                ),
            ),
            id="a submodule",
        ),
        pytest.param(ChangeSet(()), id="an empty amend"),
    ],
)
def test_what_was_not_read_contradicts_nothing(changes: ChangeSet) -> None:
    assert claim("docs: say more", CONTRADICTED)
    assert not claim("docs: say more", changes)


@table(
    ("path", "old", "new", "differs"),
    [
        ("a.go", "var a = 1 // one", "var a = 1 // two", False),
        ("a.go", "var a = 1 // one", "var a = 2 // one", True),
        ("a.ts", "/** a */ let a = 1", "let  a=1", False),
        ("a.java", "class A { int a; }", "class A { long a; }", True),
        ("a.sh", "rm -f a # all", "rm -f a", False),
        ("a.py", "x = 'a'", "x = 'b'", True),
        ("a.md", "a", "b", False),
        ("docs/conf.py", "a = 1", "a = 2", False),
    ],
)
def test_documentation_and_code_are_told_apart(
    path: str, old: str, new: str, differs: bool
) -> None:
    assert claim("docs: say more", change_set(f"M {path}\n-{old}\n+{new}")) == differs


@settings(deadline=None)
@given(st.text(max_size=300), st.sampled_from(["plain", "conventional"]))
def test_any_message_gets_an_answer_of_one_line(message: str, style: str) -> None:
    clean = parse_message(message.encode("utf-8", "replace"))
    for found in review(
        ReviewInput("commit-msg", CONTRADICTED, message=clean, style=style)
    ).findings:
        assert "\n" not in found.message
        assert found.fingerprint


@table(
    "message",
    ["a" * 10**6, "a.b/" * 250_000, "bump " + "to 1." * 200_000, "A\n" + "x\n" * 100_000],
)
def test_a_huge_message_gets_an_answer(message: str) -> None:
    assert written(message, style="conventional")
