"""Writes a patch to the work tree, and takes it back: the one place that changes a file of the user.

All of it or nothing, and never over something that is not recorded: a file that differs from the index, that a
filter stores in another form, or that lies where the patch makes a new one, stops it (git-apply(1)).
"""

import hashlib
import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.plumbing import decode_path
from cli_guard.git.process import Git
from cli_guard.git.repository import Repository
from cli_guard.git.worktree import without_filters

Bases = Mapping[str, str | None]
APPLY = ("apply", "--whitespace=nowarn")
SHOWN = 3


class PatchWriter:
    """Writes patches to the work tree of a repository."""

    def __init__(self, repository: Repository) -> None:
        if repository.bare:
            raise UsageError("a bare repository has no work tree to write to")
        self.root = repository.root
        # `git apply` takes paths from the folder it runs in.
        self._git = Git(self.root, repository.git.env)

    def bases(self, paths: Iterable[str]) -> dict[str, str | None]:
        """What a patch to these paths rests on: path -> blob id in the index, None where no file is.

        Raises UsageError where a path cannot be written without losing something.
        """
        wanted = sorted(set(paths))
        blobs = {path: self._blob(path) for path in wanted}
        there = [path for path, blob in blobs.items() if blob is None and self._lies_there(path)]
        if there:
            raise UsageError(
                f"{named(there)} {verb(there, 'is', 'are')} there, and Git does not know it: move it away"
            )
        stored = self._filtered(wanted)
        if stored:
            raise UsageError(
                f"{named(stored)} is stored through a filter (gitattributes(5)): change it by hand"
            )
        dirty = self._dirty({path: blob for path, blob in blobs.items() if blob is not None})
        if dirty:
            raise UsageError(
                f"{named(dirty)} {verb(dirty, 'has', 'have')} changes that are not staged: stage, commit or stash them"
            )
        return blobs

    def apply(self, patch: str, bases: Bases) -> dict[str, str | None]:
        """Applies a patch if all it rests on is still so; gives path -> SHA-256 of what lies there now.

        Raises UsageError where something has changed since, CliGuardError where it cannot be written.
        """
        if self.bases(bases) != dict(bases):
            changed = [path for path, blob in self.bases(bases).items() if blob != bases[path]]
            raise UsageError(f"{named(changed)} changed since this was proposed: ask again")
        self._write(patch, bases, *APPLY)
        return {path: self._hash(path) for path in bases}

    def take_back(self, patch: str, left: Mapping[str, str | None]) -> None:
        """Takes an applied patch back, if its files are still as it left them (path -> SHA-256, None for no file).

        Raises UsageError, CliGuardError.
        """
        changed = [path for path, digest in left.items() if self._hash(path) != digest]
        if changed:
            raise UsageError(
                f"{named(changed)} changed since: take it back by hand with `git diff` and `git restore`"
            )
        self._write(patch, left, *APPLY, "--reverse")

    def _write(self, patch: str, paths: Iterable[str], *command: str) -> None:
        raw = patch.encode("utf-8", "surrogateescape")
        code, _, err = self._git.attempt(*command, "--check", "-", stdin=raw)
        if code != 0:
            raise UsageError(f"the patch does not fit any more ({first_line(err)}): ask again")
        before = {path: self._read(path) for path in paths}
        code, _, err = self._git.attempt(*command, "-", stdin=raw)
        if code != 0:
            for path, kept in before.items():
                self._restore(path, kept)
            raise CliGuardError(
                f"the patch could not be written ({first_line(err)}): every file is as it was"
            )

    def _full(self, path: str) -> bytes:
        return os.fsencode(self.root) + b"/" + path.encode("utf-8", "surrogateescape")

    def _lies_there(self, path: str) -> bool:
        return os.path.lexists(self._full(path))

    def _read(self, path: str) -> bytes | None:
        try:
            if stat.S_ISREG(os.lstat(self._full(path)).st_mode):
                return Path(os.fsdecode(self._full(path))).read_bytes()
        except OSError:
            return None
        return None

    def _hash(self, path: str) -> str | None:
        raw = self._read(path)
        return None if raw is None else hashlib.sha256(raw).hexdigest()

    def _restore(self, path: str, raw: bytes | None) -> None:
        if self._read(path) == raw:
            return
        full = Path(os.fsdecode(self._full(path)))
        with suppress(OSError):
            if raw is None:
                full.unlink(missing_ok=True)
            else:
                full.write_bytes(raw)

    def _blob(self, path: str) -> str | None:
        listed = self._git.run("ls-files", "--stage", "-z", "--", path).split(b"\0")
        entries = [record.split(b"\t", 1) for record in listed if record]
        exact = [head.split(b" ") for head, name in entries if decode_path(name) == path]
        if any(stage != b"0" for _, _, stage in exact):
            raise UsageError(f"{path} is in conflict: end the merge first")
        return exact[0][1].decode("ascii") if exact else None

    def _dirty(self, blobs: Mapping[str, str]) -> list[str]:
        """The paths whose files are not what the index holds, by content: a new time of change alone is no change."""
        if not blobs:
            return []
        filters = without_filters(self._git)
        out = self._git.run(*filters, "diff-files", "--name-only", "-z", "--", *blobs)
        return [
            path
            for path in map(decode_path, filter(None, out.split(b"\0")))
            if self._differs(path, blobs, filters)
        ]

    def _differs(self, path: str, blobs: Mapping[str, str], filters: list[str]) -> bool:
        if self._read(path) is None:
            return True
        # As `git add` would store it, line ends included.
        return self._git.text(*filters, "hash-object", "--", path) != blobs[path]

    def _filtered(self, paths: list[str]) -> list[str]:
        """Paths whose content Git stores through a program (git-check-attr(1))."""
        if not paths:
            return []
        fields = self._git.run("check-attr", "-z", "filter", "--", *paths).split(b"\0")
        triples = zip(fields[0::3], fields[1::3], fields[2::3], strict=False)
        return [decode_path(path) for path, _, value in triples if value not in (b"unspecified", b"unset")]


def named(paths: list[str]) -> str:
    """The first few paths."""
    more = f" and {len(paths) - SHOWN} more" if len(paths) > SHOWN else ""
    return ", ".join(paths[:SHOWN]) + more


def verb(paths: list[str], one: str, several: str) -> str:
    """The verb for a number of paths."""
    return one if len(paths) == 1 else several


def first_line(err: bytes) -> str:
    """Git's first words."""
    return (err.decode("utf-8", "replace").splitlines() or ["no reason given"])[0].removeprefix("error: ")
