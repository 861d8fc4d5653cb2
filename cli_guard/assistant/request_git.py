"""What a request wants of Git: which change to review, and what to commit, push or propose."""

import re
from typing import Literal

from cli_guard.assistant.request import UserRequest
from cli_guard.assistant.request_words import pattern
from cli_guard.lazy import frozen
from cli_guard.review.request import Commit, Range, Worktree, parse_range

REVISION = (
    r"(?:HEAD(?:[~^]\d*)*|@(?:[~^]\d*)+|(?=[0-9a-f]*\d)[0-9a-f]{7,40}|v?\d+\.\d[\w.-]*)"
)
BETWEEN = re.compile(rf"(?<!\S)({REVISION}\.\.(?:{REVISION})?)(?!\S)")
SINCE = re.compile(rf"\b(?:since|after|from)\s+({REVISION})")
SEVERAL = re.compile(
    r"\b(?:last|latest|past|previous)\s+(\d{1,3}|two|three|four|five)\s+commits\b", re.I
)
ONE = re.compile(rf"(?<![\w./-])({REVISION})(?![\w/])")
LAST = re.compile(
    r"\b(?:last|latest|most recent|previous|newest) commit\b|\bwhat i (?:just )?committed\b",
    re.I,
)
BRANCH = re.compile(
    r"\b(?:my|this|the|current|feature) branch\b|\b(?:pull request|PR|since main)\b", re.I
)
UNSTAGED = re.compile(
    r"\b(?:unstaged|not staged|work(?:ing)?[ -]?tree|uncommitted|working copy)\b", re.I
)
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}


def read_review_request(
    request: str,
) -> Range | Commit | Worktree | Literal["branch"] | None:
    """Read which change a request wants reviewed; None if it does not say. Raises UsageError for a wrong range."""
    if found := BETWEEN.search(request):
        return parse_range(found[1])
    if found := SINCE.search(request):
        return Range(found[1], "HEAD")
    if found := SEVERAL.search(request):
        number = NUMBERS.get(found[1].lower()) or int(found[1])
        return Range(f"HEAD~{number}", "HEAD")
    if (found := ONE.search(request)) or LAST.search(request):
        return Commit(found[1] if found else "HEAD")
    if BRANCH.search(request):
        return "branch"
    return Worktree() if UNSTAGED.search(request) else None


@frozen
class Recording:
    """What a request wants recorded: `tools` as in `Request.recorded`, of which files, with which message and branch.

    `everything`: all that is changed, staged or not. `base` is the branch that a pull request is for.
    """

    tools: tuple[str, ...]
    everything: bool
    paths: tuple[str, ...]
    message: str
    branch: str
    base: str

    @classmethod
    def of(cls, said: UserRequest) -> "Recording":
        """Read it from the words of a request."""
        names = ("everything", "message", "branch", "base")
        found = {name: pattern(f"recorded_{name}").search(said.text) for name in names}
        everything = found.pop("everything") is not None
        words = {name: match[1] if match else "" for name, match in found.items()}
        return cls(said.recorded, everything, said.names.paths, **words)
