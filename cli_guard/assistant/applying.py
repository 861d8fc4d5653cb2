"""Write a patch to the work tree, and revert it: the only place that changes a file of the user.

A patch is written completely or not at all (git-apply(1)). It is refused if it would overwrite what is not recorded: a
file that differs from the index, that a filter stores in another form, or that is in the place of a new file. What an
approved patch has left exactly so is recorded: the next patch builds on it, and `undo` steps back through both.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.worktree import read_filters
from cli_guard.lazy import frozen
from cli_guard.repository.entries import decode_path, list_entries, name_some
from cli_guard.repository.protocol import Repository
from cli_guard.repository.texts import place_in
from cli_guard.state.records import Applied

Bases = Mapping[str, str | None]
APPLY = ("apply", "--whitespace=nowarn")
GITLINK = "160000"
# git-ls-files(1), -v: a letter in lower case is "assume unchanged", S is "skip worktree".
WATCHED = "H"
PLAIN_FILE = re.compile(rb" (?:create|delete) mode 100644 ")


@frozen
class IndexedPath:
    """A path of the index. `watched`: Git itself checks whether its file has changed."""

    mode: str
    blob: str
    watched: bool


@frozen
class Kept:
    """The bytes and permissions of a file before a patch."""

    raw: bytes
    permissions: int


class PatchWriter:
    """Writes patches to the work tree of a repository; `written` are those that can still be reverted."""

    def __init__(self, repository: Repository, written: Iterable[Applied] = ()) -> None:
        if repository.bare:
            raise UsageError("a bare repository has no work tree to write to")
        self.root = repository.root
        here = ("", repository.root_name)
        self._left = [each.left for each in written if each.root in here]
        # `git apply` takes paths from the folder it runs in.
        self._git = repository.at_top
        self._repository = repository

    def bases(self, paths: Iterable[str]) -> dict[str, str | None]:
        """Return the contents that a patch to these paths applies to: path -> blob id, None for no file.

        Raises UsageError if writing a path would lose something.
        """
        wanted = sorted(set(paths))
        index = self._read_index(wanted)
        modules = [path for path, entry in index.items() if entry.mode == GITLINK]
        if modules:
            raise UsageError(f"{name_some(modules)} is a submodule: change it there")
        own = {path for path in wanted if self._is_own(path)}
        there = [
            path
            for path in wanted
            if path not in index and path not in own and self._lies_there(path)
        ]
        if there:
            raise UsageError(
                f"{name_some(there)} {verb(there, 'is', 'are')} untracked and in the way: move it away"
            )
        stored = self._find_filtered(wanted)
        if stored:
            raise UsageError(
                f"{name_some(stored)} is stored through a filter (gitattributes(5)): change it by hand"
            )
        dirty = [path for path in self._dirty(index) if path not in own]
        if dirty:
            raise UsageError(
                f"{name_some(dirty)} {verb(dirty, 'has', 'have')} unstaged changes: stage, commit or stash them"
            )
        bases = {path: index[path].blob if path in index else None for path in wanted}
        return bases | {path: self._blob(path) for path in own}

    def apply(self, patch: str, bases: Bases) -> dict[str, str | None]:
        """Apply a patch if its bases are unchanged; return path -> SHA-256 of the new file, None for a removed one.

        Raises UsageError if a base has changed, CliGuardError if the patch cannot be written.
        """
        changed = [path for path, blob in self.bases(bases).items() if blob != bases[path]]
        if changed:
            raise UsageError(
                f"{name_some(changed)} changed since this was proposed: ask again"
            )
        self._write(patch, bases, *APPLY)
        return {path: self._hash(path) for path in bases}

    def revert(self, patch: str, left: Mapping[str, str | None]) -> None:
        """Revert an applied patch if its files are still as it `left` them (path -> SHA-256, None for no file).

        Raises UsageError, CliGuardError.
        """
        changed = [path for path, digest in left.items() if self._hash(path) != digest]
        if changed:
            raise UsageError(
                f"{name_some(changed)} changed since: revert it by hand with `git diff` and `git restore`"
            )
        self._write(patch, left, *APPLY, "--reverse")

    def _write(self, patch: str, paths: Iterable[str], *command: str) -> None:
        raw = patch.encode("utf-8", "surrogateescape")
        self._check_paths(raw, paths)
        # A .gitattributes file in the patch may name a filter for its next file.
        command = (*self._repository.without_filters(), *command)
        code, _, err = self._git.attempt(*command, "--check", "-", stdin=raw)
        if code != 0:
            raise UsageError(f"the patch no longer applies ({first_line(err)}): ask again")
        before = {path: self._kept(path) for path in sorted(paths)}
        code, _, err = self._git.attempt(*command, "-", stdin=raw)
        if code != 0:
            lost = self._restore(before)
            raise CliGuardError(
                f"the patch could not be written ({first_line(err)}): "
                + (
                    f"{name_some(lost)} could not be restored: run `git restore`"
                    if lost
                    else "no file was changed"
                )
            )

    def _check_paths(self, raw: bytes, paths: Iterable[str]) -> None:
        """Raise UsageError if Git reads a patch as one of other files, or of more than text (git-apply(1))."""
        code, listed, err = self._git.attempt("apply", "--numstat", "-z", "-", stdin=raw)
        if code != 0:
            raise UsageError(
                f"the patch has an unsupported form ({first_line(err)}): ask again"
            )
        rows = [row.split(b"\t", 2) for row in listed.split(b"\0")[:-1]]
        changed = self._git.run("apply", "--summary", "-", stdin=raw).splitlines()
        is_text = all(row[0].isdigit() for row in rows) and all(
            map(PLAIN_FILE.match, changed)
        )
        touched = {decode_path(row[2]) for row in rows}
        if not is_text or touched != set(paths):
            other = sorted(touched ^ set(paths)) or sorted(touched)
            raise UsageError(
                f"the patch does not match its file list ({name_some(other)}): ask again"
            )

    def _full(self, path: str) -> bytes:
        return place_in(self.root, path)

    def _is_own(self, path: str) -> bool:
        """Return whether a file, or its absence, is exactly what a patch has left."""
        digest = self._hash(path)
        is_gone = not self._lies_there(path)
        return any(
            path in left and left[path] == digest and (is_gone or digest is not None)
            for left in self._left
        )

    def _blob(self, path: str) -> str | None:
        """Return the id that a file would have as a blob, line ends as `git add` stores them; None for no file."""
        if self._read(path) is None:
            return None
        filters = self._repository.without_filters()
        return self._git.text(*filters, "hash-object", "--", path)

    def _lies_there(self, path: str) -> bool:
        return os.path.lexists(self._full(path))

    def _read(self, path: str) -> bytes | None:
        """Return the bytes of a regular file, None for any other, or one below a link."""
        full = self._full(path)
        try:
            root = os.path.realpath(os.fsencode(self.root))
            here = os.path.join(root, path.encode("utf-8", "surrogateescape"))  # noqa: PTH118
            # The names may not be UTF-8.
            straight = os.path.realpath(os.path.dirname(full)) == os.path.dirname(here)  # noqa: PTH120
            if straight and stat.S_ISREG(os.lstat(full).st_mode):
                return Path(os.fsdecode(full)).read_bytes()
        except OSError:
            return None
        return None

    def _hash(self, path: str) -> str | None:
        raw = self._read(path)
        return None if raw is None else hashlib.sha256(raw).hexdigest()

    def _kept(self, path: str) -> Kept | None:
        raw = self._read(path)
        return (
            None
            if raw is None
            else Kept(raw, stat.S_IMODE(os.lstat(self._full(path)).st_mode))
        )

    def _restore(self, before: Mapping[str, Kept | None]) -> list[str]:
        """Restore files; return those that could not be restored."""
        changed = [path for path, kept in before.items() if self._kept(path) != kept]
        # Remove new files first: on a full disk nothing can be written before.
        for path in sorted(changed, key=lambda path: before[path] is not None):
            with suppress(OSError):
                self._put_back(Path(os.fsdecode(self._full(path))), before[path])
        return [path for path in changed if self._kept(path) != before[path]]

    def _put_back(self, full: Path, kept: Kept | None) -> None:
        full.unlink(missing_ok=True)
        if kept:
            full.parent.mkdir(parents=True, exist_ok=True)
            with full.open("xb") as file:
                file.write(kept.raw)
            full.chmod(kept.permissions)
            return
        folder = full.parent
        # Git made these folders for the new file; the first one that is not empty ends the loop.
        while folder != self.root:
            folder.rmdir()
            folder = folder.parent

    def _read_index(self, wanted: list[str]) -> dict[str, IndexedPath]:
        """Return the entries of some paths in the index (git-ls-files(1)). Raises UsageError for one in conflict."""
        found = {}
        paths = set(wanted)
        # One call for the whole index: a call for each file is slow, and all names may not fit on one command line.
        listed = self._git.run("ls-files", "-v", "--stage", "-z")
        for (tag, mode, blob, stage), path in list_entries(listed):
            if path not in paths:
                continue
            if stage != "0":
                raise UsageError(f"{path} is in conflict: finish the merge first")
            found[path] = IndexedPath(mode, blob, tag == WATCHED)
        return found

    def _dirty(self, index: Mapping[str, IndexedPath]) -> list[str]:
        """Return the paths whose files differ from the index by content; a new time stamp alone does not count."""
        if not index:
            return []
        filters = self._repository.without_filters()
        out = self._git.run(*filters, "diff-files", "--name-only", "-z")
        changed = set(map(decode_path, filter(None, out.split(b"\0"))))
        return [
            path
            for path, entry in sorted(index.items())
            if (path in changed or not entry.watched) and self._blob(path) != entry.blob
        ]

    def _find_filtered(self, paths: list[str]) -> list[str]:
        """Return the paths whose content Git stores through a program (git-check-attr(1))."""
        return [
            path
            for path, value in read_filters(self._git, paths).items()
            if value not in ("unspecified", "unset")
        ]


def verb(paths: list[str], one: str, several: str) -> str:
    """Choose the verb for a number of paths."""
    return one if len(paths) == 1 else several


def first_line(err: bytes) -> str:
    """Return the first line of Git's error message."""
    return (err.decode("utf-8", "replace").splitlines() or ["no reason given"])[
        0
    ].removeprefix("error: ")
