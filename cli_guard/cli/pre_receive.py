"""`cli-guard hook pre-receive`: verify a push in a bare repository, where its author has no hands."""

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, ExitCode, UsageError
from cli_guard.runtime import TooLate, emergency_stop

# An emergency stop, ten times the work of a big push. A host that ends a hook earlier refuses the push as well.
SECONDS = 45.0


@click.pass_obj
def run(io: Io, /) -> int:
    """Verify every ref of a push; a failure of any kind refuses it."""
    if io.stdin.isatty():
        raise UsageError(
            "pre-receive reads Git's lines from standard input; by hand use `cli-guard verify`"
        )
    try:
        with emergency_stop(SECONDS):
            return verify(io)
    except TooLate as error:
        io.warn(
            f"cli-guard: refused: internal error: {error}; push again, or fewer commits at once"
        )
        return ExitCode.USAGE
    except CliGuardError as error:
        from cli_guard.secrets.printable import printable
        from cli_guard.secrets.redact import redact

        io.warn(f"cli-guard: refused: cannot be verified: {printable(redact(str(error)))}")
        return ExitCode.USAGE


def verify(io: Io) -> int:
    """Verify, print and log. Raises CliGuardError."""
    from cli_guard.answering.receiving import verify_push
    from cli_guard.cli.review import show
    from cli_guard.model import Decision, RefUpdate
    from cli_guard.review.push import OID
    from cli_guard.secrets.printable import printable
    from cli_guard.secrets.redact import redact
    from cli_guard.state.audit import AuditLog, entry

    lines = [
        line.split(" ", 2)
        for line in io.read_bytes().decode("utf-8", "surrogateescape").splitlines()
    ]
    if any(
        len(words) != 3 or not OID.fullmatch(words[0]) or not OID.fullmatch(words[1])
        for words in lines
    ):
        raise UsageError(
            "standard input is not `<old id> <new id> <ref>`: Git calls this command"
        )
    # As pre-push has them: a new id comes from here, an old one is that of the remote.
    updates = [RefUpdate("", new, ref, old) for old, new, ref in lines]
    repository = io.find_repository()
    log = AuditLog(repository.state_folder)
    code = 0
    pusher = next(
        (
            io.env[name]
            for name in ("GL_USERNAME", "GITEA_PUSHER_NAME", "REMOTE_USER")
            if io.env.get(name)
        ),
        "",
    )
    for each in verify_push(repository, updates, io.invocation):
        if each.review and not each.review.nothing and (not each.allowed or each.by):
            show(io, each.review, "text", "auto", None)
        said = printable(redact(f"{each.update.remote_ref}: {each.words}"))
        io.warn(f"cli-guard: {'' if each.allowed else 'refused: '}{said}")
        details = {
            "ref": each.update.remote_ref,
            "old": each.update.remote_oid,
            "new": each.update.local_oid,
        }
        outcome = "allow" if each.allowed else "refused"
        if each.by:
            outcome = "break-glass"
        log.append(
            entry(
                "pre-receive",
                io.invocation,
                decision=outcome,
                reason=redact(each.words),
                pusher=pusher,
                **details,
            )
        )
        if not each.allowed:
            denied = each.review is not None and each.review.decision is Decision.DENY
            code = max(
                code,
                ExitCode.NEEDS_REVIEW if each.review and not denied else ExitCode.DENIED,
            )
    return code


command = Command(
    "pre-receive",
    callback=run,
    help="Verify a push before a bare repository takes it. Git's lines are read from standard input.",
)
