"""Measure which protections are missed when a change takes them away, and how often a harmless change is reported.

    python -m benchmarks.protections --fixes FILE REPOSITORY ...
    python -m benchmarks.protections --random N [--newest M] REPOSITORY ...
    both [--show] [--only WORD] [--without RULE]

--fixes reads JSON lines with `repo` (the folder's name, OWNER+NAME), `fix_commit`, `files`, `kind` and `sort`. Each fix
is taken back in these files and counts as found if a finding of the reviewer is near a line of the change; the fix
itself (forward) must have none.

--random takes N commits without a merge, spread over the M newest of each repository (2,000), and counts those with a
finding. A repository is a Git folder, or a folder that holds one as `repo`. The rules alone decide, in this process;
with --show each finding is printed. --without leaves out what one rule finds: `protection-warned` is the rule of words.
"""

import argparse
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cli_guard.errors import GitError
from cli_guard.git.repository import GitRepository
from cli_guard.model import ChangeSet, FileChange, Finding, Severity
from cli_guard.repository.protocol import Repository
from cli_guard.reviewers.protections import review
from cli_guard.reviewers.review_input import Limits, ReviewInput

NEWEST = 2_000
NEAR_LINES = 6
STOPPING = (Severity.CRITICAL, Severity.HIGH)


def open_repository(place: Path) -> Repository:
    """Return the repository at a path, or in its folder `repo`."""
    inner = place / "repo"
    folder = inner if inner.is_dir() else place
    env = {**os.environ, "GIT_DIR": str(folder)}
    return GitRepository.discover(folder, env)


def findings_between(
    repository: Repository, base: str, tip: str, files: Sequence[str] = ()
) -> tuple[tuple[Finding, ...], ChangeSet]:
    """Return what the reviewer says of the step from one commit to another, of some files or of all."""
    limits = Limits()
    with repository.blobs(limits.file_chars) as blobs:
        reader = repository.changes(blobs, limits.bounds)
        changes = next(iter(reader.nets([(tip, (base,))])))
        if files:
            kept = tuple(change for change in changes if change.path in files)
            changes = ChangeSet(kept)
        subject = ReviewInput("commit", changes, blobs.contents(tip))
        return review(subject).findings, changes


def leave_out(findings: Iterable[Finding], rule: str) -> list[Finding]:
    return [each for each in findings if each.rule != rule]


def is_near(finding: Finding, changes: Iterable[FileChange]) -> bool:
    """Return whether a finding is at lines that the change touches, or right beside a place where it removed some."""
    for change in changes:
        for hunk in change.hunks if change.path == finding.path else ():
            last = hunk.new_start + len(hunk.added)
            if hunk.new_start - NEAR_LINES <= (finding.line or 0) <= last + NEAR_LINES:
                return True
    return False


def describe(finding: Finding) -> str:
    """Return a finding on a few lines."""
    stop = "REVIEW " if finding.severity in STOPPING else ""
    head = f"  {stop}{finding.rule} {finding.path}:{finding.line} {finding.message}"
    return "\n".join((head, *(f"      {line}" for line in finding.evidence.split("\n"))))


def measure_fixes(
    rows: Iterable[Mapping[str, Any]],
    places: Mapping[str, Path],
    *,
    show: bool,
    without: str,
) -> None:
    """Print how many of the fixes are found when they are taken back, and how many are reported as they are."""
    score: Counter[str] = Counter()
    for row in rows:
        if row["repo"] not in places:
            score["not given"] += 1
            continue
        repository = open_repository(places[row["repo"]])
        fix = row["fix_commit"]
        before = repository.git.text("rev-parse", f"{fix}^").strip()
        found, changes = findings_between(repository, fix, before, row["files"])
        hits = [each for each in leave_out(found, without) if is_near(each, changes)]
        forward = leave_out(findings_between(repository, before, fix)[0], without)
        sort = row["sort"]
        score.update({f"{sort} of": 1, f"{sort} found": bool(hits)})
        score[f"{sort} stopped"] += any(each.severity in STOPPING for each in hits)
        score.update({"forward of": 1, "forward found": bool(forward)})
        score["forward stopped"] += any(each.severity in STOPPING for each in forward)
        if show:
            state = "found" if hits else "MISSED"
            print(
                f"{row.get('id', '')} {row['repo']} {fix[:9]} {row['kind']} {sort}: {state}"
            )
            for each in hits:
                print(describe(each))
            for each in forward:
                print("  FORWARD", describe(each))
    print(*(f"{name}: {count}" for name, count in sorted(score.items())), sep="\n")


def random_commits(repository: Repository, count: int, newest: int) -> list[str]:
    """Return commits without a merge, spread evenly over the newest."""
    log = repository.git.text(
        "rev-list", "--no-merges", "--min-parents=1", f"-{newest}", "HEAD"
    )
    commits = log.split()
    return commits[:: max(len(commits) // count, 1)][:count]


def measure_random(
    places: Iterable[Path], count: int, newest: int, *, show: bool, without: str
) -> None:
    """Print how many commits of each repository have a finding."""
    total: Counter[str] = Counter()
    rules: Counter[str] = Counter()
    for place in places:
        repository = open_repository(place)
        score: Counter[str] = Counter()
        for commit in random_commits(repository, count, newest):
            try:
                every, _ = findings_between(repository, f"{commit}^", commit)
            except GitError:  # a snapshot may lack objects
                score["unreadable"] += 1
                continue
            found = leave_out(every, without)
            score.update({"of": 1, "found": bool(found)})
            score["stopped"] += any(each.severity in STOPPING for each in found)
            rules.update({each.rule for each in found})
            if show and found:
                subject = repository.git.text("log", "-1", "--format=%s", commit).strip()
                print(f"{place.name} {commit[:10]} {subject[:90]}")
                print(*map(describe, found), sep="\n")
        print(
            f"{place.name}: {score['found']} of {score['of']}, stopped {score['stopped']}",
            flush=True,
        )
        total += score
    print(*(f"  {name} {number}" for name, number in rules.most_common()), sep="\n")
    share = 100 / max(total["of"], 1)
    print(
        f"random commits: {total['of']}, with a finding {total['found']} ({share * total['found']:.2f} %),"
        f" stopped {total['stopped']} ({share * total['stopped']:.2f} %)"
    )


def read_rows(file: Path, only: str) -> Iterator[Mapping[str, Any]]:
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        if not only or only in row.values():
            yield row


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--fixes", type=Path)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--newest", type=int, default=NEWEST)
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="", metavar="RULE")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("repositories", nargs="+", type=Path)
    chosen = parser.parse_args()
    if chosen.fixes:
        places = {place.name: place for place in chosen.repositories}
        rows = read_rows(chosen.fixes, chosen.only)
        measure_fixes(rows, places, show=chosen.show, without=chosen.without)
    if chosen.random:
        measure_random(
            chosen.repositories,
            chosen.random,
            chosen.newest,
            show=chosen.show,
            without=chosen.without,
        )


if __name__ == "__main__":
    main()
