"""Find credentials in what a change adds: lines, file names, links, the commit message and earlier commits.

`cli_guard.secrets` decides what is a secret, by the rules of `cli_guard/rules/secrets/`; this module selects what is
scanned and words the findings.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

from cli_guard.git.contents import printable_runs
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
from cli_guard.secrets.added import GAP, AddedText, core
from cli_guard.secrets.archives import open_archive
from cli_guard.secrets.examples import find_shown, weaken
from cli_guard.secrets.keyblocks import MARKS, find_blocks
from cli_guard.secrets.redact import evidence, slow_hash

FILE_FINDINGS = 100


@runtime_checkable
class RawContents(Protocol):
    """Contents that have the bytes of binary files as well."""

    def raw(self, change: FileChange, *, old: bool = False) -> bytes | None:
        """Return the bytes of one side, None if there are none or they are over the limit."""


BASE64_LINE = r"(?m)^[ \t\"'`+,#*/]{0,16}[A-Za-z0-9+/]{40,100}={0,2}(?:\\n)?[ \t\r\"'`+,;)]{0,8}$"
IN_HISTORY = (
    " It is still in the history of this branch although a later commit removes it: rotate the credential,"
    " then rewrite the commits (`git rebase -i`) before they are pushed."
)


# A name has no room for a blank: `v` of a version, or a word, comes right before a token.
GLUED = re.compile(r"(?<![^/\s])[vV](?=\w)|(?<=[a-z])(?=[A-Z]{4})")


@dataclass(frozen=True)
class Source:
    """The text that hits were found in, and the map from offsets to lines."""

    path: str
    text: str
    hits: Sequence[Hit]
    line: Callable[[int], int | None]
    commit: str | None
    where: str = ""


@dataclass
class Findings:
    """The findings so far, each secret once; with `published`, only keys of providers that it does not know."""

    found: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    scanned: dict[bytes, Scan] = field(default_factory=dict)
    published: Callable[[str], bool] | None = None
    marked: bool = False


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that tells whether a file adds a secret; `review` words it with the other files' hits."""

    def examine(change: FileChange) -> FileResult:
        if not _has_lines(change):
            return NOTHING
        so_far = Findings()
        _look(change)(subject, change, so_far, None)
        return AGAIN if so_far.found or so_far.skipped else NOTHING

    return examine


def review(subject: ReviewInput) -> Report:
    """Return the findings of every `secret-*` rule in the change, its message and its history.

    The scan of a file stops after so many steps (`engine.STEPS`), and the report says so.
    """
    so_far = Findings(marked=subject.event == "scan" or subject.shard is not None)
    commit = subject.changes.commit if not subject.history else None
    _review_changes(subject, subject.changes, so_far, commit=None)
    shard = subject.shard
    messages = shard is None or shard.has_reviewer("message")
    text = subject.message.text if subject.message else subject.changes.message
    if text and messages:
        _review_message(subject, text, so_far, commit)
    refs = [ref.update.remote_ref for ref in subject.pushed if not ref.update.deletes]
    _review_paths(refs, so_far, None, "a ref")
    _review_paths(list(subject.changes.people), so_far, commit, "its author or committer")
    for step in subject.history:
        _review_paths(list(step.people), so_far, step.commit, "its author or committer")
        own = tuple(change for change in step if shard is None or shard.has_path(change.path))
        _review_changes(subject, replace(step, files=own), so_far, commit=step.commit)
        if step.message and messages:
            _review_message(subject, step.message, so_far, step.commit)
        # `changes` reports what a limit skipped of the whole change; a commit may hold more.
        so_far.skipped += [each for each in step.skipped if each.asks]
    _review_vouched(subject, so_far)
    for tag in subject.tags if messages else ():
        _review_message(subject, tag.text, so_far, tag.oid)
    ordered = sorted(so_far.found, key=lambda f: (f.commit is not None, f.path, f.line or 0, f.rule))
    return Report(tuple(ordered), tuple(so_far.skipped))


def _review_vouched(subject: ReviewInput, so_far: Findings) -> None:
    """Search the commits that may be on the remote already: only for keys that this push publishes."""
    so_far.published = subject.published
    for step in subject.vouched:
        _review_changes(subject, step, so_far, commit=step.commit)
        if step.message:
            _review_message(subject, step.message, so_far, step.commit)
        so_far.skipped += [each for each in step.skipped if each.asks]
    so_far.published = None


def _review_changes(subject: ReviewInput, changes: ChangeSet, so_far: Findings, commit: str | None) -> None:
    named = [change for change in changes if change.status in (Status.ADDED, Status.COPIED, Status.RENAMED)]
    for change in named:
        if not so_far.published and change.kind is not Kind.SUBMODULE and filenames.is_risky(change.path):
            _review_name(change, so_far, commit)
    for change in changes:
        if not _has_lines(change):
            continue
        # A commit in the history is no part of the change as a whole.
        known = subject.file_result("secrets", change) if commit is None else None
        if known is None or known.again:
            _look(change)(subject, change, so_far, commit)
        elif subject.history:
            so_far.scanned[_key(change.path, AddedText.of(change).text)] = Scan()
    _review_paths([change.path for change in named], so_far, commit)


def _has_lines(change: FileChange) -> bool:
    if change.status is Status.DELETED or change.kind is Kind.SUBMODULE or change.read_as:
        return False
    # A compressed file may show no text at all, and a renamed one is not new.
    return bool(change.hunks) or (change.kind is Kind.BINARY and change.new_blob != change.old_blob)


def _look(change: FileChange) -> Callable[[ReviewInput, FileChange, Findings, str | None], None]:
    return _review_binary if change.kind is Kind.BINARY else _review_lines


def _review_lines(subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None) -> None:
    added = AddedText.of(change)
    result = _scan(added.text, change.path, so_far)
    if result.stopped_at is not None:
        line = added.line(result.stopped_at)
        _skip_rest(so_far, change.path, f"secrets, from line {line}")
    if result.left_out is not None:
        reason = f"secrets, line {added.line(result.left_out)}: too many words such as `key` in a long line"
        so_far.skipped.append(Skipped(change.path, reason, asks=True))
    source = Source(change.path, added.text, result.hits, added.line, commit)
    groups = _by_value(_weigh_places(subject, change, added, result.hits) if result.hits else ())
    if len(groups) > FILE_FINDINGS:
        reason = f"{len(groups)} secrets found, the first {FILE_FINDINGS} are listed"
        so_far.skipped.append(Skipped(change.path, reason, asks=True))
    for hits in groups[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    _review_partial_blocks(subject, change, added, result, so_far, commit)


def _weigh_places(
    subject: ReviewInput, change: FileChange, added: AddedText, hits: Sequence[Hit]
) -> Sequence[Hit]:
    """Leave out what only moved within the file; what the file shows as an example is advice."""
    moved = {core(line) for line in change.removed.values()} if hits else set()
    hits = [hit for hit in hits if not moved or not added.lines_of(hit.start, hit.end) <= moved]
    text = None if all(hit.proven for hit in hits) else subject.contents.new(change)
    whole = added if text is None else AddedText.of_file(text)
    places = {hit: added.offset_in(whole, hit.start) for hit in hits}
    shown = find_shown(whole.text, change.path, places.values())
    return [weaken(hit) if places[hit] in shown and not hit.proven else hit for hit in hits]


def _review_binary(subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None) -> None:
    """Scan the new runs of text in a binary file; only certain keys count."""
    text = AddedText.of(change).text
    result = scan_keys(text)
    if result.stopped_at is not None:
        _skip_rest(so_far, change.path, "keys in a binary file")
    before = "\n".join(change.removed.values()) if result.hits else ""
    # Text after a gap does not continue a key block before it.
    hits = [hit for hit in result.hits if GAP not in hit.value and hit.value not in before]
    source = Source(change.path, text, hits, _no_line, commit, "in a binary file")
    for group in _by_value(hits)[:FILE_FINDINGS]:
        _add(so_far, source, group)
    _review_members(subject, change, so_far, commit)


def _review_members(subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None) -> None:
    """Scan the files in a compressed file for certain keys, and say what could not be opened."""
    contents = subject.contents
    raw = contents.raw(change) if isinstance(contents, RawContents) else None
    opened = open_archive(raw) if raw else None
    if raw is None or opened is None or not isinstance(contents, RawContents):
        return
    if not opened.complete:
        part = f"searched only in part ({len(opened.members)} files)" if opened.members else "not searched"
        so_far.skipped.append(Skipped(change.path, f"compressed: {part}"))
    was = open_archive(contents.raw(change, old=True) or b"")
    before = b"\n".join(was.members) if was else b""
    text = GAP.join(run for member in opened.members for run in printable_runs(member))
    result = scan_keys(text)
    if result.stopped_at is not None:
        _skip_rest(so_far, change.path, "keys in a compressed file")
    hits = [hit for hit in result.hits if GAP not in hit.value and hit.value.encode() not in before]
    source = Source(change.path, text, hits, _no_line, commit, "in a compressed file")
    for group in _by_value(hits)[:FILE_FINDINGS]:
        _add(so_far, source, group)


def _review_partial_blocks(
    subject: ReviewInput,
    change: FileChange,
    added: AddedText,
    result: Scan,
    so_far: Findings,
    commit: str | None,
) -> None:
    """Find a private key of which the change adds only some lines, in the whole file.

    The file of a commit in the history is known if the commit names its blob.
    """
    signs = any(sign in added.text for sign in ("PRIVATE KEY", "Private-Lines"))
    if (commit is not None and change.new_blob is None) or not (signs or re.search(BASE64_LINE, added.text)):
        return
    text = subject.contents.new(change)
    if text is None or not any(mark in text.lower() for mark in MARKS):
        return
    whole = AddedText.of_file(text)
    known = {added.line(hit.start) for hit in result.hits}
    for hit in find_blocks(text):
        first, last = whole.line(hit.start), whole.line(hit.end - 1)
        if first is None or last is None or first in known or not change.touches(first, last):
            continue
        _add(so_far, Source(change.path, text, (hit,), whole.line, commit), [hit])


def _skip_rest(so_far: Findings, path: str, what: str) -> None:
    so_far.skipped.append(Skipped(path, f"too much to search it all for {what}", asks=True))


def _review_message(subject: ReviewInput, text: str, so_far: Findings, commit: str | None) -> None:
    result = _scan(text, "", so_far)
    line = AddedText.of_file(text).line
    source = Source("", text, result.hits, line, commit, "in the commit message")
    for hits in _by_value(result.hits)[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    if result.stopped_at is not None:
        _skip_rest(so_far, "", "secrets in the commit message")


def _review_paths(paths: list[str], so_far: Findings, commit: str | None, of: str = "") -> None:
    """Find providers' tokens in the names of new files, or `of` something else, all names in one scan."""
    forms = [(form, place) for place, path in enumerate(paths) for form in {path, GLUED.sub(" ", path)}]
    text = "\n".join(form for form, _ in forms)
    joined = AddedText(text, [place for form, place in forms for _ in form.split("\n")])
    for hit in scan(text, depth=0).hits if text else ():
        place = joined.line(hit.start)
        if hit.generic or place is None:
            continue
        path = "" if of else paths[place]
        source = Source(path, text, (hit,), _no_line, commit, f"in the name of {of or 'the file'}")
        _add(so_far, source, [hit])


def _no_line(_offset: int) -> None:
    """Return None: a name has no lines."""


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


def _scan(text: str, path: str, so_far: Findings) -> Scan:
    key = _key(path, text)
    if key not in so_far.scanned:
        so_far.scanned[key] = scan(text, path)
    return so_far.scanned[key]


def _key(path: str, text: str) -> bytes:
    """Return a key for a scanned text: the texts of a push together would fill the memory."""
    return hashlib.sha256(f"{path}\0{text}".encode("utf-8", "surrogatepass")).digest()


def _by_value(hits: Sequence[Hit]) -> list[list[Hit]]:
    groups: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        groups.setdefault((hit.rule, hit.value), []).append(hit)
    return list(groups.values())


def _add(so_far: Findings, source: Source, hits: list[Hit]) -> None:
    """Add one finding for one secret of a file; in an earlier commit only if the whole change lacks it."""
    hit = hits[0]
    key = (hit.rule, hit.value if source.commit is not None else f"{source.path}\0{hit.value}")
    if key in so_far.seen:
        return
    so_far.seen.update({key, (hit.rule, hit.value)})
    if so_far.published and (hit.generic or so_far.published(hit.value)):
        return
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
            mark=slow_hash("", hit.value)[:16] if so_far.marked else "",
        )
    )


def describe(rule: catalog.Rule, source: Source, hits: list[Hit]) -> str:
    hit = hits[0]
    words = [rule.title]
    if hit.name and not any(other.value in hit.name for other in source.hits):
        words.append(f"({hit.name})")
    if hit.encoded:
        words.append("in base64 or another encoding")
    if source.where:
        words.append(source.where)
    more = len({source.line(other.start) for other in hits} - {source.line(hit.start)})
    text = "file" if source.path else "message"
    repeated = f"; it is on {more} more line{'s' if more > 1 else ''} of the {text}" if more else ""
    return " ".join(words) + repeated + "."
