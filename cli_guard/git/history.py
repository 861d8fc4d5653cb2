"""The commits of a range: never all in memory."""

from collections.abc import Collection, Iterator

from cli_guard.git.changes import ChangeReader
from cli_guard.model import ChangeSet


class History(Collection[ChangeSet]):
    """The commits of a range, each read when it is its turn; can be gone through more than once."""

    def __init__(self, reader: ChangeReader, commits: tuple[str, ...]) -> None:
        self._reader = reader
        self._commits = commits

    def __iter__(self) -> Iterator[ChangeSet]:
        return self._reader.commits(self._commits)

    def one(self, commit: str) -> ChangeSet:
        """One commit of them, without reading the others; an empty change set for any other."""
        return next(self._reader.commits([commit]) if commit in self._commits else iter(()), ChangeSet(()))

    def __len__(self) -> int:
        return len(self._commits)

    def __contains__(self, changes: object) -> bool:
        return isinstance(changes, ChangeSet) and changes.commit in self._commits
