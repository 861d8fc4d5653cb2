"""The definitions that a commit adds, changes and removes, by file."""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.code.test_files import is_test_or_example
from cli_guard.git.changes import Bounds, ChangeReader
from cli_guard.git.contents import BlobReader, decode
from cli_guard.git.repository import Repository

BOUNDS = Bounds(files=200, file_bytes=400_000, total_bytes=4_000_000)
NAMES, FILES, LINES = 8, 6, 2_000
CODE = frozenset(("function", "class", "method", "type", "constant", "interface", "enum"))


def list_changed_symbols(repository: Repository, commit: str, paths: Collection[str]) -> Iterator[str]:
    """Yield a line for each of at most 6 files, tests last: `src/a.py: adds f, changes C.g, removes h`."""
    with BlobReader(repository.git, blob_limit=BOUNDS.file_bytes) as reader:
        changes = next(iter(ChangeReader(repository, reader, BOUNDS).commits([commit])))
        shown = 0
        ordered = sorted(changes.files, key=lambda each: (is_test_or_example(each.path), each.path))
        for change in ordered:
            if change.path not in paths or not change.hunks or shown >= FILES:
                continue
            sides = []
            for blob, path in (
                (change.old_blob, change.old_path or change.path),
                (change.new_blob, change.path),
            ):
                raw = reader.read(blob) if blob else None
                text = decode(raw, path) if raw else None
                code = find_definitions(path, text) if text else ()
                sides.append([each for each in code if each.kind in CODE])
            old, new = sides
            before, after = ({each.qualname: None for each in side} for side in sides)
            touched = (*_around(new, change.added), *_around(old, change.removed))
            groups = {
                "adds": _outermost(name for name in after if name not in before),
                "changes": [each for each in dict.fromkeys(touched) if each in before and each in after],
                "removes": _outermost(name for name in before if name not in after),
            }
            parts = [f"{verb} {_join(names)}" for verb, names in groups.items() if names]
            if parts:
                shown += 1
                yield f"{change.path}: {', '.join(parts)}"


def _around(definitions: Iterable[Definition], lines: Iterable[int]) -> Iterator[str]:
    """Yield the innermost definition around each line."""
    ordered = list(definitions)
    for line in islice(lines, LINES):
        inner = [each for each in ordered if each.line <= line <= each.end_line]
        if inner:
            yield inner[-1].qualname


def _outermost(names: Iterable[str]) -> list[str]:
    """Leave out what is inside another of them."""
    found = list(names)
    return [each for each in found if each.rpartition(".")[0] not in found]


def _join(names: list[str]) -> str:
    return ", ".join(names[:NAMES]) + (f" and {len(names) - NAMES} more" if len(names) > NAMES else "")
