"""Files that a rename, a new execute bit, a link or a call turns into code, a script, a workflow, or what is in use.

Their lines were text, an example or somebody else's when they were recorded, so they were judged less or not at all,
also if they were pushed long ago: every line of them is new.
"""

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from cli_guard.code.classify import is_vendored
from cli_guard.code.languages import FAMILY, language_for, language_of
from cli_guard.code.test_files import is_test_or_example
from cli_guard.errors import MissingObject
from cli_guard.model import (
    ChangeSet,
    Contents,
    FileChange,
    Hunk,
    Kind,
    Skipped,
    Status,
    split_lines,
)
from cli_guard.policy.config import default_config
from cli_guard.policy.decisions import Policy
from cli_guard.policy.globs import matches
from cli_guard.repository.protocol import Prefetching, WholeTree
from cli_guard.secrets import places

Role = tuple[str | None, str | None, tuple[str, ...], str]
NO_ROLE: Role = (None, None, (), "")
MOVED = (Status.RENAMED, Status.COPIED)
# A program and the file that it is given to run, in a command line or in a list of words.
GAP = r"""["']?[ \t,]{1,20}["']?"""
CALL = re.compile(
    r"""(?a)[\s;&|("'`=\[,/{](?=[bdknprsz.])"""
    r"""(?P<by>(?:ba|da|z|k)?sh|source|\.(?=[ \t])|python|node|ruby|perl|php)[\d.]{0,5}"""
    rf"""(?:{GAP}-(?!\w*[cm]\b)[\w-]+){{0,5}}{GAP}(?P<path>[\w@./-]*\w)"""
)
ENDINGS = {"python": ".py", "node": ".js", "ruby": ".rb", "perl": ".pl", "php": ".php"}
MOST_CALLED = 50


def with_new_roles(changes: ChangeSet, contents: Contents, policy: Policy) -> ChangeSet:
    """Return the changes with all lines of such files as added ones; the same object if there are none.

    A file that leaves the paths of an `[[ignore]]` has a new role as well. A link or a call that runs one there, from
    somewhere else, needs a person.
    """
    ignored = _Ignored(policy)
    files = tuple(
        _whole(change, contents) if _has_new_role(change, contents, ignored) else change
        for change in changes
    )
    if isinstance(contents, WholeTree):
        files += tuple(_newly_run(changes, contents))
    run = {each.path for each in files if each.read_as}
    skipped = tuple(_run_from_outside(changes, contents, ignored, run)) if ignored else ()
    if files == changes.files and not skipped:
        return changes
    return replace(changes, files=files, skipped=(*changes.skipped, *skipped))


class _Ignored:
    """The paths of the `[[ignore]]` entries of a policy that answer more than advice."""

    def __init__(self, policy: Policy) -> None:
        self._configs = [config for config in policy.configs if config.ignore]

    def __bool__(self) -> bool:
        return bool(self._configs)

    @cached_property
    def _paths(self) -> set[str]:
        # Late: it reads every rule.
        from cli_guard.policy.loosenings import weakening_ignores

        return {
            entry.path
            for config in self._configs
            for entry in weakening_ignores(default_config(), config)
        }

    def is_left(self, old: str, new: str) -> bool:
        """Return whether one covers a file, or files of a folder, and not another path."""
        covering = (
            path
            for path in self._paths
            if matches(path, old) or matches(path, f"{old}/-") or path.startswith(f"{old}/")
        )
        return bool(self) and any(not matches(path, new) for path in covering)


def _run_from_outside(
    changes: ChangeSet, contents: Contents, ignored: _Ignored, run: set[str]
) -> Iterator[Skipped]:
    for change in changes:
        is_link = change.kind is Kind.SYMLINK
        for path, _ in _files_named(change, contents) if is_link or run else ():
            if (is_link or path in run) and ignored.is_left(path, change.path):
                reason = f"makes {path} run from here, and an [[ignore]] answers what is found there"
                yield Skipped(change.path, reason, asks=True)


def _newly_run(changes: ChangeSet, contents: Contents) -> Iterator[FileChange]:
    """Yield the files that are no code by their path, and that a link or a call in the change makes one."""
    named = dict.fromkeys(
        each for change in changes for each in _files_named(change, contents)
    )
    if not isinstance(contents, WholeTree):
        return
    calls = [
        (path, read_as)
        for path, read_as in tuple(named)[:MOST_CALLED]
        if _family_of(path) != _family_of(read_as)
    ]
    # Most are words of a text, and no files.
    if isinstance(contents, Prefetching):
        contents.prefetch(contents.object_name(path) for path, _ in calls)
    for path, read_as in calls:
        called = FileChange(
            path, Status.MODIFIED, new_blob=contents.object_name(path), read_as=read_as
        )
        with suppress(MissingObject):
            whole = _whole(called, contents)
            text = contents.new(called)
            if whole.hunks and _role(read_as, text) not in (NO_ROLE, _role(path, "")):
                yield whole


def _family_of(path: str) -> str | None:
    """Return the language of a file; what `node` runs may be TypeScript."""
    language = language_of(path)
    return FAMILY.get(language or "", language)


def _files_named(change: FileChange, contents: Contents) -> Iterator[tuple[str, str]]:
    """Yield the path of each file that a change links to or calls, and the path by which it is read then."""
    folder = posixpath.dirname(change.path)
    # Each line has its end before it, with which a call may begin.
    lines = "\n".join(("", *(line for hunk in change.hunks for line in hunk.added)))
    if change.kind is Kind.SYMLINK and len(change.added) == 1:
        yield posixpath.normpath(posixpath.join(folder, lines[1:])), change.path
    elif change.is_text and (calls := tuple(CALL.finditer(lines))):
        # Most files have a language by their path alone: their text is not needed here.
        known = language_for(change.path)
        if not known and _role(change.path, contents.new(change)) == NO_ROLE:
            return
        for call in calls:
            for path in dict.fromkeys(
                posixpath.normpath(posixpath.join(at, call["path"])) for at in ("", folder)
            ):
                if not path.startswith(("/", "..")):
                    yield path, path + ENDINGS.get(call["by"], ".sh")


def _has_new_role(change: FileChange, contents: Contents, ignored: _Ignored) -> bool:
    if not change.is_text:
        return False
    if change.status in MOVED and change.old_path:
        if ignored.is_left(change.old_path, change.path) or _is_taken_into_use(
            change.old_path, change.path
        ):
            return True
        becomes = _role(change.path, contents.new(change))
        return becomes != NO_ROLE and becomes != _role(
            change.old_path, contents.old(change)
        )
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
    # Most changes move no file, make none executable and call none.
    from cli_guard.reviewers.code.remarks import line_topics, topic_of
    from cli_guard.reviewers.commands.extract import family_of
    from cli_guard.reviewers.commands.extract.programs import is_program

    start = _start(text)
    language = language_for(path, start)
    family = family_of(path, start) or ("program" if is_program(path) else "")
    return language, topic_of(path, language), line_topics(path), family


def _start(text: str | None) -> str:
    return (text or "")[:300].split("\n", 1)[0]


def _whole(change: FileChange, contents: Contents) -> FileChange:
    lines = tuple(split_lines(contents.new(change) or ""))
    return replace(change, hunks=(Hunk(0, 1, (), lines),)) if lines else change
