"""The code reviewer: risky constructs, forgotten debugging code, files that should not be committed as they are.

Five kinds of rule, a module each: over syntax trees (`trees`), over data that reaches a dangerous call (`flows`), over
regular expressions (`regexes`), over lines and statements of files without a grammar here (`lines`), and over a file as
a whole (`files`). All are data under `rules/code/` and `rules/flow/`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from cli_guard.code.languages import language_for, suffix_of
from cli_guard.code.manifests import as_blocks, is_json_manifest
from cli_guard.code.templates import PAGE_LANGUAGE, PAGES, script_in
from cli_guard.lazy import frozen
from cli_guard.model import (
    Contents,
    FileChange,
    Finding,
    Hunk,
    Kind,
    Report,
    Skipped,
    Status,
)
from cli_guard.repository.between import hunks_between
from cli_guard.repository.entries import LFS_LINE
from cli_guard.reviewers.code import files, flows, lines, regexes, remarks, trees
from cli_guard.reviewers.code.before import text_before
from cli_guard.reviewers.code.other_files import OtherFiles
from cli_guard.reviewers.lapsed import lapsed_lines, with_lines
from cli_guard.reviewers.per_file import Examiner, FileResult
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.unread import unread

__all__ = ["examiner", "review"]

LFS = "stored by Git LFS: only its pointer is here"
# A commit that is pinned is no version.
VERSION = re.compile(r"@(?![0-9a-f]{40}\b)[\w.-]+(?:\s*#.*)?$")
TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'")
LONG_TEXT = 8
NO_TEXT = "code: whole text not available"


def review(subject: ReviewInput) -> Report:
    """Return the findings of the code rules on the change as a whole, by path, line and rule."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    examine = examiner(subject)
    for change in subject.changes:
        found = subject.file_result("code", change) or examine(change)
        findings += found.findings
        skipped += found.skipped
    if findings:
        findings = list(without_moved(findings, subject.changes, subject.contents))
    findings.sort(key=lambda f: (f.path, f.line or 0, f.rule))
    return Report(tuple(findings), tuple(skipped))


def without_moved(
    findings: Iterable[Finding], changes: Iterable[FileChange], contents: Contents
) -> Iterator[Finding]:
    """Yield findings but for advice on a line that moved, or has another version now: it was so before.

    All lines of a file that has another path now have moved: a copy may stand where it was.
    """
    added = {change.path: change.added for change in changes}
    before: dict[str, set[str]] = {}
    for change in changes:
        gone: Iterable[str] = change.removed.values()
        if change.status is Status.RENAMED:
            gone = (contents.old(change) or "").split("\n")
        for line in gone:
            before.setdefault(VERSION.sub("", line).strip(), set()).add(change.path)
    before.pop("", None)
    for each in findings:
        line = added.get(each.path, {}).get(each.line or 0, "")
        places = before.get(VERSION.sub("", line).strip(), set())
        if not places and each.rule.startswith("code-regex-"):
            # The same pattern may stand in another statement, or in another language.
            patterns = [text for text in TEXT.findall(line) if len(text) >= LONG_TEXT]
            places = {
                path
                for went, paths in before.items()
                if any(text in went for text in patterns)
                for path in paths
            }
        is_moved = not places <= {each.path}
        is_known = is_moved or ("@" in line and each.path in places)
        if each.severity in remarks.STOPPING or not is_known:
            yield each


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that examines one file; what it found with the help of others is no fact of the file."""
    others = OtherFiles(subject)

    def examine(change: FileChange) -> FileResult:
        others.begin()
        result = FileResult.of(_inspect(subject, change, others))
        return replace(result, cacheable=not others.were_asked)

    return examine


def _inspect(
    subject: ReviewInput, change: FileChange, others: OtherFiles
) -> Iterator[Finding | Skipped]:
    if change.status is Status.DELETED:
        return
    text = _whole_text(subject.contents, change) if change.kind is Kind.TEXT else None
    for found in files.inspect_file(change, text):
        if not (found.rule == files.LARGE and is_asked_about(subject, change)):
            yield found
    if change.kind is Kind.LFS:
        before = change.removed and all(map(LFS_LINE.match, change.removed.values()))
        yield unread(change, LFS, before=bool(before))
    if change.kind is not Kind.TEXT or not change.hunks:
        return
    yield from files.find_conflicts(change, text)
    if (
        text is not None
        and change.path.endswith(".ipynb")
        and len(text) <= subject.limits.file_chars
    ):
        yield from _inspect_notebook(subject, change, text)
    path = change.read_as or change.path
    language = language_for(path, _first_line(change, text))
    read = _reading(subject, path, text)
    if read and text is not None:
        language = PAGE_LANGUAGE if suffix_of(path) in PAGES else "yaml"
        text = read(text)
        subject = replace(subject, contents=_ReadContents(subject.contents, read))
    yield from _inspect_code(subject, change, language, text, others)


def _reading(
    subject: ReviewInput, path: str, text: str | None
) -> Callable[[str], str] | None:
    """Return what makes code of a file that only holds some: the scripts of a page, YAML of a manifest in JSON."""
    if text is None:
        return None
    if suffix_of(path) in PAGES and "<script" in text.lower():
        return partial(script_in, subject.trees)
    is_manifest = suffix_of(path) == ".json" and is_json_manifest(text)
    return as_blocks if is_manifest else None


def _inspect_code(
    subject: ReviewInput,
    change: FileChange,
    language: str | None,
    text: str | None,
    others: OtherFiles,
) -> Iterator[Finding | Skipped]:
    """Yield what the rules for lines, for trees, for patterns and for the flow of data find."""
    path = change.read_as or change.path
    topic = remarks.topic_of(path, language, text or "")
    line_rules = lines.rules_for(path)
    has_trees = topic is not None or bool(subject.user_rules.rules_for(language or ""))
    if not has_trees and not line_rules:
        return
    if text is not None and len(text) > subject.limits.file_chars:
        yield unread(change, f"code: over {subject.limits.file_chars} characters", text)
        return
    lapsed = lapsed_lines(change, subject.contents)
    change = with_lines(change, lapsed, subject.contents)

    def read_before() -> str | None:
        return text_before(subject, change, text or "")

    yield from lines.inspect(subject.contents, change, text, line_rules, read_before)
    if not has_trees or language is None:
        return
    if text is None:
        yield Skipped(change.path, NO_TEXT)
        return
    inspected = trees.inspect(
        subject,
        change,
        language,
        topic,
        text,
        read_before,
        lapsed,
    )
    yield from regexes.inspect(subject, change, language, text)
    constructs = list(inspected)
    reached = flows.inspect(subject, change, language, text, others, lapsed, constructs)
    yield from flows.without_doubles(constructs, list(reached))


def is_asked_about(subject: ReviewInput, change: FileChange) -> bool:
    """Return whether a person is asked about a file because it was too large to read: its size is said there."""
    return any(each.asks and each.path == change.path for each in subject.changes.skipped)


@frozen
class _ReadContents:
    """The contents of files in a form that the rules can read, see `_reading`; the lines keep their numbers."""

    contents: Contents
    read: Callable[[str], str]

    def new(self, change: FileChange) -> str | None:
        text = self.contents.new(change)
        return text and self.read(text)

    def old(self, change: FileChange) -> str | None:
        text = self.contents.old(change)
        return text and self.read(text)


def _inspect_notebook(
    subject: ReviewInput, change: FileChange, text: str
) -> Iterator[Finding | Skipped]:
    """Inspect the code of all cells as one program; what cannot be read of it, the commands' reviewer says."""
    from cli_guard.reviewers.commands.extract.json_nodes import read_json
    from cli_guard.reviewers.commands.extract.notebooks import program_in

    language, cells = program_in(read_json(change.path, text))
    topic = remarks.topic_of("", language)
    if topic is None:
        return
    lines = [line for line, _ in cells]
    code = "".join(each for _, each in cells)
    old = subject.contents.old(change)
    was = (
        None
        if old is None
        else "".join(each for _, each in program_in(read_json(change.path, old))[1])
    )
    if was is None:
        at_lines = ((at, line, each) for at, (line, each) in enumerate(cells, 1))
        hunks = tuple(
            Hunk(0, at, (), (each,)) for at, line, each in at_lines if line in change.added
        )
    else:
        hunks = hunks_between(was, code)
    for found in trees.inspect(
        subject, replace(change, hunks=hunks), language, topic, code, lambda: was
    ):
        if isinstance(found, Finding) and found.line:
            first, last = (
                lines[min(line, len(lines)) - 1]
                for line in (found.line, found.end_line or found.line)
            )
            found = replace(found, line=first, end_line=last if last > first else None)
        yield found


def _whole_text(contents: Contents, change: FileChange) -> str | None:
    """Return the text after the change; of a new file a bare patch holds all of it."""
    text = contents.new(change)
    if text is None and change.status is Status.ADDED and len(change.hunks) == 1:
        return "\n".join((*change.hunks[0].added, ""))
    return text


def _first_line(change: FileChange, text: str | None) -> str:
    if text is not None:
        return text[:200].split("\n", 1)[0]
    return change.added.get(1, "")[:200]
