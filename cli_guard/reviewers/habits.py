"""Whether a repository has a style of commit messages: its files ask for one, or its last messages keep it."""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Protocol, runtime_checkable

from cli_guard.errors import GitError
from cli_guard.lazy import dataclass
from cli_guard.model import CommitMessage, FileChange, Status
from cli_guard.repository.message import recorded_message
from cli_guard.repository.protocol import RawContents, WholeTree
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_table

MOST_EARLIER = 50
ENOUGH = 20
# One message in so many may break a habit.
ONE_IN = 25
PARENT = re.compile(r"^parent ([0-9a-f]{40,64})$", re.MULTILINE)


@runtime_checkable
class ObjectReader(WholeTree, RawContents, Protocol):
    """Contents that read any object of the repository: files that do not change, and commits."""


@dataclass(frozen=True)
class Habits:
    """The style of messages in the repository of a review, read when it is asked for."""

    subject: ReviewInput

    def ask_for(self, breaks: Callable[[CommitMessage], bool], *, with_body: bool) -> bool:
        """Return whether the repository asks for a style, or hardly any message (of those with a body) breaks it."""
        if self.asks:
            return True
        known = [
            each
            for each in self.earlier
            if each.kind == "plain" and (each.body or not with_body)
        ]
        return len(known) >= ENOUGH and ONE_IN * sum(map(breaks, known)) <= len(known)

    @cached_property
    def asks(self) -> bool:
        """Return whether the configuration or a file of a message linter asks for a style."""
        files: dict[str, str] = read_table("message.toml")["asks"]
        return self.subject.style != "plain" or any(
            (text := self._read(path)) and re.search(pattern, text)
            for path, pattern in files.items()
        )

    @cached_property
    def earlier(self) -> list[CommitMessage]:
        """Return the last messages before the change, the newest first, along first parents."""
        recorded = next(iter(self.subject.history), self.subject.changes)
        name = recorded.commit or "HEAD"
        found = list[CommitMessage]()
        for _ in range(MOST_EARLIER + 1):
            head, _, text = self._read(name, is_path=False).partition("\n\n")
            if text and name != recorded.commit:
                found.append(recorded_message(text))
            parent = PARENT.search(head)
            if parent is None:
                break
            name = parent[1]
        return found

    def _read(self, name: str, *, is_path: bool = True) -> str:
        contents = self.subject.contents
        if not isinstance(contents, ObjectReader):
            return ""
        blob = contents.object_name(name) if is_path else name
        try:
            raw = contents.raw(FileChange(name, Status.MODIFIED, new_blob=blob))
        except GitError:  # there is no such file or commit
            return ""
        return (raw or b"").decode("utf-8", "replace")
