"""The acts of a piece of code inside a command, and the names and paths that mean the same in every language."""

import re

from cli_guard.commands.model import EffectKind
from cli_guard.commands.parse.quoting import NAMED
from cli_guard.lazy import frozen, regex

STREAMS = frozenset(
    ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", ":memory:")
)
UNSEEN_COMMAND = "runs a command that the text does not tell"
COMPUTES = "runs code that computes and reads, as far as its names tell"
EVERY_FILE = "reads every file that it finds, hidden ones included"
SECRET_PART = regex(
    r"token|secret|passw|passphrase|apikey|credential|cookie", re.IGNORECASE
)
SECRET_WORDS = frozenset(
    "key keys pass auth cred creds pat jwt dsn private pgpass pw".split()
)
WITH_LOGIN = regex(
    r"(?:DATABASE|DB|REDIS|MONGO\w*|POSTGRES\w*|MYSQL|AMQP|BROKER|PROXY)_?(?:URL|URI)|_PWD$",
    re.IGNORECASE,
)

ESCAPE = regex(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
# `\E` is only the letter here.
ESCAPES = NAMED | {"E": "E", "\n": ""}


@frozen
class Act:
    """One thing that a piece of code does.

    `target` is a path, an address or a program, None if unknown. `shell` is text passed to a shell; `remote`: the code
    that runs came from the network. `variable` is an environment variable that is
    set to the `target`. `suspect` is text that may be passed to a shell: of its effects only denials count.
    """

    kind: EffectKind
    target: str | None
    reason: str = ""
    shell: str | None = None
    remote: bool = False
    suspect: str | None = None
    variable: str = ""


class NotUnderstood(Exception):
    """The code is not in the language of its reader."""


def unknown(what: str) -> Act:
    """Return the act of code that is not understood."""
    return Act(EffectKind.UNKNOWN, None, what)


def shell(text: str) -> Act:
    return Act(EffectKind.EXEC, None, "runs a shell command", text)


def unseen_command(reason: str = UNSEEN_COMMAND, *, remote: bool = False) -> Act:
    """Return the act of a command that is built at run time."""
    return Act(EffectKind.EXEC, None, reason, remote=remote)


def secret_name(name: str) -> bool:
    """Return whether an environment variable is named like a secret."""
    pieces = set(re.split(r"[^a-z]+", name.lower()))
    return (
        bool(SECRET_PART.search(name) or WITH_LOGIN.search(name) or pieces & SECRET_WORDS)
        and name != "SSH_AUTH_SOCK"
    )


def variable(name: str | None) -> tuple[Act, ...]:
    """Return the act of reading an environment variable, None for one with an unknown name."""
    if name is None:
        return (
            Act(
                EffectKind.CREDENTIAL,
                None,
                "reads a variable of the environment that the text does not name",
            ),
        )
    if secret_name(name):
        return (
            Act(EffectKind.CREDENTIAL, name, f"reads the secret {name} of the environment"),
        )
    return ()


def environment() -> Act:
    return Act(EffectKind.CREDENTIAL, None, "reads the whole environment")


def file(kind: EffectKind, path: str | None, reason: str = "") -> tuple[Act, ...]:
    """Return the act of reading or writing a file; the standard streams are not files."""
    return () if path in STREAMS else (Act(kind, path, reason),)


def unescape(text: str) -> str:
    """Return the text of a string with the usual escapes in it."""
    return ESCAPE.sub(read_escape, text)


def read_escape(found: re.Match[str]) -> str:
    given = found[1]
    if given[0] == "x" and len(given) > 1:
        return chr(int(given[1:], 16))
    if given[0] in "01234567":
        return chr(int(given, 8))
    return ESCAPES.get(given, given)
