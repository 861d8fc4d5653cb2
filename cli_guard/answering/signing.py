"""Sign an approval: choose the key, build the statement, sign it, verify it, and store it here and in Git's notes."""

import datetime
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import field
from pathlib import Path

from cli_guard.approvals.keys import (
    Key,
    choose_key,
    find_key,
    require_presence,
    sign_payload,
)
from cli_guard.approvals.signers import SIGNERS, Signers
from cli_guard.approvals.statements import BREAK_GLASS, Signed, Statement
from cli_guard.approvals.storage import storages_of
from cli_guard.errors import CliGuardError, GitError, UsageError
from cli_guard.lazy import frozen
from cli_guard.model import Finding, Presence
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env, Invocation
from cli_guard.state.records import PendingReview


@frozen
class SigningPlan:
    """A statement that is ready to be signed, and the presence that policy wants of the signature."""

    statement: Statement
    key: Key
    signers: Signers
    wanted: Presence
    env: Env = field(repr=False)

    def describe(self) -> str:
        """Return who signs what, in one line, before it is signed."""
        digest = hashlib.sha256(self.statement.canonical()).hexdigest()[:10]
        return f"signs as {self.key.signer.principal} with a key of type {self.key.signer.kind}: statement {digest}"

    def sign(self) -> Signed:
        """Sign. Raises CliGuardError if that fails, or proves less than policy wants."""
        payload = self.statement.canonical()
        armored, made = sign_payload(payload, self.key, self.signers, self.env)
        require_presence(
            made.presence,
            self.wanted,
            ", ".join(sorted(set(self.statement.findings.values()))),
        )
        return Signed(self.statement, payload, armored)


def plan_signature(
    repository: Repository,
    review: PendingReview,
    findings: Sequence[Finding],
    invocation: Invocation,
    named: str = "",
    expires: datetime.timedelta | None = None,
    reason: str = "",
) -> SigningPlan | None:
    """Return what is to be signed, None if this user has no enrolled key. Raises CliGuardError if policy wants one."""
    env = invocation.env
    rules = ", ".join(sorted({each.rule for each in findings}))
    # It loads pydantic, which `pending` need not wait for.
    from cli_guard.policy.recorded import policy_at_head

    policy, _ = policy_at_head(repository, env)
    # A second person, and a number of people, can only be asked for once the change is recorded.
    levels = (policy.need_for(each).level for each in findings)
    wanted = Presence.highest(
        Presence.KEY if each is Presence.SECOND else each for each in levels
    )
    key, signers = choose_key(repository, env, wanted, rules, named)
    if key is None:
        if expires:
            raise UsageError(
                "--expires needs an enrolled key: see `cli-guard signers init`"
            )
        return None
    made = statement_of(
        repository,
        review,
        findings,
        key,
        signers,
        invocation,
        reason=reason,
        expires=expires,
    )
    return SigningPlan(made, key, signers, wanted, env)


def plan_break_glass(
    repository: Repository,
    commit: str,
    invocation: Invocation,
    named: str,
    expires: datetime.timedelta | None,
    reason: str,
) -> SigningPlan:
    """Return what is to be signed to let one commit pass unverified, for a day by default. Raises CliGuardError."""
    signers = Signers.at_commit(repository, repository.head)
    key = find_key(signers, repository, invocation.env, named)
    if key is None or not reason:
        raise UsageError("--break-glass needs an enrolled key, and --note with the reason")
    now = invocation.now
    made = Statement(
        content=commit,
        policy="",
        findings={},
        principal=key.signer.principal,
        at=now.isoformat(timespec="seconds"),
        repository=signers.repository,
        expires=(now + (expires or datetime.timedelta(days=1))).isoformat(
            timespec="seconds"
        ),
        reason=reason,
        tree=repository.tree_of(commit),
        decision=BREAK_GLASS,
    )
    return SigningPlan(made, key, signers, Presence.KEY, invocation.env)


def statement_of(
    repository: Repository,
    review: PendingReview,
    findings: Sequence[Finding],
    key: Key,
    signers: Signers,
    invocation: Invocation,
    *,
    reason: str = "",
    expires: datetime.timedelta | None = None,
) -> Statement:
    """Return the statement that approves some findings of a pending review. Raises CliGuardError."""
    if repository.is_shallow or not signers.repository:
        raise CliGuardError(
            "the first commits of this clone are cut off: run `git fetch --unshallow`, then approve"
        )
    if not set(signers.repository) <= set(repository.root_commits()):
        raise CliGuardError(
            f"{SIGNERS} names the first commits of another repository: correct its first lines"
        )
    commits = json.loads(review.bound)[0] if review.bound.startswith("[") else []
    tip = commits[-1] if commits else ""
    # What was reviewed, not what is staged a moment later; a commit does not change.
    own = {
        f"{each.commit}:{each.path}": each.path
        for each in findings
        if each.path and each.commit
    }
    found = repository.identify(own)
    blobs = {own[name]: oid for name, (oid, kind) in found.items() if kind == "blob"}
    blobs |= {
        each.path: review.blobs[each.path] for each in findings if each.path in review.blobs
    }
    now = invocation.now
    return Statement(
        content=review.content,
        policy=review.shared,
        findings={each.fingerprint: each.rule for each in findings},
        principal=key.signer.principal,
        at=now.isoformat(timespec="seconds"),
        repository=signers.repository,
        expires=(now + expires).isoformat(timespec="seconds") if expires else "",
        reason=reason,
        tree=repository.tree_of(tip) if tip else staged_tree(repository),
        base=repository.tree_of(repository.head),
        blobs=blobs,
        lines=lines_shown(review, findings),
        parent=repository.head or "",
    )


def lines_shown(review: PendingReview, findings: Iterable[Finding]) -> dict[str, str]:
    """Return the hashes of the lines that some findings of a review are shown with, by fingerprint."""
    marks = (each.fingerprint for each in findings)
    return {mark: review.lines[mark] for mark in marks if mark in review.lines}


def staged_tree(repository: Repository) -> str:
    """Return the id of the tree that Git would record now; the index is not changed. Raises GitError."""
    index = Path(repository.git.env.get("GIT_INDEX_FILE") or repository.git_dir / "index")
    with tempfile.TemporaryDirectory(prefix="cli-guard-") as folder:
        copy = Path(folder, "index")
        try:
            shutil.copyfile(repository.git.cwd / index, copy)
        except OSError as error:
            raise GitError(f"the index cannot be read: {error.strerror}") from error
        env = {**repository.git.env, "GIT_INDEX_FILE": str(copy)}
        return repository.git.at(repository.git.cwd, env).text("write-tree")


def store_signed(repository: Repository, signed: Signed) -> None:
    """Store a signed approval on its tree and files, wherever approvals are kept. Raises GitError, OSError."""
    made = signed.statement
    objects = [each for each in (made.tree, *made.blobs.values()) if each]
    for storage in storages_of(repository):
        storage.add(signed.line(), objects)
