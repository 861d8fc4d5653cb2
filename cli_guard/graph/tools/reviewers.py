"""The reviewers as tools: each takes the paths to look at and answers with findings."""

from dataclasses import replace

from cli_guard.errors import CliGuardError
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Finding, Report, Skipped
from cli_guard.reviewers import registry
from cli_guard.reviewers.registry import Reviewer
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.runtime import emergency_stop
from cli_guard.secrets.redact import redact

# The slowest review of a real commit takes 6 minutes beside 16 busy loops on two processors.
STOP_SECONDS = 3_600.0


class PathArguments(Arguments):
    """The paths a reviewer looks at."""

    paths: tuple[str, ...] | list[str] = ()


def tool_of(reviewer: Reviewer) -> Tool:
    """Build the tool of a reviewer, whose module is imported when it first runs."""

    def run(world: World, arguments: Arguments) -> ToolOutput:
        assert isinstance(arguments, PathArguments) and world.subject is not None  # noqa: S101 - the gate's work
        with emergency_stop(STOP_SECONDS):
            report = review_or_skip(
                reviewer, only(world.subject, frozenset(arguments.paths)), world
            )
        findings = tuple(without_secrets(finding) for finding in report.findings)
        return ToolOutput({"findings": len(findings)}, findings, report.skipped)

    return Tool(
        f"review_{reviewer.name}", reviewer.summary, "read_only", PathArguments, run
    )


def review_or_skip(reviewer: Reviewer, subject: ReviewInput, world: World) -> Report:
    """Run a reviewer. A bug in it ends no other review: it counts as not reviewed, and needs a person."""
    try:
        return reviewer.review(subject)
    except CliGuardError:
        raise
    except Exception as error:
        return Report((), (Skipped(reviewer.name, world.report_error(error), asks=True),))


def without_secrets(finding: Finding) -> Finding:
    """Mask the secrets in a finding: its quotes from the change may hold a secret of another rule."""
    return replace(
        finding,
        message=redact(finding.message),
        evidence=redact(finding.evidence, finding.path),
        suggestion=redact(finding.suggestion, finding.path)
        if finding.suggestion
        else finding.suggestion,
    )


def only(subject: ReviewInput, paths: frozenset[str]) -> ReviewInput:
    """Return the subject with only these paths of its change."""
    files = tuple(change for change in subject.changes if change.path in paths)
    if len(files) == len(subject.changes.files):
        return subject
    return replace(subject, changes=replace(subject.changes, files=files))


def reviewing_tools() -> dict[str, Tool]:
    """Return the tool of every reviewer, by its name."""
    tools = (tool_of(reviewer) for reviewer in registry.REVIEWERS)
    return {tool.name: tool for tool in tools}
