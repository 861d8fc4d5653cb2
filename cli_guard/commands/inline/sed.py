"""What a sed script does, read as GNU sed reads it."""

import re
from collections.abc import Iterator

from cli_guard.commands.inline.model import (
    Act,
    NotUnderstood,
    file,
    shell,
    unescape,
    unseen_command,
)
from cli_guard.commands.model import EffectKind
from cli_guard.lazy import regex

END = r"[ \t]*(?=[;\n}#]|\Z)"
# Up to the delimiter of this name, which is an ordinary character in brackets: a regular expression, a replacement.
BRACKET = r"(?>\[\^?\]?(?:\[(?P<NAMEc>[:.=])[^\n\]]{0,40}?(?P=NAMEc)\]|[^\]\n])*\])"
REGEX = rf"(?>(?:\\.|(?!(?P=NAME))(?:{BRACKET}|[^\\\[]))*)(?P=NAME)"
PLAIN = r"(?>(?:\\.|(?!(?P=NAME))[^\\])*)"
PLACE = rf"(?:\\|(?=/))(?P<NAME>[^\n\\]){REGEX}[IM]*"
ADDRESS = regex(
    r"[\s;]*+(?P<address>(?:\d+(?:~\d+)?|\$|FIRST)[ \t]*(?:,[ \t]*(?:[+~]?\d+|\$|SECOND))?)?(?P<not>[\s!]*)".replace(
        "FIRST", PLACE.replace("NAME", "a")
    ).replace("SECOND", PLACE.replace("NAME", "b")),
    re.DOTALL,
)
COMMAND = regex(
    rf"""(?P<open>\{{) | (?P<close>\}}){END} | (?P<comment>\#)[^\n]*
    | (?:[=dDgGhHnNpPxzF] | [qQlL][ \t]*\d* | v[ \t]*[\d.]*){END}
    | [btT:][ \t]*[\w.-]*[ \t]*(?=[;\n}}]|\Z)
    | [aic](?P<added>(?:[^\n\\]|\\.)*+)
    | [rR][ \t]*(?P<from>[^\n]*) | [wW][ \t]*(?P<to>[^\n]*)
    | e(?P<run>[^\n]*)
    | y(?P<y>[^\n\\]){PLAIN.replace("NAME", "y")}(?P=y){PLAIN.replace("NAME", "y")}(?P=y){END}
    | s(?P<s>[^\n\\]){REGEX.replace("NAME", "s")}(?P<new>{PLAIN.replace("NAME", "s")})(?P=s)
      (?P<flags>[gpiImMe0-9]*)(?:w(?P<copy>[^\n]*) | {END})""",
    re.VERBOSE | re.DOTALL,
)
# An address of all lines, or of all that hold anything; a replacement of a whole line by nothing.
ALL_LINES = regex(r"|1[ \t]*,[ \t]*\$|[01]~1|/(?:\^|\.|\^?\.\*\$?|\$)/")
ERASES_LINE = regex(r"s(\W)\^?\.(?:[*+]\$?\1\1g?|\1\1g)")
# Commands that print no line, add none and leave the others to the rest of the script.
PASSING = "sy#dDgGhHxz{}v"
BACK_REFERENCE = regex(r"(?<!\\)(?:\\\\)*(?:&|\\[0-9LUElu])")
RUNS_INPUT = "runs the lines of its input as commands"
ESCAPED = regex(r"\\(.)", re.DOTALL)


def acts(code: str) -> Iterator[Act]:
    """Return what the script does, in its order; blocks need no tree. Raises NotUnderstood."""
    for _, found in read_commands(code):
        yield from find_acts(found)


def find_new_text(code: str) -> str:
    """Return the texts that the script adds or puts in the place of others, one a line, as far as it is understood."""
    new = []
    try:
        for _, found in read_commands(code):
            added = (found["added"] or "").lstrip(" \t\\\n")
            new.append(unescape(found["new"] or added))
    except NotUnderstood:
        pass  # It is an effect of the command itself.
    return "".join(f"{text}\n" for text in new if text)


def leaves_no_text(code: str, *, quiet: bool) -> bool:
    """Return whether the script leaves nothing of any line, whatever it says; `quiet`: lines are not printed (-n)."""
    is_erased = quiet
    try:
        for address, found in read_commands(code):
            command = found[0].strip()
            is_every = ALL_LINES.fullmatch(address) is not None
            if is_every and command[:1] == "d":
                return True
            if (
                command[:1] not in PASSING
                or (found["open"] and not is_every)
                or (is_erased and command[:1] in "gGx")
                or found["copy"]
                or "p" in (found["flags"] or "")
            ):
                return False
            is_erased |= is_every and ERASES_LINE.fullmatch(command) is not None
    except NotUnderstood:
        return False  # It is an effect of the command itself.
    return is_erased


def read_commands(code: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the commands of the script one after the other, each with its address. Raises NotUnderstood."""
    at = open_blocks = 0
    while True:
        address = ADDRESS.match(code, at)
        at = address.end() if address else at
        addressed = address is not None and (
            address["address"] is not None or "!" in address["not"]
        )
        if at == len(code) and not addressed and not open_blocks:
            return
        found = COMMAND.match(code, at)
        if not found or (addressed and (found["close"] or found["comment"])):
            raise NotUnderstood(f"not understood at character {at}")
        at = found.end()
        open_blocks += bool(found["open"]) - bool(found["close"])
        if open_blocks < 0:
            raise NotUnderstood("a block is closed twice")
        given = "".join((address["address"] or "", address["not"])) if address else ""
        yield given.strip(), found


def find_acts(found: re.Match[str]) -> Iterator[Act]:
    """Return what one command does."""
    for name in ("from", "to", "copy"):
        if found[name] is not None:
            path = found[name].strip(" \t")
            if not path:
                raise NotUnderstood("a file name is missing")
            yield from file(EffectKind.READ if name == "from" else EffectKind.WRITE, path)
    text = found["run"]
    if "e" in (found["flags"] or ""):
        fixed = found["new"] and not BACK_REFERENCE.search(found["new"])
        text = ESCAPED.sub(r"\1", found["new"]) if fixed else ""
    if text is not None:
        yield shell(text.strip()) if text.strip() else unseen_command(RUNS_INPUT)
