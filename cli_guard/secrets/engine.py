"""Scan a text for secrets: keywords first, patterns only in a window around a keyword, checks last.

Time grows with the text, not with the number of rules: a rule whose keyword is not in the text costs one look-up. A
single line of a megabyte is never given to a pattern as a whole.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from cli_guard.lazy import dataclass
from cli_guard.model import Confidence, Severity
from cli_guard.secrets import (
    assigned,
    checks,
    checksums,
    disguised,
    joined,
    keyblocks,
    notebooks,
    places,
    spread,
    tables,
    tokens,
)
from cli_guard.secrets.candidates import (
    Candidate,
    CandidateJudgement,
    OutOfWorkError,
    Scan,
    SecretHit,
)
from cli_guard.secrets.checks import Check
from cli_guard.secrets.detectors import (
    Detector,
    block_keywords,
    documented_keys,
    for_blocks,
    keywords,
    keywords_for,
    named_for,
    rules_at,
)
from cli_guard.words import fold

NAMED_CHECKS: tuple[Check, ...] = (
    tokens.token,
    tokens.near,
    tokens.wallet,
    tokens.tail,
    tokens.firebase,
    tokens.discord,
    tokens.jwt,
    checks.password,
    checks.connection,
    checks.url,
    checks.header,
    checks.basic,
    checks.none,
    checks.rc,
    checks.command,
    checks.pair,
    checks.signing,
    checks.statement,
    checks.remark,
    checks.mention,
    checks.answer,
    checks.key_mention,
    checks.foreign,
)
# The checks by the names that the rules give them.
CHECKS: Mapping[str, Check] = {
    **{check.__name__: check for check in NAMED_CHECKS},
    "words": checks.wordlist,
    "bytes": checks.byte_array,
    "random": tokens.random_text,
    "mixed": tokens.judge_mixed_case,
    "assigned": assigned.judge_assignment,
    "named": assigned.judge_named,
}
# A name may be given several values: their judgements come one by one.
READERS = {"spread": spread.find_values}
FINDERS = {"insert": tables.find_inserts, "table": tables.find_cells}
Wanted = Callable[[Detector], bool]
VALUE_GROUPS = ("value", "value2", "value3", "value4", "bare")
# What a scan may do before it stops. A step is a window that a rule is tried in or a run that is decoded; to read what
# another text stands for costs some, and one for so many characters. Of the 19,223 files of 13 repositories, none takes
# a tenth of it.
STEPS = 1_000_000
READ_AGAIN = 10
STEP_CHARS = 16
# How many encodings are undone, one inside the other.
DEPTH = 2
ORDER = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM, Severity.LOW, Severity.INFO)
STRETCH = 32_768
# Beyond so many places of keywords, one whose surroundings were read before without a hit is passed over.
DENSE = 4096
# What generic rules may cost in a stretch of one long line: a window 1, a candidate as much as `JUDGED` windows.
# Each of 26 minified files (1.7 MB) spends less than a third of it.
LINE_BUDGET = 4_000
JUDGED = 8
REACH = 720  # the furthest that a rule and its context look back


@dataclass
class _Work:
    """Counts down the steps, and records how far every rule has read, and what one left out."""

    steps: int
    reached: int = 0
    left_out: int | None = None

    def spend(self, position: int, steps: int = 1) -> None:
        """Raise OutOfWorkError when no step is left; `position` is where the present pass is."""
        self.steps -= steps
        if self.steps < 0:
            raise OutOfWorkError(min(position, self.reached))


def scan(text: str, path: str = "", *, steps: int = STEPS, depth: int = DEPTH) -> Scan:
    """Return the secrets in a text; `path` gives its kind, `depth` is how many encodings are undone.

    A scan that stops after so many steps returns what it has found, and the offset before which every rule has read.
    """
    work = _Work(steps)
    find = _notebook_hits if places.ending(path) == notebooks.ENDING else _all_hits
    hits, stopped_at = _collect(find(text, path, work, depth))
    kept = (hit for hit in without_overlaps(hits) if hit.severity is not Severity.INFO)
    return Scan(tuple(kept), stopped_at, work.left_out)


def _notebook_hits(text: str, path: str, work: _Work, depth: int) -> Iterator[SecretHit]:
    """Yield the hits in the parts of a notebook; where the work ends, none of its lines counts as read."""
    for part in notebooks.read_parts(text, path):
        own = _Work(work.steps)
        hits, stopped_at = _collect(_all_hits(part.text, part.path, own, depth))
        work.steps = own.steps
        for hit in hits:
            start = part.place(hit.start)
            end = part.place(hit.end)
            yield replace(hit, start=start, end=end, value=text[start:end])
        if own.left_out is not None:
            work.left_out = part.place(own.left_out)
        if stopped_at is not None:
            raise OutOfWorkError(0)


def _collect(found: Iterable[SecretHit]) -> tuple[list[SecretHit], int | None]:
    """Collect the hits up to where the work ended, and that offset."""
    hits: list[SecretHit] = []
    try:
        hits.extend(found)
    except OutOfWorkError as stop:
        return hits, int(stop.args[0])
    return hits, None


def _all_hits(
    text: str, path: str, work: _Work, depth: int, wanted: Wanted | None = None
) -> Iterator[SecretHit]:
    lower = fold(text)
    held = keywords().ends_in(lower)
    yield from _blocks(text, path, held, work)
    for detector in named_for(path):
        for match in detector.pattern.finditer(text):
            work.spend(0)
            yield from _judge(detector, text, path, 0, match)
    yield from _near_keywords(text, lower, path, held, work, wanted)
    work.reached = len(text)
    yield from _in_pieces(text, path, work, depth)
    for find in (disguised.find_encoded, disguised.find_transformed):
        yield from _find_decoded(find, text, path, work, depth)
    # The last text inside this one may have taken all that was left.
    work.spend(len(text), 0)


def _in_pieces(text: str, path: str, work: _Work, depth: int) -> Iterator[SecretHit]:
    """Yield keys of providers' formats, plain or encoded, in what is written in pieces."""

    def find(read: str, own: _Work) -> Iterator[SecretHit]:
        lower = fold(read)
        yield from keyblocks.find_blocks(read)
        held = keywords().ends_in(lower)
        yield from _near_keywords(read, lower, path, held, own, _has_format)
        yield from _find_decoded(disguised.find_encoded, read, path, own, depth)

    def scan_read(read: str) -> Sequence[SecretHit]:
        return _read_again(read, work, find)

    for start, end, hit in joined.find_joined(text, scan_read):
        yield replace(
            hit, start=start, end=end, value=hit.value if hit.encoded else text[start:end]
        )


def _find_decoded(
    find: disguised.Find, text: str, path: str, work: _Work, depth: int
) -> Iterable[SecretHit]:
    """Return the hits in what a text has encoded, as one of the finders decodes it."""

    def scan_inner(inner: str, has_generic: bool) -> Sequence[SecretHit]:
        wanted = None if has_generic else _is_of_provider
        return _read_again(
            inner, work, lambda text, own: _all_hits(text, path, own, depth - 1, wanted)
        )

    return find(text, scan_inner, work.spend) if depth else ()


def _read_again(
    text: str, work: _Work, find: Callable[[str, _Work], Iterator[SecretHit]]
) -> Sequence[SecretHit]:
    """Return the hits in what another text stands for, with the steps that are left."""
    own = _Work(work.steps - READ_AGAIN - len(text) // STEP_CHARS)
    hits, _ = _collect(find(text, own))
    work.steps = own.steps
    return without_overlaps(hits)


def _is_of_provider(detector: Detector) -> bool:
    return not detector.generic


def _has_format(detector: Detector) -> bool:
    return not detector.generic or detector.check == "near"


def scan_keys(text: str, steps: int = STEPS) -> Scan:
    """Find the keys in the text runs of a binary file: providers' certain and critical formats, key blocks."""
    lower = fold(text)
    work = _Work(steps)
    has_block = any(mark in lower for mark in keyblocks.MARKS)
    blocks = keyblocks.find_blocks(text) if has_block else ()
    held = keywords_for(places.kind_of(""), _is_sure).ends_in(lower)
    hits, stopped_at = _collect(
        chain(blocks, _near_keywords(text, lower, "", held, work, _is_sure))
    )
    sure = [hit for hit in hits if not hit.generic and hit.severity is Severity.CRITICAL]
    return Scan(tuple(without_overlaps(sure)), stopped_at)


def _is_sure(detector: Detector) -> bool:
    sure = (detector.severity, detector.confidence) == (Severity.CRITICAL, Confidence.HIGH)
    return sure and not detector.generic


def _near_keywords(
    text: str,
    lower: str,
    path: str,
    held: Mapping[str, Sequence[int]],
    work: _Work,
    wanted: Wanted | None,
) -> Iterator[SecretHit]:
    """Yield hits stretch by stretch, so that a stop leaves whole stretches read by every rule.

    `held` are the keywords in the text, each with the offsets of its last letter.
    """
    kind = places.kind_of(path)
    tried: list[tuple[str, Sequence[int], list[Detector], int]] = []
    for keyword, ends in held.items():
        rules = [
            rule
            for rule in rules_at(keyword, kind)
            if (wanted is None or wanted(rule)) and _has_needed(rule, lower)
        ]
        if rules:
            tried.append((keyword, ends, rules, max(rule.after for rule in rules)))
    if not tried:
        return
    done = dict.fromkeys((rule.id for _, _, rules, _ in tried for rule in rules), 0)
    seen = 0
    empty: set[int] = set()
    for start in range(0, len(lower), STRETCH):
        work.reached = start
        left = (
            LINE_BUDGET
            if "\n" not in lower[start : start + STRETCH]
            else len(lower) * JUDGED
        )
        for keyword, ends, rules, after in tried:
            width = len(keyword)
            low = bisect_left(ends, start + width - 1)
            high = bisect_left(ends, start + width - 1 + STRETCH)
            free = start
            for end in ends[low:high]:
                position = end - width + 1
                # It may overlap itself, as `aa` does in `aaa`.
                if position < free:
                    continue
                free = end + 1
                work.spend(position, len(rules))
                seen += 1
                around = 0
                if seen > DENSE:
                    around = hash(
                        (keyword, text[max(position - REACH, 0) : position + REACH + after])
                    )
                line_end = _line_end(text, position, after)
                for detector in () if around in empty else rules:
                    if detector.generic and left <= 0:
                        work.left_out = start if work.left_out is None else work.left_out
                        continue
                    left -= detector.generic
                    for match in _matches(detector, text, position, width, line_end, done):
                        left -= JUDGED * detector.generic
                        for hit in _judge(detector, text, path, position, match):
                            done[detector.id] = max(done[detector.id], hit.end)
                            around = 0
                            yield hit
                if around:
                    empty.add(around)


def _has_needed(detector: Detector, lower: str) -> bool:
    """Return whether the file contains what every match of the rule needs."""
    return not detector.needs or any(word in lower for word in detector.needs)


def _blocks(text: str, path: str, held: Iterable[str], work: _Work) -> Iterator[SecretHit]:
    words = block_keywords().intersection(held)
    if not words:
        return
    kinds = set()
    for detector in for_blocks().values():
        if not words.isdisjoint(detector.keywords):
            kinds.add(detector.block)
            finder = FINDERS.get(detector.block)
            for judgement in finder(text, path, detector, work.spend) if finder else ():
                yield _hit(detector, text, judgement)
    if kinds & {"pem", "putty"}:
        yield from keyblocks.find_blocks(text)


def _matches(
    detector: Detector,
    text: str,
    position: int,
    width: int,
    line_end: int,
    done: dict[str, int],
) -> Iterable[re.Match[str]]:
    """Yield the matches of one rule around one keyword; `done` is how far its earlier windows reached.

    `line_end` is where the line of the keyword ends, or where the window of any rule does.
    """
    high = min(line_end, position + detector.after)
    if detector.lines:
        high = _line_end(text, position, detector.after, detector.lines)
    if detector.before:
        low = max(position - detector.before, done[detector.id], 0)
        low = max(text.rfind("\n", low, position) + 1, low)
        return detector.pattern.finditer(text, low, high)
    start = position + width if detector.follows else position
    match = detector.pattern.match(text, start, high)
    return (match,) if match else ()


def _line_end(text: str, position: int, after: int, lines: int = 0) -> int:
    limit = min(len(text), position + after)
    end = text.find("\n", position, limit)
    while end >= 0 and lines:
        end = text.find("\n", end + 1, limit)
        lines -= 1
    return end if end >= 0 else limit


def _judge(
    detector: Detector, text: str, path: str, position: int, match: re.Match[str]
) -> Iterator[SecretHit]:
    candidate = _candidate(detector, text, path, position, match)
    if reader := READERS.get(detector.check):
        found = reader(candidate) if candidate else ()
        yield from (_hit(detector, text, each) for each in found)
        return
    judgement = CHECKS[detector.check](candidate) if candidate else None
    # The context comes last: searching for it costs more than judging the value.
    if candidate and judgement and _in_context(detector, text, candidate):
        yield _hit(
            detector, text, checksums.weigh(detector.checksum, candidate.value, judgement)
        )


def _candidate(
    detector: Detector, text: str, path: str, position: int, match: re.Match[str]
) -> Candidate | None:
    groups = match.groupdict()
    group = next((name for name in VALUE_GROUPS if groups.get(name)), None)
    if group is None and detector.check == "command":
        group = match.lastgroup
    if group is None or match[group] in documented_keys():
        return None
    name_end = match.start("close") if "close" in groups else _name_end(text, match.start())
    return Candidate(
        detector,
        text,
        path,
        position,
        match.start(group),
        match.end(group),
        match[group],
        groups,
        name_end,
    )


def _name_end(text: str, position: int) -> int:
    end = position
    while (
        end < len(text)
        and end - position < assigned.NAME_LIMIT
        and text[end] in assigned.NAME_CHARS
    ):
        end += 1
    return end


def _in_context(detector: Detector, text: str, candidate: Candidate) -> bool:
    low = max(candidate.start - detector.reach, 0)
    high = min(candidate.end + detector.reach, len(text))
    return detector.context is None or bool(detector.context.search(text, low, high))


def _hit(detector: Detector, text: str, judgement: CandidateJudgement) -> SecretHit:
    value = text[judgement.start : judgement.end]
    where = (judgement.start, judgement.end, value, judgement.name, detector.generic)
    return SecretHit(
        detector.id,
        judgement.severity,
        judgement.confidence,
        *where,
        proven=judgement.proven,
        doubt=judgement.doubt,
    )


def without_overlaps(hits: list[SecretHit]) -> list[SecretHit]:
    """Keep one hit for each place: a provider's rule before a generic one, plain before encoded, then the longer."""
    if len(hits) < 2:
        return hits
    order = {
        hit: (hit.generic, hit.encoded, ORDER.index(hit.severity), -(hit.end - hit.start))
        for hit in hits
    }
    kept: list[SecretHit] = []
    for hit in sorted(set(hits), key=lambda hit: (hit.start, hit.end, hit.rule)):
        if kept and hit.start < kept[-1].end:
            if order[hit] < order[kept[-1]]:
                kept[-1] = hit
        else:
            kept.append(hit)
    return kept
