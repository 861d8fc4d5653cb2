"""Asks the person at the terminal, whether a command may run or for a yes in full, or says why nobody can be asked."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.secrets.printable import clip, printable

if TYPE_CHECKING:
    from cli_guard.commands.model import Verdict
    from cli_guard.execution.permission import Reply

# Two lines of a terminal.
EFFECTS = 150
# A person answers for what is shown: of a command that is longer it is said how much is not.
WHOLE = 4_000
REPLIES: "dict[str, Reply]" = {"y": "yes", "yes": "yes", "a": "session", "always": "session"}
NEEDED = "it needs a yes at a terminal, or a rule in your own configuration"


def somebody(io: Io) -> bool:
    """Does a person sit there, who sees the question and can answer it?"""
    return io.stdin.isatty() and io.stderr.isatty()


def person_needed(io: Io, what: str, command: str) -> None:
    """Raises UsageError where no person can answer: what needs one, and the command to run in a terminal."""
    if not io.stdin.isatty():
        raise UsageError(f"{what} needs a person at a terminal: run `cli-guard {command}` in one")


def says_yes(io: Io, question: str) -> bool:
    """Does the person say yes? Anything else is a no."""
    io.stdout.write(f"{question} Type yes: ")
    io.stdout.flush()
    return io.stdin.readline().strip().lower() in ("yes", "y")


def asking(io: Io, folder: Path, *, yes: bool, session: bool) -> "Callable[[Verdict], Reply] | None":
    """What asks about a command in a folder, None where nobody can be asked.

    `yes` was said on the command line; `session`: there is one for which an answer can count.
    """
    if not somebody(io):
        return None

    def ask(verdict: "Verdict") -> "Reply":
        io.warn(question(verdict, color=io.colored("auto")))
        if folder != io.cwd:
            io.warn(f"  folder: {printable(str(folder))}")
        if session and not yes:
            io.warn("  a: allow exactly this command in this folder until this terminal session ends")
        if yes:
            io.warn("cli-guard: yes, by --yes")
            return "yes"
        io.stderr.write(f"Run it? y = once, {'a = for this session, ' if session else ''}n = no: ")
        io.stderr.flush()
        answer = io.stdin.readline()
        if not answer.endswith("\n"):
            io.stderr.write("\n")
        reply = REPLIES.get(answer.strip().lower(), "no")
        return "yes" if reply == "session" and not session else reply

    return ask


def question(verdict: "Verdict", *, color: bool) -> str:
    """What the person has to know: why, the whole command, what would be done, what would be better."""
    from cli_guard.model import Decision
    from cli_guard.review.render.command import WIDTH, Shown, render

    texts = Shown.of(verdict)
    lines = [render(verdict, color=color)]
    command = printable(texts.piece(0, WHOLE), keep_newlines=True)
    if len(command) > WIDTH or "\n" in command:
        # Above stands only the line that the verdict rests on.
        lines += ["  the whole command:", *(f"  | {line}" for line in command.split("\n"))]
    if len(verdict.command) > WHOLE:
        lines.append(f"  ... and {len(verdict.command) - WHOLE:,} characters more, which are not shown")
    done = [
        f"{each.kind} {texts.other(each.target)}" if each.target else str(each.kind)
        for each in verdict.effects
        if each.decision is Decision.REVIEW
    ]
    lines.append(f"  effects: {clip(printable('; '.join(dict.fromkeys(done))), EFFECTS)}")
    return "\n".join(lines)
