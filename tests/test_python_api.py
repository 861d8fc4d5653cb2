"""`cli_guard.review.run.review`: the same review for Python, of a change set under a policy."""

from cli_guard.model import Decision
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import changes_between
from cli_guard.review.run import review
from cli_guard.reviewers.review_input import ReviewInput


def test_the_python_call_reviews_under_the_whole_policy() -> None:
    policy = Policy(Config.model_validate({"limits": {"rounds": 1}}))
    done = review(changes_between({}, {"a.py": "x = 1\n"}), policy)
    assert done.decision is Decision.DENY
    assert "limits.rounds" in str(done.review_reason)
    assert review(changes_between({}, {"a.py": "x = 1\n"})).decision is Decision.ALLOW


def test_without_a_policy_a_subject_is_as_under_the_defaults() -> None:
    subject = ReviewInput("changes", changes_between({}, {}))
    assert subject.under(Policy()) == subject
