"""Files read line by line: shell scripts, tox.ini, systemd units, crontabs, Procfiles."""

import shlex
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.snippet import (
    Snippet,
    Where,
    join_continued,
    pieces_of,
    shell_of,
    skip,
    snippet,
    snippet_if_any,
)
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("command_files/patterns.toml", "line_files")
TOX_KEYS = (
    "commands",
    "commands_pre",
    "commands_post",
    "install_command",
    "list_dependencies_command",
)


def is_script(path: str, text: str) -> bool:
    """Return whether it is text for a POSIX-like shell."""
    if text.startswith("#!"):
        return shell_of(text[:300].split("\n", 1)[0]) == "sh"
    return bool(PATTERNS["scripts"].search(path) or PATTERNS["hooks"].search(path))


def script(path: str, text: str) -> Iterator[Snippet]:
    mixed = (
        PATTERNS["zsh"].search(path)
        or PATTERNS["zsh_first"].match(text)
        or PATTERNS["two_languages"].match(text)
    )
    language = "mixed" if mixed else "sh"
    where = Where.HOOK if PATTERNS["hooks"].search(path) else Where.SCRIPT
    yield snippet(pieces_of(text.removeprefix("\ufeff")), where, language)


def tox(text: str) -> Iterator[Snippet]:
    """Yield the commands of tox.ini, each run on its own, without a shell."""
    key = ""
    for (number, line), *rest in _lines_without_comments(text):
        pair = PATTERNS["pair"].match(line)
        if pair:
            key = pair[1]
            line = line[pair.end() :]
        elif line[:1].strip():
            key = ""
        if key in TOX_KEYS:
            start = (number, skip(PATTERNS["tox_prefix"], line))
            for found in snippet_if_any([start, *rest], Where.BUILD):
                yield found.substitute(PATTERNS["tox_value"])


def _lines_without_comments(text: str) -> Iterator[list[tuple[int, str]]]:
    pieces = pieces_of(text)
    return join_continued(
        [each for each in pieces if not each[1].lstrip().startswith(("#", ";"))]
    )


def unit(text: str) -> Iterator[Snippet]:
    """Yield what a systemd unit runs; a doubled dollar is one."""
    for (number, line), *rest in _lines_without_comments(text):
        pair = PATTERNS["unit_pair"].match(line)
        if pair:
            first = (number, line[pair.end() :])
            for found in snippet_if_any([first, *rest], Where.SERVICE):
                yield found.substitute(PATTERNS["dollars"], lambda _: "$")


def crontab(path: str, text: str) -> Iterator[Snippet]:
    """Yield the jobs of a crontab; text after a `%` is the input of the command."""
    for number, line in pieces_of(text):
        timed = PATTERNS["cron_line"].match(line)
        if not timed:
            continue
        command = line[timed.end() :].rstrip("\n")
        user = "user" if PATTERNS["cron_system"].search(path) else "root"
        command, *stdin = PATTERNS["percent"].split(skip(PATTERNS[user], command))
        text_read = "\n".join(stdin).replace("\\%", "%")
        fed = f" <<< {shlex.quote(text_read)}" if stdin else ""
        yield snippet([(number, command.replace("\\%", "%") + fed)], Where.SERVICE)


def procfile(text: str) -> Iterator[Snippet]:
    for number, line in pieces_of(text):
        named = PATTERNS["process"].match(line)
        if named:
            yield snippet([(number, line[named.end() :])], Where.SERVICE)
