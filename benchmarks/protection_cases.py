"""Measure how many of the labelled changes that weaken a protection are found, and how many harmless ones are reported.

    python -m benchmarks.protection_cases [--wrong] [--write] [SET ...]

The sets are those of fixtures/protections, or the given files. A flawed change is found if the reviewer says anything
of it; a harmless one is false if it does. With --wrong, each miss and each false report; with --write, their ids go
to `wrong.json` beside the set, with which the tests compare.
"""

# ruff: noqa: E402 - see sys.path below

import argparse
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FOLDER = HERE.parent / "fixtures" / "protections"
sys.path.append(str(HERE.parent / "tests"))

from rules.example_kinds import changed_files

from benchmarks.known_wrong import write_wrong
from cli_guard.model import Finding
from cli_guard.reviewers.protections import review


@dataclass(frozen=True, slots=True)
class Case:
    """A labelled change; its text is an example as in cli_guard/rules/protections/*.toml."""

    id: str
    kind: str
    flawed: bool
    change: str

    @property
    def findings(self) -> Sequence[Finding]:
        """Return what the reviewer says of it."""
        return review(changed_files(self.change)).findings

    @property
    def is_right(self) -> bool:
        """Return whether it is found if it is flawed, and silent if it is not."""
        return bool(self.findings) is self.flawed


def read_cases(file: Path) -> Iterator[Case]:
    """Yield the cases of a set."""
    for row in tomllib.loads(file.read_text("utf-8"))["case"]:
        yield Case(**row)


def measure(file: Path, *, show: bool, write: bool) -> None:
    """Print the figures of a set, by kind."""
    right: dict[str, bool] = {}
    score: Counter[tuple[str, bool, bool]] = Counter()
    cases = list(read_cases(file))
    for case in cases:
        right[case.id] = case.is_right
        score[case.kind, case.flawed, right[case.id]] += 1
        if show and not right[case.id]:
            said = ", ".join(each.rule for each in case.findings)
            print(f"  {'missed' if case.flawed else 'false'} {case.id} {said}")
    for kind in sorted({case.kind for case in cases}):
        found = score[kind, True, True]
        false = score[kind, False, False]
        print(
            f"  {kind:12} found {found} of {found + score[kind, True, False]}, false {false}"
        )
    flawed = [case.id for case in cases if case.flawed]
    harmless = [case.id for case in cases if not case.flawed]
    print(
        f"{file.stem}: found {sum(right[each] for each in flawed)} of {len(flawed)},"
        f" false {sum(not right[each] for each in harmless)} of {len(harmless)}"
    )
    if write:
        write_wrong(file.parent, file.stem, right)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("sets", nargs="*", type=Path)
    chosen = parser.parse_args()
    for file in chosen.sets or sorted(FOLDER.glob("*.toml")):
        measure(file, show=chosen.wrong, write=chosen.write)


if __name__ == "__main__":
    main()
