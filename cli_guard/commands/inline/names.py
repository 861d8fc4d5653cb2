"""Names and paths that mean the same in every language: secrets of the environment, the standard streams."""

import re

from cli_guard.commands.inline.model import Act
from cli_guard.commands.model import Kind

STREAMS = frozenset(("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"))
SECRET_PART = re.compile(r"token|secret|passw|passphrase|apikey|credential|cookie", re.IGNORECASE)
SECRET_WORDS = frozenset("key keys pass auth cred creds pat jwt dsn private pgpass pw".split())
WITH_LOGIN = re.compile(
    r"(?:DATABASE|DB|REDIS|MONGO\w*|POSTGRES\w*|MYSQL|AMQP|BROKER|PROXY)_?(?:URL|URI)|_PWD$", re.IGNORECASE
)


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
