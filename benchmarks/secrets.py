"""Measure how well secrets are found, beside other tools.

    python benchmarks/secrets.py [--wrong] [--peers FOLDER] [FILE.toml ...]

Over the labelled files of fixtures/secrets, or of the given ones: how many cases with secrets are found, how many
without are stopped at, by set and by kind. Each case is reviewed as a file that a commit adds, under the default
policy; what is only advised is no stop. A case with secrets is found if there is a stop at each of them.
detect-secrets, credsweeper and betterleaks judge the same files, where they are on the PATH or in FOLDER; whatever they
report is a stop. With --wrong, each miss and each false stop.

A case is a table `[[case]]`: id, kind, path, text, secrets (the values, none for a near miss), note. The mark U+2016
breaks the values in the file, so that no hosting site takes it for a leak; it is removed on reading.
"""

# ruff: noqa: E402 - see sys.path below

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

# Python puts the folder of a script first, where this file hides the module of the standard library with its name.
sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]

from cli_guard.model import ChangeSet, Disposition, FileChange, Hunk, Status, split_lines
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import disposition_by
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import review

FOLDER = Path(__file__).parent.parent / "fixtures" / "secrets"
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
    found, start = [], 0
    while start < len(secret):
        end = next((e for e in range(len(secret), start + PIECE - 1, -1) if secret[start:e] in text), start)
        found += [secret[start:end]] if end > start else []
        start = max(end, start + 1)
    return found


def read_cases(path: Path) -> list[Case]:
    """Read the labelled files of one set."""
    tables = tomllib.loads(path.read_text("utf-8").replace(BREAK, ""))["case"]
    return [Case(**{**table, "secrets": tuple(table["secrets"])}) for table in tables]


def own_stops(case: Case) -> set[int]:
    """Return the lines at which a commit that adds the file would be stopped."""
    lines = tuple(split_lines(case.text))
    change = FileChange(case.path, Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    found = review(ReviewInput("pre-commit", ChangeSet((change,)), contents=case)).findings
    stopping = [finding for finding in found if disposition_by(Config(), finding) in STOPS]
    return {
        line
        for finding in stopping
        for line in range(finding.line or WHOLE_FILE, (finding.end_line or finding.line or WHOLE_FILE) + 1)
    }


Stops = Mapping[str, set[int]]


def judge_own(cases: Iterable[Case]) -> Stops:
    """Return the lines at which cli-guard stops, by case."""
    return {case.id: own_stops(case) for case in cases}


def detect_secrets(program: str, folder: Path) -> Iterable[tuple[str, int]]:
    """Yield what detect-secrets reports: file and line."""
    found = json.loads(_run([program, "scan", "--all-files", "."], folder))["results"]
    return [(path, secret["line_number"]) for path, secrets in found.items() for secret in secrets]


def credsweeper(program: str, folder: Path) -> Iterable[tuple[str, int]]:
    """Yield what credsweeper reports: file and line."""
    report = folder.parent / "credsweeper.json"
    _run([program, "--path", ".", "--save-json", str(report)], folder)
    found = json.loads(report.read_text("utf-8"))
    return [(line["path"], line["line_num"]) for each in found for line in each["line_data_list"]]


def betterleaks(program: str, folder: Path) -> Iterable[tuple[str, int]]:
    """Yield what betterleaks reports: file and line."""
    report = folder.parent / "betterleaks.json"
    _run([program, ".", "--silent", "--output", str(report)], folder)
    places = (found["location"] for found in json.loads(report.read_text("utf-8"))["findings"])
    return [(at["path"], line) for at in places for line in range(at["start_line"], at["end_line"] + 1)]


PEERS: Mapping[str, Callable[[str, Path], Iterable[tuple[str, int]]]] = {
    "detect-secrets": detect_secrets,
    "credsweeper": credsweeper,
    "betterleaks": betterleaks,
}


def _run(command: list[str], folder: Path) -> str:
    """Run a peer in a folder and return its output; one that finds something ends with 1."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command[0]} ended with {done.returncode}: {done.stderr[-400:]}")
    return done.stdout


def judge_peer(name: str, program: str, cases: list[Case]) -> Stops:
    """Return the lines that a peer reports, by case; each case is a file in a folder of its own."""
    stops: dict[str, set[int]] = {case.id: set() for case in cases}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "cases"
        for number, case in enumerate(cases):
            file = folder / str(number) / case.path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(case.text, "utf-8")
        for path, line in PEERS[name](program, folder):
            number = int(os.path.relpath(folder / path, folder).partition(os.sep)[0])
            stops[cases[number].id].add(line)
    return stops


def count(cases: Iterable[Case], stops: Stops) -> str:
    """Format the recall and the false alarms of some cases."""
    leaks, others = [], []
    for case in cases:
        (leaks if case.secrets else others).append(case.is_right(stops[case.id]))
    recall = f"{sum(leaks):4}/{len(leaks):<4}{sum(leaks) / len(leaks):5.0%}" if leaks else f"{'-':>8}{'':6}"
    return f"{recall}{len(others) - sum(others):6}/{len(others):<5}"


def print_set(name: str, cases: list[Case], judged: Mapping[str, Stops]) -> None:
    """Print recall and false alarms of each judge over one set, by kind."""
    print(f"\n{name:40}" + "".join(f"{judge:>26}" for judge in judged))
    print(f"{'':40}" + f"{'found':>14}{'false':>12}" * len(judged))
    for kind in (*dict.fromkeys(case.kind for case in cases), None):
        chosen = [case for case in cases if kind in (None, case.kind)]
        print(f"{kind or 'all':40}" + "".join(f"{count(chosen, stops):>26}" for stops in judged.values()))


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
    parser.add_argument("--wrong", action="store_true", help="print each miss and each false stop")
    parser.add_argument("--peers", metavar="FOLDER", default="", help="where the programs of the peers are")
    parser.add_argument("files", nargs="*", type=Path, default=sorted(FOLDER.glob("*.toml")))
    options = parser.parse_args()
    places = os.pathsep.join(filter(None, (options.peers, os.environ.get("PATH", ""))))
    found = {name: shutil.which(name, path=places) for name in PEERS}
    for file in options.files:
        cases = read_cases(file)
        judged = {"cli-guard": judge_own(cases)}
        judged |= {name: judge_peer(name, program, cases) for name, program in found.items() if program}
        print_set(file.stem, cases, judged)
        if options.wrong:
            print_wrong(cases, judged["cli-guard"])
    missing = [name for name, program in found.items() if program is None]
    if missing:
        print(f"\nnot installed, so not shown: {', '.join(missing)}")


if __name__ == "__main__":
    main()
