"""Measure how well and how fast the kind of a request is found.

    python -m benchmarks.english_requests [--runs N] [--wrong] [--write] [FILE.tsv ...]

Over the labelled requests of fixtures/requests, or of the given files: the number of right kinds in each file, the
confusion matrix over all, and with --wrong each wrong kind with the words that decided. With --write, what is wrong
goes to `wrong.json` beside the file, with which the tests compare. Then the time of a request in process, and of
hostile texts of 1 MB.
"""

import argparse
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from benchmarks.known_wrong import write_wrong
from cli_guard.assistant.request import UserRequest, classify
from cli_guard.assistant.request_names import find_names
from cli_guard.graph.state import TaskType, normalise

FOLDER = Path(__file__).parent.parent / "fixtures" / "requests"
KINDS: tuple[TaskType, ...] = get_args(TaskType)
MEGABYTE = 1_000_000
HOSTILE = {
    "one word": "a" * MEGABYTE,
    "many words": "add the test and " * (MEGABYTE // 17),
    "slashes": "/" * MEGABYTE,
    "folders": "../" * (MEGABYTE // 3),
    "backticks": "`" * MEGABYTE,
    "quotes": "\"'" * (MEGABYTE // 2),
    "dots": "a." * (MEGABYTE // 2),
    "brackets": "f(" * (MEGABYTE // 2),
    "controls": "\x00\x1b" * (MEGABYTE // 2),
}
PATHS = tuple(f"src/package{n // 50}/module_{n}.py" for n in range(5_000))


@dataclass(frozen=True)
class Case:
    """A request and its kind."""

    kind: str
    request: str


def cases(path: Path) -> list[Case]:
    """Read the labelled requests of a file: kind and request, with a tab between."""
    rows = [
        line.split("\t", 1)
        for line in path.read_text("utf-8").splitlines()
        if line and line[0] != "#"
    ]
    return [Case(kind, request) for kind, request in rows]


def judge_cases(path: Path) -> dict[str, bool]:
    """Return by the request whether it is read as the kind of its label."""
    return {case.request: classify(case.request).kind == case.kind for case in cases(path)}


def print_matrix(told: list[tuple[Case, UserRequest]]) -> None:
    """Print the confusion matrix (rows: expected, columns: found), then each kind's precision and recall."""
    matrix = Counter((case.kind, answer.kind) for case, answer in told)
    print(
        f"\n{'should be / is':16}"
        + "".join(f"{kind[:10]:>11}" for kind in KINDS)
        + f"{'recall':>9}"
    )
    for wanted in KINDS:
        row = [matrix[wanted, given] for given in KINDS]
        share = matrix[wanted, wanted] / sum(row) if sum(row) else 0.0
        print(
            f"{wanted:16}"
            + "".join(f"{count or '.':>11}" for count in row)
            + f"{share:9.1%}"
        )
    columns = [sum(matrix[wanted, given] for wanted in KINDS) for given in KINDS]
    shares = [
        matrix[kind, kind] / count if count else 0.0
        for kind, count in zip(KINDS, columns, strict=True)
    ]
    print(f"{'precision':16}" + "".join(f"{share:>11.1%}" for share in shares))


def print_times(told: list[tuple[Case, UserRequest]], runs: int) -> None:
    """Print the time of a request in process, and of hostile texts."""
    took = []
    for case, _ in told:
        for _ in range(runs):
            started = time.perf_counter()
            classify.__wrapped__(case.request)
            took.append((time.perf_counter() - started) * 1000)
    print(f"\n{'in process':26}{'ms':>9}")
    print(f"{'median request':26}{statistics.median(took):9.2f}")
    print(f"{'slowest':26}{max(took):9.2f}")
    print(
        f"\n{'1 MB of':26}{'classify':>9}{'names':>9}{'normalise':>11}  ms, 5,000 known paths"
    )
    for name, text in HOSTILE.items():
        cells = []
        for call in (classify.__wrapped__, lambda text: find_names(text, PATHS), normalise):
            started = time.perf_counter()
            call(text)
            cells.append((time.perf_counter() - started) * 1000)
        print(f"{name:26}{cells[0]:9.0f}{cells[1]:9.0f}{cells[2]:11.0f}")


def main() -> None:
    """Classify, count and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--wrong", action="store_true", help="also print each wrong answer")
    parser.add_argument(
        "--write", action="store_true", help="write what is wrong beside the file"
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    chosen = parser.parse_args()
    told: list[tuple[Case, UserRequest]] = []
    print(f"{'file':20}{'right':>7}{'of':>6}")
    for path in chosen.files or sorted(FOLDER.glob("*.tsv")):
        answers = [(case, classify(case.request)) for case in cases(path)]
        right = sum(case.kind == answer.kind for case, answer in answers)
        print(f"{path.stem:20}{right:7}{len(answers):6}{right / max(len(answers), 1):8.1%}")
        told += answers
        if chosen.write:
            write_wrong(path.parent, path.stem, judge_cases(path))
    print_matrix(told)
    if chosen.wrong:
        print()
        for case, answer in told:
            if case.kind != answer.kind:
                print(f"{case.kind} -> {answer.kind}: {case.request!r}")
                print(
                    f"    {', '.join(answer.decided_by)}; {answer.assumed or 'nothing assumed'}"
                )
    print_times(told, chosen.runs)


if __name__ == "__main__":
    main()
