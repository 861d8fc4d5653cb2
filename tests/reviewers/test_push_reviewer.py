"""What a push does to branches: the examples of the rule file, `forced|plain|delete REF`."""

import pytest
from examples import examples, near_misses, table

from cli_guard.model import ChangeSet, RefUpdate
from cli_guard.repository.pushes import PushedRef
from cli_guard.reviewers.push import review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import load

OLD = "a" * 40
NEW = "b" * 40
ZERO = "0" * 40
BRANCHES = ("main", "master", "release/*")


def pushed(text: str) -> PushedRef:
    how, ref = text.split(" ", 1)
    local = ("(delete)", ZERO) if how == "delete" else ("refs/heads/x", NEW)
    return PushedRef(RefUpdate(*local, ref, OLD), forced=how == "forced")


def rules(*texts: str, protected: tuple[str, ...] = BRANCHES) -> list[str]:
    refs = tuple(pushed(text) for text in texts)
    subject = ReviewInput(
        "pre-push", ChangeSet(()), pushed=refs, protected_branches=protected
    )
    return [finding.rule for finding in review(subject).findings]


RULES = {rule.id: rule for rule in load("push") if rule.fires}


@pytest.mark.parametrize("rule", RULES)
@examples("text", lambda rule: RULES[rule].fires)
def test_an_example_fires(rule: str, text: str) -> None:
    assert rules(text) == [rule]


@pytest.mark.parametrize("rule", RULES)
@near_misses("text", lambda rule: RULES[rule].silent)
def test_a_near_miss_is_silent(rule: str, text: str) -> None:
    assert rule not in rules(text)


@table(
    ("text", "protected", "fires"),
    [
        ("forced main", ("main",), True),
        ("forced refs/heads/topic/main", ("main",), False),
        ("forced refs/heads/release/1/2", ("release/*",), False),
        ("forced refs/heads/release/1/2", ("release/**",), True),
        ("forced refs/heads/a/b", ("**",), True),
        ("forced refs/heads/main", (), False),
        ("forced refs/notes/main", ("**",), False),
    ],
)
def test_which_branches(text: str, protected: tuple[str, ...], fires: bool) -> None:
    assert bool(rules(text, protected=protected)) is fires


def test_each_ref_of_a_push_and_no_two_fingerprints_alike() -> None:
    refs = tuple(
        pushed(text)
        for text in (
            "forced refs/heads/main",
            "plain refs/heads/x",
            "delete refs/heads/master",
        )
    )
    findings = review(
        ReviewInput("pre-push", ChangeSet(()), pushed=refs, protected_branches=BRANCHES)
    ).findings
    assert [finding.rule for finding in findings] == [
        "push-force-protected",
        "push-delete-protected",
    ]
    assert len({finding.fingerprint for finding in findings}) == 2
    assert all(finding.evidence for finding in findings)
