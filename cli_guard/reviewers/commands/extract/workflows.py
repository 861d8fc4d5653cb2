"""GitHub workflows and composite actions: the text of each `run`, in the shell that its step, job or runner has."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, Node, Scalar, Table, at
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, shell_of
from cli_guard.reviewers.commands.extract.values import lines

EXPRESSION = re.compile(r"\$\{\{.{1,2000}?\}\}", re.DOTALL)
# Inputs of actions that run their value on a machine: a retry, an SSH session, an emulator.
RUN_INPUTS = ("run", "command", "script")
JAVASCRIPT = re.compile(r"^actions/github-script\b")


def snippets(document: Document) -> Iterator[Snippet]:
    """The scripts of a workflow or an action."""
    roots = document.roots
    for job in at(roots, "jobs", "*"):
        default = _default(job) or _default(*roots) or _of_runner(job)
        for step in at([job], "steps", "[]"):
            yield from _step(step, default)
    for step in at(roots, "runs", "steps", "[]"):
        yield from _step(step, "sh")


def _step(step: Node, default: str) -> Iterator[Snippet]:
    if not isinstance(step, Table):
        return
    named = step.text("shell")
    shell = shell_of(named) if named and "${{" not in named else default
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


def _of_runner(job: Node) -> str:
    runs_on = [*at([job], "runs-on"), *at([job], "runs-on", "[]")]
    windows = any(isinstance(node, Scalar) and node.text.lower().startswith("windows") for node in runs_on)
    return "pwsh" if windows else "sh"
