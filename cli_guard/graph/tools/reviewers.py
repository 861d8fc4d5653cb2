"""The reviewers as tools: each takes the paths to look at and answers with findings."""

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Finding, Report
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.secrets.redact import redact

REVIEWERS = {
    "secrets": "credentials in added lines, file names, messages and every commit of a push",
    "code": "risky constructs, conflict markers, debug leftovers, large and newly executable files",
    "commands": "what the shell commands do that are added, in scripts, CI files, images, makefiles, settings",
    "docs": "public functions and classes whose documentation is missing or no longer true",
    "refactor": "functions that the change pushes over a limit, and blocks that it adds twice",
    "message": "the form of commit messages, and messages that contradict their change",
    "push": "forced and deleted branches that are protected",
    "checks": "checks of the repository that nobody trusts yet, or that may never run",
    "policy": "changes that weaken the policy, remove hooks or add suppressions",
}


class Paths(Arguments):
    """The paths a reviewer looks at."""

    paths: tuple[str, ...] | list[str] = ()


def reviewing_tool(name: str, summary: str) -> Tool:
    """A reviewer as a tool; its module is imported when it first runs."""

    def run(world: World, arguments: Arguments) -> ToolOutput:
        assert isinstance(arguments, Paths) and world.subject is not None  # noqa: S101 - the gate's work
        review: Callable[[ReviewInput], Report] = import_module(f"cli_guard.reviewers.{name}").review
        report = review(only(world.subject, frozenset(arguments.paths)))
        findings = tuple(without_secrets(finding) for finding in report.findings)
        return ToolOutput({"findings": len(findings)}, findings, report.skipped)

    return Tool(f"review_{name}", summary, "read_only", Paths, run)


def without_secrets(finding: Finding) -> Finding:
    """A finding that may be shown: what its reviewer quotes of the change may hold a secret of another rule."""
    return replace(
        finding,
        message=redact(finding.message),
        evidence=redact(finding.evidence, finding.path),
        suggestion=redact(finding.suggestion, finding.path) if finding.suggestion else finding.suggestion,
    )


def only(subject: ReviewInput, paths: frozenset[str]) -> ReviewInput:
    """The subject with its change narrowed to some paths."""
    files = tuple(change for change in subject.changes if change.path in paths)
    if len(files) == len(subject.changes.files):
        return subject
    return replace(subject, changes=replace(subject.changes, files=files))


def reviewing_tools() -> dict[str, Tool]:
    """Every reviewer, by its tool name."""
    tools = (reviewing_tool(name, summary) for name, summary in REVIEWERS.items())
    return {tool.name: tool for tool in tools}
