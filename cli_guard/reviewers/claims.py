"""Compare what a commit message claims with its change.

Only claims that the change decides are checked, and only a certain contradiction is reported: if anything was not read
(a binary, a submodule, a skipped file), there is no contradiction.
"""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_of
from cli_guard.model import ChangeSet, CommitMessage, FileChange, Status
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_patterns

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_FILES_PARSED = 20
MOST_CHARS_PARSED = 200_000
TYPO_LINES = 50

PATTERNS = {
    **read_patterns("message.toml", "claims"),
    **read_patterns("message.toml", "claimed"),
}


def makes_claim(message: CommitMessage) -> bool:
    """Check whether the subject line of a message that is being written claims what its change can contradict."""
    return any(PATTERNS[claim].match(message.subject) for claim in CLAIMS)


def contradiction(
    message: CommitMessage, changes: ChangeSet, subject: ReviewInput
) -> str | None:
    """Return, as a sentence, the first claim of the subject line that the change certainly contradicts.

    `changes` can be a part: what an amended commit holds is not in them.
    """
    if (
        not changes.files
        or changes.skipped
        or any(not change.is_text for change in changes)
    ):
        return None
    for claim, check in CLAIMS.items():
        match = PATTERNS[claim].match(message.subject)
        said = check(match, changes, subject) if match else None
        if said:
            return said
    return None


def _no_code(match: re.Match[str], changes: ChangeSet, subject: ReviewInput) -> str | None:
    only = "documentation" if match.re is PATTERNS["docs_only"] else "comments"
    for change in _code_files(changes):
        about_docs = only == "documentation" and PATTERNS["about_docs"].search(change.path)
        if not about_docs and _code_differs(change, subject):
            return f"The message mentions only {only}, but code changes in {change.path[:200]}."
    return None


def _whitespace_only(
    _match: re.Match[str], changes: ChangeSet, _subject: ReviewInput
) -> str | None:
    for change in changes:
        before, after = (
            "".join("".join(side.values()).split())
            for side in (change.removed, change.added)
        )
        if change.status is Status.MODIFIED and before != after:
            return f"The message mentions only whitespace, but more than that changes in {change.path[:200]}."
    return None


def _typo(_match: re.Match[str], changes: ChangeSet, _subject: ReviewInput) -> str | None:
    grown = sum(
        len(change.added) - len(change.removed)
        for change in changes
        if language_of(change.path)
    )
    if grown <= TYPO_LINES:
        return None
    return f"The message mentions a typo, but the change adds {grown} lines of code."


def _code_files(changes: ChangeSet) -> Iterator[FileChange]:
    code = (change for change in changes if change.status is Status.MODIFIED)
    known = [change for change in code if language_of(change.path) not in (None, "yaml")]
    yield from known[:MOST_FILES_PARSED]


def _code_differs(change: FileChange, subject: ReviewInput) -> bool:
    """Return whether the sides differ in more than comments, docstrings and layout; False if unknown."""
    language = language_of(change.path)
    old = subject.contents.old(change)
    new = subject.contents.new(change)
    if (
        language is None
        or old is None
        or new is None
        or max(len(old), len(new)) > MOST_CHARS_PARSED
    ):
        return False
    before, after = (
        _tokens(subject.trees.root(language, text), language) for text in (old, new)
    )
    return any(one != other for one, other in zip_longest(before, after))


def _tokens(node: "SgNode", language: str) -> Iterator[str]:
    """Yield the leaves of a tree, without comments and Python's docstrings."""
    stack = [node]
    while stack:
        current = stack.pop()
        kind = current.kind()
        if "comment" in kind:
            continue
        children = current.children()
        is_docstring = kind == "expression_statement" and [c.kind() for c in children] == [
            "string"
        ]
        if is_docstring and language == "python":
            continue
        if kind == "string" or not children:
            yield current.text()
        else:
            stack.extend(reversed(children))


Check = Callable[[re.Match[str], ChangeSet, ReviewInput], str | None]
# In the order in which they are checked. What they say holds for every part of a change.
CLAIMS: dict[str, Check] = {
    "docs_only": _no_code,
    "comments_only": _no_code,
    "whitespace_only": _whitespace_only,
    "typo": _typo,
}
