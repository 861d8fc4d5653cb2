"""Shared by the benchmarks over labelled files: run other tools on them, and print who found what.

Each case is a file in a folder of its own, named by its number; a tool runs once, in the folder above them.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# Long enough for a tool that loads a thousand rules, short enough for one that hangs.
SECONDS = 1800


class Labelled(Protocol):
    """What every case has: where its text belongs, and whether there is anything to find in it."""

    @property
    def id(self) -> str: ...

    @property
    def path(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def note(self) -> str: ...

    @property
    def is_positive(self) -> bool: ...


@dataclass(frozen=True)
class Spot:
    """One report of a tool: a path below the folder of all cases, lines from 1, and how grave the tool calls it."""

    path: str
    line: int
    end_line: int
    low: bool = False
    what: str = ""


def find_programs(names: Iterable[str], folder: str) -> dict[str, str | None]:
    """Return the path of each program in `folder`, on the PATH or beside this Python, None if it is not there."""
    beside = str(Path(sys.executable).parent)
    places = os.pathsep.join(filter(None, (folder, os.environ.get("PATH", ""), beside)))
    return {name: shutil.which(name, path=places) for name in names}


def run(command: Sequence[str], folder: Path, accepted: Sequence[int] = (0, 1)) -> str:
    """Run a tool in a folder and return its output; most end with 1 if they report anything."""
    # Tools in a virtual environment start each other by name.
    env = {
        **os.environ,
        "PATH": os.pathsep.join((str(Path(command[0]).parent), os.environ.get("PATH", ""))),
    }
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=env,
        timeout=SECONDS,
    )
    if done.returncode not in accepted:
        raise SystemExit(
            f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-400:]}"
        )
    return done.stdout


@contextmanager
def written(cases: Sequence[Labelled]) -> Iterator[Path]:
    """Write the cases to a temporary folder, each into one with its number; other files may lie beside it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "cases"
        for number, case in enumerate(cases):
            file = folder / str(number) / case.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(case.text, "utf-8")
        yield folder


def spots_by_case(
    cases: Sequence[Labelled], tool: Callable[[Path], Iterable[Spot]]
) -> tuple[dict[str, list[Spot]], float]:
    """Run a tool over all cases; return its reports by the id of the case, and its time in seconds."""
    found: dict[str, list[Spot]] = {case.id: [] for case in cases}
    with written(cases) as folder:
        started = time.perf_counter()
        for spot in tool(folder):
            number = int(os.path.relpath(folder / spot.path, folder).partition(os.sep)[0])
            found[cases[number].id].append(spot)
        return found, time.perf_counter() - started


def count(results: Iterable[tuple[bool, bool]]) -> str:
    """Format recall and false alarms, from pairs: whether there is something to find, and whether it is right."""
    positive = []
    negative = []
    for is_positive, right in results:
        (positive if is_positive else negative).append(right)
    recall = (
        f"{sum(positive):4}/{len(positive):<4}{sum(positive) / len(positive):5.0%}"
        if positive
        else f"{'-':>8}{'':6}"
    )
    return f"{recall}{len(negative) - sum(negative):6}/{len(negative):<5}"


def print_table(
    title: str,
    groups: Iterable[tuple[str, Sequence[Labelled]]],
    judged: Mapping[str, Callable[[Labelled], bool]],
) -> None:
    """Print a line for each group: what each judge found, and what it reported falsely."""
    print(f"\n{title:40}" + "".join(f"{judge:>26}" for judge in judged))
    print(f"{'':40}" + f"{'found':>14}{'false':>12}" * len(judged))
    for name, cases in groups:
        cells = (
            count((case.is_positive, right(case)) for case in cases)
            for right in judged.values()
        )
        print(f"{name:40}" + "".join(f"{cell:>26}" for cell in cells))
