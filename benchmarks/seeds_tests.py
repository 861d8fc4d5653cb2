"""Do the tests of docs/seeds.md notice when the function behind a requirement is broken?

Draws rows by a seed. The test of a row must pass as it is, and fail when the function raises. Run from the repository:

    python -m benchmarks.seeds_tests --seed 1 [--count 10]
"""

import argparse
import random
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "seeds.md"
ROW = re.compile(
    r"^\| (?P<requirement>[^|]+) \| `(?P<path>cli_guard/[\w/.]+)\.py:(?P<function>[\w.]+)` "
    r"\| `(?P<tests>tests/[\w/.]+\.py)::(?P<test>\w+)` \|$",
    re.MULTILINE,
)
SECONDS = 600
PASSED = 0
FAILED = 1
# The code of a function is replaced, so that every module that has imported it gets the broken one.
RUN = """
import functools, importlib, inspect, sys
import pytest

def broken(*given, **named):
    raise RuntimeError("broken on purpose")

module, function, *arguments = sys.argv[1:]
if function:
    found = functools.reduce(getattr, function.split("."), importlib.import_module(module))
    inspect.unwrap(found).__code__ = broken.__code__
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--no-header", *arguments]))
"""


class Requirement(NamedTuple):
    """A row of the page: what is required, the function that does it, and the test of it."""

    text: str
    module: str
    function: str
    tests: str
    test: str


def read_requirements(page: str) -> list[Requirement]:
    """Return the rows of the page, in order."""
    return [
        Requirement(
            found["requirement"],
            found["path"].replace("/", ".").removesuffix(".__init__"),
            found["function"],
            found["tests"],
            found["test"],
        )
        for found in ROW.finditer(page)
    ]


def run_test(row: Requirement, *, is_broken: bool) -> int:
    """Run the test of a row, with its function as it is or broken; return the exit code of pytest."""
    function = row.function if is_broken else ""
    command = (sys.executable, "-c", RUN, row.module, function, row.tests, "-k", row.test)
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode


def judge(row: Requirement) -> str:
    """Return what is wrong with a row, "" if its test passes and notices the broken function."""
    if run_test(row, is_broken=False) != PASSED:
        return "the test does not pass as it is"
    if run_test(row, is_broken=True) != FAILED:
        return "the test does not fail when the function raises"
    return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw rows, judge each, and return 1 if a test notices nothing."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, required=True, help="which rows are drawn")
    parser.add_argument("--count", type=int, default=10, help="how many (default: 10)")
    given = parser.parse_args(arguments)
    rows = read_requirements(PAGE.read_text("utf-8"))
    drawn = random.Random(given.seed).sample(rows, min(given.count, len(rows)))
    wrong = 0
    for row in drawn:
        problem = judge(row)
        wrong += bool(problem)
        print(
            f"{problem or 'noticed'}: {row.module}:{row.function} ({row.test})", flush=True
        )
    print(f"{len(drawn) - wrong} of {len(drawn)} drawn from {len(rows)} rows are noticed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
