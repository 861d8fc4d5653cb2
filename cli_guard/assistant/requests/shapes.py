"""The shapes of words: which can only be a path, which leads out of the repository, which names a thing in code."""

import posixpath
import re

from cli_guard.assistant.requests.tables import tables

WORD_CHARS = 1_000
AROUND = "`'\"()[]{}<>,;!?*。，、；：？！「」『』“”„«»‘’…|"
LINE = re.compile(r"(?::|#L)(?P<first>\d{1,9})(?:[-:]L?\d{1,9})*$|\((?P<paren>\d{1,9})(?:,\d{1,9})?\)$")
LINE_WORD = re.compile(r"(?i)(?:at |on |in )?(?:lines?|zeile|ligne|l[ií]nea|строк\w*)$")
URL = re.compile(r"(?i)[a-z][a-z0-9+.-]{1,20}://")
LOCAL_URL = re.compile(r"(?i)file://(?:localhost)?/*")
# Home folders, drives, shares, and variables that hold such a place.
AWAY = re.compile(r"(?i)~[\w.-]*/|~$|[a-z]:[\\/]|\\\\\w|\$\{?\w+\}?[/\\]|%\w+%[/\\]")
ROOTS = frozenset(
    "etc home root usr var tmp proc sys dev opt mnt media bin sbin lib lib64 boot run srv users private library "
    "volumes system applications windows nix snap workspace workspaces github".split()
)
ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,9}$")
IDENTIFIER = re.compile(r"[^\W\d]\w*(?:(?:\.|::|#|->)[^\W\d]\w*){0,12}(?:\(\))?")
CODE_NAME = re.compile(
    r"[a-z0-9]+(?:[A-Z][A-Za-z0-9]*)+|(?:[A-Z]+[a-z0-9]+){2,}[A-Z]*|[A-Z][a-z0-9]+[A-Z]+|\w*[^\W_]_\w+|_\w+"
)


def leaves(path: str) -> bool:
    """Does a path lead out of the repository?"""
    flat = path.replace("\\", "/")
    if AWAY.match(path) or posixpath.normpath(flat).split("/")[0] == "..":
        return True
    return flat.startswith("/")


def is_path(word: str) -> bool:
    """Can a word be nothing but a path: it has a folder and an ending, or an ending that source files have?"""
    if word.startswith("-") or not re.fullmatch(r"[\w.@+/\-\\ ]+", word):
        return False
    base = word.replace("\\", "/").rsplit("/", 1)[-1]
    if ENDING.search(base) is None or base.startswith("."):
        return word.startswith(("./", "../")) or (base.startswith(".") and "/" in word)
    known = tables()
    ending = base.rsplit(".", 1)[-1].casefold()
    return ("/" in word and not word.endswith("/")) or (
        ending in known.endings and base.casefold() not in known.brands and base[:1] != "."
    )


def is_outside(word: str) -> bool:
    """Does a word name a place outside? `/api/users` is a route: a system folder or a file ending tells a path."""
    flat = word.replace("\\", "/")
    if AWAY.match(word):
        return True
    if flat.startswith("/"):
        parts = [part for part in flat.split("/") if part not in ("", ".")]
        if not parts:
            return False
        return (
            parts[0].casefold() in ROOTS
            or parts[0] == ".."
            or (len(parts) > 1 and bool(ENDING.search(parts[-1])))
        )
    return "/" in flat and posixpath.normpath(flat).split("/")[0] == ".."
