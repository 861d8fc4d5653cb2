"""What a push does to branches: which ones, and each ref of it."""

from examples import table
from reviewers.example_inputs import BRANCHES, push_input

from cli_guard.reviewers.push import review


def rules(*texts: str, protected: tuple[str, ...] = BRANCHES) -> list[str]:
    subject = push_input(*texts, protected=protected)
    return [finding.rule for finding in review(subject).findings]


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
    subject = push_input(
        "forced refs/heads/main", "plain refs/heads/x", "delete refs/heads/master"
    )
    findings = review(subject).findings
    assert [finding.rule for finding in findings] == [
        "push-force-protected",
        "push-delete-protected",
    ]
    assert len({finding.fingerprint for finding in findings}) == 2
    assert all(finding.evidence for finding in findings)
