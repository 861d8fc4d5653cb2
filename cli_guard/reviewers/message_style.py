"""Whether a repository asks for a style of commit messages: in its configuration, or in a file of a message linter.

That most earlier messages happen to keep a style asks for nothing: nobody who reads such advice would act on it.
"""

import re
from functools import cached_property
from typing import Protocol, runtime_checkable

from cli_guard.errors import GitError
from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Status
from cli_guard.repository.protocol import RawContents, WholeTree
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_table


@runtime_checkable
class FileReader(WholeTree, RawContents, Protocol):
    """Contents that read any file of the repository, also one that the change leaves alone."""


@dataclass(frozen=True)
class MessageStyle:
    """The style of messages in the repository of a review, read when it is asked for."""

    subject: ReviewInput

    @cached_property
    def is_asked_for(self) -> bool:
        files: dict[str, str] = read_table("message.toml")["asks"]
        return self.subject.style != "plain" or any(
            (text := self._read(path)) and re.search(pattern, text)
            for path, pattern in files.items()
        )

    def _read(self, path: str) -> str:
        contents = self.subject.contents
        if not isinstance(contents, FileReader):
            return ""
        blob = contents.object_name(path)
        try:
            raw = contents.raw(FileChange(path, Status.MODIFIED, new_blob=blob))
        except GitError:  # there is no such file
            return ""
        return (raw or b"").decode("utf-8", "replace")
