"""The definitions that a change of a file, or a commit, adds, removes, renames and changes."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from cli_guard.assistant.replies import first_of
from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import Contents, FileChange
from cli_guard.repository.protocol import Bounds, Repository

BOUNDS = Bounds(files=200, file_bytes=400_000, total_bytes=4_000_000)
NAMES = 8
FILES = 6


def list_changed_symbols(
    repository: Repository, commit: str, paths: Collection[str]
) -> Iterator[str]:
    """Yield a line for each of at most 6 files, tests last: `src/a.py: adds f, changes C.g, removes h`."""
    with repository.blobs(BOUNDS.file_bytes) as reader:
        changes = next(iter(repository.changes(reader, BOUNDS).commits([commit])))
        chosen = [each for each in changes.files if each.path in paths and each.hunks]
        shown = 0
        for change in sorted(
            chosen, key=lambda each: (is_test_or_example(each.path), each.path)
        ):
            found = find_changed_symbols(change, reader.contents())
            if found and shown < FILES:
                shown += 1
                done = (
                    f"{verb}s {first_of(list(names), NAMES)}"
                    for verb, names in found.items()
                )
                yield f"{change.path}: {', '.join(done)}"


def find_changed_symbols(
    change: FileChange, contents: Contents
) -> dict[str, tuple[str, ...]]:
    """Name the definitions that a change adds, removes, renames or changes, by verb."""
    old = contents.old(change) or ""
    new = contents.new(change) or ""
    before = known_in(change.old_path or change.path, old)
    after = known_in(change.path, new)
    added = outermost([name for name in after if name not in before])
    removed = outermost([name for name in before if name not in after])
    new_lines = list(change.added)
    old_lines = list(change.removed)
    touched = [
        name
        for name in after
        if name in before
        and (reaches(new_lines, after[name]) or reaches(old_lines, before[name]))
    ]
    # A class is not named for what one of its methods is.
    around = {name.rpartition(".")[0] for name in (*added, *removed, *touched)}
    found = {"add": added, "remove": removed}
    if len(added) == len(removed) == 1 and is_renamed(
        before[removed[0]], after[added[0]], old, new
    ):
        found = {"rename": [f"{removed[0]} to {added[0]}"]}
    found["change"] = [name for name in touched if name not in around]
    return {verb: tuple(names) for verb, names in found.items() if names}


def known_in(path: str, text: str) -> dict[str, Definition]:
    """List the definitions of a file by qualified name; headings of documents are none."""
    return {
        each.qualname: each
        for each in find_definitions(path, text)
        if each.kind != "heading"
    }


def outermost(names: Sequence[str]) -> list[str]:
    """Leave out what is inside of another of the names."""
    known = frozenset(names)
    return [name for name in names if name.rpartition(".")[0] not in known]


def reaches(lines: Sequence[int], definition: Definition) -> bool:
    """Return whether any of the lines, which are in order, is one of a definition."""
    at = bisect_left(lines, definition.line)
    return at < len(lines) and lines[at] <= definition.end_line


def is_renamed(old: Definition, new: Definition, before: str, after: str) -> bool:
    """Return whether two definitions differ by their name alone."""
    was, now = (
        text.split("\n")[each.line - 1 : each.end_line]
        for each, text in ((old, before), (new, after))
    )
    return [
        re.sub(rf"\b{re.escape(old.name)}\b", lambda _: new.name, line) for line in was
    ] == now
