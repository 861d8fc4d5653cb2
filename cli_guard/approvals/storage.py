"""Where approvals are kept: a protocol, and its places in Git and in the state folder.

A place keeps lines and judges none of them: anybody may have written them. `cli_guard.approvals.lookup` says which
count. To add a place, write it and name it in `storages_of`.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

from cli_guard.approvals.counting import Approval
from cli_guard.approvals.statements import APPROVE, Signed, binding_of
from cli_guard.git.notes import REF
from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.state.files import lock
from cli_guard.state.records import Records

MOST_BYTES = 2_000_000
MOST_OBJECTS = 5_000
# In the line of what was approved at a terminal.
UNSIGNED = '"signature":""'


class Storage(Protocol):
    """A place that keeps approvals, one line each."""

    def read(
        self, objects: Iterable[str], *, more: bool = False
    ) -> tuple[set[str], list[str]]:
        """Return the lines of signed approvals, and a remark for each part that is too long to read.

        Those on some objects (ids of trees and files) are read first, and with `more` all others too; a place that
        does not know objects returns all that it has. Raises CliGuardError.
        """

    def read_unsigned(self) -> list[Approval]:
        """Return what was approved at a terminal of this machine and its audit log confirms. Raises CliGuardError."""

    def add(self, line: str, objects: Iterable[str]) -> None:
        """Keep one more line, on some objects. Raises CliGuardError, OSError."""


def storages_of(repository: Repository) -> tuple[Storage, ...]:
    """Return the places of a repository: each is read, and each keeps what is signed."""
    return (
        Notes(repository),
        StateFolder(Records(repository.state_folder)),
    )


@frozen
class Notes:
    """Notes of Git on the tree that is recorded, and on each file with a finding (git-notes(1)).

    A commit changes its id when it is reworded, amended or rebased; a tree and a file keep theirs. `refs` are refs or
    commits of notes.
    """

    repository: Repository
    refs: tuple[str, ...] = (REF,)

    def read(
        self, objects: Iterable[str], *, more: bool = False
    ) -> tuple[set[str], list[str]]:
        """Read as `Storage` says. The time depends on the number of objects, not of notes."""
        wanted = dict.fromkeys(objects)
        if more:
            listed = self.repository.git.optional("notes", f"--ref={self.refs[0]}", "list")
            rows = (listed or "").splitlines()
            wanted |= dict.fromkeys(row.rpartition(" ")[2] for row in rows)
        paths = [path for each in list(wanted)[:MOST_OBJECTS] for path in fan_out(each)]
        named = self.repository.identify(
            f"{ref}:{path}" for ref in self.refs for path in paths
        )
        lines: set[str] = set()
        remarks = []
        with self.repository.blobs(MOST_BYTES) as reader:
            for oid in dict.fromkeys(oid for oid, kind in named.values() if kind == "blob"):
                raw = reader.read(oid)
                if raw is None:
                    size = reader.sizes([oid])[oid]
                    remarks.append(f"a note of {size:,} bytes was not read: {oid[:10]}")
                else:
                    text = raw.decode("utf-8", "replace")
                    lines.update(filter(str.strip, text.splitlines()))
        return lines, remarks

    def read_unsigned(self) -> list[Approval]:
        """Return none: whoever pushes can write notes."""
        return []

    def add(self, line: str, objects: Iterable[str]) -> None:
        """Append the line to the note on each object. Raises GitError."""
        append = ("notes", f"--ref={self.refs[0]}", "append", "-F", "-")
        with lock(self.repository.state_folder / "notes"):
            for each in dict.fromkeys(objects):
                self.repository.git.run(*append, each, stdin=f"{line}\n".encode("ascii"))


def fan_out(key: str) -> list[str]:
    """Return the paths that a note on an object may have: Git adds folders as the number of notes grows."""
    folders = [key[at : at + 2] for at in (0, 2, 4)]
    return ["/".join((*folders[:deep], key[2 * deep :])) for deep in range(4)]


@frozen
class StateFolder:
    """The file of the approvals that were given on this machine, with its audit log beside it."""

    records: Records

    def read(
        self,
        objects: Iterable[str],
        *,
        more: bool = False,
    ) -> tuple[set[str], list[str]]:
        """Read as `Storage` says."""
        return {line for line in self.records.approvals() if UNSIGNED not in line}, []

    def read_unsigned(self) -> list[Approval]:
        """Return those that the audit log confirms."""
        found = self.read_every_unsigned()
        if not found:
            return []
        logged = [binding_of(each) for each in self.records.audit.events(APPROVE)]
        return [Approval(each.statement) for each in found if each.binding in logged]

    def read_every_unsigned(self) -> list[Signed]:
        """Return those that the audit log does not confirm too."""
        found = []
        for line in self.records.approvals():
            with suppress(ValueError):
                given = Signed.parse(line)
                if not given.armored:
                    found.append(given)
        return found

    def add(self, line: str, objects: Iterable[str] = ()) -> None:
        """Keep one more line; the oldest are dropped."""
        self.records.add_approval(line)
