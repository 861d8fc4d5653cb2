"""Whether a script that runs at an install, and that a change rewrites, runs anything that it did not run before."""

import posixpath

from cli_guard.commands import Context, EffectKind, Setting, judge_or_raise
from cli_guard.reviewers.dependencies.reading import Dependency
from cli_guard.reviewers.review_input import ReviewInput

ROOT = "/repository"


def runs_same_files(
    subject: ReviewInput, manifest: str, was: Dependency, entry: Dependency
) -> bool:
    """Return whether each command of a script stood in it before, or hands other words to a file that it ran before."""
    known = commands_of(was)
    return all(
        command in known or is_same_file(subject, manifest, command, known)
        for command in commands_of(entry)
    )


def commands_of(entry: Dependency) -> list[str]:
    # `@php` of Composer is php.
    return [each.strip().removeprefix("@") for each in entry.spec.split("&&")]


def is_same_file(
    subject: ReviewInput, manifest: str, command: str, known: list[str]
) -> bool:
    """Return whether a command only runs a file, as a known one does, and names no other: `php artisan clear`.

    The judge says which word is the file: in `npm run NAME` none is.
    """
    folder = posixpath.join(ROOT, posixpath.dirname(manifest)).rstrip("/")
    context = Context(setting=Setting.CHANGE, folder=folder, root=ROOT)

    def files_named(text: str) -> set[str]:
        paths = (posixpath.normpath(posixpath.join(folder, word)) for word in text.split())
        return {
            path
            for path in paths
            if subject.text_at(path.removeprefix(f"{ROOT}/")) is not None
        }

    def files_run(text: str) -> set[str]:
        effects = judge_or_raise(text, context).effects
        return {(each.kind is EffectKind.EXEC and each.target) or "" for each in effects}

    files = files_named(command)
    run = files_run(command)
    return (
        bool(run)
        and run <= files
        and any(
            each.split()[:1] == command.split()[:1]
            and files_run(each) == run
            and files <= files_named(each)
            for each in known
        )
    )
