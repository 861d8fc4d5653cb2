"""Measure the slowest files of real repositories, by reviewer: which text file costs the most processor time.

    python -m benchmarks.slowest [--most N] [--shown N] [--profile PATH] REPOSITORY ...

Of each repository (bare or not) the largest text files at HEAD, and those with the longest lines, are reviewed as a
file that a commit adds, and with one changed line, the longest one. What is printed are the slowest changes with their
processor seconds, and what was left out of them. The budget is 3 s for the worst file (docs/benchmarks.md).
"""

import argparse
import cProfile
import pstats
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cli_guard.model import ChangeSet, FileChange, Hunk, Status, split_lines
from cli_guard.repository.between import SnapshotContents
from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.reviewers.review_input import ReviewInput

# What Git keeps with NULs in it, or is over the limit of a review, has no text to review.
HEAD_BYTES = 8_000
LARGEST = 5_000_000
SMALLEST = 20_000
# These need Git, or only look at messages and refs.
LEFT_OUT = frozenset(("drift", "message", "push", "checks", "policy"))


@dataclass
class Cost:
    """A change and the processor seconds of each reviewer."""

    name: str
    chars: int
    seconds: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Return the seconds of all reviewers."""
        return sum(self.seconds.values())


def git(repository: Path, *words: str, stdin: bytes = b"") -> bytes:
    """Return what Git prints."""
    return subprocess.run(
        ("git", "-C", str(repository), *words), input=stdin, capture_output=True, check=True
    ).stdout


def candidates(repository: Path, most: int) -> Iterator[tuple[str, str]]:
    """Yield path and text of the largest files, and of those with the longest lines."""
    sizes = []
    for row in (
        git(repository, "ls-tree", "-rlz", "HEAD")
        .decode("utf-8", "surrogateescape")
        .split("\0")
    ):
        facts, _, path = row.partition("\t")
        words = facts.split()
        is_file = len(words) == 4 and words[0].startswith("100") and words[3].isdigit()
        if is_file and SMALLEST < int(words[3]) < LARGEST:
            sizes.append((int(words[3]), words[2], path))
    texts: dict[str, str] = {}
    paths = {}
    for _, blob, path in sorted(sizes, reverse=True)[: 20 * most]:
        raw = git(repository, "cat-file", "blob", blob)
        if b"\0" not in raw[:HEAD_BYTES] and blob not in texts:
            texts[blob] = raw.decode("utf-8", "replace")
            paths[blob] = path
    by_line = sorted(
        texts, key=lambda blob: max(map(len, texts[blob].split("\n"))), reverse=True
    )
    for blob in dict.fromkeys((*list(texts)[:most], *by_line[:most])):
        yield paths[blob], texts[blob]


def changes_of(path: str, text: str) -> Iterator[tuple[str, ReviewInput]]:
    """Yield the file as a new one, and with one changed line."""
    lines = tuple(split_lines(text))
    added = FileChange(path, Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    yield (
        "added",
        ReviewInput("verify", ChangeSet((added,)), SnapshotContents({}, {path: text})),
    )
    number = max(range(len(lines)), key=lambda at: len(lines[at]))
    half = len(lines[number]) // 2
    old = f"{lines[number][:half]}0{lines[number][half:]}"
    before = "\n".join((*lines[:number], old, *lines[number + 1 :], ""))
    hunk = Hunk(number + 1, number + 1, (old,), (lines[number],))
    changed = FileChange(path, Status.MODIFIED, old_mode="100644", hunks=(hunk,))
    yield (
        "changed",
        ReviewInput(
            "verify", ChangeSet((changed,)), SnapshotContents({path: before}, {path: text})
        ),
    )


def measure(name: str, subject: ReviewInput) -> Cost:
    """Review once with each reviewer, in their order and with shared trees, as a review does."""
    change = subject.changes.files[0]
    cost = Cost(name, len(subject.contents.new(change) or ""))
    for reviewer in REVIEWERS:
        if reviewer.name in LEFT_OUT:
            continue
        started = time.process_time()
        report = reviewer.review(subject)
        cost.seconds[reviewer.name] = time.process_time() - started
        cost.skipped += [
            f"{each.reason}{' (asks)' if each.asks else ''}" for each in report.skipped
        ]
    return cost


def show(costs: list[Cost]) -> None:
    """Print the changes with the seconds of their reviewers, and what was left out."""
    for each in costs:
        parts = ", ".join(
            f"{name} {used:.2f}" for name, used in each.seconds.items() if used >= 0.05
        )
        print(f"{each.total:7.2f} s  {each.chars:>9,}  {each.name}  ({parts})")
        for reason in dict.fromkeys(each.skipped):
            print(f"{'':22}not read: {reason}")


def main() -> None:
    """Measure, print, and exit with 1 if a file is over the budget."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument(
        "--most", type=int, default=6, help="files of each repository, by size and by line"
    )
    parser.add_argument("--shown", type=int, default=10)
    parser.add_argument(
        "--profile", default="", help="profile the changes of this path instead"
    )
    options = parser.parse_args()
    costs = []
    profile = cProfile.Profile()
    warm = 'eval "$1"\n'
    for path in ("a.sh", "a.py", "a.js", "a.go", "package.json", "a.yml"):
        for _, subject in changes_of(path, warm):
            measure(path, subject)
    for repository in options.repositories:
        name = next(
            part for part in reversed(repository.parts) if part not in ("repo", ".git")
        )
        for path, text in candidates(repository, options.most):
            if options.profile and options.profile != path:
                continue
            for kind, subject in changes_of(path, text):
                if options.profile:
                    profile.enable()
                costs.append(measure(f"{name}:{path} {kind}", subject))
                profile.disable()
    costs.sort(key=lambda each: -each.total)
    show(costs[: options.shown])
    if options.profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(45)
    sys.exit(bool(costs) and costs[0].total > 3)


if __name__ == "__main__":
    main()
