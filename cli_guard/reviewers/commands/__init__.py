"""The command reviewer: what the shell commands that a change adds do, in any kind of file.

Each family of files has its extractor (`extract`); the command engine judges what it finds (`judging`). Only effects
that have a rule are reported: writing files or using the network is what scripts are for.
"""

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from operator import attrgetter
from pathlib import PurePosixPath

from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Finding, Report, Skipped, Status, group_by
from cli_guard.reviewers.commands import judging
from cli_guard.reviewers.commands.before import Before, RemovedLines
from cli_guard.reviewers.commands.extract import Snippet, Unreadable, looks_so, snippets
from cli_guard.reviewers.lapsed import lapsed_lines, with_lines
from cli_guard.reviewers.per_file import AGAIN, NOTHING, Examiner, FileResult
from cli_guard.reviewers.review_input import ReviewInput

MAX_PER_RULE = 50
NUMBER = re.compile(r"\d+")
AROUND_NAMES = re.compile(r"[\s'\"/=;|&()<>{}$,:`]+")


@dataclass
class CommandSource:
    """A file of the change: the snippets that the change touches or makes run, and their judgements."""

    change: FileChange
    before: Before
    snippets: list[Snippet] = field(default_factory=list)
    judgements: list[judging.CommandJudgement] = field(default_factory=list)
    skipped: dict[Skipped, None] = field(default_factory=dict)

    def leave(self, reason: str, *, asks: bool = False) -> None:
        """Record what was not read."""
        self.skipped[Skipped(self.change.path, f"commands: {reason}", asks)] = None


def review(subject: ReviewInput) -> Report:
    """Return the findings on the commands that the change adds, by path, line and rule."""
    sources = [
        _source(subject, change) for change in subject.changes if _may_tell(subject, change)
    ]
    files: dict[str, frozenset[str]] = {}
    for source in sources:
        source.judgements += (judging.judge_snippet(each, {}) for each in source.snippets)
        for judgement in source.judgements:
            files.update(
                {
                    path: files.get(path, frozenset()) | taints
                    for path, taints in judgement.files.items()
                }
            )
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    removed = RemovedLines(subject.changes)
    for source in sources:
        for item in _report(_with_files(source, files), removed):
            (findings if isinstance(item, Finding) else skipped).append(item)  # type: ignore[arg-type]
    findings.sort(key=attrgetter("order"))
    return Report(tuple(findings), tuple(skipped))


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that tells whether a file holds commands or was not fully read; `review` judges them."""

    def examine(change: FileChange) -> FileResult:
        if not _of_interest(change):
            return NOTHING
        source = _source(subject, change)
        return AGAIN if source.snippets or source.skipped else NOTHING

    return examine


def _may_tell(subject: ReviewInput, change: FileChange) -> bool:
    known = subject.file_result("commands", change)
    return _of_interest(change) if known is None else known.again


def _of_interest(change: FileChange) -> bool:
    if change.is_deleted or not change.is_text:
        return False
    return bool(change.hunks)


def _source(subject: ReviewInput, change: FileChange) -> CommandSource:
    """Extract the snippets that the change touches or makes run, in parts that the engine accepts."""
    change = with_lines(change, lapsed_lines(change, subject.contents), subject.contents)
    source = CommandSource(change, Before(subject, change))
    text = _text(subject, source)
    path = change.read_as or change.path
    if not looks_so(path, text[:300]):
        source.skipped.clear()
    try:
        for snippet in snippets(path, text, executable=change.new_mode == "100755"):
            if source.before.is_new(snippet):
                source.snippets += source.before.new_parts(snippet)
    except Unreadable as error:
        source.leave(
            str(error), asks=error.asks and not _was_unreadable(subject, change, str(error))
        )
    return source


def _was_unreadable(subject: ReviewInput, change: FileChange, reason: str) -> bool:
    """Return whether the file could not be read before the change either, for the same reason on any line."""
    if change.is_new:
        return False
    try:
        deque(
            snippets(change.old_path or change.path, subject.contents.old(change) or ""),
            maxlen=0,
        )
    except Unreadable as error:
        return NUMBER.sub("", str(error)) == NUMBER.sub("", reason)
    return False


def _text(subject: ReviewInput, source: CommandSource) -> str:
    """Return the text after the change; a bare patch gives the added lines, with the others empty."""
    change = source.change
    most = subject.limits.file_chars
    text = subject.contents.new(change)
    if text is None:
        if change.status is not Status.ADDED or len(change.hunks) != 1:
            source.leave("whole text not available")
        lines = range(1, min(max(change.added, default=0), most) + 1)
        text = "\n".join((*(change.added.get(number, "") for number in lines), ""))
    if len(text) > most:
        source.leave(f"over {most} characters", asks=True)
        return ""
    return text


def _with_files(source: CommandSource, files: judging.Files) -> CommandSource:
    """Judge the source again if it names a file that another snippet of the change leaves behind."""
    by_name = group_by(files, lambda path: PurePosixPath(path).name)
    again = []
    for snippet, before in zip(source.snippets, source.judgements, strict=False):
        named = (
            by_name.get(word, ()) for word in {*AROUND_NAMES.split(snippet.text)} - {""}
        )
        used = {
            path: files[path]
            for paths in named
            for path in paths
            if path not in before.files
        }
        again.append(judging.judge_snippet(snippet, used) if used else before)
    return replace(source, judgements=again)


def _report(source: CommandSource, removed: RemovedLines) -> Iterator[Finding | Skipped]:
    counts: Counter[str] = Counter()
    for finding in _findings(source, removed):
        counts[finding.rule] += 1
        if counts[finding.rule] <= MAX_PER_RULE:
            yield finding
    for rule, count in counts.items():
        if count > MAX_PER_RULE:
            source.leave(f"{count - MAX_PER_RULE} more findings of {rule}")
    yield from source.skipped


def _findings(source: CommandSource, removed: RemovedLines) -> Iterable[Finding]:
    change = source.change
    found: dict[tuple[int | None, str], Finding] = {}
    for snippet, judgement in zip(source.snippets, source.judgements, strict=False):
        if judgement.problem:
            source.leave(f"{judgement.problem}, from line {snippet.lines[0]} on", asks=True)
        for act in judgement.acts:
            if act.rule == judging.LEFT_OUT and change.touches(act.first, act.last):
                source.leave(f"not understood as shell from line {act.line} on")
            if act.rule == judging.LEFT_OUT:
                continue
            if not judging.applies(act, snippet.where):
                continue
            if not change.touches(act.first, act.last) and (
                act.is_dead or source.before.did(act)
            ):
                continue
            if removed.hold(change, act):
                continue
            is_copy = source.before.is_copy
            finding = judging.remark(change, act, snippet.where, is_copy=is_copy)
            # After one unreadable place the rest is often unreadable too.
            place = (None if act.rule == judging.UNREADABLE else finding.line, finding.rule)
            if place not in found or judging.STEPS.index(
                finding.severity
            ) < judging.STEPS.index(found[place].severity):
                found[place] = finding
    return found.values()
