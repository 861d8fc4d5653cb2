"""Files that a rename, a new execute bit, a link or a call turns into code, a script, a workflow, or what is in use.

Their lines were text, an example or somebody else's when they were recorded, so they were judged less or not at all,
also if they were pushed long ago: every line of them is new.
"""

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from cli_guard.code.classify import is_vendored
from cli_guard.code.languages import language_for, language_of
from cli_guard.code.test_files import is_test_or_example
from cli_guard.errors import MissingObject
from cli_guard.git.search import WholeTree
from cli_guard.model import ChangeSet, Contents, FileChange, Hunk, Kind, Status, split_lines
from cli_guard.reviewers.code.remarks import line_topics, topic_of
from cli_guard.reviewers.commands.extract import family_of
from cli_guard.reviewers.commands.extract.programs import is_program
from cli_guard.secrets import places

Role = tuple[str | None, str | None, tuple[str, ...], str]
NO_ROLE: Role = (None, None, (), "")
MOVED = (Status.RENAMED, Status.COPIED)
# A program and the file that it is given to run, in a command line or in a list of words.
GAP = r"""["']?[ \t,]{1,20}["']?"""
CALL = re.compile(
    rf"""(?a)[\s;&|("'`=\[,/{{](?=[bdknprsz.])(?P<by>(?:ba|da|z|k)?sh|source|\.|python|node|ruby|perl|php)[\d.]{{0,5}}"""
    rf"""(?:{GAP}-(?!\w*[cm]\b)[\w-]+){{0,5}}{GAP}(?P<path>[\w@./-]*\w)"""
)
ENDINGS = {"python": ".py", "node": ".js", "ruby": ".rb", "perl": ".pl", "php": ".php"}
MOST_CALLED = 50


def with_new_roles(changes: ChangeSet, contents: Contents) -> ChangeSet:
    """Return the changes with all lines of such files as added ones; the same object if there are none."""
    files = tuple(
        _whole(change, contents) if _has_new_role(change, contents) else change for change in changes
    )
    if isinstance(contents, WholeTree):
        files += tuple(_newly_run(changes, contents))
    return changes if files == changes.files else replace(changes, files=files)


def _newly_run(changes: ChangeSet, contents: Contents) -> Iterator[FileChange]:
    """Yield the files that are no code by their path, and that a link or a call in the change makes one."""
    named = dict.fromkeys(each for change in changes for each in _files_named(change, contents))
    for path, read_as in tuple(named)[:MOST_CALLED]:
        if not isinstance(contents, WholeTree) or language_of(path) == language_of(read_as):
            continue
        called = FileChange(path, Status.MODIFIED, new_blob=contents.object_name(path), read_as=read_as)
        with suppress(MissingObject):
            whole = _whole(called, contents)
            text = contents.new(called)
            if whole.hunks and _role(read_as, text) not in (NO_ROLE, _role(path, "")):
                yield whole


def _files_named(change: FileChange, contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield the path of each file that a change links to or calls, and the path by which it is read then."""
    folder = posixpath.dirname(change.path)
    # Each line has its end before it, with which a call may begin.
    lines = "\n".join(("", *(line for hunk in change.hunks for line in hunk.added)))
    if change.kind is Kind.SYMLINK and len(change.added) == 1:
        yield posixpath.normpath(posixpath.join(folder, lines[1:])), change.path
    elif change.kind is Kind.TEXT and (calls := tuple(CALL.finditer(lines))):
        if _role(change.path, contents.new(change)) == NO_ROLE:
            return
        for call in calls:
            for path in dict.fromkeys(
                posixpath.normpath(posixpath.join(at, call["path"])) for at in ("", folder)
            ):
                if not path.startswith(("/", "..")):
                    yield path, path + ENDINGS.get(call["by"], ".sh")


def _has_new_role(change: FileChange, contents: Contents) -> bool:
    if change.kind is not Kind.TEXT:
        return False
    if change.status in MOVED and change.old_path:
        if _is_taken_into_use(change.old_path, change.path):
            return True
        becomes = _role(change.path, contents.new(change))
        return becomes != NO_ROLE and becomes != _role(change.old_path, contents.old(change))
    if not change.made_executable or change.status is not Status.MODIFIED:
        return False
    return language_of(change.path, _start(contents.new(change))) in ("bash", None)


def _is_taken_into_use(old: str, new: str) -> bool:
    """Return whether a move ends what lessens findings: tests, documents and vendored files, or a text for people."""
    lessens = (is_test_or_example, places.is_test_or_document, is_vendored)
    return any(each(old) and not each(new) for each in lessens) or (
        places.kind_of(old) == "prose" != places.kind_of(new)
    )


def _role(path: str, text: str | None) -> Role:
    """Return by which rules a file is judged: its language, its topics, and how its commands are found."""
    start = _start(text)
    language = language_for(path, start)
    family = family_of(path, start) or ("program" if is_program(path) else "")
    return language, topic_of(path, language), line_topics(path), family


def _start(text: str | None) -> str:
    return (text or "")[:300].split("\n", 1)[0]


def _whole(change: FileChange, contents: Contents) -> FileChange:
    lines = tuple(split_lines(contents.new(change) or ""))
    return replace(change, hunks=(Hunk(0, 1, (), lines),)) if lines else change
