"""Files of the work tree that Git has no blob of."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from cli_guard.errors import GitError
from cli_guard.model import FileChange, Hunk, Kind, Status, split_lines
from cli_guard.repository.entries import RawEntry, Touched
from cli_guard.repository.protocol import Commands
from cli_guard.repository.texts import decode, place_in, read_worktree_file


def without_filters(git: Commands) -> list[str]:
    """Return options that keep Git from running the clean filters of its configuration (gitattributes(5), `filter`)."""
    pattern = r"^filter\..*\.(clean|process|required)$"
    _, out, _ = git.attempt("config", "--null", "--name-only", "--get-regexp", pattern)
    options = []
    for key in filter(None, out.decode("utf-8", "surrogateescape").split("\0")):
        if "=" in key or "\n" in key:
            raise GitError(
                f"the filter {key!r} cannot be switched off: its name contains an invalid character"
            )
        options += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]
    return options


def read_filters(git: Commands, paths: Iterable[str]) -> dict[str, str]:
    """Return the `filter` attribute of paths (git-check-attr(1)). Raises GitError."""
    names = "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")
    out = git.run("check-attr", "--stdin", "-z", "filter", stdin=names) if names else b""
    fields = out.decode("utf-8", "surrogateescape").split("\0")
    return dict(zip(fields[0::3], fields[2::3], strict=False))


def touched_only(git: Commands, root: Path) -> Touched:
    """Return a check whether a changed file has its old content, as `git add` would store it."""
    filters: list[str] = []

    def same(entry: RawEntry) -> bool:
        full = place_in(root, entry.path)
        try:
            if not stat.S_ISREG(os.lstat(full).st_mode):
                return False
        except OSError:
            return False
        filters[:] = filters or without_filters(git)
        return (
            git.optional(*filters, "hash-object", "--", os.fsdecode(full)) == entry.old_blob
        )

    return same


def untracked_change(root: Path, path: str, limit: int) -> FileChange:
    """Return an untracked file as an addition; over `limit` bytes it counts as binary, with its size.

    A name that ends in a slash is another repository, which `git add` would record as a submodule.
    """
    if path.endswith("/"):
        return FileChange(
            path.removesuffix("/"), Status.ADDED, Kind.SUBMODULE, new_mode="160000"
        )
    full = place_in(root, path)
    try:
        about = os.lstat(full)
    except OSError:
        return FileChange(path, Status.ADDED, Kind.BINARY)
    if stat.S_ISLNK(about.st_mode):
        target = os.fsdecode(os.readlink(full))  # noqa: PTH115 - the name may not be UTF-8
        return FileChange(
            path,
            Status.ADDED,
            Kind.SYMLINK,
            new_mode="120000",
            hunks=(Hunk(0, 1, (), (target,)),),
        )
    mode = "100755" if about.st_mode & stat.S_IXUSR else "100644"
    raw = read_worktree_file(root, path, limit)
    text = None if raw is None else decode(raw)
    if text is None:
        return FileChange(
            path, Status.ADDED, Kind.BINARY, new_mode=mode, size=about.st_size
        )
    lines = tuple(split_lines(text)) if text else ()
    return FileChange(
        path, Status.ADDED, new_mode=mode, hunks=(Hunk(0, 1, (), lines),) if lines else ()
    )
