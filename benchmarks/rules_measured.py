"""Measure precision and recall of each rule on the labelled sets, and write them to cli_guard/rules/measured.toml.

    python -m benchmarks.rules_measured [--check] [SET ...]

The sets are those of fixtures/: secrets, code, commands, dependencies, drift and protections; what is not named keeps
its figures.
With --check nothing is written, and the exit code is 1 if a figure is not the one in the file.

A label is a place where a reviewer has to say something. A rule that does has one true finding there (tp); what it says
where the label is "nothing", or asks for less, is false (fp). A label that nobody meets is missed (fn) by the rule that
meets most labels of its kind, for a label names no rule; where no rule meets any, it is counted under `none`. In a
change with a risk, what is said beside the labelled lines is not counted, but for drift, where every line is labelled.
Of secrets only what stops a commit counts. No times, so every machine writes the same file.
"""

# ruff: noqa: E402 - see sys.path below

import argparse
import hashlib
import sys
import tempfile
import textwrap
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
FILE = HERE.parent / "cli_guard/rules/measured.toml"
sys.path.append(str(HERE.parent / "tests"))

from repositories import Repo, isolated_environment
from reviewers.dependencies.test_labelled_changes import STOPS, matching, write_all
from reviewers.drift.labelled import drift_in, read_cases

from benchmarks import code_findings, commands, protection_cases, secret_findings
from cli_guard.commands import judge
from cli_guard.commands.model import STRICTNESS
from cli_guard.model import Decision, Severity
from cli_guard.reviewers.review_input import ReviewInput

NOBODY = "none"
WIDTH = 118
HEAD = """# The rules on the labelled sets of fixtures/, counted and written by `python -m benchmarks.rules_measured`.
# A row is: rule, labelled cases that it is counted in, true findings, false ones, labels that it missed.
"""


@dataclass(frozen=True)
class Outcome:
    """What became of one case: by label its kind and the rules that met it, and the rules that were wrong."""

    labels: tuple[tuple[str, frozenset[str]], ...]
    false: frozenset[str]


def of_secrets() -> Iterator[Outcome]:
    """Yield the outcomes of the files that hold secrets, or nothing."""
    for path in sorted((FIXTURES / "secrets").glob("*.toml")):
        for case in secret_findings.read_cases(path):
            found = [
                (each.rule, secret_findings.lines_at(each))
                for each in secret_findings.own_findings(case)
            ]
            # A finding about a whole file with a secret is true.
            places = [
                case.lines_of(secret) | {secret_findings.WHOLE_FILE}
                for secret in case.secrets
            ]
            labels = (
                (case.kind, frozenset(r for r, lines in found if lines & each))
                for each in places
            )
            yield Outcome(
                tuple(labels), frozenset(() if places else (rule for rule, _ in found))
            )


def of_code() -> Iterator[Outcome]:
    """Yield the outcomes of the changes that add a risk, and of their harmless twins."""
    for path in sorted((FIXTURES / "code").glob("*.toml")):
        for case in code_findings.read_cases(path):
            change = case.change
            subject = ReviewInput(
                "pre-commit", code_findings.ChangeSet((change,)), contents=case
            )
            every = [
                e
                for e in code_findings.own_findings(subject, ["code"])[0]
                if e.severity is not Severity.INFO
            ]
            found = [
                (e.rule, range(line, (e.end_line or line) + 1))
                for e in every
                if (line := e.line or 1)
            ]
            found = [(rule, at) for rule, at in found if change.touches(at[0], at[-1])]
            kind = f"{case.kind} in {case.language}"
            labels = (
                (kind, frozenset(r for r, at in found if line in at))
                for line in case.expected
            )
            yield Outcome(
                tuple(labels), frozenset(() if case.expect else (rule for rule, _ in found))
            )


def of_commands() -> Iterator[Outcome]:
    """Yield the outcomes of the commands, but for those where reasonable people differ."""
    for case in commands.cases(sorted((FIXTURES / "commands").glob("*.jsonl"))):
        if case.group == "borderline":
            continue
        wanted = STRICTNESS.index(Decision(case.verdict))
        effects = judge(case.command, case.context).effects
        found = [
            (each.rule, STRICTNESS.index(each.decision)) for each in effects if each.rule
        ]
        met = frozenset(rule for rule, strict in found if 0 < strict <= wanted)
        # Only what has a rule can be missed by one.
        labels = ((case.group, met),) if met else ()
        yield Outcome(labels, frozenset(rule for rule, strict in found if strict > wanted))


def of_dependencies() -> Iterator[Outcome]:
    """Yield the outcomes of the changes of dependencies."""
    for path in sorted((FIXTURES / "dependencies").glob("*.toml")):
        for case in tomllib.loads(path.read_text("utf-8"))["case"]:
            with FreshRepository() as repo:
                write_all(repo, case)
                own = [
                    f
                    for f in repo.look().sort_findings()
                    if f.finding.rule.startswith("deps-")
                ]
            hits = [list(matching(case, expected, own)) for expected in case["expect"]]
            covered = {id(each) for found in hits for each in found}
            wrong = [
                f
                for f in own
                if id(f) not in covered and (f.disposition in STOPS or not case["expect"])
            ]
            labels = (
                (case["kind"], frozenset(f.finding.rule for f in found)) for found in hits
            )
            yield Outcome(tuple(labels), frozenset(f.finding.rule for f in wrong))


def of_drift() -> Iterator[Outcome]:
    """Yield the outcomes of the changes that make documentation false."""
    for path in sorted((FIXTURES / "drift").glob("*.toml")):
        for case in read_cases(path):
            with FreshRepository() as repo:
                found = {(each.path, each.line): each.rule for each in drift_in(repo, case)}
            texts = {**case["before"], **case.get("after", {})}
            labels = []
            for wanted in case["expect"]:
                lines = texts[wanted["path"]].split("\n")
                places = [
                    (wanted["path"], n)
                    for n, line in enumerate(lines, 1)
                    if wanted["text"] in line
                ]
                hit = next((found.pop(place) for place in places if place in found), None)
                labels.append((case["kind"], frozenset([hit] if hit else [])))
            yield Outcome(tuple(labels), frozenset(found.values()))


def of_protections() -> Iterator[Outcome]:
    """Yield the outcomes of the changes that weaken a protection, and of their near misses."""
    for path in sorted((FIXTURES / "protections").glob("*.toml")):
        for case in protection_cases.read_cases(path):
            found = frozenset(each.rule for each in case.findings)
            labels = ((case.kind, found),) if case.flawed else ()
            yield Outcome(labels, frozenset() if case.flawed else found)


class FreshRepository:
    """An empty repository in a temporary folder, removed at the end."""

    def __enter__(self) -> Repo:
        self._folder = tempfile.TemporaryDirectory()
        home = Path(self._folder.name)
        return Repo.create(home / "repo", isolated_environment(home))

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()


SETS = {
    "secrets": of_secrets,
    "code": of_code,
    "commands": of_commands,
    "dependencies": of_dependencies,
    "drift": of_drift,
    "protections": of_protections,
}


def tally(outcomes: Iterable[Outcome]) -> dict[str, list[int]]:
    """Return by rule the number of cases, of true and false findings, and of missed labels."""
    every = list(outcomes)
    best: dict[str, Counter[str]] = defaultdict(Counter)
    for each in every:
        for kind, rules in each.labels:
            best[kind].update(rules)
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for each in every:
        seen = Counter[tuple[str, int]]()
        for kind, rules in each.labels:
            most = min(
                best[kind], key=lambda rule: (-best[kind][rule], rule), default=NOBODY
            )
            seen.update([(rule, 1) for rule in rules] or [(most, 3)])
        seen.update((rule, 2) for rule in each.false)
        for (rule, column), number in seen.items():
            rows[rule][column] += number
        for rule in {rule for rule, _ in seen}:
            rows[rule][0] += 1
    return dict(sorted(rows.items()))


def digest(name: str) -> str:
    """Return a hash of the files of a set."""
    files = sorted(
        path for path in (FIXTURES / name).rglob("*") if path.suffix in (".toml", ".jsonl")
    )
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:16]


def as_text(figures: dict[str, dict[str, list[int]]], digests: dict[str, str]) -> str:
    """Return the text of the file."""
    text = HEAD
    for name, rows in figures.items():
        listed = ", ".join(
            f"{rule} {' '.join(map(str, row))}" for rule, row in rows.items()
        )
        wrapped = textwrap.fill(listed, WIDTH, break_on_hyphens=False)
        text += f'\n[{name}]\nfiles = "{digests[name]}"\nrows = """\n{wrapped}\n"""\n'
    return text


def main() -> int:
    """Measure the named sets, and write or compare the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; say whether the file is current",
    )
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    options = parser.parse_args()
    if unknown := set(options.sets) - SETS.keys():
        parser.error(f"there is no set {sorted(unknown)[0]}: {', '.join(SETS)}")
    kept = tomllib.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    figures = {}
    for name, measure in SETS.items():
        if options.sets and name not in options.sets and name in kept:
            rows = (row.split() for row in kept[name]["rows"].split(","))
            figures[name] = {
                rule: [int(each) for each in numbers] for rule, *numbers in rows
            }
        else:
            figures[name] = tally(measure())
        true, false, missed = (
            sum(row[at] for row in figures[name].values()) for at in (1, 2, 3)
        )
        print(
            f"{name:14}{len(figures[name]):5} rules {true:5} true {false:4} false {missed:4} missed"
        )
    text = as_text(figures, {name: digest(name) for name in figures})
    if options.check:
        return int(text != FILE.read_text("utf-8"))
    FILE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
