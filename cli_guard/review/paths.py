"""Limit a review by hand to some paths, given as Git takes them: files, folders, globs (gitglossary(7), pathspec)."""

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import ChangeSet, Status
from cli_guard.repository.protocol import MergeSide, Repository
from cli_guard.reviewers.review_input import ReviewInput


@frozen
class Paths:
    """Paths and globs from the top of the repository: those that are wanted, and those that are left out of them."""

    wanted: tuple[str, ...]
    without: tuple[str, ...] = ()

    @classmethod
    def parse(
        cls, given: Sequence[str], repository: Repository | None, cwd: Path
    ) -> "Paths":
        """Read paths as given in a folder. Raises UsageError for one that is outside the repository, or is none."""
        root = repository.root_name if repository else ""
        folder = os.path.relpath(os.path.realpath(cwd), root) if root else "."
        found = list[str](), list[str]()
        for spec in given:
            is_out = spec.startswith((":!", ":^"))
            rest = spec[2:] if is_out else spec
            if not rest or rest.startswith(":"):
                raise UsageError(
                    f"{spec!r} is not a path: of Git's pathspec magic only :! is known"
                )
            path = (
                os.path.relpath(rest, root)
                if root and rest[0] == "/"
                else f"{folder}/{rest}"
            )
            path = os.path.normpath(path)
            if path.startswith(("../", "/")) or path == "..":
                raise UsageError(f"{spec!r} is outside the repository")
            found[is_out].append(path)
        return cls(tuple(found[0]) or (".",), tuple(found[1]))

    def has(self, path: str) -> bool:
        return any(matches(p, path) for p in self.wanted) and not any(
            matches(p, path) for p in self.without
        )

    def narrow(self, changes: ChangeSet) -> ChangeSet:
        """Return the files of a change at these paths, without its message and people."""
        old = {
            each.path: each.old_path or ""
            for each in changes
            if each.status is Status.RENAMED
        }
        files = tuple(
            c
            for c in changes
            if self.has(c.path) or (c.path in old and self.has(old[c.path]))
        )
        skipped = tuple(each for each in changes.skipped if self.has(each.path))
        return replace(
            changes, files=files, skipped=skipped, message=None, people=(), other_text=""
        )

    def limit(self, subject: ReviewInput) -> ReviewInput:
        """Return what is reviewed at these paths. Raises UsageError if one of them matches nothing in the change."""
        missing = {path: Paths((path,), self.without) for path in self.wanted}
        for changes in chain((subject.changes,), subject.history):
            parts = {path: alone.narrow(changes) for path, alone in missing.items()}
            missing = {
                path: missing[path]
                for path, part in parts.items()
                if not (part.files or part.skipped)
            }
            if not missing:
                break
        for path in missing:
            raise UsageError(f"{path!r} matches no file of this change")
        changes = self.narrow(subject.changes)
        idle = subject.idle | {"message"}
        history = Narrowed(subject.history, self) if subject.history else ()
        return replace(
            subject,
            changes=changes,
            history=history,
            message=None,
            idle=idle,
            merge_sides=lambda merge: tuple(
                map(self.narrow_side, subject.merge_sides(merge))
            ),
        )

    def narrow_side(self, side: MergeSide) -> MergeSide:
        """Return one side of a merge with the files at these paths alone."""
        return replace(side, changes=self.narrow(side.changes))

    def __str__(self) -> str:
        return ", ".join(self.wanted) + (
            f" without {', '.join(self.without)}" if self.without else ""
        )


@dataclass(frozen=True)
class Narrowed(Collection[ChangeSet]):
    """The commits of a range, each with the files at some paths alone."""

    history: Collection[ChangeSet]
    paths: Paths

    def __iter__(self) -> Iterator[ChangeSet]:
        return map(self.paths.narrow, self.history)

    def __len__(self) -> int:
        return len(self.history)

    def __contains__(self, changes: object) -> bool:
        return changes in [*self]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    r"""Compile a glob of Git, whose `*` matches `/` too; `[^` and `\` are written otherwise in Python's."""
    return re.compile(
        fnmatch.translate(re.sub(r"\\(.)", r"[\1]", pattern.replace("[^", "[!")))
    )


def matches(pattern: str, path: str) -> bool:
    """Return whether a path is one that is named, below a folder that is named, or matched by a glob."""
    below = pattern in (".", path) or path.startswith(f"{pattern}/")
    return below or (
        bool({*"*?["} & {*pattern}) and compile_glob(pattern).match(path) is not None
    )
