"""A commit that says to be about another matter than the start that it brings: words for a finding, and no more."""

from collections.abc import Iterator

from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_patterns

# Each commit of a range is read for its paths.
MOST_COMMITS = 50
LONGEST = 60


def other_matter(subject: ReviewInput, path: str) -> str:
    """Return a sentence on the subject of the commit that changes a path if it is about something else, else ""."""
    patterns = read_patterns("agents/programs.toml", "subjects")
    for said in subjects_of(subject, path):
        if patterns["elsewhere"].search(said) and not patterns["here"].search(said):
            return f'; the commit says "{shorten(said)}", which is another matter'
    return ""


def subjects_of(subject: ReviewInput, path: str) -> Iterator[str]:
    """Yield the first lines of the messages that a change of a path comes with, as far as they are known."""
    if subject.commit_subject:
        yield subject.commit_subject
    if subject.message is not None:
        yield subject.message.subject
    if len(subject.history) > MOST_COMMITS:
        return
    for commit in subject.history:
        if commit.message and any(each.path == path for each in commit):
            yield commit.message.partition("\n")[0]


def shorten(said: str) -> str:
    return said if len(said) <= LONGEST else f"{said[: LONGEST - 3]}..."
