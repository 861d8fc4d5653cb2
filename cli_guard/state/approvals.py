"""What an approval is bound to; `cli_guard.state.records` stores approvals."""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from cli_guard.model import ChangeSet, Finding

ID_DIGITS = 10


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's approval of findings in one content under one policy.

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


@dataclass(frozen=True, slots=True)
class RecordedContent:
    """The content of an approval: the identity of a change or commit, and the blob of each path in it."""

    identity: str
    blobs: Mapping[str, str | None] = field(default_factory=dict)
    commit: str | None = None

    @classmethod
    def of(cls, changes: ChangeSet) -> "RecordedContent":
        return cls(changes.identity, {c.path: c.new_blob for c in changes}, changes.commit)


def review_id(content: str, policy: str, fingerprints: Iterable[str]) -> str:
    """Return the id of a pending review: the same content, policy and findings give the same id."""
    data = "\0".join((content, policy, *sorted(fingerprints)))
    return hashlib.sha256(data.encode()).hexdigest()[:ID_DIGITS]


def approved_findings(
    findings: Iterable[Finding],
    approvals: Collection[Approval],
    policy: str,
    content: RecordedContent,
    commits: Iterable[RecordedContent],
) -> dict[str, str]:
    """Return the fingerprints of findings that are approved under exactly this policy, and who approved them.

    An approval of the whole `content` covers all its findings. One that was given for a commit, before it was
    recorded, covers what is in that commit, and a file of the whole only if it is still the same blob. A
    fingerprint that several findings share is approved if each of them is.
    """
    if not approvals:
        return {}
    given = [approval for approval in approvals if approval.policy == policy]
    by_identity = {each.identity: each for each in (*commits, content)}
    words: dict[str, str] = {}
    refused: set[str] = set()
    for finding in findings:
        approval = next((a for a in given if covers(a, finding, content, by_identity.get(a.content))), None)
        if approval is None:
            refused.add(finding.fingerprint)
        else:
            why = f": {approval.reason}" if approval.reason else ""
            words[finding.fingerprint] = f"approved by {approval.by} on {approval.at[:10]}{why}"
    return {mark: said for mark, said in words.items() if mark not in refused}


def covers(
    approval: Approval, finding: Finding, content: RecordedContent, approved: RecordedContent | None
) -> bool:
    """Return whether an approval of the `approved` content covers a finding in the whole `content`."""
    if approved is None or finding.fingerprint not in approval.fingerprints:
        return False
    if approved.identity == content.identity or (finding.commit and finding.commit == approved.commit):
        return True
    same = finding.path in approved.blobs and finding.path in content.blobs
    return finding.commit is None and same and approved.blobs[finding.path] == content.blobs[finding.path]
