"""Answer findings in writing: a comment at the line of each, or an `[[ignore]]` where a file can hold none.

What a report or a pending review says about a finding lies in files that any program of the user can write. So its
path must be a plain file of the work tree, and its line is looked up in what was reviewed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from cli_guard.answering.commenting import write_answer
from cli_guard.answering.worktree_files import EditedFile, check_inside, read_file
from cli_guard.errors import MissingObject, UsageError
from cli_guard.hooks import WORKTREE, event_of
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Disposition, Finding, JudgedFinding
from cli_guard.policy.config import FILE, PYPROJECT, Config, Ignore, read_config
from cli_guard.policy.gate import STOPS
from cli_guard.policy.suppressions import (
    CHECK_FAILED,
    SHORTEST_REASON,
    UNANSWERABLE,
    WORDS_TO_LIFT,
    Suppression,
)
from cli_guard.policy.writing import add_ignores
from cli_guard.repository.protocol import OID, Repository
from cli_guard.repository.texts import decode
from cli_guard.repository.unified import lines_of, opcodes
from cli_guard.review.render.words import PUSH_UNCHECKED, where
from cli_guard.secrets.printable import clip, printable
from cli_guard.secrets.redact import redact

LONGEST_REASON = 300
LONGEST_ABOUT = 100
# How a report writes a byte of a name that is not UTF-8.
ESCAPED_BYTE = re.compile(r"\\x[0-9a-f]{2}")
MOST_BLOB = 50_000_000


@frozen
class Reviewed:
    """The findings of one run, and the blobs of their files, by path."""

    event: str
    findings: tuple[JudgedFinding, ...]
    blobs: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Answers:
    """What is to be written: edited files by path; `policy` is the one that gets entries, "" if none does."""

    files: dict[str, EditedFile] = field(default_factory=dict)
    policy: str = ""

    @property
    def diff(self) -> str:
        return "".join(self.files[path].diff for path in sorted(self.files))

    def write(self, root: Path) -> None:
        """Write the files; Git's index is left alone. Raises OSError."""
        for each in self.files.values():
            each.write(root)


def refusal(finding: Finding) -> str:
    """Return why a finding cannot be ignored, "" if it can be."""
    if finding.rule == CHECK_FAILED:
        return (
            f"{CHECK_FAILED} cannot be ignored, as that would switch off every check: repair it, or push once without"
            f" the hook: {PUSH_UNCHECKED}"
        )
    if finding.rule in UNANSWERABLE:
        return (
            f"{printable(finding.rule)} is about the guard itself, so nothing written in the repository answers it: a"
            " person approves it (`cli-guard pending`)"
        )
    if not finding.path:
        return (
            f"{printable(finding.rule)} is about a message or the push, and an entry without a path would answer it for"
            " every message: write another message"
        )
    return ""


def check_reason(reason: str, findings: Iterable[JudgedFinding]) -> None:
    """Raise UsageError for a reason that would not answer the findings, or must not be written down."""
    if len(reason) > LONGEST_REASON or printable(reason) != reason:
        raise UsageError(
            f"--reason must be one line of at most {LONGEST_REASON} characters"
        )
    if redact(reason) != reason:
        raise UsageError("--reason holds a secret: say it without")
    if len(reason) < SHORTEST_REASON:
        raise UsageError('say why in three words or more: --reason "..."')
    for each in findings:
        told = Suppression((each.finding.rule,), reason)
        if each.disposition in STOPS and not told.is_explicit:
            raise UsageError(
                f"{each.finding.rule} stops a change: give a reason of at least {WORDS_TO_LIFT} words"
            )


def plan_answers(
    repository: Repository, reviewed: Reviewed, chosen: Sequence[JudgedFinding], reason: str
) -> Answers:
    """Return what to write so that the chosen findings of a run are answered. Raises UsageError, ConfigError."""
    reason = reason.strip()
    check_reason(reason, chosen)
    answers = Answers()
    by_path: dict[str, list[Finding]] = {}
    for each in chosen:
        by_path.setdefault(each.finding.path, []).append(each.finding)
    unanswered: list[Finding] = []
    for findings in by_path.values():
        # A comment written now is not in a commit that is recorded already.
        in_lines = [each for each in findings if each.line and not each.commit]
        unanswered += [each for each in findings if each not in in_lines]
        if in_lines:
            unanswered += comment_on(repository, reviewed, in_lines, reason, answers)
    if unanswered:
        add_entries(repository.root, unanswered, reason, answers)
    return answers


def comment_on(
    repository: Repository,
    reviewed: Reviewed,
    findings: Sequence[Finding],
    reason: str,
    answers: Answers,
) -> list[Finding]:
    """Plan the comments on the findings in one file; return those that no comment can answer. Raises UsageError."""
    path = findings[0].path
    file = read_file(repository.root, path)
    if file is None:
        return list(findings)
    rules: dict[tuple[int, int], list[Finding]] = {}
    moved = Moves(repository, reviewed, file)
    for each in findings:
        lines = (moved.find(each.line or 0), moved.find(each.end_line or each.line or 0))
        rules.setdefault(lines, []).append(each)
    left: list[Finding] = []
    # From the last line up, so that a comment above one moves no other.
    for lines, here in sorted(rules.items(), reverse=True):
        names = sorted({each.rule for each in here})
        after = write_answer(path, file.after, lines, names, reason)
        if after is None:
            left += here
        else:
            file = file.edit(after)
    if file.after != file.before:
        answers.files[path] = file
    return left


class Moves:
    """Where the lines of a file are in the work tree, by their numbers in the content that was reviewed."""

    def __init__(
        self, repository: Repository, reviewed: Reviewed, file: EditedFile
    ) -> None:
        self._path = file.path
        now = plain_lines(file.after)
        before = reviewed_text(repository, reviewed, file.path)
        old = now if before is None else plain_lines(before)
        self._new = {
            a + step + 1: b + step + 1
            for tag, a, end, b, _ in opcodes(old, now)
            if tag == "equal"
            for step in range(end - a)
        }

    def find(self, line: int) -> int:
        """Return the number of a line now. Raises UsageError if it has changed since."""
        if line not in self._new:
            place = f"{printable(self._path)}:{line}"
            raise UsageError(
                f"{place} is not as it was reviewed: run `cli-guard review` again"
            )
        return self._new[line]


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text as a review has them, without their ends, which Git may change."""
    raw = text.encode("utf-8", "surrogateescape")
    return [line.rstrip("\r\n") for line in lines_of(raw.decode("utf-8", "replace"))]


def reviewed_text(repository: Repository, reviewed: Reviewed, path: str) -> str | None:
    """Return the content of a file that was reviewed, None if it was that of the work tree, or is not known."""
    if event_of(reviewed.event).request == WORKTREE:
        return None
    blob = reviewed.blobs.get(path) or repository.git.optional(
        "rev-parse", "--verify", "--quiet", f":0:{path}"
    )
    if not blob or not OID.fullmatch(blob):
        return None
    try:
        with repository.blobs(MOST_BLOB) as blobs:
            raw = blobs.read(blob)
    except MissingObject:
        return None
    return None if raw is None else decode(raw)


def add_entries(
    root: Path, findings: Sequence[Finding], reason: str, answers: Answers
) -> None:
    """Plan an `[[ignore]]` for each finding. Raises UsageError, ConfigError."""
    config, source = policy_in_work_tree(root)
    wanted = {entry_for(each, reason): each.message for each in findings}
    known = {(each.rule, each.path, each.fingerprint) for each in config.ignore}
    fresh = {
        each: clip(printable(redact(message)), LONGEST_ABOUT)
        for each, message in wanted.items()
        if known.isdisjoint((each.rule, each.path, mark) for mark in ("", each.fingerprint))
    }
    if not fresh:
        if answers.files:
            return
        raise UsageError(
            f"{source} answers it already: commit {source} alone and push that commit first, as a push is also judged"
            " by the policy that the remote has (a push says with which commands)"
        )
    file = answers.files.get(source) or EditedFile(source, None, "")
    if file.before is None and (root / source).exists():
        found = read_file(root, source)
        if found is None:
            raise UsageError(f"{source} is not UTF-8: save it as UTF-8")
        file = found
    check_inside(root, source)
    after = add_ignores(file.after, source, fresh)
    answers.files[source] = file.edit(after)
    answers.policy = source


def policy_in_work_tree(root: Path) -> tuple[Config, str]:
    """Return the configuration in the work tree and the name of its file, the usual one if there is none."""

    def read(name: str) -> bytes | None:
        if not (root / name).exists() and not (root / name).is_symlink():
            return None
        file = read_file(root, name)
        return None if file is None else file.after.encode("utf-8", "surrogateescape")

    config, source = read_config(read, "") or (Config(), FILE)
    return config, PYPROJECT if source.startswith(PYPROJECT) else FILE


def entry_for(finding: Finding, reason: str) -> Ignore:
    """Return the entry that answers one finding at its own path, and no other. Raises UsageError."""
    path = finding.path
    if printable(path) != path:
        raise UsageError(
            f"an [[ignore]] cannot name {printable(path)!r}: write a pattern for it in {FILE}"
        )
    # A pattern without a slash matches in any folder; `*` in a name is one character of it.
    anchored = path if "/" in path else f"/{path}"
    pattern = ESCAPED_BYTE.sub("*", anchored.replace("*", "?"))
    return Ignore(
        rule=finding.rule, path=pattern, fingerprint=finding.fingerprint, reason=reason
    )


def list_ignorable(reviewed: Reviewed) -> list[JudgedFinding]:
    """Return the findings of a run that can be ignored, the worst first."""
    order = list(Disposition)
    listed = [each for each in reviewed.findings if not refusal(each.finding)]
    return sorted(listed, key=lambda each: order.index(each.disposition))


def describe_finding(judged: JudgedFinding) -> str:
    """Return a finding in one line."""
    found = judged.finding
    return printable(f"{where(found)}: {found.message} [{found.rule}]")
