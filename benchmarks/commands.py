"""Measure how well and how fast commands are judged.

    python benchmarks/commands.py [--runs N] [--wrong] [FILE.jsonl ...]

Over the labelled commands of fixtures/commands, or of the given files: the number of right verdicts in each class, the
confusion matrix, and with --wrong each wrong verdict with its reason. Then the time of a command in process, of 10,000
characters, of a command with the context of this repository, and of `cli-guard check-command` as a whole process, as a
ratio to a Python that does nothing. Without a file, also the day's work of benchmarks/agent_day.py.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cli_guard.commands import judge
from cli_guard.commands.model import Context, Profile, Verdict
from cli_guard.execution.context import command_context
from cli_guard.model import Decision

PYTHON = sys.executable
GUARD = str(Path(PYTHON).parent / "cli-guard")
FOLDER = Path(__file__).parent.parent / "fixtures" / "commands"
VERDICTS = ("allow", "review", "deny")
NEEDS_REVIEW = 3
SIZE = 10_000
# Of the labelled commands, one of so many is judged with the context of a repository.
EVERY = 12
# The least of so many times: the context calls Git, which waits for other processes.
BEST_OF = 4
# The shapes of a long command: many commands, many words, one word, a pipe, a text for another program.
LONG = {
    "many commands": "ls -la src; " * (SIZE // 12),
    "one long pipe": "cat notes.txt" + " | sort -u" * ((SIZE - 13) // 10),
    "many words": "cat " + "notes/a.txt " * ((SIZE - 4) // 12),
    "one quoted word": f"echo '{'a b; c ' * ((SIZE - 7) // 7)}'",
    "here-document": f"cat <<'END'\n{'rm -rf / is text' * ((SIZE - 16) // 16)}\nEND\n",
    "ends in a wipe": "echo a; " * ((SIZE - 8) // 8) + "rm -rf /",
}


@dataclass(frozen=True)
class Case:
    """A command and the verdict that it should have; `group` is its class."""

    command: str
    verdict: str
    group: str
    context: Context


@dataclass(frozen=True)
class Judged:
    """A case and its answer."""

    case: Case
    answer: Verdict

    @property
    def right(self) -> bool:
        """Whether the verdict is the expected one."""
        return self.answer.verdict.value == self.case.verdict


def cases(files: list[Path]) -> Iterator[Case]:
    """Yield the labelled commands of some files."""
    for path in files:
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            given = row.get("context", {})
            config = {
                key: tuple(values) for key, values in given.get("git_config", {}).items()
            }
            names = frozenset(given["names"]) if "names" in given else None
            context = Context(git_config=config, names=names)
            yield Case(row["command"], row["verdict"], row["class"], context)


def shares(judged: list[Judged]) -> str:
    """Format for each label the number of right answers and the number of cases."""
    cells = []
    for verdict in VERDICTS:
        labelled = [each for each in judged if each.case.verdict == verdict]
        kept = sum(each.right for each in labelled)
        cells.append(f"{kept:>6}/{len(labelled):<5}" if labelled else f"{'-':>7}     ")
    return "".join(cells)


def print_quality(judged: list[Judged]) -> None:
    """Print the table of classes and the confusion matrix."""
    counted = [each for each in judged if each.case.group != "borderline"]
    print(f"{'class':26}{'allowed':>12}{'asked':>11}{'denied':>12}")
    for group in dict.fromkeys(each.case.group for each in counted):
        print(f"{group:26}{shares([each for each in counted if each.case.group == group])}")
    print(f"{'all':26}{shares(counted)}")
    rest = [each for each in judged if each.case.group == "borderline"]
    if rest:
        print(f"{'borderline, not counted':26}{shares(rest)}")
    matrix = Counter((each.case.verdict, each.answer.verdict.value) for each in counted)
    print(f"\n{'should be':14}" + "".join(f"{'is ' + verdict:>12}" for verdict in VERDICTS))
    for wanted in VERDICTS:
        print(f"{wanted:14}" + "".join(f"{matrix[wanted, given]:12}" for given in VERDICTS))


def print_wrong(judged: list[Judged]) -> None:
    """Print each wrong answer, the worst first: a dangerous command that was allowed."""
    wrong = [each for each in judged if not each.right and each.case.group != "borderline"]
    wrong.sort(
        key=lambda each: (
            each.answer.verdict is not Decision.ALLOW,
            each.case.verdict,
            each.case.group,
        )
    )
    for each in wrong:
        print(
            f"{each.case.verdict} -> {each.answer.verdict}  {each.case.group}: {each.case.command!r}"
        )
        print(f"    {each.answer.reason}")


def milliseconds(command: str, context: Context, runs: int) -> list[float]:
    """Return the time of each of some judgements in ms."""
    took = []
    for _ in range(runs):
        started = time.perf_counter()
        judge(command, context)
        took.append((time.perf_counter() - started) * 1000)
    return took


def print_times(judged: list[Judged], runs: int) -> None:
    """Print the time of a command in process: of the labelled ones, then of the long ones."""
    took = [
        ms
        for each in judged
        for ms in milliseconds(each.case.command, each.case.context, runs)
    ]
    cuts = statistics.quantiles(took, n=100)
    median = statistics.median(took)
    last = cuts[98]
    print(f"\n{'in process':26}{'ms':>8}  budget")
    print(f"{'median command':26}{median:8.2f}  <= 0.5 ms")
    print(f"{'99th percentile':26}{last:8.2f}")
    print(f"{'slowest':26}{max(took):8.2f}")
    for name, command in LONG.items():
        took = milliseconds(command, Context(), runs)
        label = f"{len(command):,}: {name}"
        print(
            f"{label:26}{statistics.median(took):8.2f}  <= 60 ms, {judge(command).verdict}"
        )


def print_times_in_a_tree(judged: list[Judged]) -> None:
    """Print what a user's verdict takes: the context of this repository is built anew for each, as a hook does it."""
    commands = [each.case.command for each in judged if each.case.context == Context()][
        ::EVERY
    ]
    root = Path(__file__).parent.parent
    print(f"\n{'in this tree':26}{'ms':>8}{'90 %':>8}{'99 %':>8}")
    for profile in (Profile.STRICT, Profile.WORKSPACE):
        took = []
        for command in commands:
            best = math.inf
            for _ in range(BEST_OF):
                started = time.perf_counter()
                judge(command, command_context(root, os.environ, profile=profile))
                best = min(best, time.perf_counter() - started)
            took.append(best * 1000)
        cuts = statistics.quantiles(took, n=100)
        print(f"{profile:26}{statistics.median(took):8.2f}{cuts[89]:8.2f}{cuts[98]:8.2f}")


def print_processes(runs: int) -> None:
    """Print the time of whole processes, run in turn with a Python that does nothing."""
    commands = {
        "python -c pass": (PYTHON, "-c", "pass"),
        "cli-guard --version": (GUARD, "--version"),
        "cli-guard check-command": (GUARD, "check-command", "git status"),
    }
    took: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(runs + 1):
        for name, command in commands.items():
            started = time.perf_counter()
            done = subprocess.run(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False
            )
            took[name].append((time.perf_counter() - started) * 1000)
            if done.returncode not in (0, NEEDS_REVIEW):
                sys.exit(f"{' '.join(command)} ended with {done.returncode}")
    bare = statistics.median(took["python -c pass"][1:])
    print(f"\n{'whole process':26}{'ms':>8}{'x pass':>9}")
    for name, measured in took.items():
        ms = statistics.median(measured[1:])  # the first round warms caches
        print(f"{name:26}{ms:8.0f}{ms / bare:9.1f}")


def main() -> None:
    """Judge, count and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--wrong", action="store_true", help="also print each wrong answer with its reason"
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    files = chosen.files or sorted(FOLDER.glob("*.jsonl"))
    judged = [Judged(case, judge(case.command, case.context)) for case in cases(files)]
    print_quality(judged)
    if chosen.wrong:
        print()
        print_wrong(judged)
    print_times(judged, chosen.runs)
    print_times_in_a_tree(judged)
    print_processes(chosen.runs)
    if not chosen.files:
        from agent_day import print_day

        print()
        print_day()


if __name__ == "__main__":
    main()
