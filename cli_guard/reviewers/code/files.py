"""Rules over a file as a whole: its size, executable bit, link target, and conflict markers.

Git writes seven marker characters, a blank and a label, and a bare line of seven `=` between the two sides
(git-merge(1), "How conflicts are presented"; diff3 style adds a line of seven `|`).
"""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

from cli_guard.model import FileChange, Finding, Kind, split_lines
from cli_guard.reviewers.code.remarks import MAX_PER_RULE, Location, remark
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

LARGE = "code-large-file"
LARGE_BYTES = 5_000_000
SCRIPT_ENDINGS = frozenset(
    (".sh", ".bash", ".zsh", ".fish", ".pl", ".rb", ".awk", ".tcl", ".expect", ".ps1")
)
BINARY_ENDINGS = frozenset(
    ("", ".exe", ".bin", ".run", ".so", ".dylib", ".dll", ".appimage", ".out", ".elf")
)
OURS = "<<<<<<< "
MIDDLE = "======="
THEIRS = ">>>>>>> "
FENCE = re.compile(r" {0,3}(```+|~~~+)")
# What Git itself looks for in a folder to take it for a repository (setup.c, is_git_directory), and its settings.
GIT_HEAD = re.compile(r"\A\s*(?:ref:\s*refs/|[0-9a-f]{40,64}\s*\Z)|\Arefs/")
GIT_CONFIG = re.compile(
    r"(?im)^[ \t]*\[core\][^\[]{0,2000}?^[ \t]*(?:repositoryformatversion|bare|worktree)[ \t]*="
)
PROSE = frozenset(
    (
        ".md",
        ".markdown",
        ".mdx",
        ".rst",
        ".txt",
        ".adoc",
        ".eml",
        ".mbox",
        ".patch",
        ".diff",
    )
)


@cache
def _rules() -> dict[str, Rule]:
    return {found.id: found for found in catalog.rules_in("code/files.toml")}


def rule(name: str) -> Rule:
    """Return the rule of this id in `rules/code/files.toml`."""
    return _rules()[name]


def inspect_file(change: FileChange, text: str | None) -> Iterator[Finding]:
    """Return the findings that need no reading line by line."""
    size = change.size
    if size is None:
        size = len(text or "")
    # A bare patch names no blobs.
    is_new = change.new_blob is None or change.new_blob != change.old_blob
    if change.kind in (Kind.TEXT, Kind.BINARY) and size > LARGE_BYTES and is_new:
        yield _about(
            change,
            LARGE,
            f"{change.path} has {size / 1e6:.1f} MB, more than 5 MB",
        )
    if change.made_executable and _oddly_executable(change, text):
        yield _about(
            change,
            "code-executable",
            f"{change.path} becomes executable but is not a program",
        )
    if _is_of_repository(change, text):
        told = f"{change.path} makes its folder a Git repository, whose settings run commands in every `git` inside it"
        yield _about(change, "code-embedded-repository", told)
    if change.kind is Kind.SYMLINK and (target := _outside(change)):
        yield _about(
            change,
            "code-symlink",
            f"{change.path} links to {target!r}, outside the repository",
        )


def _is_of_repository(change: FileChange, text: str | None) -> bool:
    """Return whether it is the HEAD or the configuration of a repository in a folder."""
    folder, _, name = change.path.rpartition("/")
    if not folder or not change.added:
        return False
    content = text if text is not None else "\n".join(change.added.values())
    if name == "HEAD":
        return GIT_HEAD.search(content) is not None
    return name in ("config", "config.worktree") and GIT_CONFIG.search(content) is not None


def _about(change: FileChange, name: str, message: str) -> Finding:
    return remark(rule(name), Location(change.path, None, None, "", ""), message=message)


def _oddly_executable(change: FileChange, text: str | None) -> bool:
    ending = PurePosixPath(change.path).suffix.lower()
    if change.kind is Kind.BINARY:
        return ending not in BINARY_ENDINGS
    if change.kind is not Kind.TEXT or ending in SCRIPT_ENDINGS:
        return False
    start = text[:2] if text is not None else change.added.get(1)
    return start is not None and not start.startswith("#!")


def _outside(change: FileChange) -> str | None:
    """Return the target of a symbolic link that leaves the repository; Git stores it as the only line."""
    target = change.added.get(1)
    if not target:
        return None
    if target.startswith("/"):
        return target[:200]
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
    return target[:200] if joined.split("/", 1)[0] == ".." else None


def find_conflicts(change: FileChange, text: str | None) -> Iterator[Finding]:
    """Find whole conflicts with an added marker and, outside prose, single added markers."""
    if text is not None and OURS not in text and THEIRS not in text:
        return
    added = change.added.values()
    if not any(
        line.startswith((OURS, THEIRS)) or line.rstrip("\r") == MIDDLE for line in added
    ):
        return
    lines = dict(enumerate(split_lines(text), 1)) if text is not None else change.added
    markdown = PurePosixPath(change.path).suffix.lower() in (".md", ".markdown", ".mdx")
    fenced = _fenced_lines(lines) if markdown else frozenset()
    whole = list(_conflicts(lines))
    found = 0
    for start, middle, end in whole:
        if found < MAX_PER_RULE and not change.added.keys().isdisjoint(
            (start, middle, end)
        ):
            found += 1
            place = Location(
                change.path, start, end, lines[start], f"{lines[start]} {lines[end]}"
            )
            which = "code-conflict-example" if start in fenced else "code-conflict-marker"
            yield remark(rule(which), place)
    if PurePosixPath(change.path).suffix.lower() in PROSE:
        return
    covered = {number for start, _, end in whole for number in range(start, end + 1)}
    for number, line in change.added.items():
        if (
            found < MAX_PER_RULE
            and number not in covered
            and line.startswith((OURS, THEIRS))
        ):
            found += 1
            yield remark(
                rule("code-conflict-leftover"),
                Location(change.path, number, number, line, line),
            )


def _conflicts(lines: dict[int, str]) -> Iterator[tuple[int, int, int]]:
    """Yield the marker lines (ours, middle, theirs) of each conflict, in order."""
    start = middle = 0
    for number, line in lines.items():
        if line.startswith(OURS):
            start = number
            middle = 0
        elif start and not middle and line.rstrip("\r") == MIDDLE:
            middle = number
        elif middle and line.startswith(THEIRS):
            yield start, middle, number
            start = middle = 0


def _fenced_lines(lines: dict[int, str]) -> frozenset[int]:
    """Return the lines inside fenced code blocks of a Markdown text, which may show a conflict."""
    inside: set[int] = set()
    fence = ""
    for number, line in lines.items():
        mark = FENCE.match(line)
        if not fence and mark:
            fence = mark[1]
        elif fence and mark and mark[1].startswith(fence) and not line.strip(" `~\r"):
            fence = ""
        elif fence:
            inside.add(number)
    return frozenset(inside)
