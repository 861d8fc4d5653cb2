"""What a parameter stands for where no script has set it, and what `${name operator argument}` makes of a value."""

import re

from cli_guard.commands.parse.tree import Parameter
from cli_guard.commands.scope import NOTHING, Stream, merge

SECRET_NAME = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?|AUTH)(?:_|$)",
    re.IGNORECASE,
)
# Variables that every shell has and that hold nothing to hide.
VALUES = frozenset(
    "? # $ ! - 0 _ RANDOM SECONDS LINENO UID EUID PPID BASHPID HOSTNAME HOSTTYPE MACHTYPE OSTYPE SHLVL COLUMNS LINES "
    "USER LOGNAME SHELL LANG TERM BASH_VERSION EPOCHSECONDS EPOCHREALTIME PIPESTATUS BASH_SOURCE FUNCNAME CI "
    "PATH EDITOR VIRTUAL_ENV DISPLAY TMPDIR OPTIND OPTARG GITHUB_SHA GITHUB_REF GITHUB_REPOSITORY".split()
)
FOLDERS = {"HOME": "~", "PWD": ".", "OLDPWD": "."}
# An argument that stands for itself: no pattern, escape or variable, and no `&`, which stands for what was found.
PLAIN = re.compile(r"[^*?\[\]\\$&]*")
GLOB = re.compile(r"[*?\[]")


def join_with_blanks(streams: tuple[Stream, ...]) -> Stream:
    """The positional parameters as one stream."""
    parts = [part for stream in streams for part in (stream, Stream(" "))]
    return merge(parts[:-1]) if parts else NOTHING


def merged_choice(one: Stream, other: Stream) -> Stream:
    """Either of two values: the second is what is known."""
    return Stream(other.text, one.taints | other.taints, other.origin if other.text is None else "")


def transform(value: str, operator: str, argument: str) -> str | None:
    """`${value operator argument}` for the operators whose argument is plain text; None for the others."""
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
    """One element of an array, or all of them as one word, which a plain value is the first of."""
    index = part.operator[1:-1]
    if index.isdecimal():
        if value.items is None:
            return value if index == "0" or value.text is None or not known else NOTHING
        return value.items[int(index)] if int(index) < len(value.items) else NOTHING
    if value.items is None:
        return value
    one_word = index == "*" or not part.quoted or len(value.items) < 2
    return join_with_blanks(value.items) if one_word else Stream(None, value.taints)
