"""What an approval is bound to, and which findings the approvals of a review answer."""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field

from cli_guard.approvals.statements import Statement
from cli_guard.lazy import frozen
from cli_guard.model import (
    ChangeSet,
    CommitMessage,
    FileChange,
    Finding,
    Need,
    Presence,
    Status,
)
from cli_guard.repository.message import recorded_message

ID_DIGITS = 10
MAIL = re.compile(r"<([^<>\s]+)>")


@frozen
class Approval:
    """A person's approval: what was approved, and how far that is proved.

    A signed one has the presence `level` that its signature proves and the `key` that made it.
    """

    made: Statement
    level: Presence = Presence.TTY
    key: bytes = b""


@frozen
class RecordedContent:
    """What an approval may be of: a change or commit, and its author and committer.

    Its `identities` are those without and with the commit message. `blobs` are the contents of its paths, `lines` the
    SHA-256 of what each path adds and removes; `message` is that of the commit message with all of these. `adds` says
    which of some lines it adds, each a path and a text.
    """

    identities: tuple[str, ...]
    blobs: Mapping[str, str | None] = field(default_factory=dict)
    lines: Mapping[str, str] = field(default_factory=dict)
    message: str = ""
    commit: str | None = None
    people: frozenset[str] = frozenset()
    adds: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(
        cls,
        changes: ChangeSet,
        message: CommitMessage | None = None,
        asked: Collection[tuple[str, str]] = (),
    ) -> "RecordedContent":
        """Return the content of a change set; `message` is the one that it comes with, if it is not recorded yet.

        `asked` are the lines of which it says whether it adds them.
        """
        if message is None and changes.message is not None:
            message = recorded_message(changes.message)
        identities: tuple[str, ...] = (changes.identity,)
        lines = {each.path: identify_lines(each) for each in changes}
        bound = ""
        if message is not None:
            identities = (*identities, join_identity(changes.identity, message.text))
            bound = join_identity(message.text, *sorted(lines.values()))
        people = frozenset(
            mail.lower() for line in changes.people for mail in MAIL.findall(line)
        )
        blobs = {each.path: each.new_blob for each in changes}
        by_path = {each.path: each for each in changes}
        adds = frozenset(
            (path, text)
            for path, text in asked
            if path in by_path and text in by_path[path].added.values()
        )
        return cls(
            identities,
            blobs,
            lines,
            bound,
            changes.commit,
            people,
            adds,
        )

    def lines_of(self, finding: Finding) -> str:
        """Return the hash of the changed lines that a finding is shown with, "" for what is of no file or message.

        A file that is deleted leaves none: its approval holds for exactly the content.
        """
        if finding.path:
            return self.lines.get(finding.path, "") if self.blobs.get(finding.path) else ""
        # What a push does to a remote, it does to that remote alone.
        return "" if finding.rule.startswith(("push-", "policy-")) else self.message


def join_identity(*parts: str) -> str:
    """Return the identity of a content that has several parts."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def identify_lines(change: FileChange) -> str:
    """Hash what a change shows of a file: a rebase on other lines of it gives the same."""
    shown = [
        change.path,
        change.old_path if change.status is Status.RENAMED else "",
        change.new_mode,
        # A file without lines (binary, or too big) is its content.
        "" if change.hunks else change.new_blob,
        *((hunk.removed, hunk.added) for hunk in change.hunks),
    ]
    return join_identity(repr(shown))


def review_id(content: str, policy: str, fingerprints: Iterable[str]) -> str:
    """Return the id of a pending review: the same content, policy and findings give the same id."""
    return join_identity(content, policy, *sorted(fingerprints))[:ID_DIGITS]


def answer_findings(
    findings: Iterable[Finding],
    approvals: Sequence[Approval],
    need_for: Callable[[Finding], Need],
    whole: RecordedContent,
    commits: Sequence[RecordedContent],
    *,
    line_of: Callable[[Finding], tuple[str, str] | None],
) -> tuple[dict[str, str], list[str]]:
    """Return the fingerprints that are approved as `need_for` says, with who approved them, and why others are not.

    A fingerprint that several findings share is approved if each of them is. `line_of` gives the path and the text of a
    finding whose approval for every commit that adds this line is enough, whatever else later commits do to the file.
    """
    words: dict[str, str] = {}
    refused: set[str] = set()
    reasons: list[str] = []
    everyone = whole.people.union(*(each.people for each in commits))
    for finding in findings:
        content = next((each for each in commits if each.commit == finding.commit), whole)
        line = line_of(finding) if content is whole else None
        adding = [each for each in commits if line in each.adds]
        given = [
            each
            for each in approvals
            if is_of_commit(each, finding, content, commits)
            or covers(each, finding, content)
            or (adding and all(covers(each, finding, place) for place in adding))
        ]
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


def covers(approval: Approval, finding: Finding, content: RecordedContent) -> bool:
    """Return whether an approval is of this finding in this content.

    It is if it was given for exactly this content; or if the change of the file shows the same lines as then, or leaves
    the same file: one of these stays when a commit is rebased, squashed or picked. Whether the base has changed the
    guard since is up to the caller.
    """
    made = approval.made
    if finding.fingerprint not in made.findings:
        return False
    if made.content in content.identities:
        return True
    lines = content.lines_of(finding)
    if lines and made.lines.get(finding.fingerprint) == lines:
        return True
    blob = content.blobs.get(finding.path)
    return blob is not None and made.blobs.get(finding.path) == blob


def is_of_commit(
    approval: Approval,
    finding: Finding,
    content: RecordedContent,
    commits: Iterable[RecordedContent],
) -> bool:
    """Return whether an approval is of exactly one of the commits, and the whole leaves the file as that one does."""
    made = approval.made
    if finding.fingerprint not in made.findings or finding.path not in content.blobs:
        return False
    same = content.blobs[finding.path]
    return any(
        made.content in each.identities and each.blobs.get(finding.path, "") == same
        for each in commits
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
            "signature good, but it shows only"
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
