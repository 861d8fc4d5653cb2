"""`cli-guard doctor --timing`: show where the time of one review goes, so that a user can report a slow commit."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from cli_guard.cli.io import Io
from cli_guard.errors import UsageError
from cli_guard.lazy import dataclass
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


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds: on the clock, and of a processor, with those of children that have ended."""

    wall: float = 0.0
    cpu: float = 0.0

    def plus(self, other: "Spent") -> "Spent":
        return Spent(self.wall + other.wall, self.cpu + other.cpu)

    def minus(self, other: "Spent") -> "Spent":
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    @classmethod
    def now(cls) -> "Spent":
        """Return what this process has spent so far."""
        # `os.times` counts in ticks of 10 ms: more than most reviewers take.
        children = sum(os.times()[2:4])
        return cls(time.perf_counter() * 1000, (time.process_time() + children) * 1000)


class Stopwatch:
    """The time of each row of the table, in the order in which they began."""

    def __init__(self) -> None:
        self.rows: dict[str, Spent] = {}

    @contextmanager
    def measure(self, row: str) -> Iterator[None]:
        """Add what the block takes to a row."""
        before = self.rows.setdefault(row, Spent())
        started = Spent.now()
        try:
            yield
        finally:
            self.rows[row] = before.plus(Spent.now().minus(started))

    def watch(self, tool: "Tool") -> "Tool":
        """Return the tool of a reviewer that adds its time to a row of its own."""

        def run(world: "World", arguments: "Arguments") -> "ToolOutput":
            with self.measure(tool.name.removeprefix("review_")):
                return tool.run(world, arguments)

        return replace(tool, run=run)


def show_timing(io: Io) -> str:
    """Review what is staged, else HEAD's last commit, once; return the table. Nothing is recorded."""
    watch = Stopwatch()
    with watch.measure("start"):
        start_python(io.env)
    with watch.measure("modules"):
        load_modules()
    with watch.measure("rules"):
        load_rules()
    with watch.measure("Git"):
        repository = io.find_repository()
        request, subject = find_subject(repository)
    from cli_guard.review.load import gather

    with ExitStack() as stack:
        with watch.measure("Git"):
            reviewed = gather(request, repository, io.invocation)
            gathered = stack.enter_context(reviewed)
        state = run_graph(io, gathered, watch)
        with watch.measure("output"):
            render(state, gathered)
    files = len(gathered.subject.changes.files)
    return table(f"{subject}, {count(files, 'file')}", watch.rows)


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
    earlier = len(watch.rows)
    with watch.measure("graph"):
        state, _ = run_review(context)
    for spent in list(watch.rows.values())[earlier + 1 :]:
        watch.rows["graph"] = watch.rows["graph"].minus(spent)
    return state


def render(state: "State", gathered: "Gathered") -> str:
    from cli_guard.review.render import text
    from cli_guard.review.run import review_of, without_secret_names

    return text.render(review_of(without_secret_names(state), gathered, {}))


def table(subject: str, rows: Mapping[str, Spent]) -> str:
    """Format the rows and their sum."""
    total = Spent()
    for spent in rows.values():
        total = total.plus(spent)
    width = max(map(len, rows))
    lines = [f"{'':{width}} {'ms':>7} {'CPU':>7}"]
    for name, spent in (*rows.items(), ("total", total)):
        lines.append(f"{name:{width}} {spent.wall:7.0f} {spent.cpu:7.0f}")
    head = f"A review of {subject}: no server, no earlier results, no checks"
    return "\n".join((head, *(f"  {line}" for line in lines)))
