"""A repository held in memory: a line of states, for what asks a repository for its files alone."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.repository.snapshot import Snapshot


class MemoryRepository:
    """The part of `cli_guard.repository.protocol.Repository` that states of files answer, oldest first."""

    bare = True
    is_shallow = False
    root_name = ""
    object_format = "sha1"

    def __init__(self, *states: Mapping[str, str]) -> None:
        self._states: dict[str, Snapshot] = {}
        for number, state in enumerate(states):
            snapshot = Snapshot.of(state)
            named = f"{number} {snapshot.identity}".encode()
            self._states[hashlib.sha1(named).hexdigest()] = snapshot
        self.git_dir = self.common_dir = Path("/nowhere")

    @property
    def head(self) -> str | None:
        return next(reversed(self._states), None)

    def resolve(self, revision: str, kind: str = "commit") -> str:
        if revision == "HEAD" and self.head:
            return self.head
        if revision not in self._states or kind != "commit":
            raise UsageError(f"there is no {kind} {revision!r}")
        return revision

    def show(self, revision: str, path: str) -> bytes | None:
        return self._states[self.resolve(revision or "HEAD")].raw(path)

    def read_roots(self, revisions: Iterable[str], names: tuple[str, ...]) -> None:
        """Nothing: all is in memory."""

    def commits(self, *include: str, exclude: Iterable[str] = ()) -> tuple[str, ...]:
        reached = {each for tip in include for each in self._line(tip)}
        left = {each for tip in exclude for each in self._line(tip)}
        return tuple(each for each in self._states if each in reached - left)

    def parents(self, commits: Iterable[str]) -> dict[str, tuple[str, ...]]:
        return {each: tuple(self._line(each)[-2:-1]) for each in commits}

    def is_ancestor(self, older: str, newer: str) -> bool:
        return older in self._line(newer)

    def root_commits(self, tip: str = "HEAD") -> list[str]:
        return self._line(tip)[:1]

    def snapshot(self, revision: str | None = None, *, worktree: bool = False) -> Snapshot:
        return self._states[self.resolve(revision or "HEAD")]

    def _line(self, tip: str) -> list[str]:
        every = list(self._states)
        return every[: every.index(self.resolve(tip)) + 1]
