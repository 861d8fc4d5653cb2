"""Texts that are obeyed because settings or rules name them: `instructions` of opencode, `@FILE` in CLAUDE.md.

Words of an entry of kind "names": `imports`: what it names may name others in the same way. A name may have stars,
or be that of a folder: then it is matched with the files of the change alone.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Kind, Skipped, Status
from cli_guard.reviewers.agent_paths import TEXT
from cli_guard.reviewers.agents.starts import scope_of
from cli_guard.reviewers.agents.statements import (
    SurfaceStatement,
    matches_in,
)
from cli_guard.reviewers.agents.states import LONGEST, FileState, standing_ones
from cli_guard.reviewers.agents.tables import files_of
from cli_guard.reviewers.review_input import ReviewInput

MOST = 100
FORM = re.compile(r"(?:\{file:|file://)?(?:\./)?([^{}\n]{1,300}?)\}?")


@frozen(eq=False)
class NamedText:
    """A text of the tree, the settings or rules that name it at first, and whether that is new."""

    path: str
    root: SurfaceStatement
    is_new: bool


def named_texts(
    subject: ReviewInput,
    states: Sequence[FileState],
    starters: Sequence[str],
    skipped: list[Skipped],
) -> Iterator[tuple[FileState, SurfaceStatement]]:
    """Yield each text that a change adds to what is obeyed, or alters, with the statement that names it.

    What is too long, or above `MOST`, is added to `skipped`, which asks.
    """
    changed = {each.path for each in subject.changes}
    most = min(LONGEST, subject.limits.file_chars)
    names = follow_names(subject, list(standing_ones(subject, states, starters, "names")))
    for number, named in enumerate(names):
        shown = subject.file_at(named.path)
        if shown is None:
            continue
        if named.path not in changed:
            if not named.is_new:
                continue
            # To its reader it is as new as the words that name it.
            shown = replace(shown, status=Status.ADDED)
        if number >= MOST:
            reason = f"agents: {named.root.path} leads to more than {MOST} texts"
            skipped.append(Skipped(named.path, reason, asks=True))
            return
        sides = subject.sides_of(shown, "agents", most)
        if isinstance(sides, Skipped):
            skipped.append(sides)
            continue
        old, text = sides
        file = replace(named.root.file, is_text=True, entries=())
        known = "" if named.is_new else old
        yield FileState(shown, file, (), (), (), text, known), named.root


def follow_names(
    subject: ReviewInput, first: Sequence[tuple[SurfaceStatement, bool]]
) -> Iterator[NamedText]:
    """Yield the texts that are named, and those that these name, each once.

    Above `MOST` none is followed: it may name any text of the change.
    """
    waiting = [(statement, statement, is_new) for statement, is_new in first]
    found: set[str] = set()
    for statement, root, is_new in waiting:
        for path in paths_of(subject, statement):
            if path in found or is_obeyed(path):
                continue
            found.add(path)
            yield NamedText(path, root, is_new)
            if not statement.entry.words.get("imports"):
                continue
            below = matches_in(root.file, root.entry, path, subject.text_at(path) or "")
            if len(found) <= MOST:
                waiting += [(each, root, is_new) for each in below]
            elif any(below):
                texts = [each.path for each in subject.changes if is_below(each, "*")]
                left = (each for each in texts if each not in found and not is_obeyed(each))
                yield from (NamedText(each, root, is_new) for each in left)
                return


def paths_of(subject: ReviewInput, statement: SurfaceStatement) -> Iterator[str]:
    """Yield the files of the tree that a statement names, from its own folder or from that of the tool."""
    form = FORM.fullmatch(statement.wording.strip())
    if form is None:
        return
    for folder in dict.fromkeys(
        (posixpath.dirname(statement.path), scope_of(statement.path))
    ):
        path = posixpath.normpath(posixpath.join(folder, form[1]))
        if path.startswith(("..", "/", "~")):
            continue
        if subject.text_at(path) is not None:
            yield path
            return
        if not statement.entry.words.get("imports"):
            yield from (each.path for each in subject.changes if is_below(each, path))


def is_below(change: FileChange, pattern: str) -> bool:
    """Return whether a changed text fits a pattern, or is in a folder."""
    if change.kind is not Kind.TEXT or change.status is Status.DELETED:
        return False
    is_inside = change.path.startswith(f"{pattern}/") or fnmatchcase(change.path, pattern)
    return is_inside and TEXT.search(change.path) is not None


def is_obeyed(path: str) -> bool:
    """Return whether a file is one that is read as obeyed under its own name."""
    return any(each.is_text for each in files_of(path))
