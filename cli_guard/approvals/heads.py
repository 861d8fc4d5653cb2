"""Check the audit log against the signatures of its heads and against the state.

Lines before a signed head cannot be changed without its key. That lines were cut off together with every signature
after them is not noticed here; so the check says from where to where the log is signed.
"""

import datetime
from collections.abc import Iterator

from cli_guard.approvals.listing import approval_events, every_signed, read_signed
from cli_guard.approvals.signatures import parse, verify
from cli_guard.approvals.signers import Signers
from cli_guard.approvals.statements import APPROVE, binding_of, encode
from cli_guard.approvals.storage import StateFolder
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Env, Invocation
from cli_guard.state.audit import Entry, Verification
from cli_guard.state.records import KEPT_APPROVALS, Records
from cli_guard.state.trees import EVENT as TREE
from cli_guard.state.trees import TrustedTrees

HEAD_SIGNED = "head-signed"
# Not that of approvals: neither signature can be used as the other.
NAMESPACE = "cli-guard-audit@v1"
CHECKED_DAYS = 90
TRIED_HEADS = 5
UNSIGNED = "not signed, so nobody can know whether its beginning was cut off or all of it computed anew"
NO_ENTRY = "no entry in the audit log for"


def payload_of(logged: Entry, entries: int, signers: Signers) -> bytes:
    """Return what is signed of a head: the hash of a line, its number, the repository and the time."""
    signed = {"at": logged.get("at"), "head": logged.get("head")}
    return encode({**signed, "entries": entries, "repository": sorted(signers.repository)})


def find_head_problem(
    logged: Entry, entries: int, signers: Signers, env: Env
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
    folder = StateFolder(records)
    kept = folder.read_every_unsigned()
    events = approval_events(records.audit)
    entries = [binding_of(each) for each in events]
    if lost := [each.digest[:10] for each in kept if each.binding not in entries]:
        yield f"{NO_ENTRY} {len(lost)} approval{'s' * (len(lost) > 1)}, not counted: {', '.join(lost)}"
    signed = read_signed(folder.read(())[0])
    logged = {str(each.get("statement")) for each in events}
    for each in signed:
        if each.digest not in logged:
            who = each.statement.principal
            yield f"{NO_ENTRY} the approval that {who} signed at {each.statement.at}"
    since = (invocation.now - datetime.timedelta(days=CHECKED_DAYS)).isoformat()
    # Older ones were dropped on purpose.
    due = [each for each in events[-KEPT_APPROVALS:] if str(each.get("at")) >= since]
    named = {str(each.get("statement")) for each in due}
    if named - {each.digest for each in (*kept, *signed)}:
        signed = every_signed(repository)
    found = [each.binding for each in (*kept, *signed)]
    for event in due:
        if binding_of(event) not in found:
            by = event.get("principal", event.get("user"))
            what = event.get("review_id", event["event"])
            yield f"approved, and the approval is gone: {what}, by {by} at {event.get('at')}"


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
    tree = TrustedTrees(invocation.env).at(repository.root)
    path = str(repository.root.resolve())
    said = next(
        (each for each in reversed(records.audit.events(TREE)) if each.get("path") == path),
        {},
    )
    if tree and tree.digest != said.get("record"):
        yield f"{NO_ENTRY} the trust in {path}, not counted: see `cli-guard trust --revoke`"
    elif not tree and said.get("record") and said.get("user") == invocation.user:
        yield f"trusted, and the record is gone: {path}, by {invocation.user} at {said.get('at')}"
