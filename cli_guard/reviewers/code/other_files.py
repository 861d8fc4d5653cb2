"""The files beside the one that is inspected, whose functions it may call."""

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_for
from cli_guard.errors import MissingObject
from cli_guard.repository.protocol import WithListing
from cli_guard.reviewers.code.parsed_text import unreadable
from cli_guard.reviewers.review_input import ReviewInput

if TYPE_CHECKING:
    from cli_guard.code.taint.elsewhere import Elsewhere

# In a change of more files each is followed by itself: to read the helpers of all costs half as much as the review.
MOST_CHANGED = 200


class OtherFiles:
    """What a review reads of other files, of the change and of the rest of the index, unless the change is big."""

    def __init__(self, subject: ReviewInput) -> None:
        self._subject = subject
        self._changes = {change.path: change for change in subject.changes}
        self._listed = frozenset(self._changes)
        self._made: list[Elsewhere] = []
        self.were_needed = False

    def begin(self) -> None:
        """Forget what was asked for the file before."""
        self._made = []
        self.were_needed = False

    @property
    def were_asked(self) -> bool:
        """Whether the findings in a file depend on others."""
        return self.were_needed or any(each.was_asked for each in self._made)

    def beside(
        self,
        path: str,
        language: str,
        text: str,
        *,
        old: bool = False,
        unbounded: frozenset[str] = frozenset(),
    ) -> "Elsewhere | None":
        """Return the other files for one file, as they are after the change or, for an `old` text, before it."""
        if len(self._listed) > MOST_CHANGED:
            return None
        from cli_guard.code.taint.elsewhere import Elsewhere

        read = self._read_old if old else self._read
        made = Elsewhere(path, language, text, self._listed, read, self._list, unbounded)
        self._made.append(made)
        return made

    def _read(self, path: str) -> str | None:
        text = self._subject.text_at(path)
        language = language_for(path)
        if text is None or language is None or unreadable(language, text):
            return None
        return text

    def _list(self, folder: str) -> Iterator[str]:
        """Yield the files of a folder that the change leaves as they are."""
        contents = self._subject.contents
        if isinstance(contents, WithListing):
            yield from contents.list_files(folder, self._subject.changes.parents)

    def _read_old(self, path: str) -> str | None:
        change = self._changes.get(path)
        if change is None:
            return self._read(path)
        with suppress(MissingObject):
            return self._subject.contents.old(change)
        return None
