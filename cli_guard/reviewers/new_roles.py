"""Files that a rename or a new execute bit turns into code, a script or a workflow: every line of them is new there.

Their lines were text when they were recorded, so no rule has judged them, also if they were pushed long ago.
"""

from dataclasses import replace

from cli_guard.code.languages import language_of
from cli_guard.model import ChangeSet, Contents, FileChange, Hunk, Kind, Status, split_lines
from cli_guard.reviewers.code.remarks import line_topics, topic_of
from cli_guard.reviewers.commands.extract import family_of
from cli_guard.reviewers.commands.extract.programs import is_program

Role = tuple[str | None, str | None, tuple[str, ...], str]
NO_ROLE: Role = (None, None, (), "")
MOVED = (Status.RENAMED, Status.COPIED)


def with_new_roles(changes: ChangeSet, contents: Contents) -> ChangeSet:
    """Return the changes with all lines of such files as added ones; the same object if there are none."""
    files = tuple(
        _whole(change, contents) if _has_new_role(change, contents) else change for change in changes
    )
    return changes if files == changes.files else replace(changes, files=files)


def _has_new_role(change: FileChange, contents: Contents) -> bool:
    if change.kind is not Kind.TEXT:
        return False
    if change.status in MOVED and change.old_path:
        becomes = _role(change.path, contents.new(change))
        return becomes != NO_ROLE and becomes != _role(change.old_path, contents.old(change))
    if not change.made_executable or change.status is not Status.MODIFIED:
        return False
    return language_of(change.path, _start(contents.new(change))) in ("bash", None)


def _role(path: str, text: str | None) -> Role:
    """Return by which rules a file is judged: its language, its topics, and how its commands are found."""
    start = _start(text)
    language = language_of(path, start)
    family = family_of(path, start) or ("program" if is_program(path) else "")
    return language, topic_of(path, language), line_topics(path), family


def _start(text: str | None) -> str:
    return (text or "")[:300].split("\n", 1)[0]


def _whole(change: FileChange, contents: Contents) -> FileChange:
    lines = tuple(split_lines(contents.new(change) or ""))
    return replace(change, hunks=(Hunk(0, 1, (), lines),)) if lines else change
