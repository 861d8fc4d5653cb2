"""Find the keys that a push brings to a new place although other remotes have them: one finding a file and kind."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cli_guard.model import (
    ChangeSet,
    Contents,
    Finding,
    Kind,
    Severity,
    fingerprint,
)
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secret_places import partial_blocks, weigh_places
from cli_guard.reviewers.secret_words import SearchedText, no_line, secret_finding
from cli_guard.secrets import SecretHit, scan_keys
from cli_guard.secrets.added import AddedText
from cli_guard.secrets.redact import slow_hash

REMEDY = (
    "It is public already in {}, and nothing here takes it back: rotate it if it is real; approve to publish it in one"
    " more place."
)


def find_published_keys(subject: ReviewInput) -> Iterator[Finding]:
    """Yield a finding for each file and kind of key in the commits `elsewhere`, each key once."""
    groups: dict[tuple[str, str], list[tuple[SearchedText, SecretHit]]] = {}
    seen = set[tuple[str, str]]()
    for step in subject.elsewhere:
        for source in search_texts(step, subject.contents):
            for hit in source.hits:
                known = (hit.rule, hit.value) in seen or subject.published(hit.value)
                seen.add((hit.rule, hit.value))
                if not known:
                    groups.setdefault((hit.rule, source.path), []).append((source, hit))
    for found in groups.values():
        yield join_keys(found, subject.origins, subject.new_place)


def search_texts(step: ChangeSet, contents: Contents) -> Iterator[SearchedText]:
    """Yield what a commit adds, with the keys in it: providers' certain formats, and blocks of private keys."""
    for change in step:
        if change.is_deleted or not change.hunks:
            continue
        added = AddedText.of(change)
        hits = scan_keys(added.text).hits
        if change.kind is Kind.BINARY:
            yield SearchedText(
                change.path, added.text, hits, no_line, step.commit, "in a binary file"
            )
            continue
        known = {added.line(hit.start) for hit in hits}
        weighed = weigh_places(contents, change, added, hits) if hits else ()
        certain = [hit for hit in weighed if hit.severity is Severity.CRITICAL]
        yield SearchedText(change.path, added.text, certain, added.line, step.commit)
        for block in partial_blocks(contents, change, added, known, step.commit):
            if block.hits[0].severity is Severity.CRITICAL:
                yield block
    names = "\n".join((*step.people, *(change.path for change in step)))
    for text, where in (
        (step.message or "", "in a commit message"),
        (step.other_text, "in a header of a commit"),
        (names, "in the name of a file or a person"),
    ):
        hits = scan_keys(text).hits
        yield SearchedText("", text, hits, no_line, step.commit, where)


def join_keys(
    found: Sequence[tuple[SearchedText, SecretHit]], origins: str, new_place: str
) -> Finding:
    """Return the finding of all keys of one kind in a file, where the first is, for one new place."""
    source, first = found[0]
    finding = secret_finding(source, [first], marked=False)
    values = "\n".join((new_place, *sorted(hit.value for _, hit in found)))
    more = len(found) - 1
    also = f"; {more} more in other versions of the file" if more else ""
    return replace(
        finding,
        severity=Severity.HIGH,
        message=f"{finding.message.removesuffix('.')}, already published in {origins}{also}.",
        remedy=REMEDY.format(origins),
        fingerprint=fingerprint(finding.rule, source.path, slow_hash(source.path, values)),
        published=origins,
    )
