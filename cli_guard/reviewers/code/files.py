"""Facts about a file as a whole: its size, its executable bit, where a symbolic link points."""

import posixpath
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

from cli_guard.model import FileChange, Finding, Kind
from cli_guard.reviewers.code.remarks import Location, remark
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

LARGE_BYTES = 5_000_000
SCRIPT_ENDINGS = frozenset((".sh", ".bash", ".zsh", ".fish", ".pl", ".rb", ".awk", ".tcl", ".expect", ".ps1"))
BINARY_ENDINGS = frozenset(("", ".exe", ".bin", ".run", ".so", ".dylib", ".dll", ".appimage", ".out", ".elf"))


@cache
def _rules() -> dict[str, Rule]:
    return {found.id: found for found in catalog.read_toml(catalog.FOLDER / "code" / "files.toml")}


def rule(name: str) -> Rule:
    """The rule of that id in `rules/code/files.toml`."""
    return _rules()[name]


def inspect(change: FileChange, text: str | None) -> Iterator[Finding]:
    """What the new side of a change says of itself without being read line by line."""
    size = change.size if change.size is not None else len(text) if text is not None else 0
    if change.kind in (Kind.TEXT, Kind.BINARY) and size > LARGE_BYTES and _new_content(change):
        yield _about(change, "code-large-file", f"{change.path} has {size / 1e6:.1f} MB, more than 5 MB")
    if change.made_executable and _oddly_executable(change, text):
        yield _about(change, "code-executable", f"{change.path} becomes executable but is no program")
    if change.kind is Kind.SYMLINK and (target := _outside(change)):
        yield _about(change, "code-symlink", f"{change.path} links to {target!r}, outside the repository")


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
    """The target of a symbolic link, if it leaves the repository; Git records it as the link's only line."""
    target = change.added.get(1)
    if not target:
        return None
    if target.startswith("/"):
        return target[:200]
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(change.path), target))
    return target[:200] if joined.split("/", 1)[0] == ".." else None


def _new_content(change: FileChange) -> bool:
    """Is there another blob than before? A bare patch does not say."""
    return change.new_blob is None or change.new_blob != change.old_blob
