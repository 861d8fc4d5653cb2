"""What an approval is bound to. Where approvals are kept is `cli_guard.records`."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

ID_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's yes to some findings of one content under one policy.

    `content` is the identity of the change (what is recorded and what it starts from), `fingerprints` the
    findings that were shown; `at` is an ISO 8601 time in UTC.
    """

    id: str
    content: str
    policy: str
    fingerprints: tuple[str, ...]
    by: str
    at: str
    reason: str = ""


def review_id(content: str, policy: str, fingerprints: Iterable[str]) -> str:
    """The id of a review that waits: the same content, policy and findings give the same id."""
    data = "\0".join((content, policy, *sorted(fingerprints)))
    return hashlib.sha256(data.encode()).hexdigest()[:ID_DIGITS]


def approved_findings(approvals: Iterable[Approval], contents: Iterable[str], policy: str) -> dict[str, str]:
    """The findings that stand approved for any of these contents under exactly this policy, and by whom."""
    wanted = set(contents)
    return {
        mark: f"approved by {approval.by} on {approval.at[:10]}"
        + (f": {approval.reason}" if approval.reason else "")
        for approval in approvals
        if approval.content in wanted and approval.policy == policy
        for mark in approval.fingerprints
    }
