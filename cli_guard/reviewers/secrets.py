"""Finds credentials in what a change adds: lines, file names, links, the commit message and earlier commits.

What counts as a secret is decided in `cli_guard.secrets` by the rules of `cli_guard/rules/secrets/`; this
module chooses what is scanned and words the findings.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from cli_guard.model import (
    ChangeSet,
    Confidence,
    FileChange,
    Finding,
    Kind,
    Report,
    Severity,
    Skipped,
    Status,
    fingerprint,
)
from cli_guard.reviewers.per_file import AGAIN, NOTHING, Examiner, FileResult
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.secrets import Hit, Scan, filenames, places, scan, scan_keys
from cli_guard.secrets.added import GAP, Added
from cli_guard.secrets.candidates import OutOfTimeError
from cli_guard.secrets.keyblocks import MARKS, find_blocks
from cli_guard.secrets.redact import evidence

FILE_FINDINGS = 100
BASE64_LINE = r"(?m)^[ \t\"'`+,#*/]{0,16}[A-Za-z0-9+/]{40,100}={0,2}(?:\\n)?[ \t\r\"'`+,;)]{0,8}$"
IN_HISTORY = (
    " It is still in the history of this branch although a later commit removes it: rotate the credential,"
    " then rewrite the commits (`git rebase -i`) before they are pushed."
)


# Slow on purpose: a fingerprint is stored and shown, and a short password must not be guessed from it.
HASH_ROUNDS = 2_000


@dataclass(frozen=True)
class Source:
    """The text that hits were found in, and how to tell the line of an offset."""

    path: str
    text: str
    hits: Sequence[Hit]
    line: Callable[[int], int | None]
    commit: str | None
    where: str = ""


@dataclass
class Findings:
    """What has been found so far, so that one secret is reported once."""

    found: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    scanned: dict[bytes, Scan] = field(default_factory=dict)


def examiner(subject: ReviewInput) -> Examiner:
    """Is there anything in the lines that a file adds? How it is told depends on what else is found."""

    def examine(change: FileChange) -> FileResult:
        if not _has_lines(change):
            return NOTHING
        so_far = Findings()
        _look(change)(subject, change, so_far, None)
        return AGAIN if so_far.found or so_far.skipped else NOTHING

    return examine


def review(subject: ReviewInput) -> Report:
    """Findings of every `secret-*` rule in the change, its message and its history.

    A file whose scan takes longer than `subject.limits.seconds` is scanned up to there, and says so.
    """
    so_far = Findings()
    commit = subject.changes.commit if not subject.history else None
    _review_changes(subject, subject.changes, so_far, commit=None)
    shard = subject.shard
    messages = shard is None or shard.has_reviewer("message")
    text = subject.message.text if subject.message else subject.changes.message
    if text and messages:
        _review_message(subject, text, so_far, commit)
    for step in subject.history:
        own = tuple(change for change in step if shard is None or shard.has_path(change.path))
        _review_changes(subject, replace(step, files=own), so_far, commit=step.commit)
        if step.message and messages:
            _review_message(subject, step.message, so_far, step.commit)
        # What a limit left out of the whole change is told by it; a commit may hold more than the whole.
        so_far.skipped += [each for each in step.skipped if each.by_limit]
    for tag in subject.tags if messages else ():
        _review_message(subject, tag.text, so_far, tag.oid)
    ordered = sorted(so_far.found, key=lambda f: (f.commit is not None, f.path, f.line or 0, f.rule))
    return Report(tuple(ordered), tuple(so_far.skipped))


def _review_changes(subject: ReviewInput, changes: ChangeSet, so_far: Findings, commit: str | None) -> None:
    named = [change for change in changes if change.status in (Status.ADDED, Status.COPIED, Status.RENAMED)]
    for change in named:
        if change.kind is not Kind.SUBMODULE and filenames.is_risky(change.path):
            _review_name(change, so_far, commit)
    for change in changes:
        if not _has_lines(change):
            continue
        # A commit in the history is no part of the change as a whole.
        known = subject.file_result("secrets", change) if commit is None else None
        if known is None or known.again:
            _look(change)(subject, change, so_far, commit)
        elif subject.history:
            so_far.scanned[_key(change.path, Added.of(change).text)] = Scan()
    _review_paths([change.path for change in named], so_far, commit)


def _has_lines(change: FileChange) -> bool:
    return change.status is not Status.DELETED and change.kind is not Kind.SUBMODULE and bool(change.hunks)


def _look(change: FileChange) -> Callable[[ReviewInput, FileChange, Findings, str | None], None]:
    return _review_binary if change.kind is Kind.BINARY else _review_lines


def _review_lines(subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None) -> None:
    added = Added.of(change)
    result = _scan(subject, added.text, change.path, so_far)
    if result.stopped_at is not None:
        line = added.line(result.stopped_at)
        _skip_rest(subject, so_far, change.path, f"secrets, at line {line}")
    source = Source(change.path, added.text, result.hits, added.line, commit)
    groups = _by_value(result.hits)
    if len(groups) > FILE_FINDINGS:
        reason = f"{len(groups)} secrets found, the first {FILE_FINDINGS} are listed"
        so_far.skipped.append(Skipped(change.path, reason, by_limit=True))
    for hits in groups[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    _review_partial_blocks(subject, change, added, result, so_far, commit)


def _review_binary(subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None) -> None:
    """The lines of a binary file are the runs of text in it that are new; only what is surely a key counts."""
    text = Added.of(change).text
    end = subject.clock() + subject.limits.seconds
    result = scan_keys(text, lambda: subject.clock() >= end)
    if result.stopped_at is not None:
        _skip_rest(subject, so_far, change.path, "keys in a binary file")
    before = "\n".join(change.removed.values()) if result.hits else ""
    # A block that goes on behind a gap is put together from texts that have nothing to do with each other.
    hits = [hit for hit in result.hits if GAP not in hit.value and hit.value not in before]
    source = Source(change.path, text, hits, _no_line, commit, "in a binary file")
    for group in _by_value(hits)[:FILE_FINDINGS]:
        _add(so_far, source, group)


def _review_partial_blocks(
    subject: ReviewInput, change: FileChange, added: Added, result: Scan, so_far: Findings, commit: str | None
) -> None:
    """A private key of which the change adds only some lines is read in the file as it will be.

    The file of a commit in the history is known where the commit names its blob.
    """
    if (commit is not None and change.new_blob is None) or not _may_be_part_of_key(added.text):
        return
    text = subject.contents.new(change)
    if text is None or not any(mark in text.lower() for mark in MARKS):
        return
    lines = text.split("\n")
    whole = Added.from_lines(lines, list(range(1, len(lines) + 1)))
    known = {added.line(hit.start) for hit in result.hits}
    try:
        for hit in find_blocks(text, _deadline(subject)):
            first, last = whole.line(hit.start), whole.line(hit.end - 1)
            if first is None or last is None or first in known or not change.touches(first, last):
                continue
            _add(so_far, Source(change.path, text, (hit,), whole.line, commit), [hit])
    except OutOfTimeError:
        _skip_rest(subject, so_far, change.path, "private keys")


def _skip_rest(subject: ReviewInput, so_far: Findings, path: str, what: str) -> None:
    reason = f"time limit of {subject.limits.seconds:g} s reached in the search for {what}"
    so_far.skipped.append(Skipped(path, reason, by_limit=True))


def _deadline(subject: ReviewInput) -> Callable[[int], None]:
    """A check that raises OutOfTimeError once the time for one file is spent."""
    end = subject.clock() + subject.limits.seconds

    def check(position: int) -> None:
        if subject.clock() >= end:
            raise OutOfTimeError(position)

    return check


def _may_be_part_of_key(text: str) -> bool:
    return "PRIVATE KEY" in text or "Private-Lines" in text or re.search(BASE64_LINE, text) is not None


def _review_message(subject: ReviewInput, text: str, so_far: Findings, commit: str | None) -> None:
    result = _scan(subject, text, "", so_far)
    source = Source("", text, result.hits, _no_line, commit, "in the commit message")
    for hits in _by_value(result.hits)[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    if result.stopped_at is not None:
        _skip_rest(subject, so_far, "", "secrets in the commit message")


def _review_paths(paths: list[str], so_far: Findings, commit: str | None) -> None:
    """Providers' tokens in the names of new files, all names in one scan."""
    text = "\n".join(paths)
    joined = Added.from_lines(paths, list(range(len(paths))))
    for hit in scan(text, decode=False).hits:
        place = joined.line(hit.start)
        if hit.generic or place is None:
            continue
        source = Source(paths[place], text, (hit,), _no_line, commit, "in the name of the file")
        _add(so_far, source, [hit])


def _no_line(_offset: int) -> None:
    """A message and a name have no lines."""


def _review_name(change: FileChange, so_far: Findings, commit: str | None) -> None:
    rule = filenames.rule()
    if (rule.id, change.path) in so_far.seen or _is_empty(change):
        return
    so_far.seen.add((rule.id, change.path))
    quiet = places.is_test_or_document(change.path)
    name = change.path.rpartition("/")[2]
    so_far.found.append(
        Finding(
            rule=rule.id,
            category=rule.category,
            severity=Severity.MEDIUM if quiet else rule.severity,
            confidence=Confidence.LOW if quiet else rule.confidence,
            path=change.path,
            line=None,
            message=f"Files named {name} usually hold credentials.",
            remedy=rule.remedy + (IN_HISTORY if commit is not None else ""),
            fingerprint=fingerprint(rule.id, change.path, name),
            commit=commit,
        )
    )


def _is_empty(change: FileChange) -> bool:
    if change.kind is not Kind.TEXT or not change.hunks:
        return False
    return all(filenames.has_no_value(line) for line in change.added.values())


def _scan(subject: ReviewInput, text: str, path: str, so_far: Findings) -> Scan:
    key = _key(path, text)
    if key not in so_far.scanned:
        end = subject.clock() + subject.limits.seconds
        so_far.scanned[key] = scan(text, path, lambda: subject.clock() >= end)
    return so_far.scanned[key]


def _key(path: str, text: str) -> bytes:
    """Tells a scanned text in place of the text itself: those of a push together would fill the memory."""
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _by_value(hits: Sequence[Hit]) -> list[list[Hit]]:
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.rule, hit.value), []).append(hit)
    return list(groups.values())


def _add(so_far: Findings, source: Source, hits: list[Hit]) -> None:
    """One finding for one secret of a file; in an earlier commit only what the change as a whole has not."""
    hit = hits[0]
    key = (hit.rule, hit.value if source.commit is not None else f"{source.path}\0{hit.value}")
    if key in so_far.seen:
        return
    so_far.seen.update({key, (hit.rule, hit.value)})
    rule = catalog.one("secrets", hit.rule)
    line, end_line = source.line(hit.start), source.line(max(hit.end - 1, hit.start))
    so_far.found.append(
        Finding(
            rule=hit.rule,
            category=rule.category,
            severity=hit.severity,
            confidence=hit.confidence,
            path=source.path,
            line=line,
            end_line=end_line if end_line != line else None,
            message=describe(rule, source, hits),
            remedy=rule.remedy + (IN_HISTORY if source.commit is not None else ""),
            evidence=evidence(source.text, source.hits, hit),
            fingerprint=fingerprint(hit.rule, source.path, slow_hash(source.path, hit.value)),
            commit=source.commit,
        )
    )


def describe(rule: catalog.Rule, source: Source, hits: list[Hit]) -> str:
    """Describe one secret and all the places of a file where it stands."""
    hit = hits[0]
    words = [rule.title]
    if hit.name and not any(other.value in hit.name for other in source.hits):
        words.append(f"({hit.name})")
    if hit.encoded:
        words.append("in base64")
    if source.where:
        words.append(source.where)
    more = len({source.line(other.start) for other in hits} - {source.line(hit.start)})
    repeated = f"; it stands on {more} more line{'s' if more > 1 else ''} of the file" if more else ""
    return " ".join(words) + repeated + "."


def slow_hash(path: str, value: str) -> str:
    """A hash of a secret that is too slow to guess it from."""
    salt = b"cli-guard/" + path.encode("utf-8", "surrogateescape")
    return hashlib.pbkdf2_hmac("sha256", value.encode("utf-8", "surrogateescape"), salt, HASH_ROUNDS).hex()
