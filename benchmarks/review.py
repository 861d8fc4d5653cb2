"""Measure the time of a review as a whole process, as ratios within one run.

    python benchmarks/review.py [--runs N]

Every command runs once in each round, in turn, so that a machine that slows down slows all of them. Medians are
printed; the ratios count. The budgets are stated in the times of `python -c pass`, a bare click program and the bare
import of langgraph.graph.
"""

import argparse
import compileall
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

PYTHON = sys.executable
GUARD = str(Path(PYTHON).parent / "cli-guard")
CLICK = "import click\n@click.command()\ndef main(): pass\nmain(standalone_mode=False)"
WORDS = "account amount balance client detail entry factor group handle index job key limit message node order".split()


@dataclass
class Case:
    """One command, where it runs, and its times."""

    name: str
    command: tuple[str, ...]
    cwd: Path
    budget: str = ""
    seconds: list[float] = field(default_factory=list)
    peak_mb: float = 0

    def measure(self, env: dict[str, str]) -> None:
        """Run it once; record the wall time and the peak memory of the process."""
        # Otherwise the files of an earlier round would not be examined again.
        (self.cwd / ".git" / "cli-guard" / "examined.sqlite").unlink(missing_ok=True)
        started = time.perf_counter()
        process = subprocess.Popen(
            self.command,
            cwd=self.cwd,
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _, _, usage = os.wait4(process.pid, 0)
        self.seconds.append(time.perf_counter() - started)
        self.peak_mb = max(self.peak_mb, usage.ru_maxrss / 1024)

    @property
    def median_ms(self) -> float:
        """Return the median in milliseconds."""
        return statistics.median(self.seconds) * 1000


def function(rng: random.Random) -> list[str]:
    """Return the lines of a plain, documented function of ten lines."""
    name, first, second = "_".join(rng.sample(WORDS, 3)), *rng.sample(WORDS, 2)
    number = rng.randint(2, 99)
    return [
        f"def {name}_{rng.randint(0, 10**6)}({first}: int, {second}: int) -> int:",
        f'    """Gives the {first} by {second}, at least {number}."""',
        f"    total = {first} * {number}",
        f"    for step in range({second}):",
        f"        if step % {rng.randint(2, 9)} == 0:",
        f"            total += {first} + step",
        f"        elif total > {number * 100}:",
        f"            total -= {second}",
        f"    return max(total, {number})",
        "",
    ]


def make_staged(folder: Path, name: str, files: int, lines: int) -> Path:
    """Make a repository with so many staged files and added lines."""
    path = folder / name
    path.mkdir()
    rng = random.Random(name)
    git(path, "init", "-q", "-b", "main")
    (path / "README.md").write_text("# A repository\n")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "Start")
    for number in range(files):
        body = ['"""A module."""', ""]
        while len(body) < lines // files:
            body += function(rng)
        (path / f"module_{number}.py").write_text("\n".join(body[: lines // files]) + "\n")
    git(path, "add", "-A")
    return path


def one_line(folder: Path) -> Path:
    """Make a repository with one staged line of a megabyte."""
    path = make_staged(folder, "one-line", 1, 2)
    rng = random.Random(1)
    text = " ".join(f"{rng.choice(WORDS)}={rng.getrandbits(64):x};" for _ in range(45_000))
    (path / "bundle.txt").write_text(text[:1_000_000] + "\n")
    git(path, "add", "-A")
    return path


def git(cwd: Path, *arguments: str) -> None:
    """Run git without the user's name and hooks."""
    identity = (
        "-c",
        "user.name=Bench",
        "-c",
        "user.email=bench@example.org",
        "-c",
        "core.hooksPath=/dev/null",
    )
    subprocess.run(("git", *identity, *arguments), cwd=cwd, check=True, capture_output=True)


def cases(folder: Path) -> list[Case]:
    """Prepare the cases: first the three reference times, then what is compared with them."""
    empty = make_staged(folder, "empty", 1, 10)
    git(empty, "commit", "-q", "-m", "All of it")
    review = (GUARD, "hook", "pre-commit")
    return [
        Case("python -c pass", (PYTHON, "-c", "pass"), folder),
        Case("bare click program", (PYTHON, "-c", CLICK), folder),
        Case("import langgraph.graph", (PYTHON, "-c", "import langgraph.graph"), folder),
        Case("cli-guard --version", (GUARD, "--version"), folder, "<= 1.5 x click"),
        Case("hook, nothing staged", review, empty, "<= 1.5 x click"),
        Case(
            "hook, 10 files / 500 lines",
            review,
            make_staged(folder, "small", 10, 500),
            "<= 0.9 x langgraph",
        ),
        Case(
            "hook, 100 files / 50,000 lines",
            review,
            make_staged(folder, "large", 100, 50_000),
            "<= 600 ms beyond small",
        ),
        Case("hook, a line of 1 MB", review, one_line(folder), "<= 1 s"),
    ]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    env = {
        k: v
        for k, v in os.environ.items()
        if k not in ("PYTHONDONTWRITEBYTECODE", "SKIP", "CLI_GUARD")
    }
    compileall.compile_dir(str(Path(__file__).parent.parent / "cli_guard"), quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        measured = cases(Path(folder))
        for _ in range(runs + 1):
            for case in measured:
                case.measure(env)
        for case in measured:
            case.seconds.pop(0)  # the first round warms caches
    bare, click, graph = (case.median_ms for case in measured[:3])
    print(
        f"{'':32}{'ms':>8}{'x pass':>9}{'x click':>9}{'x langgraph':>13}{'MB':>7}  budget"
    )
    for case in measured:
        ms = case.median_ms
        ratios = f"{ms / bare:9.1f}{ms / click:9.2f}{ms / graph:13.2f}"
        print(f"{case.name:32}{ms:8.0f}{ratios}{case.peak_mb:7.0f}  {case.budget}")


if __name__ == "__main__":
    main()
