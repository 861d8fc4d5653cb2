"""A finished review: everything an output format needs, and nothing else."""

from collections.abc import Mapping
from dataclasses import field, replace

from cli_guard.errors import ExitCode
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.lazy import frozen
from cli_guard.model import (
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Severity,
    Skipped,
    Suppressed,
)

EXIT_CODES = {
    Decision.ALLOW: ExitCode.OK,
    Decision.DENY: ExitCode.DENIED,
    Decision.REVIEW: ExitCode.NEEDS_REVIEW,
}
_DISPOSITIONS = {each: rank for rank, each in enumerate(Disposition)}
_SEVERITIES = {each: rank for rank, each in enumerate(Severity)}


@frozen
class Review:
    """The outcome of one run.

    `status` is "ok", "needs_review" or "failed". `files` counts the files of the change, `reviewed` those
    that were examined. `secrets_only` has the language of each file that was searched for secrets alone. `notes`
    are one-line remarks for people.
    `places` are the first files of the commits whose messages have findings (None: of the change as a whole).
    `left` is the identity of an allowed change that the commit-msg hook reports; `message_file` is where Git keeps
    a typed message. `only` names the paths, if not everything was reviewed. `unit` is what `files` counts.
    `part` distinguishes the parts of a review that several jobs share ("3-of-8"), `binding` is the same in all of them:
    a hash of what they review.
    `origins` names the commit of a range that brought a line of a path, for people.
    `blobs` are the contents of the files with findings, by path, in the report that is kept.
    `told` are the fingerprints of what the reviews of the pushed commits have shown.
    `examples` counts the keys of documentation that a change without findings adds.
    `program` is the command that a person types to run this cli-guard. The mappings are those of the graph's
    state and contain only JSON types.
    """

    event: str
    status: str
    decision: Decision
    findings: tuple[JudgedFinding, ...]
    suppressed: tuple[Suppressed, ...] = ()
    review_id: str | None = None
    review_reason: str | None = None
    blocked_actions: tuple[Mapping[str, object], ...] = ()
    plan: tuple[Mapping[str, object], ...] = ()
    tool_results: tuple[Mapping[str, object], ...] = ()
    action_log: tuple[Mapping[str, object], ...] = ()
    files: int = 0
    reviewed: int = 0
    secrets_only: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    program: str = "cli-guard"
    part: str = ""
    left: str = ""
    message_file: str = ".git/COMMIT_EDITMSG"
    only: str = ""
    binding: str = ""
    unit: str = "file"
    examples: int = 0
    places: Mapping[str | None, str] = field(default_factory=dict)
    origins: Mapping[tuple[str, int | None], str] = field(default_factory=dict)
    blobs: Mapping[str, str] = field(default_factory=dict)
    told: frozenset[str] = frozenset()

    @property
    def exit_code(self) -> ExitCode:
        """Return the exit code of a command that ends with this review."""
        return EXIT_CODES[self.decision]

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return the notes, with the paths for a format that has no closing sentence."""
        return (
            *self.notes,
            *([f"only these paths were reviewed: {self.only}"] if self.only else []),
        )

    @property
    def nothing(self) -> bool:
        """Return whether there was nothing to review; `review_reason` says why."""
        return (
            self.decision is Decision.ALLOW
            and not self.files
            and self.review_reason is not None
        )

    @property
    def is_silent(self) -> bool:
        """Return whether it is of a commit message, with nothing to report; it is not printed then."""
        news = self.findings or self.notes or any(each.new for each in self.suppressed)
        return (
            event_of(self.event).request == MESSAGE
            and self.decision is Decision.ALLOW
            and not news
        )

    def with_origin(self, found: Finding) -> Finding:
        """Return a finding with the commit that it is shown with."""
        origin = self.origins.get((found.path, found.line))
        return replace(found, commit=origin) if origin and not found.commit else found

    def sort_findings(
        self, disposition: Disposition | None = None
    ) -> tuple[JudgedFinding, ...]:
        """Return the findings, all or of one disposition, worst first."""
        chosen = (
            judged for judged in self.findings if disposition in (None, judged.disposition)
        )
        return tuple(sorted(chosen, key=_rank))


def _rank(judged: JudgedFinding) -> tuple[int, int, str, int, str, str]:
    found = judged.finding
    place = (found.path, found.line or 0, found.rule, found.commit or "")
    return (_DISPOSITIONS[judged.disposition], _SEVERITIES[found.severity], *place)
