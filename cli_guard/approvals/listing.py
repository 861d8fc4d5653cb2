"""List the approvals that a repository holds: those that its audit log names, and what is signed anywhere."""

from collections.abc import Iterable
from contextlib import suppress

from cli_guard.approvals.lookup import Verifier
from cli_guard.approvals.signatures import parse
from cli_guard.approvals.statements import APPROVE, BREAK_GLASS, Signed
from cli_guard.approvals.storage import storages_of
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation
from cli_guard.secrets.redact import redact
from cli_guard.state.audit import AuditLog, Entry


def approval_events(log: AuditLog) -> list[Entry]:
    """Return the entries of the approvals of changes, oldest first. Raises CliGuardError."""
    # The content of a request of `ask` is its id.
    return [
        each
        for each in log.events(APPROVE, BREAK_GLASS)
        if "review_id" not in each or each.get("content") != each["review_id"]
    ]


def every_signed(repository: Repository, first: Iterable[str] = ()) -> list[Signed]:
    """Return what is signed anywhere, that on some objects first, as far as it is read. Raises CliGuardError."""
    lines: set[str] = set()
    objects = list(first)
    for storage in storages_of(repository):
        lines |= storage.read(objects, more=True)[0]
    return read_signed(lines)


def read_signed(lines: Iterable[str]) -> list[Signed]:
    """Return the signed approvals in some lines, without those that are broken."""
    found = []
    for line in sorted(lines):
        with suppress(ValueError):
            signed = Signed.parse(line)
            parse(signed.armored)
            found.append(signed)
    return found


def list_approvals(
    repository: Repository, invocation: Invocation, signed: Iterable[Signed]
) -> list[Entry]:
    """Return the approvals in the audit log and those that are `signed`, oldest first, as entries of the log.

    In one that does not count, `refused` says why. Raises CliGuardError.
    """
    found: list[Entry] = [
        {"level": "tty", **each}
        for each in approval_events(AuditLog(repository.state_folder))
    ]
    logged = {str(each.get("statement")) for each in found}
    verifier = Verifier(repository, repository.head, invocation)
    for each in signed:
        if each.digest not in logged:
            refused = verifier(each)
            found.append(entry_of(each, refused if isinstance(refused, str) else ""))
    return sorted(found, key=lambda each: str(each.get("at")))


def entry_of(signed: Signed, refused: str) -> Entry:
    """Return what the audit log would say of a signed approval."""
    made = signed.statement
    level = {"level": "refused", "refused": refused} if refused else {}
    return {
        "event": made.decision,
        "at": made.at,
        "reason": redact(made.reason),
        "content": made.content,
        "approved_rules": sorted(set(made.findings.values())),
        "fingerprints": sorted(made.findings),
        **signed.audit_details(),
        **level,
    }
