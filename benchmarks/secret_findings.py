"""Measure how well secrets are found, beside other tools.

    python -m benchmarks.secret_findings [--wrong] [--write] [--peers FOLDER] [FILE.toml ...]

Over the labelled files of fixtures/secrets, or of the given ones: how many cases with secrets are found, how many
without are stopped at, by set and by kind. Each case is reviewed as a file that a commit adds, under the default
policy; what is only advised is no stop. A case with secrets is found if there is a stop at each of them.
detect-secrets, credsweeper and betterleaks judge the same files, where they are on the PATH or in FOLDER; whatever they
report is a stop. With --wrong, each miss and each false stop; with --write, their ids go to `wrong.json` beside the
set, with which the tests compare.

A case is a table `[[case]]`: id, kind, path, text, secrets (the values, none for a near miss), note. The mark U+2016
breaks the values in the file, so that no hosting site takes it for a leak; it is removed on reading.
"""

import argparse
import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.known_wrong import write_wrong
from benchmarks.labelled import Spot, find_programs, print_table, run, spots_by_case
from cli_guard.model import (
    ChangeSet,
    Disposition,
    FileChange,
    Finding,
    Hunk,
    Status,
    split_lines,
)
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import disposition_by
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import review

FOLDER = Path(__file__).parents[1] / "fixtures" / "secrets"
BREAK = "\u2016"
STOPS = (Disposition.DENY, Disposition.REVIEW)
# The shortest part of a joined secret that is looked for in the text.
PIECE = 5
WHOLE_FILE = 0


@dataclass(frozen=True)
class Case:
    """A labelled file: the values in it that are secrets, none for a near miss."""

    id: str
    kind: str
    path: str
    text: str
    secrets: tuple[str, ...]
    note: str = ""

    @property
    def is_positive(self) -> bool:
        """Return whether the file holds a secret."""
        return bool(self.secrets)

    def new(self, _change: FileChange) -> str:
        """Return the whole text: a case is the contents of its own change."""
        return self.text

    def old(self, _change: FileChange) -> None:
        """Return None: there was no file before."""

    def lines_of(self, secret: str) -> set[int]:
        """Return the lines that hold a secret, or any piece of one that is not written in one run."""
        parts = (secret,) if secret in self.text else _pieces(secret, self.text)
        found = set()
        for part in parts:
            start = self.text.find(part)
            while start >= 0:
                first = self.text.count("\n", 0, start) + 1
                found |= set(range(first, first + part.count("\n") + 1))
                start = self.text.find(part, start + 1)
        return found or set(range(1, self.text.count("\n") + 2))

    def is_right(self, stops: set[int]) -> bool:
        """Return whether these are the right lines to stop at (0: the file as a whole)."""
        if not self.secrets:
            return not stops
        return all(self.lines_of(secret) & stops for secret in self.secrets)


def _pieces(secret: str, text: str) -> list[str]:
    """Return the longest pieces of a secret that are in the text, in turn."""
    found = []
    start = 0
    while start < len(secret):
        end = next(
            (
                e
                for e in range(len(secret), start + PIECE - 1, -1)
                if secret[start:e] in text
            ),
            start,
        )
        found += [secret[start:end]] if end > start else []
        start = max(end, start + 1)
    return found


def read_cases(path: Path) -> list[Case]:
    """Read the labelled files of one set."""
    tables = tomllib.loads(path.read_text("utf-8").replace(BREAK, ""))["case"]
    return [Case(**{**table, "secrets": tuple(table["secrets"])}) for table in tables]


def own_findings(case: Case) -> list[Finding]:
    """Return the findings that stop a commit that adds the file."""
    lines = tuple(split_lines(case.text))
    change = FileChange(case.path, Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    found = review(ReviewInput("pre-commit", ChangeSet((change,)), contents=case)).findings
    return [each for each in found if disposition_by(Config(), each) in STOPS]


def lines_at(finding: Finding) -> set[int]:
    """Return the lines of a finding."""
    first = finding.line or WHOLE_FILE
    return set(range(first, (finding.end_line or first) + 1))


def own_stops(case: Case) -> set[int]:
    """Return the lines at which a commit that adds the file would be stopped."""
    return {line for each in own_findings(case) for line in lines_at(each)}


Stops = Mapping[str, set[int]]


def judge_own(cases: Iterable[Case]) -> Stops:
    """Return the lines at which cli-guard stops, by case."""
    return {case.id: own_stops(case) for case in cases}


def judge_cases(path: Path) -> dict[str, bool]:
    """Return by the id of each case of a set whether cli-guard is right about it."""
    return {case.id: case.is_right(own_stops(case)) for case in read_cases(path)}


def detect_secrets(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what detect-secrets reports."""
    found = json.loads(run([program, "scan", "--all-files", "."], folder))["results"]
    lines = (
        (path, secret["line_number"])
        for path, secrets in found.items()
        for secret in secrets
    )
    return [Spot(path, line, line) for path, line in lines]


def credsweeper(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what credsweeper reports."""
    report = folder.parent / "credsweeper.json"
    run([program, "--path", ".", "--save-json", str(report)], folder)
    found = json.loads(report.read_text("utf-8"))
    lines = (line for each in found for line in each["line_data_list"])
    return [Spot(line["path"], line["line_num"], line["line_num"]) for line in lines]


def betterleaks(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what betterleaks reports."""
    report = folder.parent / "betterleaks.json"
    run([program, ".", "--silent", "--output", str(report)], folder)
    places = (
        found["location"] for found in json.loads(report.read_text("utf-8"))["findings"]
    )
    return [Spot(at["path"], at["start_line"], at["end_line"]) for at in places]


PEERS: Mapping[str, Callable[[str, Path], Iterable[Spot]]] = {
    "detect-secrets": detect_secrets,
    "credsweeper": credsweeper,
    "betterleaks": betterleaks,
}


def judge_peer(name: str, program: str, cases: list[Case]) -> Stops:
    """Return the lines that a peer reports, by case."""
    spots, _ = spots_by_case(cases, lambda folder: PEERS[name](program, folder))
    return {
        case: {line for spot in found for line in range(spot.line, spot.end_line + 1)}
        for case, found in spots.items()
    }


def print_set(name: str, cases: list[Case], judged: Mapping[str, Stops]) -> None:
    """Print recall and false alarms of each judge over one set, by kind."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.kind, []).append(case)
    judges = {
        judge: (lambda case, by=stops: case.is_right(by[case.id]))
        for judge, stops in judged.items()
    }
    print_table(name, [*groups.items(), ("all", cases)], judges)


def print_wrong(cases: list[Case], stops: Stops) -> None:
    """Print the misses, then the false stops."""
    for wanted, label in ((True, "missed"), (False, "false")):
        for case in cases:
            if bool(case.secrets) is wanted and not case.is_right(stops[case.id]):
                print(f"{label:8}{case.kind:28}{case.id}: {case.note}")


def main() -> None:
    """Judge each set by every tool that is there."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--wrong", action="store_true", help="print each miss and each false stop"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the ids of what is wrong beside the set"
    )
    parser.add_argument(
        "--peers", metavar="FOLDER", default="", help="where the programs of the peers are"
    )
    parser.add_argument(
        "files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.toml"))
    )
    options = parser.parse_args()
    found = find_programs(PEERS, options.peers)
    for file in options.files:
        cases = read_cases(file)
        judged = {"cli-guard": judge_own(cases)}
        judged |= {
            name: judge_peer(name, program, cases)
            for name, program in found.items()
            if program
        }
        print_set(file.stem, cases, judged)
        if options.wrong:
            print_wrong(cases, judged["cli-guard"])
        if options.write:
            write_wrong(file.parent, file.stem, judge_cases(file))
    missing = [name for name, program in found.items() if program is None]
    if missing:
        print(f"\nnot installed, so not shown: {', '.join(missing)}")


if __name__ == "__main__":
    main()
