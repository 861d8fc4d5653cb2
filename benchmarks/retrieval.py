"""Measure how often the right file comes first in the answer to a question about a repository, and the time.

    python -m benchmarks.retrieval [--half world|development|kept|tuning|held-out] [--wrong] [--write] [--check]
        [--packages DIR] [--only NAME] [--size] [--model NAME [--base-url URL]]

Asks the questions of fixtures/questions about their packages: source archives with tests, documents and changelogs. The
archives are kept in DIR, and fetched with pip or npm if they are missing; a package that cannot be fetched is named and
skipped; those of `world` are about the small service of fixtures/shell/world. Printed for each half, package and kind
of question: questions whose right file is first, and among the first three, where the answer is not "Not found";
answers that quote what they should (`shows`); questions without an answer for which none was given. --wrong prints each
miss (of the held-out half only with --half held-out, as it must not guide tuning). --write lists what is wrong in
`wrong.json` beside the questions; --check ends with 1 if anything else is (of `world` a test does that). --size asks
about 5,000 files and 40 MB. --model asks the questions again with a language model (provider:name, double:oracle or
double:useless; see benchmarks/retrieval_model.py), and prints with and without, tokens and money.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.known_wrong import compare_wrong, write_wrong
from benchmarks.packages import KEPT, read_archive, texts_of
from cli_guard.assistant.retrieval import SearchResult, find

QUESTIONS = Path(__file__).parent.parent / "fixtures" / "questions"
# The package that is no package but the small service.
SERVICE = "world"
HALVES = ("world", "development", "kept", "tuning", "held-out")
SIZE_FILES = 5_000
SIZE_CHARS = 40_000_000


@dataclass(frozen=True)
class Asked:
    """A question about a package ("pypi:name==version") and the paths that answer it; none if nothing does.

    `shows` are texts that the answer quotes, `kind` is "symbol", "concept", "setting", "test", "error" or unknown ("").
    """

    package: str
    question: str
    paths: tuple[str, ...]
    kind: str = ""
    shows: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answered:
    """The answer to a question, and the seconds it took."""

    asked: Asked
    found: SearchResult
    seconds: float

    @property
    def files(self) -> list[str]:
        """Return the files of the answer in order, each once."""
        return list(dict.fromkeys(place.path for place in self.found.places))

    def right(self, among: int) -> bool:
        """Return whether a right file is among the first ones, or none was given if there is no right one."""
        if not self.asked.paths:
            return self.found.confidence == "none"
        return self.found.confidence != "none" and bool(
            set(self.asked.paths) & set(self.files[:among])
        )

    @property
    def quotes(self) -> bool:
        """Return whether the answer shows all that it should."""
        shown = "\n".join(
            (
                *(place.text for place in self.found.places),
                *(f"{fact.name} {fact.value}" for fact in self.found.facts),
            )
        )
        return self.found.confidence != "none" and all(
            each in shown for each in self.asked.shows
        )


def questions(half: str) -> list[Asked]:
    """Read the questions of one half."""
    rows = map(json.loads, (QUESTIONS / f"{half}.jsonl").read_text("utf-8").splitlines())
    return [
        Asked(
            row["package"],
            row["question"],
            tuple(row["paths"]),
            row.get("kind", ""),
            tuple(row.get("shows") or ()),
        )
        for row in rows
    ]


def texts_for(package: str, folder: Path) -> dict[str, str]:
    """Return the texts that the questions about a package are asked of. Raises OSError, SubprocessError, TarError."""
    if package != SERVICE:
        return texts_of(read_archive(package, folder))
    root = QUESTIONS.parent / "shell" / "world"
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in files}


def answers(asked: list[Asked], folder: Path) -> Iterator[Answered]:
    """Yield the answers, package by package."""
    for package in dict.fromkeys(each.package for each in asked):
        try:
            texts = texts_for(package, folder)
        except (OSError, subprocess.SubprocessError, tarfile.TarError) as error:
            print(f"skipped {package}: {error}")
            continue
        for each in asked:
            if each.package == package:
                started = time.perf_counter()
                found = find(each.question, texts)
                yield Answered(each, found, time.perf_counter() - started)


def judge(answered: Iterable[Answered]) -> dict[str, bool]:
    """Return by package and question whether the right file came first and the answer quotes what it should."""
    return {
        f"{each.asked.package}: {each.asked.question}": each.right(1)
        and (each.quotes or not each.asked.paths)
        for each in answered
    }


def print_table(half: str, answered: list[Answered]) -> None:
    """Print first, among three, quoted, none, and time; by package, by kind and in all."""
    heads = ("first", "of three", "quoted", "none", "ms", "slowest")
    print(f"\n{half + ' half':34}" + "".join(f"{head:>11}" for head in heads))
    for package in dict.fromkeys(each.asked.package for each in answered):
        print_row(package, [each for each in answered if each.asked.package == package])
    for kind in dict.fromkeys(each.asked.kind for each in answered if each.asked.kind):
        print_row(kind, [each for each in answered if each.asked.kind == kind])
    print_row("all", answered)


def print_row(name: str, answered: list[Answered]) -> None:
    """Print one line of the table."""
    known = [each for each in answered if each.asked.paths]
    absent = [each for each in answered if not each.asked.paths]
    quoting = [each for each in known if each.asked.shows]
    cells = [
        share_of(known, [each.right(1) for each in known]),
        share_of(known, [each.right(3) for each in known]),
        share_of(quoting, [each.quotes for each in quoting]),
        share_of(absent, [each.right(1) for each in absent]),
    ]
    times = [each.seconds * 1000 for each in answered]
    cells += [f"{statistics.median(times):.0f}", f"{max(times):.0f}"]
    print(f"{name:34}" + "".join(f"{cell:>11}" for cell in cells))


def share_of(asked: list[Answered], right: list[bool]) -> str:
    """Return `12/20 60%`, or a dash where nothing of the kind was asked."""
    return f"{sum(right)}/{len(asked)} {sum(right) / len(asked):.0%}" if asked else "-"


def print_confidence(answered: list[Answered]) -> None:
    """Print how often each confidence was right: the share should fall from high to low."""
    for confidence in ("high", "medium", "low"):
        some = [
            each
            for each in answered
            if each.asked.paths and each.found.confidence == confidence
        ]
        if some:
            print(
                f"  confidence {confidence:8}{sum(each.right(1) for each in some):>4} of {len(some)} right"
            )


def print_wrong(answered: list[Answered]) -> None:
    """Print each question whose right file did not come first, with the files that came."""
    for each in answered:
        if not each.right(1):
            rank = next(
                (n for n, path in enumerate(each.files, 1) if path in each.asked.paths), 0
            )
            print(
                f"{each.asked.package}  {each.asked.kind}  {each.asked.question}  [{each.found.confidence}]"
            )
            print(
                f"    right: {', '.join(each.asked.paths) or 'none'} (rank {rank or '-'})"
            )
            for place in each.found.places[:3]:
                print(
                    f"    {place.score:8.3f} {place.path}:{place.line} {place.kind} {place.symbol}"
                )


def print_size(folder: Path) -> None:
    """Print the time of a question over 5,000 files and 40 MB, made of the texts of the packages."""
    pool = []
    for package in dict.fromkeys(
        each.package for half in HALVES for each in questions(half)
    ):
        try:
            pool += sorted(texts_for(package, folder).items())
        except (OSError, subprocess.SubprocessError, tarfile.TarError):
            continue
    texts: dict[str, str] = {}
    chars = 0
    while pool and len(texts) < SIZE_FILES and chars < SIZE_CHARS:
        for path, text in pool:
            texts[f"part{len(texts) // 500}/{len(texts)}/{path}"] = text
            chars += len(text)
            if len(texts) >= SIZE_FILES or chars >= SIZE_CHARS:
                break
    print(f"\n{len(texts):,} files, {chars / 1e6:.0f} MB")
    for question in (
        "Where are redirects followed?",
        "What is the default timeout and where is it set?",
    ):
        started = time.perf_counter()
        found = find(question, texts)
        print(
            f"{time.perf_counter() - started:6.2f} s  {question}  {found.looked_at:,} looked at"
        )


def print_with_model(answered: list[Answered], chosen: argparse.Namespace) -> None:
    """Ask again with a model, and print both."""
    from benchmarks.retrieval_model import ask_all, print_help

    texts = cache(lambda package: texts_for(package, chosen.packages))
    print_help(chosen.model, list(ask_all(answered, texts, chosen.model, chosen.base_url)))


def main() -> int:
    """Ask and count; return 1 if --check finds an answer lost."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument(
        "--write", action="store_true", help="write what is wrong beside the questions"
    )
    parser.add_argument(
        "--check", action="store_true", help="end with 1 if an answer is lost"
    )
    parser.add_argument("--size", action="store_true")
    parser.add_argument(
        "--model", metavar="NAME", help="provider:name, double:oracle or double:useless"
    )
    parser.add_argument(
        "--base-url", metavar="URL", help="an OpenAI-compatible server for the model"
    )
    parser.add_argument("--only", default="", help="packages with this in their name")
    parser.add_argument("--packages", type=Path, default=KEPT, metavar="DIR")
    chosen = parser.parse_args()
    lost: list[str] = []
    for half in (chosen.half,) if chosen.half else HALVES:
        asked = [each for each in questions(half) if chosen.only in each.package]
        answered = list(answers(asked, chosen.packages))
        if not answered:
            continue
        print_table(half, answered)
        print_confidence(answered)
        if chosen.wrong and (half != "held-out" or chosen.half):
            print_wrong(answered)
        if chosen.write:
            write_wrong(QUESTIONS, half, judge(answered))
        if chosen.check:
            lost += compare_wrong(QUESTIONS, half, judge(answered)).lost
        if chosen.model:
            print_with_model(answered, chosen)
    if chosen.size:
        print_size(chosen.packages)
    for question in lost:
        print(f"lost: {question}")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
