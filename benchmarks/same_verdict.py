"""Check that a busy machine changes no verdict: the same reviews on a quiet machine and beside busy loops.

    python benchmarks/same_verdict.py [--reviews N] [--loops N] REPOSITORY ...

Of each repository (bare or not) some commits without a merge are taken, spread over its history, those with the most
changed lines first. Each is reviewed once as it is, and once beside the loops, on one processor and without the cache:
exit code and JSON must be equal, but for the times. Exit code 1 if any differ.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from itertools import cycle, islice
from pathlib import Path

PYTHON = sys.executable
GUARD = (str(Path(PYTHON).parent / "cli-guard"),)
LOOP = (PYTHON, "-c", "while True: pass")
READ = 3_000


def git(repository: Path, *words: str) -> str:
    """Return what Git prints."""
    command = ("git", "-C", str(repository), *words)
    return subprocess.run(command, capture_output=True, check=True).stdout.decode(
        "utf-8", "replace"
    )


def commits_of(repository: Path, count: int) -> list[str]:
    """Return the commits with the most changed lines, one of each equal part of the newest history."""
    log = git(
        repository,
        "log",
        "--no-merges",
        "--min-parents=1",
        f"-{READ}",
        "--format=%x00%H",
        "--shortstat",
    )
    sizes = []
    for entry in log.split("\0")[1:]:
        words = entry.replace(",", " ").split()
        sizes.append((sum(int(word) for word in words[1:] if word.isdigit()), words[0]))
    step = max(len(sizes) // count, 1)
    return [max(sizes[start : start + step])[1] for start in range(0, len(sizes), step)][
        :count
    ]


def review(
    repository: Path, commit: str, *, one_processor: bool
) -> tuple[int, dict[str, object], float]:
    """Return exit code, report without its times, and the seconds that it took."""
    started = time.monotonic()
    command = (*GUARD, "review", "--commit", commit, "--format", "json", "--no-cache")
    if one_processor and hasattr(os, "sched_setaffinity"):
        command = ("taskset", "-c", str(min(os.sched_getaffinity(0))), *command)
    env = {**os.environ, "CLI_GUARD_SERVER": "0"}
    done = subprocess.run(
        command, cwd=repository, env=env, capture_output=True, check=False
    )
    report = json.loads(done.stdout or b"{}")
    report.pop("timings_ms", None)
    return done.returncode, report, time.monotonic() - started


def main() -> None:
    """Review twice, compare, print what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--reviews", type=int, default=100)
    parser.add_argument("--loops", type=int, default=16)
    options = parser.parse_args()
    each = -(-options.reviews // len(options.repositories))
    known = {
        repository: commits_of(repository, each) for repository in options.repositories
    }
    in_turn = zip(
        *(zip(cycle([path]), commits, strict=False) for path, commits in known.items()),
        strict=False,
    )
    work = list(islice((pair for turn in in_turn for pair in turn), options.reviews))
    quiet = [review(path, commit, one_processor=False) for path, commit in work]
    loops = [subprocess.Popen(LOOP) for _ in range(options.loops)]
    try:
        busy = [review(path, commit, one_processor=True) for path, commit in work]
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    differ = 0
    for (path, commit), first, second in zip(work, quiet, busy, strict=True):
        if first[:2] != second[:2]:
            differ += 1
            keys = [
                key
                for key in {**first[1], **second[1]}
                if first[1].get(key) != second[1].get(key)
            ]
            print(
                f"differs: {path} {commit} exit {first[0]} and {second[0]}: {', '.join(keys)}"
            )
    slowest = [max(found[2] for found in run) for run in (quiet, busy)]
    codes = sorted(found[0] for found in quiet)
    print(
        f"{len(work)} reviews, exit codes { ({code: codes.count(code) for code in codes}) }"
    )
    print(
        f"slowest: {slowest[0]:.1f} s quiet, {slowest[1]:.1f} s beside {options.loops} loops; {differ} differ"
    )
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
