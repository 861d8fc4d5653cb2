"""Parameters that no script has set, and `${name operator argument}` applied to a value."""

import re

from cli_guard.commands.scope import NOTHING, Stream, merge
from cli_guard.lazy import regex

SECRET_NAME = regex(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|AUTH)(?:_|$)"
    # The last word says what it is: `JWT_ISSUER` and `SIGNING_KEY_ID` are none.
    r"|(?:^|_)(?:JWT|BEARER|SK|DSN|PASSPHRASE|MNEMONIC|(?:PRIV|PRIVATE|SECRET|ACCESS)KEY|CONN(?:ECTION)?_?STR(?:ING)?)$"
    r"|(?:_PWD|(?:PG|DB|MYSQL|REDIS|SSH)PASS(?:WORD)?|WEBHOOK(?:_UR[LI])?)$"
    r"|(?:^|_)(?!(?:PUBLIC|PUB|PRIMARY|FOREIGN|UNIQUE|SORT|PARTITION|SHARD|ROUTING|CACHE|HASH|INDEX|LOOKUP|GROUP|ROW|"
    r"OBJECT|BUCKET|ITEM|MAP|DICT|CONFIG|PROJECT|ISSUE|TICKET|FEATURE|HOT|ANY|THE|DEDUP|IDEMPOTENCY)_)[A-Z0-9]+_KEY$"
    # The address of a service, with the password in it.
    r"|(?:^|_)(?:DATABASE|DB|POSTGRES(?:QL)?|PG|MYSQL|MARIADB|MONGO(?:DB)?|REDIS|AMQP|RABBITMQ|BROKER|CLOUDINARY)_UR[LI]$",
    re.IGNORECASE,
)
# Variables that every shell sets and that hold no secret.
VALUES = frozenset(
    "? # $ ! - 0 _ RANDOM SECONDS LINENO UID EUID PPID BASHPID HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL COLUMNS LINES "
    "USER LOGNAME SHELL LANG TERM BASH_VERSION EPOCHSECONDS EPOCHREALTIME PIPESTATUS BASH_SOURCE FUNCNAME CI "
    "PATH EDITOR VIRTUAL_ENV DISPLAY TMPDIR OPTIND OPTARG GITHUB_SHA GITHUB_REF GITHUB_REPOSITORY".split()
)
# An argument without a pattern or an escape.
PLAIN = regex(r"[^*?\[\]\\]*")
# A bracket is one of a pattern only if another closes it.
GLOB = regex(r"[*?]|\[[^\]]*.\]", re.DOTALL)


def join_with_blanks(streams: tuple[Stream, ...]) -> Stream:
    parts = [part for stream in streams for part in (stream, Stream(" "))]
    return merge(parts[:-1]) if parts else NOTHING


def merge_choice(one: Stream, other: Stream) -> Stream:
    """Merge two possible values; the second is the known one."""
    return Stream(
        other.text, one.taints | other.taints, other.origin if other.text is None else ""
    )


def cut(value: str, operator: str, argument: str) -> str | None:
    """Apply `${value%argument}` or one of its siblings; return None if the argument is a pattern."""
    if not PLAIN.fullmatch(argument):
        return None
    return (
        value.removeprefix(argument) if operator[0] == "#" else value.removesuffix(argument)
    )
