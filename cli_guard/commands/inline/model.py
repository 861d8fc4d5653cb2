"""What a piece of code inside a command does: one act for each thing."""

from dataclasses import dataclass

from cli_guard.commands.model import Kind


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that a piece of code does.

    `target` is a path, an address or a program, None where the text does not tell it. `shell` is text that the code
    hands to a shell, `words` a command that it runs without one; `remote`: what runs came from the network.
    `suspect` is text that may be handed to a shell: of its effects only those that are denied count.
    """

    kind: Kind
    target: str | None
    reason: str = ""
    shell: str | None = None
    words: tuple[str, ...] | None = None
    remote: bool = False
    suspect: str | None = None


def unknown(what: str) -> Act:
    """The act of a piece that is not understood."""
    return Act(Kind.UNKNOWN, None, what)


def shell(text: str) -> Act:
    """A command line that is handed to a shell."""
    return Act(Kind.EXEC, None, "runs a shell command", text)


def unseen_command(reason: str = "runs a command that the text does not tell") -> Act:
    """A command that is made while the code runs."""
    return Act(Kind.EXEC, None, reason)
