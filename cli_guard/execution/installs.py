"""The lock files of a work tree by which a person allows installs: their digests, and the review that let them in."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import basename

from cli_guard.commands.trust.installs import locked_installs
from cli_guard.errors import CliGuardError
from cli_guard.lazy import dataclass
from cli_guard.repository.protocol import Bounds, Repository
from cli_guard.runtime import read_plain
from cli_guard.state.audit import AuditLog

# Events of the audit log whose content is one commit as it is, or as it is about to be.
EVENTS = ("pre-commit", "pre-merge-commit", "commit")
MOST_FILES = 500
# Nothing is looked for in the change: only what identifies it counts.
BOUNDS = Bounds(files=1, file_bytes=1, total_bytes=1)
LONGEST = 50_000_000
HASHED = re.compile(rb"--hash=sha\d+:")


@dataclass
class InstallFiles:
    """What the lock files at HEAD allow: digests by path; `left_out` are those with sources that they do not fix."""

    digests: dict[str, str] = field(default_factory=dict)
    locks: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the record of them: `<SHA-256> <path>`."""
        return tuple(f"{digest} {path}" for path, digest in sorted(self.digests.items()))


def find_install_files(repository: Repository) -> InstallFiles:
    """Return the lock files at HEAD with what stands beside and above them. Raises CliGuardError."""
    found = InstallFiles()
    git = repository.git
    tracked = [
        os.fsdecode(each)
        for each in git.run("ls-tree", "-r", "--name-only", "-z", "HEAD").split(b"\0")
    ]
    kinds = {id(kind): kind for kind in locked_installs().values()}.values()
    for kind in kinds:
        others = (*kind.manifest, *kind.settings)
        for path in [each for each in tracked if is_lock(each, kind.lock)][:MOST_FILES]:
            text = git.run("cat-file", "blob", f"HEAD:{path}")
            if kind.lock == ("-r",) and not HASHED.search(text):
                continue
            if kind.foreign and re.search(kind.foreign, text.decode("utf-8", "replace")):
                found.left_out.append(path)
                continue
            found.locks.append(path)
            folders = PurePosixPath(path).parents
            beside = {str(folder / name) for folder in folders for name in others}
            for each in (path, *beside.intersection(tracked)):
                content = git.run("cat-file", "blob", f"HEAD:{each}")
                found.digests[each] = hashlib.sha256(content).hexdigest()
    return found


def is_lock(path: str, names: tuple[str, ...]) -> bool:
    name = basename(path)
    return name in names or (names == ("-r",) and name.endswith((".txt", ".in")))


def was_allowed(repository: Repository, commit: str) -> bool:
    """Return whether a review in the audit log allowed a commit as it is. Raises CliGuardError."""
    with repository.blobs(BOUNDS.file_bytes) as blobs:
        change = next(iter(repository.changes(blobs, BOUNDS).commits([commit])), None)
    return change is not None and any(
        each.get("decision") == "allow"
        and each.get("content") == change.identity
        and not each.get("part")
        for each in AuditLog(repository.state_folder).events(*EVENTS)
    )


@dataclass
class AllowedInstalls:
    """The answer of a person about the lock files of a work tree: lines as in `InstallFiles`, of one commit."""

    root: Path
    find_repository: Callable[[], Repository | None]
    lines: tuple[str, ...]
    commit: str

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """Return the digests by path, none if the log does not say any more that the commit was allowed."""
        try:
            repository = self.find_repository()
            counts = repository is not None and was_allowed(repository, self.commit)
        except CliGuardError:
            counts = False
        pairs = (line.partition(" ") for line in self.lines if counts)
        return {path: digest for digest, _, path in pairs}

    def covers(
        self, lock: tuple[str, ...], needed: tuple[str, ...], settings: tuple[str, ...]
    ) -> bool:
        """See `WorkTree.allows_install`."""
        present = [path for path in lock if os.path.lexists(self.root / path)]
        asked = (*present, *needed, *self.find_settings(settings))
        return bool(present) and all(
            self.digest_of(path) == self.digests.get(path) for path in asked
        )

    def find_settings(self, settings: tuple[str, ...]) -> Iterator[str]:
        """Yield the settings beside the lock file that are there, or were when it was allowed."""
        for path in settings:
            if path in self.digests or os.path.lexists(self.root / path):
                yield path

    def digest_of(self, path: str) -> str:
        """Return the SHA-256 of a file as it is now; "" for none, and for a link."""
        try:
            full = self.root / path
            if (
                full.stat().st_size > LONGEST
                or full.resolve() != self.root.resolve() / path
            ):
                return ""
            return hashlib.sha256(read_plain(full)).hexdigest()
        except OSError:
            return ""
