"""Find the approvals of a review: those given at a terminal here, and signed ones, here and in Git's notes.

A signed one counts if, in this order: it is whole and in its one form, of a finding of this review, of this repository,
under this policy, not expired, by a key that was enrolled before the change and is not revoked, and its signature is
good. Then the presence that the signature proves is compared with what policy wants.
"""

import datetime
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cli_guard.approvals.signatures import NAMESPACE, parse, verify
from cli_guard.approvals.signers import Signer, Signers
from cli_guard.approvals.statements import (
    APPROVE,
    BREAK_GLASS,
    Envelope,
    Statement,
    read_statement,
)
from cli_guard.git.notes import REF, read_notes
from cli_guard.model import Disposition, Finding, Need, Presence
from cli_guard.policy.decisions import Policy
from cli_guard.repository.protocol import Repository
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.runtime import Invocation
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.approvals import Approval, RecordedContent, answer_findings
from cli_guard.state.records import Records

# The clocks of two machines differ.
SKEW = datetime.timedelta(minutes=10)
# A note can hold any number of lines, and each signature takes some milliseconds.
MOST_SIGNATURES = 2_000
LONGEST = 80
# The place of our own temporary file in the words of ssh-keygen.
SCRATCH = re.compile(r"^\S*/signers:1: ")


@dataclass
class Approvals:
    """The approvals that may answer the findings of one review; call it with the findings.

    `policies` are the identities of the policies under which one may have been given, `base` is the commit whose
    signers count, None for none. With `local`, what was approved on this machine counts, and what cannot be had
    before a commit is `recorded` (a second person) is not asked for; without it, only a signature counts.
    `refused` are the reasons why approvals do not count, in one line each.
    """

    repository: Repository
    records: Records
    invocation: Invocation
    subject: ReviewInput
    policy: Policy
    policies: frozenset[str]
    base: str | None
    local: bool = True
    recorded: bool = False
    notes: Sequence[str] = (REF,)
    refused: list[str] = field(default_factory=list)

    def __call__(self, findings: Iterable[Finding]) -> Mapping[str, str]:
        """Return the fingerprints of the findings that are approved, with who approved them. Raises CliGuardError."""
        asked = [
            each for each in findings if self.policy.disposition(each) is Disposition.REVIEW
        ]
        if not asked:
            return {}
        self.refused.clear()
        given = list(self.records.approvals()) if self.local else []
        given = [each for each in given if each.policy == self.policy.identity]
        given += self.find_signed(asked)
        if not given:
            return {}
        words, reasons = answer_findings(
            asked, given, self.need_for, self.whole, self.commits
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
        return RecordedContent.of(self.subject.changes)

    @cached_property
    def commits(self) -> tuple[RecordedContent, ...]:
        every = list(self.subject.history)
        parents = (
            self.repository.parents(each.commit for each in every if each.commit)
            if every
            else {}
        )
        return tuple(
            RecordedContent.of(each, parents.get(each.commit or "", ())) for each in every
        )

    def is_outdated(self, statement: Statement) -> bool:
        """Return whether the base has changed the guard's files since an approval of a change of them."""
        loosens = any(rule.startswith("policy-") for rule in statement.findings.values())
        if not (loosens and statement.parent and statement.blobs and self.base):
            return False
        since = f"{statement.parent}..{self.base}"
        return (
            self.repository.git.optional("rev-list", "-1", since, "--", *statement.blobs)
            != ""
        )

    @cached_property
    def signers(self) -> Signers:
        return Signers.at_commit(self.repository, self.base)

    def find_signed(self, asked: Sequence[Finding]) -> Iterator[Approval]:
        """Yield the signed approvals of some findings whose signatures are good."""
        lines, remarks = read_notes(self.repository, self.keys_of(asked), self.notes)
        self.refused += remarks
        lines |= set(self.records.signed_lines()) if self.local else set()
        marks = {each.fingerprint for each in asked}
        left = MOST_SIGNATURES
        for line in sorted(lines):
            try:
                envelope = Envelope.parse(line)
                statement = read_statement(envelope.payload)
            except ValueError as error:
                self.refused.append(f"an approval does not count: {error}")
                continue
            if marks.isdisjoint(statement.findings) or statement.decision != APPROVE:
                continue
            signer = find_signer(
                statement, envelope, self.signers, self.policies, self.invocation.now
            )
            found: Approval | str = f"there are more than {MOST_SIGNATURES} to check"
            if isinstance(signer, str):
                found = signer
            elif left > 0:
                left -= 1
                found = check_signature(
                    statement, envelope, signer, self.signers, self.invocation.env
                )
                if self.is_outdated(statement):
                    found = "the guard was changed on the base since"
            if isinstance(found, Approval):
                yield found
            else:
                said = f"the approval by {clip(statement.principal, LONGEST)} does not count: {found}"
                self.refused.append(printable(redact(said)))

    def keys_of(self, asked: Sequence[Finding]) -> Iterator[str]:
        """Yield the ids of the objects on whose notes approvals of some findings may be."""
        blobs = {each.commit: each.blobs for each in self.commits}
        for each in asked:
            of = blobs.get(each.commit, {}) if each.commit else self.whole.blobs
            if blob := of.get(each.path):
                yield blob
        commits = {commit for commit in blobs if commit}
        yield from self.repository.trees(commits).values() if commits else ()


def find_signer(
    statement: Statement,
    envelope: Envelope,
    signers: Signers,
    policies: Collection[str] | None,
    now: datetime.datetime,
) -> Signer | str:
    """Return who says to have signed a statement that fits, or why it does not count. With None, any policy fits."""
    try:
        made = parse(envelope.signature)
    except ValueError as error:
        return str(error)
    if problem := find_problem(statement, signers, policies, now):
        return problem
    signer = signers.by_key.get(made.key)
    if signer is None or made.namespace != NAMESPACE:
        return "its key is not one of the signers before this change"
    return (
        signer
        if signer.principal == statement.principal
        else f"it is signed with the key of {signer.principal}"
    )


def check_signature(
    statement: Statement,
    envelope: Envelope,
    signer: Signer,
    signers: Signers,
    env: Mapping[str, str],
) -> Approval | str:
    """Return the approval of a statement, or why its signature is not good. Raises CliGuardError without ssh-keygen."""
    problem = verify(
        envelope.payload,
        envelope.signature,
        signer.line,
        signer.principal,
        env,
        signers.revoked,
    )
    if problem:
        more = "; is its key revoked?" if signers.revoked else ""
        return f"the signature is not good: {SCRATCH.sub('', problem)}{more}"
    made = parse(envelope.signature)
    return Approval(
        id="",
        content=statement.content,
        policy=statement.policy,
        fingerprints=tuple(statement.findings),
        by=statement.principal,
        at=statement.at,
        reason=statement.reason,
        level=made.presence,
        key=made.key,
        blobs=statement.blobs,
        parent=statement.parent,
    )


def check_statement(
    statement: Statement,
    envelope: Envelope,
    signers: Signers,
    policies: Collection[str] | None,
    invocation: Invocation,
) -> Approval | str:
    """Return the approval of a statement, or why it does not count. Raises CliGuardError without ssh-keygen."""
    found = find_signer(statement, envelope, signers, policies, invocation.now)
    return (
        found
        if isinstance(found, str)
        else check_signature(statement, envelope, found, signers, invocation.env)
    )


def find_problem(
    statement: Statement,
    signers: Signers,
    policies: Collection[str] | None,
    now: datetime.datetime,
) -> str | None:
    """Return what a statement is not of: this repository, this policy, this time; None if it fits."""
    if not signers.repository:
        return "this clone is cut off: name the repository in .cli-guard/signers (`cli-guard signers init`)"
    if set(statement.repository) != set(signers.repository):
        return "it was given in another repository"
    if policies is not None and statement.policy not in policies:
        return "it was given under another policy"
    try:
        at = datetime.datetime.fromisoformat(statement.at)
        ends = (
            datetime.datetime.fromisoformat(statement.expires)
            if statement.expires
            else None
        )
        if at > now + SKEW:
            return "it is dated in the future"
        if ends and ends < now:
            return f"it expired on {clip(statement.expires, 10)}"
        if statement.decision == BREAK_GLASS and not (ends and statement.reason.strip()):
            return "it has no end, or no reason"
    except (ValueError, TypeError):
        return "its dates are broken"
    return None
