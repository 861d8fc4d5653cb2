"""`python -m benchmarks.runner`: run benchmark tasks in scratch worlds and report which of them passed."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.errors import CliGuardError, ExitCode, UsageError
from cli_guard.secrets.printable import printable

if TYPE_CHECKING:
    from benchmarks.runner.model import Result, Task

MOST_JOBS = 64
OWN_TASKS = Path(__file__).parents[2] / "fixtures" / "tasks"
BAR = 30


class Progress:
    """A progress bar on standard error, only at a terminal."""

    def __init__(self, io: Io, total: int) -> None:
        self._io = io
        self._total = total
        self._done = 0
        self._shown = bool(total) and io.stderr.isatty() and io.env.get("TERM") != "dumb"
        self._draw()

    def advance(self, result: "Result") -> None:
        """Count one finished task."""
        self._done += 1
        self._draw()

    def clear(self) -> None:
        """Remove the bar."""
        if self._shown:
            self._io.stderr.write("\r\x1b[K")
            self._io.stderr.flush()

    def _draw(self) -> None:
        if self._shown:
            filled = BAR * self._done // self._total
            bar = "#" * filled + "." * (BAR - filled)
            self._io.stderr.write(f"\r\x1b[K[{bar}] {self._done}/{self._total}")
            self._io.stderr.flush()


@click.pass_obj
def run(io: Io, /, folder: str | None, only: str, jobs: int | None, **options: Any) -> int:
    """Run the tasks of a folder."""
    from benchmarks.runner.pool import run_all
    from benchmarks.runner.reading import read_task, tasks_in
    from benchmarks.runner.table import FORMATS

    # Read every file before any task runs, so that a broken one is reported at once.
    tasks = [
        (path, read_task(path))
        for path in tasks_in(io.path(folder) if folder else OWN_TASKS)
    ]
    chosen = [(path, task) for path, task in tasks if fnmatchcase(task.id, only)]
    if not chosen:
        raise UsageError(f"no task is called {only}: there are {name_some(tasks)}")
    arguments = actor_arguments(options["agent"], options["planner"])
    skipped = {
        each.id: each
        for each in skip_tasks(chosen, fetch=options["fetch"], agent=options["agent"])
    }
    can_run = [(path, task) for path, task in chosen if task.id not in skipped]
    progress = Progress(io, len(can_run))
    try:
        ran = run_all(
            can_run,
            jobs or os.cpu_count() or 1,
            io.env,
            progress.advance,
            arguments=arguments,
        )
    except OSError as error:
        raise CliGuardError(f"no scratch folder can be made: {error.strerror}") from error
    finally:
        progress.clear()
    by_id = skipped | {each.id: each for each in ran}
    results = [by_id[task.id] for _, task in chosen]
    report = FORMATS[options["format"]](
        [(task, result) for (_, task), result in zip(chosen, results, strict=True)]
    )
    io.say(printable(report, keep_newlines=True))
    if options["timings"]:
        for result in results:
            io.warn(printable(f"{result.seconds:7.2f} s  {result.id}"))
    return 0 if ran and all(result.result == "passed" for result in ran) else 1


def actor_arguments(agent: str | None, planner: str | None) -> tuple[str, ...]:
    """Return the arguments of a worker for who does the tasks. Raises UsageError."""
    if agent is not None and planner is not None:
        raise UsageError("--agent and --planner exclude each other: give one of them")
    if planner is not None:
        from importlib import import_module

        module, _, name = planner.partition(":")
        try:
            getattr(import_module(module), name)
        except (ImportError, ValueError, AttributeError, TypeError):
            raise UsageError(
                f"there is no planner {planner}: give MODULE:NAME of a function"
            ) from None
        return ("--planner", planner)
    try:
        words = shlex.split(agent or "")
    except ValueError as error:
        raise UsageError(f"--agent: {error}") from None
    program = shutil.which(words[0]) if words else None
    if words and program is None:
        raise UsageError(f"there is no program {words[0]} for --agent")
    return ("--agent", json.dumps([program, *words[1:]])) if words else ()


def skip_tasks(
    tasks: "Sequence[tuple[Path, Task]]", *, fetch: bool, agent: str | None
) -> "Iterator[Result]":
    """Yield a result for each task that cannot be done: its package is not there, or it is about cli-guard alone."""
    from benchmarks.packages import path_of, read_archive
    from benchmarks.runner.agent import why_not
    from benchmarks.runner.model import Failure, Result

    for _, task in tasks:
        package = task.setup.package
        reason = why_not(task) if agent else ""
        if package and not path_of(package).exists():
            reason = f"{package} is not here: fetch it with --fetch"
            if fetch:
                try:
                    read_archive(package)
                    continue
                except (OSError, subprocess.SubprocessError):
                    reason = f"{package} cannot be fetched with pip or npm"
        if reason:
            yield Result(
                task.id, task.type, "", "skipped", (Failure("task", "can be done", reason),)
            )


def name_some(tasks: "Sequence[tuple[Path, Task]]") -> str:
    """Return the first few ids."""
    return ", ".join(task.id for _, task in tasks[:5]) + (" ..." if len(tasks) > 5 else "")


command = Command(
    "python -m benchmarks.runner",
    callback=run,
    help="Run the benchmark tasks of a folder, by default those of this checkout, each in its own scratch world"
    " without network; nothing outside it is written. Exit codes: 0 all that could be done passed, 1 not all, 2 an"
    " invalid task file. benchmarks/runner/README.md describes the format.",
    params=[
        click.Argument(["folder"], required=False, metavar="[DIR]"),
        click.Option(
            ["--only"],
            default="*",
            metavar="GLOB",
            help="Run only the tasks whose id matches.",
        ),
        click.Option(
            ["--jobs", "-j"],
            type=click.IntRange(1, MOST_JOBS),
            metavar="N",
            help="Number of tasks at once (default: one a processor).",
        ),
        click.Option(
            ["--format"],
            type=click.Choice(["text", "json", "markdown"]),
            default="text",
            show_default=True,
            help="Output.",
        ),
        click.Option(
            ["--agent"],
            metavar="CMD",
            help="Have this program do the tasks: it reads one as JSON on standard input, and answers in JSON.",
        ),
        click.Option(
            ["--planner"],
            metavar="MODULE:NAME",
            help="Replace the planner of requests by this function.",
        ),
        click.Option(
            ["--fetch"],
            is_flag=True,
            help="Fetch the packages that tasks name with pip or npm.",
        ),
        click.Option(
            ["--timings"], is_flag=True, help="Report on standard error how long each took."
        ),
    ],
)


def main(argv: list[str], io: Io) -> int:
    """Run the command with its errors in one line each; return the exit code."""
    try:
        with command.make_context(command.name, argv, obj=io) as context:
            return int(command.invoke(context))
    except click.exceptions.Exit as ended:
        return ended.exit_code
    except click.ClickException as error:
        io.warn(f"benchmarks: {error.format_message()}")
        return ExitCode.USAGE
    except CliGuardError as error:
        io.warn(f"benchmarks: {printable(str(error))}")
        return error.exit_code
    except KeyboardInterrupt:
        io.warn("benchmarks: interrupted; nothing is left behind")
        return 130


if __name__ == "__main__":
    sys.exit(
        main(
            sys.argv[1:],
            Io(sys.stdin, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ)),
        )
    )
