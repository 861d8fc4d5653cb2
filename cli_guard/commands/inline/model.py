"""What a piece of code inside a command does, one act for each thing; names and paths that mean the same everywhere."""

import re
from dataclasses import dataclass

from cli_guard.commands.model import Kind

STREAMS = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"))
SECRET_PART = re.compile(r"token|secret|passw|passphrase|apikey|credential|cookie", re.IGNORECASE)
SECRET_WORDS = frozenset("key keys pass auth cred creds pat jwt dsn private pgpass pw".split())
WITH_LOGIN = re.compile(
    r"(?:DATABASE|DB|REDIS|MONGO\w*|POSTGRES\w*|MYSQL|AMQP|BROKER|PROXY)_?(?:URL|URI)|_PWD$", re.IGNORECASE
)


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


def secret_name(name: str) -> bool:
    """Does a variable of the environment look as if it held a secret?"""
    pieces = set(re.split(r"[^a-z]+", name.lower()))
    return (
        bool(SECRET_PART.search(name) or WITH_LOGIN.search(name) or pieces & SECRET_WORDS)
        and name != "SSH_AUTH_SOCK"
    )


def variable(name: str | None) -> tuple[Act, ...]:
    """What reading a variable of the environment is; None: its name is not in the text."""
    if name is None:
        return (
            Act(Kind.CREDENTIAL, None, "reads a variable of the environment that the text does not name"),
        )
    return (
        (Act(Kind.CREDENTIAL, name, f"reads the secret {name} of the environment"),)
        if secret_name(name)
        else ()
    )


def environment() -> Act:
    """The act of taking the whole environment."""
    return Act(Kind.CREDENTIAL, None, "reads the whole environment")


def file(kind: Kind, path: str | None, reason: str = "") -> tuple[Act, ...]:
    """Reading or writing a file; the standard streams are no files."""
    return () if path in STREAMS else (Act(kind, path, reason),)
