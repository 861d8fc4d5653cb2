"""Measure how well risky code is found, beside other tools, and how often harmless code is stopped at.

    python -m benchmarks.code_findings [--wrong] [--write] [--peers FOLDER] [--reviewers NAME ...] [--set FILE ...]
    python -m benchmarks.code_findings --noise FOLDER ...

Over the labelled changes of fixtures/code/development.toml, or of the given files or folders: how many risks are found
and how many harmless twins are reported, by language and by kind, and how long it took. A risk is found if a finding of
at least medium severity touches each expected line; a twin is false if there is any such finding. A second pair of
columns counts findings of low severity too. `--reviewers` adds others to `code`. With --wrong, each miss and each false
report; with --write, their ids go to `wrong.json` beside the set, with which the tests compare.

ruff (its S rules), bandit and semgrep judge the same files, where they are in FOLDER, on the PATH or beside this
Python. Of what they report only what touches an added line counts, as it does here, and nothing that they call of low
severity. semgrep takes the rules that are installed beside it: those of njsscan and mobsfscan.

--noise reviews every file below the given folders as one that a commit adds, under the default policy: how many
findings stop (deny or review) per 10,000 lines, by language and by rule, and each of them, to be read.
"""

import argparse
import json
import os
import re
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path

from benchmarks.known_wrong import write_wrong
from benchmarks.labelled import Spot, find_programs, print_table, run, spots_by_case
from cli_guard.code.languages import language_for
from cli_guard.model import (
    ChangeSet,
    Disposition,
    FileChange,
    Finding,
    Hunk,
    Severity,
    Skipped,
    Status,
    split_lines,
)
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import disposition_by
from cli_guard.reviewers.code import lines as line_rules
from cli_guard.reviewers.code import remarks
from cli_guard.reviewers.registry import examining, reviewer_of
from cli_guard.reviewers.review_input import ReviewInput

DEFAULT = Path(__file__).parents[1] / "fixtures" / "code" / "development.toml"
STOPS = (Disposition.DENY, Disposition.REVIEW)
GRAVE = (Severity.CRITICAL, Severity.HIGH, Severity.MEDIUM)
UNREAD_FOLDERS = {".git", ".hg", ".svn"}
MOST_BYTES = 5_000_000
PER_LINES = 10_000


@dataclass(frozen=True)
class Case:
    """A labelled change of one file; `expect` are pieces of the added lines to find, none for a harmless twin."""

    id: str
    language: str
    kind: str
    path: str
    before: str
    after: str
    expect: tuple[str, ...]
    flow: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """Return what the other tools read: the file after the change."""
        return self.after

    @property
    def is_positive(self) -> bool:
        """Return whether the change adds a risk."""
        return bool(self.expect)

    def new(self, _change: FileChange) -> str:
        """Return the text after the change: a case is the contents of its own change."""
        return self.after

    def old(self, _change: FileChange) -> str:
        """Return the text before the change."""
        return self.before

    @cached_property
    def change(self) -> FileChange:
        """Return the change as Git would show it."""
        before = split_lines(self.before)
        after = split_lines(self.after)
        runs = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        hunks = tuple(
            # Git gives a side without lines the number of the line before it.
            Hunk(i + (j > i), k + (m > k), tuple(before[i:j]), tuple(after[k:m]))
            for what, i, j, k, m in runs
            if what != "equal"
        )
        return FileChange(
            self.path, Status.MODIFIED if self.before else Status.ADDED, hunks=hunks
        )

    @property
    def expected(self) -> list[int]:
        """Return the added lines that hold the expected pieces."""
        return [
            number
            for number, line in self.change.added.items()
            for text in self.expect
            if text in line
        ]

    def is_right(self, spots: Iterable[Spot], *, low: bool = False) -> bool:
        """Return whether a tool's reports on added lines are right; `low`: also those of low severity."""
        counted = [
            spot
            for spot in spots
            if (low or not spot.low) and self.change.touches(spot.line, spot.end_line)
        ]
        if not self.expect:
            return not counted
        return all(
            any(spot.line <= line <= spot.end_line for spot in counted)
            for line in self.expected
        )


def read_cases(path: Path) -> list[Case]:
    """Read the labelled changes of one set."""
    tables = tomllib.loads(path.read_text("utf-8"))["case"]
    names = Case.__dataclass_fields__
    return [
        Case(
            **{k: v for k, v in table.items() if k in names}
            | {"expect": tuple(table["expect"])}
        )
        for table in tables
    ]


def own_findings(
    subject: ReviewInput, reviewers: Iterable[str]
) -> tuple[list[Finding], list[Skipped]]:
    """Return what some reviewers find in a change, and what they did not read."""
    reports = [reviewer_of(name).review(subject) for name in reviewers]
    return [each for found in reports for each in found.findings], [
        s for r in reports for s in r.skipped
    ]


def judge_own(
    cases: Iterable[Case], reviewers: Sequence[str]
) -> tuple[dict[str, list[Spot]], float]:
    """Return what cli-guard reports by the id of the case, and its time in seconds; info is no report."""
    started = time.perf_counter()
    found = {}
    for case in cases:
        subject = ReviewInput("pre-commit", ChangeSet((case.change,)), contents=case)
        found[case.id] = [
            # A finding about the file as a whole is one about its first added line.
            Spot(
                each.path,
                line,
                each.end_line or line,
                each.severity not in GRAVE,
                each.rule,
            )
            for each in own_findings(subject, reviewers)[0]
            if each.severity is not Severity.INFO
            for line in (each.line or min(case.change.added, default=1),)
        ]
    return found, time.perf_counter() - started


def ruff(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what ruff's rules for security report, without the configuration of any project."""
    command = [
        program,
        "check",
        "--isolated",
        "--no-cache",
        "--select=S",
        "--output-format=json",
    ]
    found = json.loads(run([*command, "--config=exclude=[]", "."], folder))
    return [
        Spot(
            each["filename"],
            each["location"]["row"],
            each["end_location"]["row"],
            what=each["code"] or "",
        )
        for each in found
    ]


def bandit(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what bandit reports."""
    found = json.loads(
        run([program, "--recursive", "--format=json", "--quiet", "-x", "//", "."], folder)
    )
    return [
        Spot(
            each["filename"],
            each["line_number"],
            max(each["line_range"], default=each["line_number"]),
            each["issue_severity"] == "LOW",
            each["test_id"],
        )
        for each in found["results"]
    ]


def semgrep(program: str, folder: Path) -> Iterable[Spot]:
    """Yield what semgrep reports with the rules of the packages that are installed beside it."""
    packages = Path(program).parent.parent.glob("lib/python*/site-packages/*/rules/")
    rules = [
        each
        for package in packages
        for name in ("semantic_grep", "semgrep")
        for each in package.glob(name)
    ]
    if not rules:
        raise SystemExit(
            "semgrep: no rules; install njsscan and mobsfscan, which ship some, beside it"
        )
    command = [
        program,
        "scan",
        "--metrics=off",
        "--disable-version-check",
        "--json",
        "--quiet",
    ]
    command += [
        "--no-git-ignore",
        "--x-ignore-semgrepignore-files",
        *(f"--config={each}" for each in rules),
    ]
    found = json.loads(run([*command, "."], folder))
    return [
        Spot(
            each["path"],
            each["start"]["line"],
            each["end"]["line"],
            each["extra"]["severity"] == "INFO",
            each["check_id"].rpartition(".")[2],
        )
        for each in found["results"]
    ]


PEERS: Mapping[str, Callable[[str, Path], Iterable[Spot]]] = {
    "ruff": ruff,
    "bandit": bandit,
    "semgrep": semgrep,
}


def groups_of(cases: Sequence[Case]) -> Iterator[tuple[str, Sequence[Case]]]:
    """Yield the lines of the table: by language, by kind, with and without flow, and all."""
    for title, key in (("language", "language"), ("kind", "kind")):
        values = sorted({getattr(case, key) for case in cases})
        for value in values:
            yield (
                f"{title} {value}",
                [case for case in cases if getattr(case, key) == value],
            )
    for name, flow in (
        ("data that runs to a sink", True),
        ("a construct by itself", False),
    ):
        if chosen := [case for case in cases if case.flow is flow]:
            yield name, chosen
    yield "all", cases


def print_wrong(cases: Iterable[Case], spots: Mapping[str, list[Spot]]) -> None:
    """Print the misses, then the false reports with the rules that made them."""
    wrong = [case for case in cases if not case.is_right(spots[case.id])]
    for case in (case for case in wrong if case.expect):
        low = "low only " if case.is_right(spots[case.id], low=True) else ""
        print(f"missed  {case.language:12}{case.kind:20}{low}{case.id}: {case.note}")
    for case in (case for case in wrong if not case.expect):
        rules = ", ".join(
            f"{spot.what} on line {spot.line}"
            for spot in spots[case.id]
            if not spot.low and case.change.touches(spot.line, spot.end_line)
        )
        print(f"false   {case.language:12}{case.kind:20}{case.id}: {rules}")


def judge_cases(path: Path) -> dict[str, bool]:
    """Return by the id of each case of a set whether the reviewer `code` is right about it."""
    cases = read_cases(path)
    found, _ = judge_own(cases, ["code"])
    return {case.id: case.is_right(found[case.id]) for case in cases}


def judge_set(
    path: Path, reviewers: Sequence[str], programs: Mapping[str, str | None], *, wrong: bool
) -> None:
    """Judge one set by every tool that is there and print the table."""
    cases = read_cases(path)
    found, seconds = judge_own(cases, reviewers)
    judged = {
        "cli-guard": lambda case: case.is_right(found[case.id]),
        "with low": lambda case: case.is_right(found[case.id], low=True),
    }
    times = {"cli-guard": seconds}
    for name, program in programs.items():
        if program:
            spots, times[name] = spots_by_case(
                cases, lambda at, n=name, p=program: PEERS[n](p, at)
            )
            judged[name] = lambda case, by=spots: case.is_right(by[case.id])
    print_table(path.stem, groups_of(cases), judged)
    print("seconds: " + ", ".join(f"{name} {spent:.1f}" for name, spent in times.items()))
    if wrong:
        print_wrong(cases, found)


@dataclass(frozen=True)
class WholeFile:
    """The contents of a change that adds a file."""

    text: str

    def new(self, _change: FileChange) -> str:
        """Return the text."""
        return self.text

    def old(self, _change: FileChange) -> None:
        """Return None: there was no file before."""


def files_below(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, sorted, without links and version control."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - UNREAD_FOLDERS)
        for path in (Path(at, name) for name in sorted(names)):
            if (
                path.is_file()
                and not path.is_symlink()
                and path.stat().st_size <= MOST_BYTES
            ):
                yield path


def kind_of(path: str, text: str) -> str | None:
    """Return the language that the reviewer `code` has rules for, None for a file that it does not read."""
    language = language_for(path, text[:200].split("\n", 1)[0])
    by_line = remarks.line_topics(path) if line_rules.rules_for(path) else ()
    return remarks.topic_of(path, language) or next(iter(by_line), None)


def measure_noise(folders: Iterable[Path], reviewers: Sequence[str]) -> None:
    """Print how often files that a commit adds would stop it, and where."""
    read = Counter[str]()
    sizes = Counter[str]()
    skipped = Counter[str]()
    stops: list[tuple[str, Path, Finding]] = []
    started = time.perf_counter()
    for folder in folders:
        for file in files_below(folder):
            data = file.read_bytes()
            path = file.relative_to(folder).as_posix()
            text = data.decode("utf-8", "replace")
            kind = None if b"\0" in data[:8000] else kind_of(path, text)
            if kind is None:
                continue
            lines = split_lines(text)
            read[kind] += 1
            sizes[kind] += len(lines)
            change = FileChange(path, Status.ADDED, hunks=(Hunk(0, 1, (), tuple(lines)),))
            subject = ReviewInput(
                "pre-commit", ChangeSet((change,)), contents=WholeFile(text)
            )
            found, left_out = own_findings(subject, reviewers)
            skipped.update(re.sub(r"[\d,.]+", "N", each.reason) for each in left_out)
            stops += [
                (kind, file, each)
                for each in found
                if disposition_by(Config(), each) in STOPS
            ]
    seconds = time.perf_counter() - started
    total = sum(sizes.values())
    by_kind = Counter(kind for kind, _, _ in stops)
    print(f"{'language':40}{'files':>10}{'lines':>12}{'stops':>8}{'per 10,000':>12}")
    for kind in (*sorted(sizes), None):
        chosen, lines_read = (by_kind[kind], sizes[kind]) if kind else (len(stops), total)
        files = read[kind] if kind else sum(read.values())
        print(
            f"{kind or 'all':40}{files:10}{lines_read:12}{chosen:8}{_rate(chosen, lines_read):>12}"
        )
    print(f"\n{'rule':60}{'stops':>8}{'per 10,000':>12}")
    for rule, number in Counter(each.rule for _, _, each in stops).most_common():
        print(f"{rule:60}{number:8}{_rate(number, total):>12}")
    print(
        f"\n{seconds:.0f} s, {seconds * PER_LINES / max(total, 1):.2f} s per 10,000 lines"
    )
    for reason, number in skipped.most_common():
        print(f"not read: {number} x {reason}")
    for _, file, each in sorted(
        stops, key=lambda stop: (stop[2].rule, str(stop[1]), stop[2].line or 0)
    ):
        told = f"{file}:{each.line}: {each.rule} ({each.severity}, {each.confidence}) {each.message}"
        print(f"\n{_printable(told)}\n    {_printable(each.evidence)}")


def _rate(number: int, lines: int) -> str:
    return f"{number * PER_LINES / lines:.2f}" if lines else "-"


def _printable(text: str) -> str:
    return "\n    ".join(
        "".join(c if c.isprintable() else "?" for c in line) for line in text.split("\n")
    )


def main() -> None:
    """Judge labelled changes, or measure noise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [reviewer.name for reviewer in examining() if not reviewer.advises] + [
        "dependencies"
    ]
    parser.add_argument(
        "--wrong", action="store_true", help="print each miss and each false report"
    )
    parser.add_argument(
        "--write", action="store_true", help="write the ids of what is wrong beside the set"
    )
    parser.add_argument(
        "--peers", metavar="FOLDER", default="", help="where the programs of the peers are"
    )
    parser.add_argument("--no-peers", action="store_true", help="judge by cli-guard alone")
    parser.add_argument(
        "--reviewers", metavar="NAME", nargs="+", default=["code"], choices=names
    )
    parser.add_argument(
        "--set", metavar="FILE", nargs="+", type=Path, default=[DEFAULT], dest="sets"
    )
    parser.add_argument(
        "--noise",
        metavar="FOLDER",
        nargs="+",
        type=Path,
        help="review folders of real code",
    )
    options = parser.parse_args()
    if options.noise:
        measure_noise(options.noise, options.reviewers)
        return
    programs = {} if options.no_peers else find_programs(PEERS, options.peers)
    for given in options.sets:
        for file in sorted(given.glob("*.toml")) if given.is_dir() else [given]:
            judge_set(file, options.reviewers, programs, wrong=options.wrong)
            if options.write:
                write_wrong(file.parent, file.stem, judge_cases(file))
    missing = [name for name, program in programs.items() if program is None]
    if missing:
        print(f"\nnot installed, so not shown: {', '.join(missing)}")


if __name__ == "__main__":
    main()
