"""Sign the head of the audit log, check the log against signed heads and the state, and find who approved what.

Lines before a signed head cannot be changed without its key. That lines were cut off together with every signature
after them is not noticed here; so the check says from where to where the log is signed.
"""

import datetime
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace

from cli_guard.approvals.signatures import parse, sign, verify
from cli_guard.approvals.signers import Signers
from cli_guard.approvals.statements import (
    APPROVE,
    BREAK_GLASS,
    Envelope,
    Statement,
    encode,
    read_statement,
)
from cli_guard.errors import CliGuardError
from cli_guard.git.notes import REF, read_notes
from cli_guard.git.repository import GitRepository
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import count
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.approvals import RecordedContent
from cli_guard.state.audit import AuditLog, Entry, Verification, entry
from cli_guard.state.records import KEPT_APPROVALS, Records
from cli_guard.state.trees import EVENT as TREE
from cli_guard.state.trees import Trees

HEAD_SIGNED = "head-signed"
# Not that of approvals: neither signature can be used as the other.
NAMESPACE = "cli-guard-audit@v1"
SIGN_SECONDS = 3
CHECKED_DAYS = 90
TRIED_HEADS = 5
UNSIGNED = "not signed, so nobody can know whether its beginning was cut off or all of it computed anew"
NO_ENTRY = "no entry in the audit log for"


def sign_head(invocation: Invocation) -> None:
    """Append a signature of the last line to the log if that asks nobody; on any failure, silently, nothing."""
    # A key file first: some agents ask, and one that hangs takes seconds.
    for env in ({**invocation.env, "SSH_AUTH_SOCK": ""}, invocation.env):
        with suppress(CliGuardError, OSError, ValueError):
            if append_signature(invocation, env):
                return


def append_signature(invocation: Invocation, env: Mapping[str, str]) -> bool:
    """Sign the last line with a key of this user; return False if that needs another one. Raises as it fails."""
    from cli_guard.answering.signing import find_key

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


def payload_of(logged: Entry, entries: int, signers: Signers) -> bytes:
    """Return what is signed of a head: the hash of a line, its number, the repository and the time."""
    signed = {"at": logged.get("at"), "head": logged.get("head")}
    return encode({**signed, "entries": entries, "repository": sorted(signers.repository)})


def find_head_problem(
    logged: Entry, entries: int, signers: Signers, env: Mapping[str, str]
) -> str | None:
    """Return why the signature of a head is not good, None if it is. Raises CliGuardError without ssh-keygen."""
    armored = str(logged.get("signature"))
    payload = payload_of(logged, entries, signers)
    try:
        made = parse(armored)
        signer = signers.by_key.get(made.key)
        if made.namespace != NAMESPACE:
            return f"it was made for {made.namespace}"
        if signer is None or signer.principal != logged.get("principal"):
            return "its key is not one of this signer at HEAD"
        # Without its dates: a key may end after it has signed.
        line = f'{signer.principal} namespaces="{NAMESPACE}" {signer.public_key}'
        return verify(
            payload, armored, line, signer.principal, env, signers.revoked, NAMESPACE
        )
    except ValueError as error:
        return str(error)


def check_log(
    result: Verification, repository: Repository, invocation: Invocation
) -> tuple[list[str], str]:
    """Return in lines where a log disagrees with its signatures and the state, and what is signed of it.

    What precedes the last good signature was signed with it: earlier signers may have left. Raises CliGuardError.
    """
    records = Records(repository.state_folder)
    state = (records, repository, invocation)
    problems = [*check_approvals(*state), *check_rest(*state)]
    heads = records.audit.events(HEAD_SIGNED)
    signers = Signers.at_commit(repository, repository.head)
    last = 0
    signed = UNSIGNED
    for each in reversed(heads):
        entries = result.numbers.get(str(each.get("head")))
        who = each.get("principal")
        said = f"the head that {who} signed at {each.get('at')}"
        if entries is None:
            problems.append(
                f"{said} is not in the log: lines before it were changed or removed"
            )
        elif not last and (
            problem := find_head_problem(each, entries, signers, invocation.env)
        ):
            problems.append(f"{said} does not count: {problem}")
        elif not last:
            last = entries
            signed = f"signed up to entry {entries} by {who}"
    if not last:
        return problems, signed
    # Until the first signature, what precedes it may have been cut off or rewritten.
    for each in heads[:TRIED_HEADS]:
        entries = result.numbers.get(str(each.get("head")), 0)
        if entries == last or (
            entries and not find_head_problem(each, entries, signers, invocation.env)
        ):
            signed += f", first at entry {entries} on {str(each.get('at'))[:10]}"
            break
    # The entry after it is the signature itself.
    if (left := result.entries - last - 1) > 0:
        signed += f"; {left} later {'entry is' if left == 1 else 'entries are'} not signed"
    return problems, signed


def check_approvals(
    records: Records, repository: Repository, invocation: Invocation
) -> Iterator[str]:
    """Yield the approvals without their event, and the events without their approval. Raises CliGuardError."""
    given = records.approvals()
    kept = records.approvals(confirmed=False)
    if lost := [each.id for each in kept if each not in given]:
        yield f"{NO_ENTRY} {count(len(lost), 'approval')}, not counted: {', '.join(lost)}"
    events = approval_events(records.audit)
    signed = read_signed(records.signed_lines())
    logged = {str(each.get("statement")) for each in events}
    for mark, _, made, _ in signed:
        if mark not in logged:
            yield f"{NO_ENTRY} the approval that {made.principal} signed at {made.at}"
    since = (invocation.now - datetime.timedelta(days=CHECKED_DAYS)).isoformat()
    # Older ones were dropped on purpose.
    due = [each for each in events[-KEPT_APPROVALS:] if str(each.get("at")) >= since]
    if {str(each["statement"]) for each in due if "statement" in each} - {
        mark for mark, *_ in signed
    }:
        signed += read_signed(noted_lines(repository))
    found = [
        [each.id, each.content, each.policy, "tty", sorted(each.fingerprints)]
        for each in kept
    ]
    found += [
        [mark, made.principal, how, sorted(made.findings)] for mark, _, made, how in signed
    ]
    for each in due:
        names = (
            ("statement", "principal")
            if "statement" in each
            else ("review_id", "content", "policy")
        )
        if [
            *map(each.get, names),
            each.get("level", "tty"),
            each.get("fingerprints", []),
        ] not in found:
            who = each.get("principal", each.get("user"))
            what = each.get("review_id", each["event"])
            yield f"approved, and the approval is gone: {what}, by {who} at {each.get('at')}"


def check_rest(
    records: Records, repository: Repository, invocation: Invocation
) -> Iterator[str]:
    """Yield where the log disagrees with written patches and the trust in this work tree. Raises CliGuardError."""
    last = {
        str(each.get("review_id")): each["event"]
        for each in records.audit.events(APPROVE, "undo")
    }
    for each in records.applied_patches():
        if last.get(each.id) != APPROVE:
            yield f"{NO_ENTRY} the patch {each.id}, which `cli-guard undo` would take back"
    if repository.bare:
        return
    tree = Trees(invocation.env).at(repository.root)
    path = str(repository.root.resolve())
    said = next(
        (each for each in reversed(records.audit.events(TREE)) if each.get("path") == path),
        {},
    )
    if tree and tree.digest != said.get("record"):
        yield f"{NO_ENTRY} the trust in {path}, not counted: see `cli-guard trust --revoke`"
    elif not tree and said.get("record") and said.get("user") == invocation.user:
        yield f"trusted, and the record is gone: {path}, by {invocation.user} at {said.get('at')}"


def approval_events(log: AuditLog) -> list[Entry]:
    """Return the entries of the approvals of changes, oldest first. Raises CliGuardError."""
    given = log.events(APPROVE, BREAK_GLASS)
    # The content of a request of `ask` is its id.
    return [
        each
        for each in given
        if "review_id" not in each or each.get("content") != each["review_id"]
    ]


def read_signed(lines: Iterable[str]) -> list[tuple[str, Envelope, Statement, str]]:
    """Return the signed approvals in some lines: the SHA-256 of what is signed, and the presence level with it."""
    found = []
    for line in sorted(lines):
        with suppress(ValueError):
            signed = Envelope.parse(line)
            made = read_statement(signed.payload)
            level = str(parse(signed.signature).presence)
            found.append((signed.digest, signed, made, level))
    return found


def noted_lines(repository: Repository, first: Iterable[str] = ()) -> set[str]:
    """Return the lines of the notes, as far as they are read, those on some objects first. Raises GitError."""
    listed = (repository.git.optional("notes", f"--ref={REF}", "list") or "").splitlines()
    return read_notes(repository, (*first, *(line.rpartition(" ")[2] for line in listed)))[
        0
    ]


def stands_in(made: Statement, content: RecordedContent, tree: str) -> bool:
    """Return whether what was signed is in a commit: a file as it was approved, or the whole tree."""
    same = (content.blobs.get(path) == oid for path, oid in made.blobs.items())
    return any(same) if made.blobs else made.tree == tree and made.decision == APPROVE


def find_approvals(
    repository: Repository, invocation: Invocation, commit: str
) -> tuple[list[Entry], list[Entry]]:
    """Return the approvals of a commit ("": of any), and of all changes, oldest first, as entries of the log.

    Those that only the notes have are entries as well; `refused` is why one does not count. Raises CliGuardError.
    """
    from cli_guard.review.approvals import check_statement
    from cli_guard.review.load import gather
    from cli_guard.review.request import Commit

    content = RecordedContent(())
    tree = ""
    if commit:
        with gather(Commit(commit), repository, invocation) as gathered:
            content = RecordedContent.of(gathered.subject.changes)
        tree = repository.tree_of(content.commit)
    found = [
        {"level": "tty", **each}
        for each in approval_events(AuditLog(repository.state_folder))
    ]
    signed = read_signed(
        noted_lines(repository, filter(None, (tree, *content.blobs.values())))
    )
    signers = Signers.at_commit(repository, repository.head)
    logged = {str(each.get("statement")) for each in found}
    for mark, envelope, made, level in signed:
        if mark in logged:
            continue
        good = check_statement(made, envelope, signers, None, invocation)
        how = (
            {"level": "refused", "refused": good}
            if isinstance(good, str)
            else {"level": level}
        )
        about = {
            "at": made.at,
            "principal": made.principal,
            "reason": redact(made.reason),
            **how,
        }
        rules = sorted(set(made.findings.values()))
        marks = sorted(made.findings)
        more = {
            "content": made.content,
            "statement": mark,
            "approved_rules": rules,
            "fingerprints": marks,
        }
        more |= {"expires": made.expires} if made.expires else {}
        found.append({"event": made.decision, **about, **more})
    found.sort(key=lambda each: str(each.get("at")))
    named = (*content.identities, content.commit)
    there = {mark for mark, _, made, _ in signed if stands_in(made, content, tree)}
    of_commit = [
        e
        for e in found
        if e.get("content", e.get("commit")) in named or str(e.get("statement")) in there
    ]
    return of_commit if commit else found, found
