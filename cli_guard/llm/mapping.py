"""A map of a repository for the first message to a model: folders, main modules with their public names, the tests.

Bounded by counts of files and characters, so that the same tree gives the same map on every machine.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from posixpath import basename

from cli_guard.assistant.projects import advise
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.code.definitions import find_definitions
from cli_guard.code.test_files import is_test_or_example
from cli_guard.secrets.printable import printable

MAP_CHARS = 4_000
FOLDERS_CHARS = 1_800
# Names shown of each folder: as many as fit.
NAMES_OF_FOLDER = (40, 12, 4, 1)
PATH_CHARS = 160
MODULES = 16
MODULES_OF_FOLDER = 3
# So many are read for their names; a folder may hold files that define nothing for others.
MODULES_READ = 100
# A longer file is data, or takes too long to parse.
MODULE_CHARS = 60_000
NAMES = 10
LINE_CHARS = 200


def draw_map(texts: Mapping[str, str]) -> str:
    """Return the map of some files (path -> text), of which everything may be sent."""
    parts = [f"{len(texts)} text files. By folder:"]
    parts += outline_files(texts)
    if command := advise("run all tests", texts).command:
        parts.append(f"Tests: {printable(command)[:LINE_CHARS]}")
    parts.append("Main modules, with their public names:")
    parts += list_modules(texts)
    return "\n".join(fit_lines(parts, MAP_CHARS))


def list_modules(texts: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each of the longest files of each folder, the longest first."""
    sources = [
        path
        for path, text in texts.items()
        if len(text) <= MODULE_CHARS and kind_of(path) == "source"
    ]
    taken: Counter[str] = Counter()
    shown = 0
    for path in sorted(sources, key=lambda each: (-len(texts[each]), each)):
        folder = path.rpartition("/")[0]
        if taken[folder] == MODULES_OF_FOLDER:
            continue
        if shown == MODULES or taken.total() == MODULES_READ:
            return
        taken[folder] += 1
        if names := list_public_names(path, texts[path]):
            shown += 1
            yield printable(f"{path}: {', '.join(names)}")[:LINE_CHARS]


def list_public_names(path: str, text: str) -> list[str]:
    """Return the first names that a file defines at its top level for others."""
    found = (each.qualname for each in find_definitions(path, text))
    # Of constants a file may have dozens, which say little of what it does.
    public = (
        each
        for each in found
        if "." not in each and not each.startswith("_") and not each.isupper()
    )
    return list(islice(dict.fromkeys(public), NAMES))


def outline_files(paths: Iterable[str]) -> list[str]:
    """Format the names of files by folder: as many of each folder as fit, those of tests last."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(basename(path))
    ordered = sorted(
        folders, key=lambda each: (is_test_or_example(f"{each}/x"), each.count("/"), each)
    )
    for most in NAMES_OF_FOLDER:
        lines = (format_folder(each, folders[each], most) for each in ordered)
        if len(kept := fit_lines(lines, FOLDERS_CHARS)) == len(ordered):
            return kept
    return [*kept, f"and {len(ordered) - len(kept)} more folders"]


def format_folder(folder: str, names: list[str], most: int) -> str:
    """Format some names of the files of a folder, and how many more there are."""
    shown = ", ".join(name[:PATH_CHARS] for name in names[:most])
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return printable(f"{folder[-PATH_CHARS:] or '.'}: {shown}{more}")


def fit_lines(lines: Iterable[str], chars: int) -> list[str]:
    """Return the first of some lines, as many as fit."""
    kept = []
    for line in lines:
        chars -= len(line) + 1
        if chars < 0:
            break
        kept.append(line)
    return kept
