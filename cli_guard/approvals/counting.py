"""What an approval is bound to, and which findings the approvals of a review answer."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from cli_guard.approvals.statements import Statement
from cli_guard.model import ChangeSet, Finding, Need, Presence
from cli_guard.repository.message import recorded_message

ID_DIGITS = 10
MAIL = re.compile(r"<([^<>\s]+)>")


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's approval: what was approved, and how far that is proved.

    A signed one has the presence `level` that its signature proves and the `key` that made it; one that was given at a
    terminal has the `id` of the review, and a statement of what it is bound to alone.
    """

    made: Statement
    level: Presence = Presence.TTY
    key: bytes = b""
    id: str = ""

    @classmethod
    def parse(cls, line: str) -> "Approval":
        """Parse the line of one that was given at a terminal. Raises ValueError, TypeError, KeyError."""
        data = json.loads(line)
        names = ("id", "content", "policy", "by", "at", "reason")
        id_, content, policy, by, at, reason = (str(data[name]) for name in names)
        marks = dict.fromkeys(map(str, data["fingerprints"]), "")
        made = Statement(content, policy, marks, by, at, (), reason=reason)
        return cls(made, id=id_)

    def line(self) -> str:
        """Return it in one line of JSON, to be parsed again."""
        made = self.made
        kept = {
            "id": self.id,
            "content": made.content,
            "policy": made.policy,
            "fingerprints": list(made.findings),
            "by": made.principal,
            "at": made.at,
            "reason": made.reason,
        }
        return json.dumps(kept)


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
            names = " and ".join(dict.fromkeys(each.made.principal for each in given))
            why = f": {best.made.reason}" if best.made.reason else ""
            said = f"approved by {names} ({best.level}) on {best.made.at[:10]}{why}"
            words[finding.fingerprint] = said
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
    made = approval.made
    if finding.fingerprint not in made.findings:
        return False
    if made.content in content.identities:
        return True
    here = next((each for each in commits if made.content in each.identities), None)
    if finding.path not in content.blobs:
        return False
    is_answer = finding.rule.startswith("policy-suppression-")
    if finding.rule.startswith("policy-") and not is_answer:
        if here is None:
            return False
        if approval.key and made.parent not in here.parents:
            return False
    approved = here.blobs if here else made.blobs
    same = content.blobs[finding.path]
    return finding.path in approved and approved[finding.path] == same


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
    names = {each.made.principal for each in counted}
    people = min(len(names), len({each.key for each in counted}))
    wanted = max(need.people, 2 if second else 1)
    if people < wanted:
        return f"{people} of {wanted} people approved"
    if second and names <= authors:
        return "nobody but the author and the committer approved"
    return ""
