"""Limit a review by hand to some paths, given as Git takes them: files, folders, globs (gitglossary(7), pathspec).

What is limited answers a question of the moment: it is never recorded, and nothing trusts it.
"""

import fnmatch
import os
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.errors import UsageError
from cli_guard.model import ChangeSet, Status

if TYPE_CHECKING:
    from cli_guard.git.repository import Repository
    from cli_guard.reviewers.review_input import ReviewInput

MAGIC = re.compile(r":(?:\(([^)]*)\)|([/!^]+):?)(.*)", re.DOTALL)
SIGNS = {"/": "top", "!": "exclude", "^": "exclude"}
KNOWN = {"top", "exclude"}


@dataclass(frozen=True)
class Paths:
    """Paths and globs from the top of the repository: those that are wanted, and those that are left out of them."""

    wanted: dict[str, str]
    without: tuple[str, ...] = ()

    @classmethod
    def parse(cls, given: Sequence[str], repository: "Repository | None", cwd: Path) -> "Paths":
        """Read paths as given in a folder. Raises UsageError for one outside the repository, or unknown magic."""
        root = repository.root_name if repository else ""
        folder = os.path.relpath(os.path.realpath(cwd), root) if root else "."
        wanted, without = dict[str, str](), list[str]()
        for spec in given:
            found = MAGIC.fullmatch(spec)
            named = (
                found[1].split(",")
                if found and found[1] is not None
                else map(SIGNS.get, found[2] if found else "")
            )
            words, rest = set(filter(None, named)), found[3] if found else spec
            if not words <= KNOWN or not (rest or "top" in words) or spec == ":":
                raise UsageError(
                    f"{spec!r} is not a path: of Git's pathspec magic only top and exclude are known"
                )
            path = os.path.relpath(rest, root) if root and rest.startswith("/") else rest
            path = os.path.normpath(os.path.join("." if "top" in words else folder, path))  # noqa: PTH118 - text
            if path.startswith(("../", "/")) or path == "..":
                raise UsageError(f"{spec!r} is outside the repository")
            if "exclude" in words:
                without.append(path)
            else:
                wanted[path] = spec
        return cls(wanted or {".": "."}, tuple(without))

    def has(self, *paths: str | None) -> bool:
        """Return whether any of some paths is wanted and not left out."""
        return any(
            any(matches(each, path) for each in self.wanted)
            and not any(matches(each, path) for each in self.without)
            for path in paths
            if path
        )

    def narrow(self, changes: ChangeSet) -> ChangeSet:
        """Return the files of a change at these paths, without its message and people."""
        files = tuple(
            each
            for each in changes
            if self.has(each.path, (each.status is Status.RENAMED and each.old_path) or None)
        )
        skipped = tuple(each for each in changes.skipped if self.has(each.path))
        return replace(changes, files=files, skipped=skipped, message=None, people=())

    def limit(self, subject: "ReviewInput") -> "ReviewInput":
        """Return what is reviewed at these paths. Raises UsageError if one of them matches nothing in the change."""
        missing = dict(self.wanted)
        for each in chain((subject.changes,), subject.history):
            narrowed = ((path, Paths({path: spec}).narrow(each)) for path, spec in missing.items())
            for path in [path for path, part in narrowed if part.files or part.skipped]:
                del missing[path]
            if not missing:
                break
        for spec in missing.values():
            raise UsageError(f"{spec!r} matches no file of this change")
        changes, history = self.narrow(subject.changes), Narrowed(subject.history, self)
        if not (changes.files or changes.skipped or any(each.files for each in history)):
            raise UsageError("these paths leave no file of this change")
        idle = subject.idle | {"message"}
        return replace(
            subject, changes=changes, history=history if subject.history else (), message=None, idle=idle
        )

    def __str__(self) -> str:
        left_out = f" without {', '.join(self.without)}" if self.without else ""
        return ", ".join(self.wanted) + left_out


class Narrowed(Collection[ChangeSet]):
    """The commits of a range, each with the files at some paths alone."""

    def __init__(self, history: Collection[ChangeSet], paths: Paths) -> None:
        self._history, self._paths = history, paths

    def __iter__(self) -> Iterator[ChangeSet]:
        return map(self._paths.narrow, self._history)

    def __len__(self) -> int:
        return len(self._history)

    def __contains__(self, changes: object) -> bool:
        return changes in [*self]


@lru_cache(maxsize=256)
def compile_glob(pattern: str) -> re.Pattern[str]:
    r"""Compile a glob of Git, whose `*` matches `/` too; `[^` and `\` are written otherwise in Python's."""
    return re.compile(fnmatch.translate(re.sub(r"\\(.)", r"[\1]", pattern.replace("[^", "[!"))))


def matches(pattern: str, path: str) -> bool:
    """Return whether a path is one that is named, below a folder that is named, or matched by a glob."""
    if pattern in (".", path) or path.startswith(f"{pattern}/"):
        return True
    return any(char in pattern for char in "*?[") and compile_glob(pattern).match(path) is not None
