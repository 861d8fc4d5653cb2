"""Ask in a Git hook itself whether its review is approved, so that the same commit or push goes on."""

import os
import signal
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from cli_guard.agents.registry import agent_around
from cli_guard.answering.approve import (
    bound_diff,
    find_pending,
    lines_with_code,
)
from cli_guard.answering.kept import request_of
from cli_guard.answering.signing import plan_signature
from cli_guard.cli.approve import give, review_again
from cli_guard.cli.hook import push_approvals, review_for_git
from cli_guard.cli.io import Io
from cli_guard.cli.pending import describe
from cli_guard.cli.prompt import ask_yes
from cli_guard.cli.review import show
from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.hooks import MESSAGE, PUSH, event_of
from cli_guard.model import Decision
from cli_guard.policy.recorded import policy_at_head
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.records import Records

QUESTION = "approve now?"
OFF = ("", "0", "false", "no", "off")


def ask_now(argv: Sequence[str], since: str, terminal: int) -> ExitCode:
    """Ask at a terminal about the review that this hook has recorded since then; return its exit code."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # The server's client forwards them to a process that has ended.
        signal.signal(number, signal.SIG_DFL)
    stream = open(terminal, "w", errors="backslashreplace")  # noqa: SIM115 - a dead terminal cannot be closed
    io = Io(stream, stream, stream, Path.cwd(), dict(os.environ))
    with suppress(OSError, termios.error):  # the terminal is gone
        try:
            if is_askable(io, terminal):
                return ask(io, terminal, argv, since)
        except (CliGuardError, OSError, KeyboardInterrupt) as error:
            io.say(f"\ncli-guard: {printable(redact(str(error))) or 'interrupted'}")
    return ExitCode.NEEDS_REVIEW


def is_askable(io: Io, terminal: int) -> bool:
    """Return whether a person at the terminal expects questions there. Raises OSError."""
    forbidden = (
        io.env.get("GIT_TERMINAL_PROMPT", "1").lower() in OFF
        or io.env.get("TERM") == "dumb"
    )
    if forbidden or io.env.get("CI", "").lower() not in OFF or agent_around(io.env):
        return False
    # A job in the background would be stopped (SIGTTIN); in raw mode the terminal belongs to a full-screen program.
    in_front = os.tcgetpgrp(terminal) == os.getpgrp()
    return in_front and bool(termios.tcgetattr(terminal)[3] & termios.ICANON)


def ask(io: Io, terminal: int, argv: Sequence[str], since: str) -> ExitCode:
    """Find the review, ask about it, approve it; return the exit code. Raises CliGuardError, OSError."""
    repository = io.find_repository()
    records = Records(repository.state_folder)
    event = event_of(argv[1])
    pushes = event.request == PUSH
    found = [
        each for each in records.pending() if each.event == event.name and each.at >= since
    ]
    policy, _ = policy_at_head(repository, io.env)
    # Two: another work tree was reviewed meanwhile. Bound to commits, but no push: `pre-commit run --from-ref`.
    if (
        len(found) != 1
        or bool(found[0].bound) != pushes
        or not all(each.prompt for each in policy.approvals)
    ):
        return ExitCode.NEEDS_REVIEW
    review = find_pending(records, found[0].id, io.invocation)
    message = io.path(argv[-1]) if event.request == MESSAGE else None
    known = review_again(io, repository, review, message)
    review = known.review
    findings = known.findings
    plan = plan_signature(repository, review, findings, io.invocation)
    question = f"{printable(plan.describe())}\n{QUESTION}" if plan else QUESTION
    room = ""
    if io.env.get("PRE_COMMIT") == "1" or not (sys.stdout and sys.stdout.isatty()):
        # A framework shows the report when the hook has ended.
        question = f"\n{describe(review, lines_with_code(findings))}\n{question}"
    if "PREK_HOOK_STAGE" in io.env:
        # prek draws its progress five times a second, over the lines above the cursor.
        room = "\n" * (os.get_terminal_size(terminal).lines // 2)
    diff = partial(bound_diff, repository, review, io.invocation)
    if not ask_yes(io, question, diff=diff, is_sudden=True, after=room):
        io.say("cli-guard: not approved")
        return ExitCode.NEEDS_REVIEW
    _, said = give(io, repository, review, findings, plan, "")
    io.say(f"cli-guard: {review.id} {said} for exactly this content")
    # Something else may be staged by now, and checks have waited for the approval.
    done = review_for_git(io, request_of(repository, review, message)).review
    if done.decision is not Decision.ALLOW:
        show(io, done, "text", "auto", None)
    elif pushes:
        push_approvals(io, review.remote)
    return done.exit_code
