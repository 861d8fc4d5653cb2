"""The decision about what was not read: it needs a person where it runs, or carries what is installed or built.

Elsewhere it is listed; so is what could not be read before the change either, for the same reason.
"""

from dataclasses import replace

from cli_guard.code.languages import language_for, suffix_of, unread_language
from cli_guard.model import ChangeSet, Contents, FileChange, Kind, Skipped
from cli_guard.repository.protocol import RawContents
from cli_guard.repository.texts import decode
from cli_guard.rules.catalog import read_patterns

PROGRAMS = read_patterns("languages/patterns.toml", "line_rules")
# Files that are data as long as nothing says that they hold commands.
DATA = frozenset((".css", ".scss", ".json", ".yaml", ".yml", ".toml"))
# Names of text in which bytes that are none hide something.
TEXTS = DATA.union(".md .rst .txt .adoc .csv .tsv .xml .svg .ini .cfg .conf .env".split())
# Zip files that an interpreter runs, scripts of programs that have no grammar here, and Python's start-up files.
RUN_BY_NAME = frozenset(
    (".pyz", ".pyzw", ".ps1", ".psm1", ".awk", ".tcl", ".fish", ".zsh", ".ksh", ".pth")
)


def unread(
    change: FileChange, reason: str, start: str = "", *, before: bool = False
) -> Skipped:
    """Return the entry of the report for a file, or a part of it, that a reviewer would have judged and did not read.

    `start` is the first line of the file, as far as it is known. `before`: so it was before the change.
    """
    return Skipped(change.path, reason, asks=not before and is_live(change, start))


def with_decisions(changes: ChangeSet, contents: Contents) -> ChangeSet:
    """Return a change with the decision about each of its files of which Git's bytes are not, or not all, text."""
    binary = {
        each.path: each
        for each in changes
        if each.kind is Kind.BINARY or each.tail is not None
    }
    if not binary or not changes.skipped:
        return changes
    decided = []
    for skip in changes.skipped:
        change = binary.get(skip.path)
        if change and not skip.asks:
            start = (contents.new(change) or "").partition("\n")[0]
            asks = is_live(change, start) or suffix_of(change.path) in TEXTS
            skip = replace(skip, asks=asks and not _was_binary(change, contents))
        decided.append(skip)
    return replace(changes, skipped=tuple(decided))


def _was_binary(change: FileChange, contents: Contents) -> bool:
    raw = contents.raw(change, old=True) if isinstance(contents, RawContents) else None
    return raw is not None and decode(raw) is None


def is_live(change: FileChange, start: str) -> bool:
    """Return whether a file after the change runs, or decides what is run, built or installed."""
    if change.is_deleted:
        return False
    path = change.read_as or change.path
    if (
        change.new_mode == "100755"
        or start.startswith("#!")
        or suffix_of(path) in RUN_BY_NAME
    ):
        return True
    if suffix_of(path) not in DATA and (
        language_for(path, start)
        or unread_language(path)
        or any(paths.search(path) for paths in PROGRAMS.values())
    ):
        return True
    # These reviewers say by this module what they did not read.
    from cli_guard.reviewers.commands.extract import family_of
    from cli_guard.reviewers.commands.extract.programs import is_program
    from cli_guard.reviewers.dependencies.reading import formats_of

    return bool(family_of(path, start) or is_program(path) or formats_of(path))
