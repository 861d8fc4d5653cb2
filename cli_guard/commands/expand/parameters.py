"""Parameters that no script has set, and `${name operator argument}` applied to a value."""

import re

from cli_guard.commands.parse.tree import Parameter
from cli_guard.commands.scope import NOTHING, Stream, merge, narrowest, taints_of

SECRET_NAME = re.compile(
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
# An argument without a pattern, an escape, a variable or `&` (bash puts the matched text in its place).
PLAIN = re.compile(r"[^*?\[\]\\$&]*")
GLOB = re.compile(r"[*?\[]")


def join_with_blanks(streams: tuple[Stream, ...]) -> Stream:
    parts = [part for stream in streams for part in (stream, Stream(" "))]
    return merge(parts[:-1]) if parts else NOTHING


def merge_choice(one: Stream, other: Stream) -> Stream:
    """Merge two possible values; the second is the known one."""
    return Stream(other.text, one.taints | other.taints, other.origin if other.text is None else "")


def transform(value: str, operator: str, argument: str) -> str | None:
    """Apply `${value operator argument}` if the argument is plain text; return None for other operators."""
    if operator == ":" and re.fullmatch(r" ?-?\d{1,6}(?::-?\d{1,6})?", argument):
        start, _, length = argument.strip().partition(":")
        cut = value[int(start) :] if -int(start) <= len(value) else ""
        return cut if not length else cut[: int(length)]
    if operator in ("^^", ",,") and not argument and value.isascii():
        return value.upper() if operator == "^^" else value.lower()
    if not PLAIN.fullmatch(argument):
        return None
    if operator in ("#", "##"):
        return value.removeprefix(argument)
    if operator in ("%", "%%"):
        return value.removesuffix(argument)
    if operator in ("/", "//"):
        old, _, new = argument.partition("/")
        return value.replace(old, new, 1 if operator == "/" else -1) if old else value
    return None


def element(value: Stream, part: Parameter, *, known: bool) -> Stream:
    """Return one element of an array, or all as one word; a plain value is its own first element."""
    index = part.operator[1:-1]
    if index == "?":
        held = value.items or (value,)
        return Stream(None, taints_of(held), narrowest({each.origin for each in held}))
    if index.isdecimal():
        if value.items is None:
            return value if index == "0" or value.text is None or not known else NOTHING
        return value.items[int(index)] if int(index) < len(value.items) else NOTHING
    if value.items is None:
        return value
    one_word = index == "*" or not part.quoted or len(value.items) < 2
    return join_with_blanks(value.items) if one_word else Stream(None, value.taints)
