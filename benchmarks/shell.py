"""Measure how often the run tool does the same as bash, and its time.

    python benchmarks/shell.py [--runs N] [--wrong] [--lines FILE ...] [FILE ...]

The chains of tests/shell_chains.py, or of the given files (one a line), run in real bash and in the run tool over the
same files; so do the lines of fixtures/shell (or those of --lines) over its checkout, where the programs that this
machine lacks are answered from the record. Printed: for each subject how many gave the same standard output and exit
code, and with --wrong each that did not. Then the time of a call in process over 20, 1,000 and 5,000 files, of `rg`
beside `grep -rn`, and of `cli-guard shell ls` as a whole process, as a ratio to a Python that does nothing.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from cli_guard.assistant import sandbox as shell

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from shell_chains import FILES, STDIN, chains  # noqa: E402 - kept beside the tests that use it
from shell_worlds import (  # noqa: E402
    AGENT_LINES,
    Oracle,
    ask_bash,
    is_same,
    make_checkout,
    of_repository,
    read_lines,
    world,
)

PYTHON = sys.executable
GUARD = str(Path(PYTHON).parent / "cli-guard")


def compare(asked: list[tuple[str, str]], *, wrong: bool) -> None:
    """Print the share that is equal, by subject."""
    here = world(FILES)
    folder = tempfile.TemporaryDirectory()
    oracle = Oracle(Path(folder.name))
    total: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for subject, text in asked:
        expected = oracle.answer(text)
        if expected is None:
            continue
        code, out = expected
        ran = shell.run(text, here, stdin=STDIN)
        total[subject] += 1
        same[subject] += (code, out) == (ran.exit_code, ran.stdout)
        if wrong and (code, out) != (ran.exit_code, ran.stdout):
            print(
                f"  {text!r}\n    bash {code} {out[:100]!r}\n    ours {ran.exit_code} {ran.stdout[:100]!r}"
            )
    for subject in total:
        print(f"{subject:12} {same[subject]:5} of {total[subject]:5}")
    folder.cleanup()
    share = same.total() / total.total()
    print(
        f"{'in all':12} {same.total():5} of {total.total():5} the same as bash: {share:.1%}"
    )


def compare_lines(files: list[Path], *, wrong: bool) -> None:
    """Print how many lines of each file have the same answer over the checkout of fixtures/shell."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = make_checkout(Path(folder) / "parcel")
        here = of_repository(checkout)
        for file in files:
            asked = [(line, ask_bash(line, checkout)) for line in read_lines(file)]
            answered = [
                (line, expected, shell.run(line, here))
                for line, expected in asked
                if expected
            ]
            bad = [each for each in answered if not is_same(*each)]
            for line, expected, ran in bad if wrong else ():
                print(f"  {line}\n    bash {expected[0]} {expected[1][:100]!r}")
                print(f"    ours {ran.exit_code} {ran.stdout[:100]!r}")
            print(
                f"{file.stem:12} {len(answered) - len(bad):5} of {len(answered):5} lines the same as bash"
            )
            print(f"{'':12} {len(asked) - len(answered):5} that this machine cannot answer")


def seconds(runs: int, work: Callable[[], object]) -> float:
    """Return the median time of some runs in seconds."""
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def cost(runs: int) -> None:
    """Print the time of a call."""
    for count in (20, 1_000, 5_000):
        files = {
            f"d{n % 50}/f{n}.txt": b"hello world\nfoo bar\n" * 40 for n in range(count)
        }
        here = world(files)
        searches = (
            "grep -rn foo . | wc -l",
            "rg -n foo | wc -l",
            "grep -rl nowhere .",
            "rg -l nowhere",
        )
        for command in (
            "ls",
            *searches,
            "fd -e txt | wc -l",
            "echo x > d1/f1.txt; mv d1 d",
        ):
            took = seconds(
                runs, lambda command=command, here=here: shell.run(command, here)
            )  # type: ignore[misc]
            print(f"{count:5} files  {command:32} {took * 1000:8.1f} ms")
    idle = seconds(runs, lambda: subprocess.run([PYTHON, "-c", ""], check=True))
    whole = seconds(
        runs,
        lambda: subprocess.run(
            [GUARD, "shell", "ls"], cwd=ROOT, capture_output=True, check=True
        ),
    )
    print(
        f"cli-guard shell ls: {whole * 1000:.0f} ms, {whole / idle:.1f} times an idle Python"
    )


def main() -> None:
    """Run both parts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--lines", nargs="*", type=Path, default=[])
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    asked = [
        (path.stem, line)
        for path in given.files
        for line in path.read_text("utf-8").splitlines()
        if line
    ]
    if asked or not given.lines:
        compare(asked or chains(), wrong=given.wrong)
    own = [AGENT_LINES / f"{name}.txt" for name in ("lines", "development")]
    compare_lines(given.lines or own, wrong=given.wrong)
    cost(given.runs)


if __name__ == "__main__":
    main()
