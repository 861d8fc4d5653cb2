"""The text that a change is compared with, and what is said of a file that a bound leaves out.

A bundler writes a version or a hash of the content into the path of what it builds: the build before is deleted then,
and Git pairs the two only if they are alike.
"""

import re
from collections.abc import Callable

from cli_guard.code.classify import has_long_line
from cli_guard.model import FileChange, Skipped, Status
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.unread import unread

# A hash of the content, or a part of a version.
BUILD = re.compile(r"(?=\D*\d)\w{6,32}|v?\d{1,5}(?:(?:a|b|rc|alpha|beta|dev)\d{0,3})?")


def leave(
    subject: ReviewInput, change: FileChange, reason: str, is_unread: Callable[[str], bool]
) -> Skipped:
    """Return the entry for a file that a bound leaves out; what was so before the change asks nobody."""
    text = subject.contents.new(change) or ""
    old = text_before(subject, change, text)
    return unread(
        change,
        reason,
        text[:200].split("\n", 1)[0],
        before=old is not None and is_unread(old),
    )


def text_before(subject: ReviewInput, change: FileChange, text: str) -> str | None:
    """Return the text before the change; of a new bundle that of the deleted build in whose place it comes."""
    if change.status is not Status.ADDED or not has_long_line(text):
        return subject.contents.old(change)
    name = name_of_build(change.path)
    builds = (
        each
        for each in subject.changes
        if each.is_deleted and name_of_build(each.path) == name
    )
    build = next(builds, None)
    return subject.contents.old(build) if build else None


def name_of_build(path: str) -> tuple[str, ...]:
    """Return a path without versions and hashes of a content: what `js/4.1.2/app.7e80961f.js` is in any build."""
    parts = re.split(r"[./-]", path)
    return tuple(each for each in parts if not BUILD.fullmatch(each))
