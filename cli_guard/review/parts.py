"""Join the parts of one review: those of `--shard`, and those of a scan. Each secret is counted once."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli_guard.errors import UsageError
from cli_guard.model import Decision, Disposition, Finding, JudgedFinding, Skipped, Suppressed
from cli_guard.policy.gate import count_findings
from cli_guard.review.render.as_json import read_report
from cli_guard.review.render.read_sarif import read_runs
from cli_guard.review.render.review import Review
from cli_guard.reviewers.shard import Shard

STRICTEST = (Decision.DENY, Decision.REVIEW, Decision.ALLOW)
STATUSES = ("failed", "needs_review", "ok")
DISPOSITIONS = tuple(Disposition)
MOST_FINDINGS, MOST_SKIPPED = 20_000, 1_000
Place = tuple[str, ...]


class Collector:
    """Collects the findings of parts, in any order; of several on one thing the strictest counts, then the first.

    `history`: a secret is one thing wherever it is; otherwise each file that holds it now is to be mended.
    """

    def __init__(self, *, history: bool) -> None:
        self._history = history
        self._standing: dict[Place, dict[Place, tuple[int, int, int, JudgedFinding]]] = {}
        self._suppressed: dict[Place, Suppressed] = {}
        self._skipped: dict[Skipped, None] = {}
        self._left_out = 0

    def add(self, part: Review, number: int) -> None:
        """Add a part; `number` is its place among the parts, the oldest commits first."""
        for at, judged in enumerate(part.findings):
            places = self._standing.setdefault(self._thing(judged.finding), {})
            place, rank = place_of(judged.finding), (DISPOSITIONS.index(judged.disposition), number, at)
            if place in places:
                places[place] = min(places[place], (*rank, judged), key=lambda each: each[:3])
            elif len(self._standing) <= MOST_FINDINGS and len(places) <= MOST_SKIPPED:
                places[place] = (*rank, judged)
            else:
                self._left_out += 1
        for each in part.suppressed:
            if len(self._suppressed) < MOST_FINDINGS:
                self._suppressed.setdefault(place_of(each.finding), each)
        for skip in part.skipped:
            if len(self._skipped) < MOST_SKIPPED or skip in self._skipped:
                self._skipped[skip] = None
            else:
                more = Skipped("and more", "only the first 1,000 are listed", skip.by_limit)
                self._skipped[more] = None

    def _thing(self, found: Finding) -> Place:
        if found.mark and (self._history or found.commit):
            return (found.rule, found.mark)
        return (
            *place_of(found),
            str(found.line),
            "" if found.rule.startswith("secret-") else found.commit or "",
        )

    def answered(self) -> dict[Place, Suppressed]:
        """Return what the text of the tip itself answers: it was recorded there."""
        return {
            place: each
            for place, each in self._suppressed.items()
            if each.by == "inline" and each.finding.commit is None
        }

    def joined(self) -> tuple[tuple[JudgedFinding, ...], tuple[Suppressed, ...], tuple[Skipped, ...]]:
        """Return what stands, what is answered, and what was not read."""
        answers = self.answered() if self._history else {}
        standing = []
        for places in self._standing.values():
            for place in places.keys() & answers.keys():
                self._suppressed[place] = answers[place]
            if left := [rank for place, rank in places.items() if place not in answers]:
                standing.append(min(left, key=lambda each: each[:3])[3])
        if not self._history:
            now = {(each.finding.rule, each.finding.mark) for each in standing if not each.finding.commit}
            standing = [
                each
                for each in standing
                if not each.finding.commit
                or not each.finding.mark
                or (each.finding.rule, each.finding.mark) not in now
            ]
        skipped = tuple(self._skipped)
        if self._left_out:
            reason = f"{self._left_out:,} more findings are not listed"
            skipped += (Skipped("", reason, by_limit=True),)
        return tuple(standing), tuple(self._suppressed.values()), skipped


def place_of(found: Finding) -> Place:
    return (found.rule, found.path, found.fingerprint)


def read_parts(name: str, raw: bytes) -> list[Review]:
    """Return the parts in a report, SARIF or JSON. Raises UsageError."""
    try:
        text = raw.decode("utf-8")
        parts = read_runs(text) if '"runs"' in text else [read_report(text)[1]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(
            f"{name} is no report of a part: write it with `cli-guard review --shard K/N --format sarif --output FILE`"
        ) from error
    if any(not each.binding for each in parts):
        raise UsageError(f"{name} is the report of a whole review, not of a part (`review --shard K/N`)")
    return parts


def join_shards(parts: Mapping[str, Review]) -> Review:
    """Join all shards of one review, by the names of their files. Raises UsageError unless each is there once."""
    shards: dict[str, str] = {}
    first = next(iter(parts.values()))
    for name, part in parts.items():
        if part.binding != first.binding or part.event != first.event:
            raise UsageError(
                f"{name} is a part of another review than {next(iter(parts))}: another range, policy or cli-guard"
            )
        if part.part in shards:
            raise UsageError(f"{name} and {shards[part.part]} are the same part, {part.part}")
        shards[part.part] = name
    numbers = [Shard.parse(each.replace("-of-", "/")) for each in shards]
    of = numbers[0].of
    missing = sorted(set(range(1, of + 1)) - {each.number for each in numbers})
    if missing or any(each.of != of for each in numbers):
        listed = ", ".join(f"{number}/{of}" for number in missing[:10])
        raise UsageError(f"a part is missing: {listed or 'the parts are of different divisions'}")
    collector = Collector(history=False)
    for shard, part in zip(numbers, parts.values(), strict=True):
        collector.add(part, shard.number)
    standing, suppressed, skipped = collector.joined()
    every = tuple(parts.values())
    strictest = min(every, key=lambda part: STRICTEST.index(part.decision))
    own = {shard.note() for shard in numbers}
    return replace(
        first,
        status=min((part.status for part in every), key=STATUSES.index),
        decision=strictest.decision,
        findings=standing,
        suppressed=suppressed,
        skipped=skipped,
        review_id=None,
        review_reason=reason_of(standing, strictest),
        notes=tuple(dict.fromkeys(note for part in every for note in part.notes if note not in own)),
        places={commit: path for part in every for commit, path in part.places.items()},
        files=max(part.files for part in every),
        reviewed=max(part.reviewed for part in every),
        part="",
        binding="",
    )


def reason_of(standing: Sequence[JudgedFinding], strictest: Review) -> str | None:
    """Count the findings that stop, in all parts."""
    for decision, word in ((Disposition.DENY, "denied"), (Disposition.REVIEW, "to approve")):
        if stops := [each.finding for each in standing if each.disposition is decision]:
            return count_findings(stops, word)
    return strictest.review_reason
