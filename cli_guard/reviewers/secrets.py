"""Find credentials in what a change adds: lines, file names, links, the commit message and earlier commits.

`cli_guard.secrets` decides what is a secret, by the rules of `cli_guard/rules/secrets/`; this module selects what is
scanned.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from cli_guard.lazy import dataclass
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
    group_by,
)
from cli_guard.repository.protocol import RawContents
from cli_guard.reviewers.packed import search_packed
from cli_guard.reviewers.per_file import AGAIN, NOTHING, Examiner, FileResult, may_be_packed
from cli_guard.reviewers.published import find_published_keys
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secret_places import partial_blocks, weigh_places
from cli_guard.reviewers.secret_words import (
    BEFORE_PUSH,
    IN_HISTORY,
    SearchedText,
    no_line,
    secret_finding,
)
from cli_guard.secrets import Scan, SecretHit, filenames, places, scan, scan_keys
from cli_guard.secrets.added import GAP, AddedText
from cli_guard.secrets.archives import ArchiveBudget

FILE_FINDINGS = 100


MESSAGE = "in the commit message"
OTHER_TEXT = "in a header of the commit, or in a part of its message that Git does not always keep or show"

# A name has no room for a blank: `v` of a version, or a word, comes right before a token.
GLUED = re.compile(r"(?<![^/\s])[vV](?=\w)|(?<=[a-z])(?=[A-Z]{4})")


@dataclass
class Findings:
    """The findings so far, each secret once; with `published`, only keys of providers that it does not know."""

    found: list[Finding] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    scanned: dict[bytes, Scan] = field(default_factory=dict)
    published: Callable[[str], bool] | None = None
    marked: bool = False
    in_history: str = ""
    opened: set[str | None] = field(default_factory=set)
    budget: ArchiveBudget = field(default_factory=lambda: ArchiveBudget(0))


def examiner(subject: ReviewInput) -> Examiner:
    """Return the function that tells whether a file adds a secret; `review` words it with the other files' hits."""

    def examine(change: FileChange) -> FileResult:
        if not _has_lines(change):
            return NOTHING
        so_far = Findings()
        _look(subject, change, so_far, None)
        return AGAIN if so_far.found or so_far.skipped else NOTHING

    return examine


def review(subject: ReviewInput) -> Report:
    """Return the findings of every `secret-*` rule in the change, its message and its history.

    The scan of a file stops after so many steps (`engine.STEPS`), and the report says so.
    """
    so_far = Findings(
        marked=subject.event == "scan" or subject.shard is not None,
        in_history=BEFORE_PUSH if subject.pushed else IN_HISTORY,
    )
    commit = subject.changes.commit if not subject.history else None
    _review_changes(subject, subject.changes, so_far, commit=None)
    shard = subject.shard
    messages = shard is None or shard.has_reviewer("message")
    if messages:
        text = subject.message.text if subject.message else subject.changes.message
        _review_words(subject, replace(subject.changes, message=text), so_far, commit)
    refs = [ref.update.remote_ref for ref in subject.pushed if not ref.update.deletes]
    _review_paths(refs, so_far, None, "a ref")
    for step in subject.history:
        own = tuple(
            change
            for change in step
            if shard is None
            or shard.has_file("secrets", change.path, is_packed=may_be_packed(change))
        )
        _review_changes(subject, replace(step, files=own), so_far, commit=step.commit)
        if messages:
            _review_words(subject, step, so_far, step.commit)
        # `changes` reports what a limit skipped of the whole change; a commit may hold more.
        so_far.skipped += [each for each in step.skipped if each.asks]
    _review_vouched(subject, so_far)
    so_far.found += find_published_keys(subject)
    for tag in subject.tags if messages else ():
        _review_text(subject, tag.text, so_far, tag.oid, MESSAGE)
    ordered = sorted(
        so_far.found, key=lambda f: (f.commit is not None, f.path, f.line or 0, f.rule)
    )
    return Report(tuple(ordered), tuple(so_far.skipped))


def _review_vouched(subject: ReviewInput, so_far: Findings) -> None:
    """Search the commits that may be on the remote already: only for keys that this push publishes."""
    so_far.published = subject.published
    so_far.in_history = ""
    for step in subject.vouched:
        _review_changes(subject, step, so_far, commit=step.commit)
        _review_words(subject, step, so_far, step.commit)
        so_far.skipped += [each for each in step.skipped if each.asks]
    so_far.published = None


def _review_changes(
    subject: ReviewInput, changes: ChangeSet, so_far: Findings, commit: str | None
) -> None:
    so_far.budget = ArchiveBudget(subject.limits.total_chars)
    named = [
        change
        for change in changes
        if change.status in (Status.ADDED, Status.COPIED, Status.RENAMED)
    ]
    for change in named:
        if (
            not so_far.published
            and change.kind is not Kind.SUBMODULE
            and filenames.is_risky(change.path)
        ):
            _review_name(change, so_far, commit)
    for change in changes:
        if not _has_lines(change):
            continue
        # A commit in the history is no part of the change as a whole.
        known = subject.file_result("secrets", change) if commit is None else None
        if known is None or known.again:
            _look(subject, change, so_far, commit)
        elif subject.history:
            so_far.scanned[_key(change.path, AddedText.of(change).text)] = Scan()
        _review_packed(subject, change, so_far, commit)
    _review_paths([change.path for change in named], so_far, commit)


def _has_lines(change: FileChange) -> bool:
    if change.is_deleted or change.kind is Kind.SUBMODULE or change.read_as:
        return False
    # A compressed file may show no text at all, and a renamed one is not new.
    has_bytes = change.kind is Kind.BINARY or change.tail is not None
    return bool(change.hunks) or (has_bytes and change.new_blob != change.old_blob)


def _look(
    subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None
) -> None:
    if change.kind is Kind.BINARY:
        _review_binary(change, so_far, commit)
        return
    _review_lines(subject, change, so_far, commit)
    if change.tail is not None:
        _review_binary(replace(change, hunks=change.tail), so_far, commit)


def _review_lines(
    subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None
) -> None:
    added = AddedText.of(change)
    result = _scan(added.text, change.path, so_far)
    if result.stopped_at is not None:
        line = added.line(result.stopped_at)
        _skip_rest(so_far, change.path, f"secrets, from line {line}")
    if result.left_out is not None:
        reason = f"secrets, line {added.line(result.left_out)}: too many words such as `key` in a long line"
        so_far.skipped.append(Skipped(change.path, reason, asks=True))
    source = SearchedText(change.path, added.text, result.hits, added.line, commit)
    is_new = subject.event != "scan"
    weighed: Sequence[SecretHit] = ()
    if result.hits:
        weighed = weigh_places(subject.contents, change, added, result.hits, is_new=is_new)
    groups = _by_value(weighed)
    if not so_far.marked:
        groups = _join_advice(groups)
    if len(groups) > FILE_FINDINGS:
        reason = f"{len(groups)} secrets found, the first {FILE_FINDINGS} are listed"
        so_far.skipped.append(Skipped(change.path, reason, asks=True))
    for hits in groups[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    known = {added.line(hit.start) for hit in result.hits}
    for block in partial_blocks(subject.contents, change, added, known, commit):
        _add(so_far, block, list(block.hits))


def _review_binary(change: FileChange, so_far: Findings, commit: str | None) -> None:
    """Scan the new runs of text in a binary file; only certain keys count."""
    text = AddedText.of(change).text
    result = scan_keys(text)
    if result.stopped_at is not None:
        _skip_rest(so_far, change.path, "keys in a binary file")
    before = "\n".join(change.removed.values()) if result.hits else ""
    # Text after a gap does not continue a key block before it.
    hits = [hit for hit in result.hits if GAP not in hit.value and hit.value not in before]
    source = SearchedText(change.path, text, hits, no_line, commit, "in a binary file")
    for group in _by_value(hits)[:FILE_FINDINGS]:
        _add(so_far, source, group)


def _review_packed(
    subject: ReviewInput, change: FileChange, so_far: Findings, commit: str | None
) -> None:
    """Search what is compressed in a file; in a commit of the history, unless the change as a whole holds it too."""
    contents = subject.contents
    known = commit is not None and change.new_blob in so_far.opened
    if known or not may_be_packed(change) or not isinstance(contents, RawContents):
        return
    so_far.opened.add(change.new_blob)
    raw = contents.raw(change) or b""
    packed = search_packed(
        change, raw, lambda: contents.raw(change, old=True) or b"", so_far.budget
    )
    so_far.skipped += packed.skipped
    for text, hits in packed.found:
        source = SearchedText(
            change.path, text, hits, no_line, commit, "in a compressed file"
        )
        for group in _by_value(hits)[:FILE_FINDINGS]:
            _add(so_far, source, group)


def _skip_rest(so_far: Findings, path: str, what: str) -> None:
    so_far.skipped.append(Skipped(path, f"too much to search it all for {what}", asks=True))


def _review_words(
    subject: ReviewInput, changes: ChangeSet, so_far: Findings, commit: str | None
) -> None:
    """Search what a commit says beside its files."""
    _review_paths(list(changes.people), so_far, commit, "its author or committer")
    _review_text(subject, changes.message, so_far, commit, MESSAGE)
    _review_text(subject, changes.other_text, so_far, commit, OTHER_TEXT)


def _review_text(
    subject: ReviewInput, text: str | None, so_far: Findings, commit: str | None, where: str
) -> None:
    if not text:
        return
    result = _scan(text, "", so_far)
    line = AddedText.of_file(text).line if where == MESSAGE else no_line
    source = SearchedText("", text, result.hits, line, commit, where)
    fresh = [
        hit for hit in result.hits if where == MESSAGE or not subject.published(hit.value)
    ]
    for hits in _by_value(fresh)[:FILE_FINDINGS]:
        _add(so_far, source, hits)
    if result.stopped_at is not None:
        _skip_rest(so_far, "", f"secrets {where}")


def _review_paths(
    paths: list[str], so_far: Findings, commit: str | None, of: str = ""
) -> None:
    """Find providers' tokens in the names of new files, or `of` something else, all names in one scan."""
    if not paths:
        return
    forms = [
        (form, place)
        for place, path in enumerate(paths)
        for form in {path, GLUED.sub(" ", path)}
    ]
    text = "\n".join(form for form, _ in forms)
    joined = AddedText(text, [place for form, place in forms for _ in form.split("\n")])
    for hit in scan(text, depth=0).hits:
        place = joined.line(hit.start)
        if hit.generic or place is None:
            continue
        path = "" if of else paths[place]
        source = SearchedText(
            path, text, (hit,), no_line, commit, f"in the name of {of or 'the file'}"
        )
        _add(so_far, source, [hit])


def _review_name(change: FileChange, so_far: Findings, commit: str | None) -> None:
    rule = filenames.rule()
    quiet = places.is_test_or_document(change.path)
    # The text of a fixture is read; what cannot be read is worth a remark.
    is_read = quiet and change.is_text
    if (rule.id, change.path) in so_far.seen or _is_empty(change) or is_read:
        return
    so_far.seen.add((rule.id, change.path))
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
            remedy=rule.remedy + (so_far.in_history if commit is not None else ""),
            fingerprint=fingerprint(rule.id, change.path, name),
            commit=commit,
        )
    )


def _is_empty(change: FileChange) -> bool:
    if not change.is_text or not change.hunks:
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


def _by_value(hits: Sequence[SecretHit]) -> list[list[SecretHit]]:
    return list(group_by(hits, lambda hit: (hit.rule, hit.value)).values())


def _join_advice(groups: Sequence[list[SecretHit]]) -> list[list[SecretHit]]:
    """Join what a rule only advises on: one remark for a file of made-up passwords."""
    joined: dict[tuple[str, str], list[SecretHit]] = {}
    for hits in groups:
        first = hits[0]
        is_advice = first.generic and first.severity is Severity.MEDIUM
        joined.setdefault((first.rule, "" if is_advice else first.value), []).extend(hits)
    return list(joined.values())


def _add(so_far: Findings, source: SearchedText, hits: list[SecretHit]) -> None:
    """Add one finding for one secret of a file; in an earlier commit only if the whole change lacks it."""
    hit = hits[0]
    key = (
        hit.rule,
        hit.value if source.commit is not None else f"{source.path}\0{hit.value}",
    )
    if key in so_far.seen:
        return
    so_far.seen.update({key, *((each.rule, each.value) for each in hits)})
    if so_far.published and (hit.generic or so_far.published(hit.value)):
        return
    advice = so_far.in_history if source.commit is not None else ""
    so_far.found.append(secret_finding(source, hits, marked=so_far.marked, advice=advice))
