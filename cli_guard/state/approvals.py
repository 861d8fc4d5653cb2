"""What an approval is bound to, and which findings the approvals of a review answer."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cli_guard.model import ChangeSet, Finding, Need, Presence
from cli_guard.repository.message import recorded_message

ID_DIGITS = 10
MAIL = re.compile(r"<([^<>\s]+)>")


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's approval of findings in one content under one policy.

    `content` is the identity of the change (what is recorded and what it starts from), `fingerprints` the findings that
    were shown; `at` is an ISO 8601 time in UTC. A signed one has the `key` that signed it, the presence `level` that it
    proves, the `blobs` of the files with findings, by path, and the commit that was at HEAD.
    """

    id: str
    content: str
    policy: str
    fingerprints: tuple[str, ...]
    by: str
    at: str
    reason: str = ""
    level: Presence = Presence.TTY
    key: bytes = b""
    blobs: Mapping[str, str] = field(default_factory=dict)
    parent: str = ""


@dataclass(frozen=True, slots=True)
class RecordedContent:
    """What an approval may be of: a change or commit, the blob of each path in it, and its author and committer.

    Its `identities` are those without and with the commit message.
    """

    identities: tuple[str, ...]
    blobs: Mapping[str, str | None] = field(default_factory=dict)
    commit: str | None = None
    people: frozenset[str] = frozenset()
    parents: tuple[str, ...] = ()

    @classmethod
    def of(cls, changes: ChangeSet, parents: tuple[str, ...] = ()) -> "RecordedContent":
        """Return the content of a change set."""
        identities: tuple[str, ...] = (changes.identity,)
        if changes.message is not None:
            identities = (
                *identities,
                join_identity(changes.identity, recorded_message(changes.message).text),
            )
        people = frozenset(
            mail.lower() for line in changes.people for mail in MAIL.findall(line)
        )
        return cls(
            identities,
            {c.path: c.new_blob for c in changes},
            changes.commit,
            people,
            parents,
        )


def join_identity(*parts: str) -> str:
    """Return the identity of a content that has several parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def review_id(content: str, policy: str, fingerprints: Iterable[str]) -> str:
    """Return the id of a pending review: the same content, policy and findings give the same id."""
    return join_identity(content, policy, *sorted(fingerprints))[:ID_DIGITS]


def answer_findings(
    findings: Iterable[Finding],
    approvals: Sequence[Approval],
    need_for: Callable[[Finding], Need],
    whole: RecordedContent,
    commits: Sequence[RecordedContent],
) -> tuple[dict[str, str], list[str]]:
    """Return the fingerprints that are approved as `need_for` says, with who approved them, and why others are not.

    A fingerprint that several findings share is approved if each of them is.
    """
    words: dict[str, str] = {}
    refused: set[str] = set()
    reasons: list[str] = []
    everyone = whole.people.union(*(each.people for each in commits))
    for finding in findings:
        content = next((each for each in commits if each.commit == finding.commit), whole)
        given = [each for each in approvals if covers(each, finding, content, commits)]
        missing = why_not_enough(given, need_for(finding), content.people or everyone)
        if given and not missing:
            best = max(given, key=lambda each: each.level.rank)
            names = " and ".join(dict.fromkeys(each.by for each in given))
            why = f": {best.reason}" if best.reason else ""
            words[finding.fingerprint] = (
                f"approved by {names} ({best.level}) on {best.at[:10]}{why}"
            )
            continue
        refused.add(finding.fingerprint)
        if given:
            reasons.append(
                f"{finding.rule}{f' at {finding.path}' if finding.path else ''}: {missing}"
            )
    return {mark: said for mark, said in words.items() if mark not in refused}, list(
        dict.fromkeys(reasons)
    )


def covers(
    approval: Approval,
    finding: Finding,
    content: RecordedContent,
    commits: Iterable[RecordedContent],
) -> bool:
    """Return whether an approval is of this finding in this content.

    It is if it was given for exactly this content; or if the file of the finding is the same as it was there, for
    files keep their contents when a commit is rebased, squashed or picked. What changes the guard itself must have
    been approved for a commit of this very change, on top of the same commit: else an old approval would loosen the
    policy once more.
    """
    if finding.fingerprint not in approval.fingerprints:
        return False
    if approval.content in content.identities:
        return True
    here = next((each for each in commits if approval.content in each.identities), None)
    guard = finding.rule.startswith("policy-") and not finding.rule.startswith(
        "policy-suppression-"
    )
    if finding.path not in content.blobs or (guard and here is None):
        return False
    approved = here.blobs if here else approval.blobs
    if guard and here and approval.key and approval.parent not in here.parents:
        return False
    return (
        finding.path in approved and approved[finding.path] == content.blobs[finding.path]
    )


def why_not_enough(given: Sequence[Approval], need: Need, authors: frozenset[str]) -> str:
    """Return why approvals are not enough, "" if they are.

    A second person proves to be one by a second key: the author of a commit is only what its author wrote.
    """
    second = need.level is Presence.SECOND
    level = Presence.KEY if second else need.level
    counted = [each for each in given if each.level.rank >= level.rank]
    if not counted:
        best = Presence.highest(each.level for each in given)
        good = (
            "signature good, but presence is"
            if best.rank
            else "approved at a terminal, which is"
        )
        return f"{good} {best}; policy wants {level}"
    people = min(len({each.by for each in counted}), len({each.key for each in counted}))
    wanted = max(need.people, 2 if second else 1)
    if people < wanted:
        return f"{people} of {wanted} people approved"
    if second and all(each.by in authors for each in counted):
        return "nobody but the author and the committer approved"
    return ""
