"""Join the parts of one review: those of `--shard`, and those of a scan. Each secret is counted once."""

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from cli_guard.errors import UsageError
from cli_guard.model import (
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Skipped,
    Suppressed,
)
from cli_guard.policy.gate import GateJudgement, judge_record
from cli_guard.review.render.as_json import read_report
from cli_guard.review.render.review import Review
from cli_guard.reviewers.shard import Shard

STRICTEST = (Decision.DENY, Decision.REVIEW, Decision.ALLOW)
MOST_FINDINGS = 20_000
MOST_SKIPPED = 1_000
TOO_MANY = Skipped("more", f"only {MOST_FINDINGS:,} findings are listed", asks=True)
Place = tuple[str | int | None, ...]
Rank = tuple[bool, int, int, int]


class Collector:
    """Collects the findings of parts, in any order; of several on one thing the strictest counts, then the first.

    `history`: a secret is one thing wherever it is; otherwise each file that holds it now is to be mended.
    """

    def __init__(self, *, history: bool) -> None:
        self._history = history
        self._standing: dict[Place, tuple[Rank, JudgedFinding]] = {}
        self._suppressed: dict[Place, Suppressed] = {}
        self._skipped: dict[Skipped, None] = {}

    def add(self, part: Review, number: int, commits: bytes = b"") -> None:
        """Add a part; `number` is its place among the parts, `commits` are its own, the oldest first."""
        for judged in part.findings:
            found = judged.finding
            strictness = list(Disposition).index(judged.disposition)
            place = place_of(found)
            at = commits.find((found.commit or "").encode("utf-8", "replace"))
            rank = (not self._history and found.commit is not None, strictness, number, at)
            # What is denied has room of its own, so that no number of other findings hides it.
            most = MOST_FINDINGS * (2 if judged.disposition is Disposition.DENY else 1)
            if len(self._standing) >= most and place not in self._standing:
                self._skipped[TOO_MANY] = None
            elif place not in self._standing or rank < self._standing[place][0]:
                self._standing[place] = rank, judged
        for each in part.suppressed:
            if place_of(each.finding) not in self._suppressed or not each.finding.commit:
                self._suppressed[place_of(each.finding)] = each
        for skip in part.skipped:
            is_listed = len(self._skipped) < MOST_SKIPPED or skip.asks
            self._skipped[skip if is_listed else Skipped("more", skip.reason)] = None

    def join(self) -> tuple[GateJudgement, tuple[Skipped, ...]]:
        """Return what stands and what is answered, and what was not read."""
        standing: list[JudgedFinding] = []
        seen: set[tuple[str, str]] = set()
        for _, judged in sorted(self._standing.values(), key=lambda each: each[0]):
            found = judged.finding
            now = self._suppressed.get(place_of(found))
            secret = (found.rule, found.mark)
            # What the text of the tip answers holds for the same secret in the history of the file.
            answered = now and now.by == "inline" and now.finding.commit is None
            if not answered and not (
                found.mark and (self._history or found.commit) and secret in seen
            ):
                seen.add(secret)
                standing.append(judged)
        return GateJudgement(tuple(standing), tuple(self._suppressed.values())), tuple(
            self._skipped
        )


def place_of(found: Finding) -> Place:
    """Return what makes two findings one: a secret in one file, or the same line of one commit."""
    if found.rule.startswith("secret-"):
        return (found.rule, found.path, found.fingerprint)
    return (found.rule, found.path, found.fingerprint, found.line, found.commit)


def read_parts(name: str, raw: bytes | str) -> list[Review]:
    """Return the parts in a report, SARIF or JSON. Raises UsageError."""
    try:
        data = json.loads(raw)
        runs = (
            [run["properties"]["report"] for run in data["runs"]]
            if "runs" in data
            else [data]
        )
        parts = [read_report(json.dumps(each))[1] for each in runs]
        if not parts or not all(each.binding for each in parts):
            raise ValueError
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        how = "`cli-guard review --shard K/N` writes one, with --format sarif or json"
        raise UsageError(f"{name} is not the report of a part: {how}") from error
    return parts


def _check_complete(every: AbstractSet[Shard], given: AbstractSet[Shard]) -> None:
    """Raise UsageError if a part is missing, or one is of another split."""
    for shards, why in (
        (given - every, "from another --shard split"),
        (every - given, "missing"),
    ):
        if shards:
            listed = sorted(shards, key=lambda each: each.number)[:10]
            names = ", ".join(f"{each.number}/{each.of}" for each in listed)
            if len(shards) > 1:
                raise UsageError(f"parts {names} are {why}")
            raise UsageError(f"part {names} is {why}")


def join_shards(parts: Mapping[str, Review]) -> Review:
    """Join all shards of one review, by the names of their files. Raises UsageError unless each is there once."""
    collector = Collector(history=False)
    names = dict[Shard, str]()
    known, first = next(iter(parts.items()))
    for name, part in parts.items():
        shard = Shard.parse(part.part.replace("-of-", "/"))
        if part.binding != first.binding:
            why = "another range, policy or cli-guard"
            raise UsageError(f"{name} and {known} are parts of different reviews: {why}")
        stated = judge_record(GateJudgement(part.findings, part.suppressed)).decision
        if STRICTEST.index(stated) < STRICTEST.index(part.decision):
            raise UsageError(
                f"{name} was edited: its findings say {stated}, and it says {part.decision}"
            )
        if shard in names:
            raise UsageError(f"{name} and {names[shard]} are the same part, {part.part}")
        names[shard] = name
        collector.add(part, shard.number)
    every = {
        Shard(number, next(iter(names)).of) for number in range(1, next(iter(names)).of + 1)
    }
    _check_complete(every, names.keys())
    judgement, skipped = collector.join()
    strictest = min(parts.values(), key=lambda part: STRICTEST.index(part.decision))
    own = {shard.note() for shard in names}
    notes = dict.fromkeys(
        note for part in parts.values() for note in part.notes if note not in own
    )
    stops = any(each.disposition is not Disposition.ADVISE for each in judgement.standing)
    return replace(
        strictest,
        findings=judgement.standing,
        suppressed=judgement.suppressed,
        skipped=skipped,
        review_id=None,
        review_reason=judge_record(judgement).reason if stops else strictest.review_reason,
        notes=tuple(notes),
        places={
            commit: path for part in parts.values() for commit, path in part.places.items()
        },
        part="",
        binding="",
    )
