"""Ask the person at the terminal, or say that a terminal is required."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.answering.asking import ALWAYS, NO, YES, AskedQuestion, ask
from cli_guard.cli.io import Io, put, shown_on_terminal
from cli_guard.errors import UsageError
from cli_guard.secrets.printable import clip, printable

if TYPE_CHECKING:
    from cli_guard.commands.model import Verdict
    from cli_guard.execution.permission import Reply

# Two lines of a terminal.
EFFECTS = 150
# A person can only judge what is shown, so the prompt says how much of a longer command is not.
WHOLE = 4_000
REPLIES: "dict[str, Reply]" = {YES: "yes", ALWAYS: "session", NO: "no"}
NEEDED = "it needs approval at a terminal, or a rule in your own configuration"


def has_person(io: Io) -> bool:
    """Return whether a person can see the question and answer it."""
    return io.stdin.isatty() and io.stderr.isatty()


def person_needed(io: Io, what: str, command: str) -> None:
    """Raise UsageError if no person can answer, or a coding agent asks, with the command to run in a terminal."""
    from cli_guard.agents.registry import agent_around

    agent = agent_around(io.env)
    if agent:
        raise UsageError(
            f"{what} needs a person, and this runs under a coding agent ({agent}): run `cli-guard {command}` in your"
            " own terminal"
        )
    if not io.stdin.isatty():
        raise UsageError(
            f"{what} needs a person at a terminal: run `cli-guard {command}` in one"
        )


def ask_yes(
    io: Io,
    text: str,
    *,
    once: bool = True,
    diff: Callable[[], str] | None = None,
    is_sudden: bool = False,
    after: str = "",
) -> bool:
    """Ask the person; anything but yes means no. `diff` is what a `d` shows; for the rest see `AskedQuestion`."""

    def show_diff() -> None:
        io.say(shown_on_terminal((diff or str)()))

    shown = show_diff if diff else None
    asked = AskedQuestion(text, once=once, show_diff=shown, is_sudden=is_sudden)
    return ask(asked, io.stdin, partial(put, io.stdout), after) == YES


def asking(
    io: Io, folder: Path, *, yes: bool, session: bool
) -> "Callable[[Verdict], Reply] | None":
    """Return a function that asks about a command in a folder, None if no person can answer.

    `yes`: --yes was given; `session`: there is a terminal session for which an answer can be remembered.
    """
    if not has_person(io):
        return None

    def ask_person(verdict: "Verdict") -> "Reply":
        io.warn(question(verdict, color=io.colored("auto")))
        if folder != io.cwd:
            io.warn(f"  folder: {printable(str(folder))}")
        if session and not yes:
            io.warn(
                "  a: allow exactly this command in this folder until this terminal session ends"
            )
        if yes:
            io.warn("cli-guard: answered yes by --yes")
            return "yes"
        asked = AskedQuestion("Run it?", always="this session" if session else "")
        return REPLIES[ask(asked, io.stdin, partial(put, io.stderr))]

    return ask_person


def question(verdict: "Verdict", *, color: bool) -> str:
    """Format what the person needs to know: the reason, the whole command, its effects, a safer alternative."""
    from cli_guard.execution.verdicts import WIDTH, Shown, render
    from cli_guard.model import Decision

    texts = Shown.of(verdict)
    lines = [render(verdict, color=color)]
    command = printable(texts.piece(0, WHOLE), keep_newlines=True)
    if len(command) > WIDTH or "\n" in command:
        # The verdict above shows only one line of it.
        lines += ["  the whole command:", *(f"  | {line}" for line in command.split("\n"))]
    if len(verdict.command) > WHOLE:
        lines.append(
            f"  ... and {len(verdict.command) - WHOLE:,} more characters, not shown"
        )
    done = [
        f"{each.kind} {texts.other(each.target)}" if each.target else str(each.kind)
        for each in verdict.effects
        if each.decision is Decision.REVIEW
    ]
    lines.append(f"  effects: {clip(printable('; '.join(dict.fromkeys(done))), EFFECTS)}")
    return "\n".join(lines)
