"""The decision about what was not read: it needs a person where it runs, or carries what is installed or built.

Elsewhere it is listed; so is what could not be read before the change either, for the same reason.
"""

from cli_guard.code.languages import language_for, suffix_of, unread_language
from cli_guard.model import FileChange, Skipped, Status
from cli_guard.reviewers.code.remarks import line_topics, topic_of
from cli_guard.reviewers.commands.extract import family_of
from cli_guard.reviewers.commands.extract.programs import is_program
from cli_guard.reviewers.dependencies.reading import formats_of

# Files that are data as long as nothing says that they hold commands.
DATA = frozenset((".css", ".scss", ".json", ".yaml", ".yml", ".toml"))
# Zip files that an interpreter runs, scripts of programs that have no grammar here, and Python's start-up files.
RUN_BY_NAME = frozenset((".pyz", ".pyzw", ".ps1", ".psm1", ".awk", ".tcl", ".fish", ".zsh", ".ksh", ".pth"))


def unread(change: FileChange, reason: str, start: str = "", *, before: bool = False) -> Skipped:
    """Return the entry of the report for a file, or a part of it, that a reviewer would have judged and did not read.

    `start` is the first line of the file, as far as it is known. `before`: so it was before the change.
    """
    return Skipped(change.path, reason, asks=not before and is_live(change, start))


def is_live(change: FileChange, start: str = "") -> bool:
    """Return whether a file after the change runs, or decides what is run, built or installed."""
    if change.status is Status.DELETED:
        return False
    path = change.read_as or change.path
    if change.new_mode == "100755" or start.startswith("#!") or suffix_of(path) in RUN_BY_NAME:
        return True
    language = language_for(path, start)
    if suffix_of(path) not in DATA and (language or unread_language(path) or line_topics(path)):
        return True
    known_yaml = language == "yaml" and topic_of(path, language) != "yaml"
    return known_yaml or bool(family_of(path, start) or is_program(path) or formats_of(path))
