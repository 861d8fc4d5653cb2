"""Files that are read line by line: shell scripts, tox.ini, units of systemd, tables of cron, Procfiles."""

import re
import shlex
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, Scalar, at
from cli_guard.reviewers.commands.extract.snippet import Pieces, Snippet, Where, pieces_of, shell_of, snippet

SCRIPTS = re.compile(
    r"\.(?:sh|bash|zsh|ksh|dash|ash|command|envrc)$"
    r"|(?:^|/)\.?(?:bash(?:rc|_profile|_login|_logout|_aliases)|zsh(?:rc|env)|zprofile|zlogin|profile|kshrc|envrc|xprofile|xinitrc)$"
    r"|(?:^|/)(?:PKGBUILD|APKBUILD|[^/]+\.ebuild|\.xinitrc)$"
)
HOOKS = re.compile(
    r"(?:^|/)(?:\.husky|\.githooks|githooks|git-hooks|\.git-hooks|hooks)/(?:_/)?"
    r"(?:pre-commit|prepare-commit-msg|commit-msg|post-commit|pre-merge-commit|pre-push|pre-rebase|post-checkout"
    r"|post-merge|post-rewrite|pre-auto-gc|pre-receive|update|post-receive|post-update)(?:\.sample)?$"
)
ZSH = re.compile(r"\.zsh$|(?:^|/)\.?z(?:sh(?:rc|env)|profile|login|logout)$")
ZSH_FIRST = re.compile(r"#!.{0,100}zsh\b|#(?:compdef|autoload)\b")
# The first lines are for sh, and start the same file again as a program of another language.
TWO_LANGUAGES = re.compile(r"#![^\n]*\n(?:[ \t]*(?:#[^\n]*)?\n){0,9}(?:\"\"\"|'''|\"exec\"|'exec'|\":\"|':')")
PAIR = re.compile(r"([A-Za-z_][\w-]*)[ \t]*[=:][ \t]*")
TOX_KEYS = ("commands", "commands_pre", "commands_post", "install_command", "list_dependencies_command")
TOX_VALUE = re.compile(
    r"\{(?:[a-z_]+(?::(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,500})?|\[[^{}\n]{1,200}\][^{}\n]{0,200}|/|:)\}"
)
TOX_PREFIX = re.compile(r"[ \t]*(?:[\w{},.!-]+:[ \t]+)?(?:[-!][ \t]*)*")
UNIT_PAIR = re.compile(
    r"[ \t]*(Exec(?:Start|Stop|Reload|Condition)?(?:Pre|Post)?|HealthCmd)[ \t]*=[ \t]*[@:+!|-]*"
)
CRON_LINE = re.compile(r"[ \t]*(?:@[a-z]+[ \t]+|(?:[\d*/,~A-Za-z-]+[ \t]+){5})")
CRON_SYSTEM = re.compile(r"(?:^|/)(?:etc/crontab|cron\.d/[^/]+)$")
USER = re.compile(r"[a-z_][\w-]*[ \t]+")
ROOT = re.compile(r"(?:root|www-data|nobody)[ \t]+")
PERCENT = re.compile(r"(?<!\\)%")
PROCESS = re.compile(r"[A-Za-z0-9_-]+:[ \t]*")


def is_script(path: str, text: str) -> bool:
    """Is it text for a shell of the family of sh?"""
    if text.startswith("#!"):
        return shell_of(text[:300].split("\n", 1)[0]) == "sh"
    return bool(SCRIPTS.search(path) or HOOKS.search(path))


def script(path: str, text: str) -> Iterator[Snippet]:
    """A shell script, which is one snippet."""
    mixed = ZSH.search(path) or ZSH_FIRST.match(text) or TWO_LANGUAGES.match(text)
    language = "mixed" if mixed else "sh"
    where = Where.HOOK if HOOKS.search(path) else Where.SCRIPT
    yield snippet(pieces_of(text.removeprefix("\ufeff")), where, language)


def tox_in_pyproject(document: Document) -> Iterator[Snippet]:
    """The tox.ini that a pyproject.toml holds as a text."""
    for node in at(document.roots, "tool", "tox", "legacy_tox_ini"):
        if isinstance(node, Scalar):
            yield from _tox(node.pieces)


def tox(text: str) -> Iterator[Snippet]:
    """The commands of tox.ini, each run for itself, without a shell."""
    yield from _tox(pieces_of(text))


def _tox(pieces: Pieces) -> Iterator[Snippet]:
    key = ""
    waiting: list[tuple[int, str]] = []
    for number, line in pieces:
        if not waiting:
            pair = PAIR.match(line)
            if pair:
                key = pair[1]
                line = line[pair.end() :]
            elif line.strip() and not line[0].isspace() and line[0] not in "#;":
                key = ""
        if key not in TOX_KEYS or line.lstrip().startswith(("#", ";")):
            continue
        if not waiting:
            skipped = TOX_PREFIX.match(line)
            line = line[skipped.end() :] if skipped else line
        waiting.append((number, line))
        if not line.rstrip("\n").endswith("\\"):
            yield from _tox_command(waiting)
            waiting = []
    yield from _tox_command(waiting)


def _tox_command(pieces: Pieces) -> Iterator[Snippet]:
    if any(text.strip() for _, text in pieces):
        yield snippet(pieces, Where.BUILD).substitute(TOX_VALUE)


def unit(text: str) -> Iterator[Snippet]:
    """What a unit of systemd runs."""
    waiting: list[tuple[int, str]] = []
    for number, line in pieces_of(text):
        if waiting and line.lstrip().startswith(("#", ";")):
            continue
        pair = None if waiting else UNIT_PAIR.match(line)
        if not (waiting or pair):
            continue
        waiting.append((number, line[pair.end() :] if pair else line))
        if not line.rstrip().endswith("\\"):
            yield from _unit_command(waiting)
            waiting = []
    yield from _unit_command(waiting)


def _unit_command(pieces: Pieces) -> Iterator[Snippet]:
    if any(text.strip() for _, text in pieces):
        yield snippet(pieces, Where.SERVICE).substitute(re.compile(r"\$\$"), lambda _: "$")


def crontab(path: str, text: str) -> Iterator[Snippet]:
    """The jobs of a table of cron; what stands after a `%` is what the command reads."""
    for number, line in pieces_of(text):
        timed = CRON_LINE.match(line)
        if not timed:
            continue
        command = line[timed.end() :].rstrip("\n")
        user = (USER if CRON_SYSTEM.search(path) else ROOT).match(command)
        command, *stdin = PERCENT.split(command[user.end() :] if user else command)
        text_read = "\n".join(stdin).replace("\\%", "%")
        fed = f" <<< {shlex.quote(text_read)}" if stdin else ""
        yield snippet([(number, command.replace("\\%", "%") + fed)], Where.SERVICE)


def procfile(text: str) -> Iterator[Snippet]:
    """The processes of a Procfile."""
    for number, line in pieces_of(text):
        named = PROCESS.match(line)
        if named:
            yield snippet([(number, line[named.end() :])], Where.SERVICE)
