"""Whether a script that runs at an install, and that a change rewrites, runs anything that it did not run before."""

import posixpath
import re

from cli_guard.reviewers.dependencies.reading import Dependency
from cli_guard.reviewers.review_input import ReviewInput

# Without any operator of a shell.
PLAIN_WORD = re.compile(r"[\w.:=,/@+-]+")


def runs_same_files(
    subject: ReviewInput, manifest: str, was: Dependency, entry: Dependency
) -> bool:
    """Return whether each command of a script stood in it before, or hands other words to a file that it ran before."""
    known = commands_of(was)
    return all(
        words in known or is_same_file(subject, manifest, words, known)
        for words in commands_of(entry)
    )


def commands_of(entry: Dependency) -> list[list[str]]:
    """Return the words of each command of a script."""
    return [command.split() for command in entry.spec.split("&&")]


def is_same_file(
    subject: ReviewInput, manifest: str, words: list[str], known: list[list[str]]
) -> bool:
    """Return whether a command is a program with a file of the repository, as a known one is: `php artisan clear`.

    A name in the place of the file, as in `npm run NAME`, may stand for anything.
    """
    program_and_file = words[:2]
    if len(program_and_file) < 2 or not all(map(PLAIN_WORD.fullmatch, words)):
        return False
    folder = posixpath.dirname(manifest)
    file = posixpath.normpath(posixpath.join(folder, program_and_file[1]))
    is_known = any(each[:2] == program_and_file for each in known)
    return is_known and subject.text_at(file) is not None
