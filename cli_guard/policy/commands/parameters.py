"""What a parameter stands for where no script has set it, and what `${name operator argument}` makes of a value."""

import re

from cli_guard.policy.commands.scope import NOTHING, Stream, merged

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
GLOB = re.compile(r"[*?\[]")


def spaced(streams: tuple[Stream, ...]) -> Stream:
    """The positional parameters as one stream."""
    parts = [part for stream in streams for part in (stream, Stream(" "))]
    return merged(parts[:-1]) if parts else NOTHING


def merged_choice(one: Stream, other: Stream) -> Stream:
    """Either of two values: the second is what is known."""
    return Stream(other.text, one.taints | other.taints, other.origin if other.text is None else "")


def transformed(value: str, operator: str, argument: str) -> str | None:
    """`${value operator argument}` for the operators whose argument is plain text; None for the others."""
    if operator == ":" and re.fullmatch(r" ?-?\d+(?::-?\d+)?", argument):
        start, _, length = argument.strip().partition(":")
        cut = value[int(start) :]
        return cut if not length else cut[: int(length)]
    if operator in ("^^", ",,") and not argument:
        return value.upper() if operator == "^^" else value.lower()
    if GLOB.search(argument):
        return None
    if operator in ("#", "##"):
        return value.removeprefix(argument)
    if operator in ("%", "%%"):
        return value.removesuffix(argument)
    if operator in ("/", "//"):
        old, _, new = argument.partition("/")
        return value.replace(old, new, 1 if operator == "/" else -1) if old else value
    return None
