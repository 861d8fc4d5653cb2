"""Changes between trees in memory, and what the reviewer of dependencies says of them."""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatch
from types import MappingProxyType

from cli_guard.errors import MissingObject
from cli_guard.model import FileChange, Finding, Hit, Hits, Report
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.dependencies import review
from cli_guard.reviewers.review_input import ReviewInput


class Tree(SnapshotContents):
    """A tree in memory of which every file can be read, and searched as git-grep does."""

    def __init__(self, before: dict[str, str], after: dict[str, str]) -> None:
        super().__init__(before, after)
        self.after = after

    def object_name(self, path: str) -> str:
        return path

    def new(self, change: FileChange) -> str | None:
        if change.path not in self.after:
            raise MissingObject(change.path)
        return self.after[change.path]

    def search(
        self, words: Sequence[str], patterns: tuple[str, ...], *, alone: bool = False
    ) -> Hits:
        files = {
            path: text
            for path, text in self.after.items()
            if any(fnmatch(path, each) for each in patterns)
        }
        if not alone:
            lines = (
                Hit(path, number, line)
                for path, text in files.items()
                for number, line in enumerate(text.split("\n"), 1)
                if any(word in line for word in words)
            )
            return Hits(tuple(lines))
        longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        pattern = re.compile(rf"(?i)(?<!\w)(?:{longest_first})(?!\w)")
        found = (
            (path, match)
            for path, text in files.items()
            for match in pattern.finditer(text)
        )
        return Hits(tuple(Hit(path, 1, match[0]) for path, match in found))


def reviewed(before: dict[str, str], after: dict[str, str]) -> Report:
    """The report on a change between two trees."""
    return review(
        ReviewInput("pre-commit", changes_between(before, after), Tree(before, after))
    )


def found(
    path: str, before: str, after: str, beside: Mapping[str, str] = MappingProxyType({})
) -> list[Finding]:
    """The findings on a change of one file beside others."""
    old = {path: before} if before else {}
    return list(reviewed({**old, **beside}, {path: after, **beside}).findings)
