"""Compare what a commit message claims with its change.

Only claims that the change decides are checked, and only a certain contradiction is reported: if anything was not read
(a binary, a submodule, a skipped file), there is no contradiction.
"""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from cli_guard.code.languages import language_of, suffix_of
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
CODE_WITHOUT_INNER_TESTS = tuple(
    ".py .js .jsx .ts .tsx .go .java .rb .php .kt .cs .swift".split()
)


def makes_claim(message: CommitMessage) -> bool:
    """Check whether the subject line of a message that is being written claims what its change can contradict."""
    return any(PATTERNS[claim].match(message.subject) for claim in OF_EVERY_PART)


def contradiction(
    message: CommitMessage, changes: ChangeSet, subject: ReviewInput, *, is_recorded: bool
) -> str | None:
    """Return, as a sentence, the first claim of the subject line that the change certainly contradicts.

    Of a commit that is not recorded yet, `changes` can be a part: what an amended commit holds is not in them.
    """
    if (
        not changes.files
        or changes.skipped
        or any(not change.is_text for change in changes)
    ):
        return None
    for claim, check in CLAIMS.items():
        match = PATTERNS[claim].match(message.subject)
        if match and (is_recorded or claim in OF_EVERY_PART):
            said = check(match, changes, subject)
            if said:
                return said
    return None


def _no_code(match: re.Match[str], changes: ChangeSet, subject: ReviewInput) -> str | None:
    only = "documentation" if match.re is PATTERNS["docs_only"] else "comments"
    for change in _code_files(changes):
        about_docs = only == "documentation" and PATTERNS["about_docs"].search(change.path)
        if not about_docs and _code_differs(change, subject, match.re):
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


def _tests(_match: re.Match[str], changes: ChangeSet, _subject: ReviewInput) -> str | None:
    suffixes = {suffix_of(change.path) for change in changes}
    if not suffixes or not suffixes.issubset(CODE_WITHOUT_INNER_TESTS):
        return None
    for change in changes:
        paths = (change.path, change.old_path or "")
        lines = (*change.added.values(), *change.removed.values())
        if any(map(PATTERNS["about_tests"].search, paths)):
            return None
        if any(PATTERNS["tests_inside"].search(line[:2_000]) for line in lines):
            return None
    return "The message mentions tests, but no test changes."


def _nothing_removed(
    _match: re.Match[str], changes: ChangeSet, _subject: ReviewInput
) -> str | None:
    if any(
        change.removed or change.status not in (Status.MODIFIED, Status.ADDED)
        for change in changes
    ):
        return None
    if not any(change.added for change in changes):
        return None
    return "The message mentions a removal or a renaming, but the change only adds lines."


def _bump(match: re.Match[str], changes: ChangeSet, _subject: ReviewInput) -> str | None:
    version = match[1]
    present = re.compile(_version_pattern(version))
    answers = (present, PATTERNS["digest"], PATTERNS["version_parts"])
    for change in changes:
        if any(
            pattern.search(line[:5_000])
            for line in change.added.values()
            for pattern in answers
        ):
            return None
    if not any(change.added for change in changes):
        return None
    return f"The message names version {version}, which is in none of the added lines."


def _version_pattern(version: str) -> str:
    """Match a version with any separators, without zeros at its end: 1.5.0 in `(1, 5)` and in `v1.5`."""
    parts = version.split(".")
    while len(parts) > 1 and parts[-1].strip("0") == "":
        parts.pop()
    return r"(?<![0-9])" + r"[^0-9A-Za-z]{1,4}".join(map(re.escape, parts)) + r"(?![0-9])"


def _code_files(changes: ChangeSet) -> Iterator[FileChange]:
    code = (change for change in changes if change.status is Status.MODIFIED)
    known = [change for change in code if language_of(change.path) not in (None, "yaml")]
    yield from known[:MOST_FILES_PARSED]


def _code_differs(change: FileChange, subject: ReviewInput, claim: re.Pattern[str]) -> bool:
    """Return whether the sides differ in more than comments, docstrings and layout; False if unknown.

    Documentation is also the text that a field gives a program to print, such as an example of use.
    """
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
    is_about_texts = claim is PATTERNS["docs_only"]
    before, after = (
        _tokens(subject.trees.root(language, text), language, without_texts=is_about_texts)
        for text in (old, new)
    )
    return any(one != other for one, other in zip_longest(before, after))


def _tokens(node: "SgNode", language: str, *, without_texts: bool) -> Iterator[str]:
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
        named = [child for child in children if child.is_named()]
        is_text_field = len(named) == 2 and _is_text(named[1])
        if without_texts and (is_text_field or kind == ","):
            continue
        if kind == "string" or not children:
            yield current.text()
        else:
            stack.extend(reversed(children))


def _is_text(node: "SgNode") -> bool:
    """Return whether a value is a string of several words."""
    children = node.children()
    if len(children) == 1:
        return _is_text(children[0])
    return "string" in node.kind() and " " in node.text()


Check = Callable[[re.Match[str], ChangeSet, ReviewInput], str | None]

# What they say holds for every part of a change.
OF_EVERY_PART = ("docs_only", "comments_only", "whitespace_only", "typo")
# In the order in which they are checked.
CLAIMS: dict[str, Check] = {
    "docs_only": _no_code,
    "comments_only": _no_code,
    "whitespace_only": _whitespace_only,
    "typo": _typo,
    "tests": _tests,
    "remove_file": _nothing_removed,
    "remove_unused": _nothing_removed,
    "rename": _nothing_removed,
    "bump": _bump,
}
