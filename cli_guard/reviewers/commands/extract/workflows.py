"""GitHub workflows and composite actions: the text of each `run`, in the shell that its step, job or runner has."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, Node, Scalar, Table, at
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, shell_of
from cli_guard.reviewers.commands.extract.values import lines

EXPRESSION = re.compile(r"\$\{\{.{1,2000}?\}\}", re.DOTALL)
# Inputs of actions that run their value on a machine: a retry, an SSH session, an emulator.
RUN_INPUTS = ("run", "command", "script")
WINDOWS_RUNNER = re.compile(r"^windows", re.IGNORECASE)
ONLY_WINDOWS = re.compile(r"(?:==\s*'windows|\((?:runner|matrix)\.os,\s*'windows)", re.IGNORECASE)
JAVASCRIPT = re.compile(r"^actions/github-script\b")


def snippets(document: Document) -> Iterator[Snippet]:
    """The scripts of a workflow or an action."""
    roots = document.roots
    for job in at(roots, "jobs", "*"):
        named = _default(job) or _default(*roots)
        for step in at([job], "steps", "[]"):
            yield from _step(step, named or ("pwsh" if _on_windows(job, step) else "sh"))
    for step in at(roots, "runs", "steps", "[]"):
        yield from _step(step, "sh")


def _step(step: Node, default: str) -> Iterator[Snippet]:
    if not isinstance(step, Table):
        return
    named = step.text("shell")
    # Which shell an expression stands for only the run tells; that it is Python may be said beside it.
    shell = shell_of(named) if named and ("${{" not in named or "python" in named) else default
    values = [(step.get("run"), shell)]
    inputs = step.get("with")
    if isinstance(inputs, Table) and not JAVASCRIPT.match(step.text("uses")):
        values += [(inputs.get(name), "sh") for name in RUN_INPUTS]
    for value, its_shell in values:
        for found in lines(value, Where.CI, its_shell):
            yield found.substituted(EXPRESSION)


def _default(*nodes: Node) -> str:
    """The shell that a workflow or a job names for its steps, empty if it names none."""
    named = [node.text for node in at(nodes, "defaults", "run", "shell") if isinstance(node, Scalar)]
    return shell_of(named[0]) if named and "${{" not in named[0] else ""


def _on_windows(job: Node, step: Node) -> bool:
    """Does the job run on Windows, or the step nowhere else?"""
    runs_on = [*at([job], "runs-on"), *at([job], "runs-on", "[]")]
    return any(
        isinstance(node, Scalar) and pattern.search(node.text)
        for nodes, pattern in ((runs_on, WINDOWS_RUNNER), (at([job, step], "if"), ONLY_WINDOWS))
        for node in nodes
    )
