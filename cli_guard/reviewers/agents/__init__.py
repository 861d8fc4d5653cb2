"""What coding agents and editors obey or start when a repository brings it: settings, servers, plugins and text.

`agent_paths` beside this folder says which files matter, `tables` what tools read in them. `reading` and `statements`
turn both states of a file into statements; `starts`, `permissions`, `servers` and `traffic` judge those that are new or
changed. `markdown`, `hidden` and `orders` read the texts that agents obey, which `obeyed` judges. `judging` brings
all together and `findings` puts it into words.
"""

from contextlib import suppress

from cli_guard.errors import GitError
from cli_guard.model import Report
from cli_guard.repository.protocol import WithFolders
from cli_guard.reviewers.agent_paths import (
    may_be_obeyed,
    settings_above,
    settings_at,
)
from cli_guard.reviewers.review_input import ReviewInput

__all__ = ["review"]


def review(subject: ReviewInput) -> Report:
    """Return the findings on what a change has agents and editors obey or start, by path, line and rule."""
    changes = [change for change in subject.changes if may_be_obeyed(change)]
    starters = find_starters(subject)
    if not changes and not starters:
        return Report()
    # Most changes hold no such file, and need nothing of what reads and judges one.
    from cli_guard.reviewers.agents.judging import review_files

    return review_files(subject, changes, starters)


def find_starters(subject: ReviewInput) -> tuple[str, ...]:
    """Return the settings that this change leaves as they are and that may start or name what it changes."""
    settings, folders = settings_above(subject.changes)
    if not settings or not isinstance(subject.contents, WithFolders):
        return ()
    changed = {change.path for change in subject.changes}
    with suppress(GitError):
        names = dict.fromkeys(path.partition("/")[0] for path in settings)
        found = subject.contents.find_names(names.keys(), folders, subject.changes.parents)
        places = {path for place in found for path in settings_at(place, settings)}
        places -= changed
        return tuple(path for path in sorted(places) if subject.text_at(path) is not None)
    return ()
