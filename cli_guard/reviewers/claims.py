"""Compare what a commit message claims with its change: that it is about documentation alone.

Only a certain contradiction is reported: if anything was not read (a binary, a submodule, a skipped file), there is
none. Other claims (of comments, blanks, tests, removals, versions) were contradicted by no real commit that was tried.
"""

from collections.abc import Iterator
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

PATTERNS = read_patterns("message.toml", "claims")


def makes_claim(message: CommitMessage) -> bool:
    """Check whether the subject line of a message claims what its change can contradict."""
    return PATTERNS["docs_only"].match(message.subject) is not None


def contradiction(
    message: CommitMessage, changes: ChangeSet, subject: ReviewInput
) -> str | None:
    """Return, as a sentence, how the change certainly contradicts the subject line; None if it does not.

    `changes` can be a part: what an amended commit holds is not in them.
    """
    if changes.skipped or any(not change.is_text for change in changes):
        return None
    for change in _code_files(changes) if makes_claim(message) else ():
        about_docs = PATTERNS["about_docs"].search(change.path)
        if not about_docs and _code_differs(change, subject):
            return f"The message mentions only documentation, but code changes in {change.path[:200]}."
    return None


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
