"""Sign the head of the audit log where that asks nobody, and find who approved a commit."""

from contextlib import suppress
from dataclasses import replace

from cli_guard.approvals.counting import RecordedContent
from cli_guard.approvals.heads import (
    HEAD_SIGNED,
    NAMESPACE,
    find_head_problem,
    payload_of,
)
from cli_guard.approvals.listing import every_signed, list_approvals
from cli_guard.approvals.signatures import sign
from cli_guard.approvals.signers import Signers
from cli_guard.approvals.statements import APPROVE, Statement
from cli_guard.errors import CliGuardError
from cli_guard.git.repository import GitRepository
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env, Invocation
from cli_guard.state.audit import AuditLog, Entry, entry

SIGN_SECONDS = 3


def sign_head(invocation: Invocation) -> None:
    """Append a signature of the last line to the log if that asks nobody; on any failure, silently, nothing."""
    # A key file first: some agents ask, and one that hangs takes seconds.
    for env in ({**invocation.env, "SSH_AUTH_SOCK": ""}, invocation.env):
        with suppress(CliGuardError, OSError, ValueError):
            if append_signature(invocation, env):
                return


def append_signature(invocation: Invocation, env: Env) -> bool:
    """Sign the last line with a key of this user; return False if that needs another one. Raises as it fails."""
    from cli_guard.approvals.keys import find_key

    repository = GitRepository.discover(invocation.cwd, env)
    signers = Signers.at_commit(repository, repository.head)
    # A security key would wait for a touch.
    signers = replace(
        signers, known=tuple(each for each in signers.known if not each.is_security_key)
    )
    log = AuditLog(repository.state_folder)
    result = log.verify()
    signed = log.events(HEAD_SIGNED)
    last = result.numbers.get(str(signed[-1].get("head")), 0) if signed else 0
    # After the last signature there is nothing but itself, or no line at all.
    if not signers.known or result.problem or result.entries == (last and last + 1):
        return True
    if key := find_key(signers, repository, env):
        new = entry(
            HEAD_SIGNED,
            invocation,
            head=[*result.numbers][-1],
            principal=key.signer.principal,
        )
        payload = payload_of(new, result.entries, signers)
        public = key.signer.public_key
        new["signature"] = sign(
            payload,
            key.path,
            env,
            NAMESPACE,
            public_key=public,
            seconds=SIGN_SECONDS,
            unattended=True,
        )
        if not find_head_problem(new, result.entries, signers, env):
            log.append(new)
            return True
    return False


def approvals_of_commit(
    repository: Repository, invocation: Invocation, commit: str
) -> tuple[list[Entry], list[Entry]]:
    """Return the approvals of a commit ("": of any), and of all changes, as `list_approvals` does.

    Raises CliGuardError.
    """
    from cli_guard.review.load import gather
    from cli_guard.review.request import Commit

    if not commit:
        every = list_approvals(repository, invocation, every_signed(repository))
        return every, every
    with gather(Commit(commit), repository, invocation) as gathered:
        content = RecordedContent.of(gathered.subject.changes)
    tree = repository.tree_of(content.commit)
    objects = [each for each in (tree, *content.blobs.values()) if each]
    signed = every_signed(repository, objects)
    every = list_approvals(repository, invocation, signed)
    here = {e.digest for e in signed if stands_in(e.statement, content, tree)}
    named = (*content.identities, content.commit)
    of_commit = [
        each
        for each in every
        if each.get("content", each.get("commit")) in named
        or str(each.get("statement")) in here
    ]
    return of_commit, every


def stands_in(made: Statement, content: RecordedContent, tree: str) -> bool:
    """Return whether what was signed is in a commit: a file as it was approved, or the whole tree."""
    same = (content.blobs.get(path) == oid for path, oid in made.blobs.items())
    return any(same) if made.blobs else made.tree == tree and made.decision == APPROVE
