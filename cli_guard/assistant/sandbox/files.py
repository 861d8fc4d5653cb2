r"""A snapshot as the files of the sandbox, and the way back: what a command has written there.

The sandbox knows names as text that can be shown. A byte that is not UTF-8 and a sign that is not seen are escaped
(`\xff`, `\n`), and the file is found by that name.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cli_guard.lazy import frozen
from cli_guard.model import Kind
from cli_guard.repository.snapshot import Snapshot
from cli_guard.secrets.printable import printable

if TYPE_CHECKING:
    from bashkit import Bash, FileSystem

ROOT = "/repo"
EXECUTABLE = "100755"
REFUSED_PARTS = frozenset(("", ".", ".."))
# Measured: 1,000 files take 0.02 s to write and 8,000 take 2 s, a folder is listed in a time that grows with all
# files, and 10,000 are the most that one file system holds.
FEW_FILES = 400
MOST_TOGETHER = 9_000
SMALL_FOLDER = 12
MOST_CHANGES = 2_000


@frozen
class Layout:
    """The snapshot in the sandbox: `names` is path there -> path of the snapshot; `left_out` could not be written."""

    names: Mapping[str, str]
    left_out: tuple[str, ...] = ()


def sandbox_path(path: str) -> str:
    return f"{ROOT}/{printable(path)}"


def write_snapshot(bash: Bash, snapshot: Snapshot, *, exact: bool) -> Layout:
    """Write the snapshot below ROOT.

    What was left out of the snapshot is not there, a submodule is an empty folder, a link keeps its target: where
    that leads outside, nothing is there. One file system of the interpreter takes the longer for a file the more
    it holds, so that many files are spread over mounts; of those alone a whole folder cannot be moved or removed
    (`exact` asks for one file system as long as that can hold them).
    """
    paths = [
        path for path in snapshot.entries if not REFUSED_PARTS.intersection(path.split("/"))
    ]
    together = len(paths) <= FEW_FILES or (exact and len(paths) <= MOST_TOGETHER)
    mounts = {} if together else mount_folders(bash, paths)
    files = bash.fs()
    files.mkdir(ROOT, recursive=True)
    made = {ROOT}
    names = {}
    left_out = []
    for path in paths:
        name = sandbox_path(path)
        top = (
            next((folder for folder in folders_above(path) if folder in mounts), None)
            if mounts
            else None
        )
        target = files if top is None else mounts[top]
        local = name if top is None else name.removeprefix(sandbox_path(top))
        try:
            if name not in names and write_entry(target, made, snapshot, path, name, local):
                names[name] = path
        except (RuntimeError, OSError):
            left_out.append(path)
    return Layout(names, tuple(left_out))


def write_entry(
    files: FileSystem, made: set[str], snapshot: Snapshot, path: str, name: str, local: str
) -> bool:
    """Write one entry as `local` into a file system; return whether there is a file now."""
    entry = snapshot.entries[path]
    module = entry.kind is Kind.SUBMODULE
    folder = name if module else posixpath.dirname(name)
    if folder not in made:
        files.mkdir(local if module else posixpath.dirname(local), recursive=True)
        made.add(folder)
    raw = snapshot.raw(path)
    if raw is None:
        return False
    if entry.kind is Kind.SYMLINK:
        files.symlink(raw.decode("utf-8", "replace"), local)
        return True
    files.write_file(local, raw)
    if entry.mode == EXECUTABLE:
        files.chmod(local, 0o755)
    return True


def folders_above(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def mount_folders(bash: Bash, paths: list[str]) -> dict[str, FileSystem]:
    """Mount a file system of its own for each folder that is neither small nor too large, none inside another."""
    from bashkit import FileSystem

    counts = Counter(folder for path in paths for folder in folders_above(path))
    chosen = {}
    for folder in sorted(counts):
        if SMALL_FOLDER <= counts[folder] <= FEW_FILES and not any(
            above in chosen for above in folders_above(folder)
        ):
            chosen[folder] = empty = FileSystem()
            clear(empty)
            bash.mount(sandbox_path(folder), empty)
    return chosen


def clear(files: FileSystem) -> None:
    """Remove what a new file system holds."""
    for each in files.read_dir("/"):
        files.remove(f"/{each['name']}", recursive=True)


def walk(files: FileSystem, top: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the files below a folder with what is known of each; links are not followed."""
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            listed = files.read_dir(folder)
        except (RuntimeError, OSError):
            continue  # removed, or now a file
        for each in listed:
            path = f"{folder}/{each['name']}"
            if each["metadata"]["file_type"] == "directory":
                waiting.append(path)
            else:
                yield path, each["metadata"]


def find_changes(
    files: FileSystem, layout: Layout, snapshot: Snapshot
) -> dict[str, bytes | None]:
    """Return what differs from the snapshot: path -> new bytes (of a link its target), None for a removed file."""
    after = dict(walk(files, ROOT))
    found: dict[str, bytes | None] = {
        layout.names[name]: None for name in layout.names if name not in after
    }
    for name, about in after.items():
        path = layout.names.get(name)
        is_link = about["file_type"] == "symlink"
        raw = files.read_link(name).encode("utf-8") if is_link else files.read_file(name)
        if path is None or raw != snapshot.raw(path):
            found[path or name.removeprefix(f"{ROOT}/")] = raw
    return dict(sorted(found.items())[:MOST_CHANGES])
