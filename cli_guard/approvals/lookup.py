"""Find the approvals of a review: those given at a terminal here, and signed ones, wherever they are kept.

A signed one counts if, in this order: it is whole and in its one form, of a finding of this review, of this repository,
under this policy, not expired, by a key that was enrolled before the change and is not revoked, and its signature is
good. Then the presence that the signature proves is compared with what policy wants.
"""

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from cli_guard.approvals.counting import Approval, RecordedContent, answer_findings
from cli_guard.approvals.signatures import NAMESPACE, verify
from cli_guard.approvals.signers import Signer, Signers
from cli_guard.approvals.statements import APPROVE, BREAK_GLASS, Signed, Statement
from cli_guard.approvals.storage import Storage
from cli_guard.errors import ConfigError
from cli_guard.lazy import dataclass
from cli_guard.model import (
    ChangeSet,
    CommitMessage,
    Disposition,
    FileChange,
    Finding,
    Need,
    Presence,
)
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.policy.decisions import Policy

# The clocks of two machines differ.
SKEW = datetime.timedelta(minutes=10)
# A note can hold any number of lines, and each signature takes some milliseconds.
MOST_SIGNATURES = 2_000
LONGEST = 80
TOO_MANY = f"there are more than {MOST_SIGNATURES} to check"
# The place of our own temporary file in the words of ssh-keygen.
SCRATCH = re.compile(r"^\S*/signers:1: ")


@dataclass
class Approvals:
    """The approvals that may answer the findings of one review; call it with the findings.

    `verifier` decides which signed ones count. With `local`, what was approved on this machine counts, and what cannot
    be had before a commit is `recorded` (a second person) is not asked for; without it, only a signature counts.
    `lines` are those of the findings, each a path and a text; `message` is that of a commit that is about to be
    recorded; `published` commits have findings, and are not reviewed. `refused` are the reasons why approvals do not
    count, in one line each.
    """

    repository: Repository
    storages: Sequence[Storage]
    verifier: "Verifier"
    changes: ChangeSet
    history: Collection[ChangeSet]
    policy: "Policy"
    base: str | None
    local: bool = True
    recorded: bool = False
    message: CommitMessage | None = None
    published: Collection[ChangeSet] = ()
    refused: list[str] = field(default_factory=list)
    lines: set[tuple[str, str]] = field(default_factory=set)

    def __call__(self, findings: Iterable[Finding]) -> Mapping[str, str]:
        """Return the fingerprints of the findings that are approved, with who approved them. Raises CliGuardError."""
        asked = [
            each for each in findings if self.policy.disposition(each) is Disposition.REVIEW
        ]
        if not asked:
            return {}
        self.refused.clear()
        # Before the commits are read, which say what they add of these; a line that comes later is asked about.
        self.lines.update(filter(None, map(self.line_of, asked)))
        marks = {each.fingerprint for each in asked}
        given = list(self.find_unsigned(marks)) if self.local else []
        given += self.find_signed(asked)
        if not given:
            return {}
        words, reasons = answer_findings(
            asked,
            given,
            self.need_for,
            self.whole,
            self.places,
            line_of=self.line_of,
        )
        self.refused += (printable(redact(each)) for each in reasons)
        return words

    def need_for(self, finding: Finding) -> Need:
        """Return what policy wants of a finding here."""
        need = self.policy.need_for(finding)
        if self.local and self.recorded:
            return need
        if self.local:
            return Need(Presence.KEY if need.level is Presence.SECOND else need.level)
        return need if need.level.rank else replace(need, level=Presence.KEY)

    @cached_property
    def whole(self) -> RecordedContent:
        return RecordedContent.of(self.changes, self.message)

    @cached_property
    def commits(self) -> tuple[RecordedContent, ...]:
        return tuple(RecordedContent.of(each, asked=self.lines) for each in self.history)

    @cached_property
    def by_path(self) -> Mapping[str, FileChange]:
        return {each.path: each for each in self.changes}

    def line_of(self, finding: Finding) -> tuple[str, str] | None:
        """Return the path and the text of the line of a finding, None where a push is not reviewed on this machine.

        `verify` asks again when a later commit of the range touches the file.
        """
        change = self.by_path.get(finding.path)
        text = change.added.get(finding.line or 0) if change and self.local else None
        return None if text is None else (finding.path, text)

    @cached_property
    def places(self) -> tuple[RecordedContent, ...]:
        """Return the contents of all commits that may have findings."""
        return (*self.commits, *map(RecordedContent.of, self.published))

    @cached_property
    def parents(self) -> frozenset[str]:
        """Return the commits below those of this review: each was judged by the policy that its parent has."""
        ids = [each.commit for each in self.commits if each.commit]
        found = self.repository.parents(ids).values() if ids else ()
        return frozenset(oid for oids in found for oid in oids)

    def find_unsigned(self, marks: Collection[str]) -> Iterator[Approval]:
        """Yield what was approved at a terminal of some findings, by their fingerprints."""
        for storage in self.storages:
            for each in storage.read_unsigned():
                if not self.is_outdated(each.made, marks):
                    yield each

    def find_signed(self, asked: Sequence[Finding]) -> Iterator[Approval]:
        """Yield the signed approvals of some findings whose signatures are good."""
        marks = {each.fingerprint for each in asked}
        left = MOST_SIGNATURES
        for line in sorted(self.read_lines(asked)):
            try:
                signed = Signed.parse(line)
            except ValueError as error:
                self.refused.append(f"an approval does not count: {error}")
                continue
            made = signed.statement
            if marks.isdisjoint(made.findings) or made.decision != APPROVE:
                continue
            self.learn_policy(made)
            found: Signer | Approval | str = self.verifier.find_signer(signed)
            if isinstance(found, Signer):
                left -= 1
                found = self.check_one(signed, found, marks) if left >= 0 else TOO_MANY
            if isinstance(found, Approval):
                yield found
            else:
                who = clip(made.principal, LONGEST)
                said = f"the approval by {who} does not count: {found}"
                self.refused.append(printable(redact(said)))

    def read_lines(self, asked: Sequence[Finding]) -> set[str]:
        """Return what the storages hold on the objects of some findings."""
        lines: set[str] = set()
        objects = list(self.objects_of(asked))
        for storage in self.storages:
            found, remarks = storage.read(objects)
            lines |= found
            self.refused += remarks
        return lines

    def objects_of(self, asked: Sequence[Finding]) -> Iterator[str]:
        """Yield the ids of the objects on which approvals of some findings may be."""
        blobs = {each.commit: each.blobs for each in self.places}
        for each in asked:
            of = blobs.get(each.commit, {}) if each.commit else self.whole.blobs
            if blob := of.get(each.path):
                yield blob
        commits = {commit for commit in blobs if commit}
        yield from self.repository.trees(commits).values() if commits else ()

    def learn_policy(self, made: Statement) -> None:
        """Let the policy count under which a commit of this review was approved: that of its parent."""
        known = self.verifier.policies
        if known is None or made.policy in known or made.parent not in self.parents:
            return
        # It loads pydantic, which the list of pending reviews need not wait for.
        from cli_guard.policy.recorded import policy_of

        with suppress(ConfigError):
            policy, _ = policy_of((made.parent,), self.repository, {})
            known.add(policy.shared_identity)

    def check_one(
        self, signed: Signed, signer: Signer, marks: Collection[str]
    ) -> Approval | str:
        if self.is_outdated(signed.statement, marks):
            return "the guard was changed on the base since"
        return self.verifier.check_signature(signed, signer)

    def is_outdated(self, made: Statement, marks: Collection[str]) -> bool:
        """Return whether an approval changed the guard's files, and the base has done so since.

        Else the approval of a looser policy would loosen it once more.
        """
        rules = [rule for mark, rule in made.findings.items() if mark in marks]
        if not (
            any(map(loosens_guard, rules)) and made.parent and made.blobs and self.base
        ):
            return False
        since = f"{made.parent}..{self.base}"
        asked = ("rev-list", "-1", since, "--", *made.blobs)
        return self.repository.git.optional(*asked) != ""


def loosens_guard(rule: str) -> bool:
    """Return whether a rule is of a change of the guard itself; an ignored line is none."""
    return rule.startswith("policy-") and not rule.startswith("policy-suppression-")


@dataclass(frozen=True)
class Verifier:
    """Checks signed approvals: by the signers of a commit, now, under some policies (None: under any)."""

    repository: Repository
    base: str | None
    invocation: Invocation
    policies: set[str] | None = None

    @cached_property
    def signers(self) -> Signers:
        """Return the signers of the base. Raises ConfigError, GitError."""
        return Signers.at_commit(self.repository, self.base)

    def __call__(self, signed: Signed) -> Approval | str:
        """Return the approval, or why it does not count. Raises CliGuardError without ssh-keygen."""
        found = self.find_signer(signed)
        return found if isinstance(found, str) else self.check_signature(signed, found)

    def find_signer(self, signed: Signed) -> Signer | str:
        """Return who says to have signed a statement that fits, or why it does not count."""
        try:
            made = signed.signature
        except ValueError as error:
            return str(error)
        if problem := self.find_problem(signed.statement):
            return problem
        signer = self.signers.by_key.get(made.key)
        if signer is None or made.namespace != NAMESPACE:
            return "its key is not one of the signers before this change"
        if signer.principal != signed.statement.principal:
            return f"it is signed with the key of {signer.principal}"
        return signer

    def check_signature(self, signed: Signed, signer: Signer) -> Approval | str:
        """Return the approval, or why its signature is not good. Raises CliGuardError without ssh-keygen."""
        revoked = self.signers.revoked
        problem = verify(
            signed.payload,
            signed.armored,
            signer.line,
            signer.principal,
            self.invocation.env,
            revoked,
        )
        if problem:
            more = "; is its key revoked?" if revoked else ""
            return f"the signature is not good: {SCRATCH.sub('', problem)}{more}"
        made = signed.signature
        return Approval(signed.statement, made.presence, made.key)

    def find_problem(self, made: Statement) -> str | None:
        """Return what a statement is not of: this repository, this policy, this time; None if it fits."""
        now = self.invocation.now
        if self.base is None:
            return "nothing before this change says who may sign"
        if not self.signers.repository:
            return "this clone is cut off: name the repository in .cli-guard/signers (`cli-guard signers init`)"
        if set(made.repository) != set(self.signers.repository):
            return "it was given in another repository"
        if self.policies is not None and made.policy not in self.policies:
            return "it was given under another policy"
        try:
            at = datetime.datetime.fromisoformat(made.at)
            ends = None
            if made.expires:
                ends = datetime.datetime.fromisoformat(made.expires)
            if at > now + SKEW:
                return "it is dated in the future"
            if ends and ends < now:
                return f"it expired on {clip(made.expires, 10)}"
        except (ValueError, TypeError):
            return "its dates are broken"
        if made.decision == BREAK_GLASS and not (ends and made.reason.strip()):
            return "it has no end, or no reason"
        return None
