"""`cli-guard doctor --timing`: show where the time of one review goes, so that a user can report a slow commit."""

import datetime
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import count
from cli_guard.review.request import Commit, Request, Staged

if TYPE_CHECKING:
    from cli_guard.graph.state import State
    from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
    from cli_guard.review.load import Gathered

# What a review imports, beside its reviewers.
MODULES = (
    "cli_guard.graph.context",
    "cli_guard.graph.run",
    "cli_guard.review.load",
    "cli_guard.review.render.text",
    "cli_guard.review.run",
)


class Stopwatch:
    """Marks on the way of a review: the time from one to the next belongs to its row.

    Each has milliseconds on the clock, and of a processor, with those of children that have ended.
    """

    def __init__(self) -> None:
        self.marks: list[tuple[str, int, int]] = []

    def enter(self, row: str) -> None:
        """Let the time from now on belong to a row."""
        # `os.times` counts in ticks of 10 ms: more than most reviewers take.
        cpu = time.process_time() + sum(os.times()[2:4])
        self.marks.append((row, round(time.perf_counter() * 1000), round(cpu * 1000)))

    def watch(self, tool: "Tool") -> "Tool":
        """Return the tool of a reviewer with a row of its own; what runs between the tools is the graph's."""

        def run(world: "World", arguments: "Arguments") -> "ToolOutput":
            self.enter(tool.name.removeprefix("review_"))
            try:
                return tool.run(world, arguments)
            finally:
                self.enter("graph")

        return replace(tool, run=run)

    def table(self) -> str:
        """Format the rows, in the order in which they began, and their sum."""
        clock = Counter[str]()
        cpu = Counter[str]()
        for (row, *begun), (_, *ended) in pairwise(self.marks):
            clock[row] += ended[0] - begun[0]
            cpu[row] += ended[1] - begun[1]
        rows = [(row, clock[row], cpu[row]) for row in clock]
        rows.append(("total", clock.total(), cpu.total()))
        width = max(len(row) for row, *_ in rows)
        lines = [f"  {'':{width}} {'ms':>7} {'CPU':>7}"]
        lines += [f"  {row:{width}} {spent:7} {used:7}" for row, spent, used in rows]
        return "\n".join(lines)


def show_timing(io: Io) -> str:
    """Review what is staged, else HEAD's last commit, once; return the table. Nothing is recorded."""
    watch = Stopwatch()
    watch.enter("start")
    start_python(io.env)
    watch.enter("modules")
    load_modules()
    watch.enter("rules")
    load_rules()
    watch.enter("Git")
    repository = io.find_repository()
    request, subject = find_subject(repository)
    from cli_guard.review.load import gather

    with gather(request, repository, io.invocation) as gathered:
        state = run_graph(io, gathered, watch)
        watch.enter("output")
        render(state, gathered, io.invocation.now.date())
        watch.enter("")
    files = len(gathered.subject.changes.files)
    head = f"A review of {subject}, {count(files, 'file')}: no server, no earlier results, no checks"
    return f"{head}\n{watch.table()}"


def start_python(env: Mapping[str, str]) -> None:
    """Start Python and cli-guard once, as a hook does, and wait for the end."""
    command = (sys.executable, "-E", "-P", "-m", "cli_guard", "--version")
    alone = {**env, "CLI_GUARD_SERVER": "0"}
    subprocess.run(command, env=alone, check=False, capture_output=True)


def load_modules() -> None:
    from cli_guard.reviewers.registry import REVIEWERS

    for name in (*MODULES, *(f"cli_guard.reviewers.{each.name}" for each in REVIEWERS)):
        import_module(name)


def load_rules() -> None:
    from cli_guard.reviewers.registry import REVIEWERS

    for reviewer in REVIEWERS:
        _ = reviewer.rules


def find_subject(repository: Repository) -> tuple[Request, str]:
    """Return what is measured, and its name. Raises UsageError in a repository without a commit."""
    if not repository.bare and repository.has_staged():
        return Staged(), "what is staged"
    if repository.head is None:
        raise UsageError(
            "nothing is staged, and there is no commit yet: nothing to measure"
        )
    return Commit("HEAD"), "the commit at HEAD"


def run_graph(io: Io, gathered: "Gathered", watch: Stopwatch) -> "State":
    """Review without a cache, helper processes and checks; each reviewer's time is its own, the rest the graph's."""
    from cli_guard.graph.context import Context
    from cli_guard.graph.run import run_review
    from cli_guard.graph.tools import guard_tools
    from cli_guard.reviewers.inline import InlineAnswers

    tools = {
        name: watch.watch(tool) if name.startswith("review_") else tool
        for name, tool in guard_tools().items()
    }
    context = Context(
        subject=gathered.subject,
        policy=gathered.policy,
        tools=tools,
        answer=InlineAnswers(gathered.subject),
        today=io.invocation.now.date(),
    )
    watch.enter("graph")
    return run_review(context)[0]


def render(state: "State", gathered: "Gathered", today: datetime.date) -> str:
    from cli_guard.review.render import text
    from cli_guard.review.result import review_of, without_secret_names

    return text.render(review_of(without_secret_names(state), gathered, {}, today))
