"""Compare the judge of commands with the real bash, over a great many scripts.

    python benchmarks/oracle.py [--scripts N] [--seed N] [--jobs N] [--every N] [--shrink] [--show N]

A script is judged, and run by bash in a namespace where it can do no harm (tests/bash_oracle). Each command that ran
and each file that was opened for writing must be one that the judge has named, or the judge must not allow the
script. The scripts are corners of bash, real commands, steps of workflows in fetched repositories (bare ones in a
folder `.mirror` above), scripts by a grammar, and all of them with a little damage. Of those that are not allowed one
of N (`--every`) is run too; what differs there is counted and is no failure. `--shrink` leaves out of each script
shown what makes no difference. The same seed gives the same scripts. The exit code is 1 if there was a failure.
"""

import argparse
import multiprocessing
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from bash_oracle.checking import Failure, Result, check, shrink  # noqa: E402 - kept beside the tests that use it
from bash_oracle.compare import Sort  # noqa: E402
from bash_oracle.runner import NoNamespace, RealBash  # noqa: E402
from bash_oracle.scripts import list_seeds, make_scripts  # noqa: E402

CHUNK = 1_000
LONGEST_STEP = 2_000


def read_steps(folder: Path) -> list[str]:
    """Return the `run` steps of the workflows in all bare repositories below a folder."""
    steps: dict[str, None] = {}
    for repository in sorted(each.parent for each in folder.glob("*/*/HEAD")):
        git = ["git", f"--git-dir={repository}"]
        listed = subprocess.run(
            [*git, "ls-tree", "-r", "--name-only", "HEAD"], capture_output=True, text=True
        )
        for path in listed.stdout.splitlines():
            if path.startswith(".github/workflows/") or path.endswith("/workflow.yml"):
                shown = subprocess.run([*git, "show", f"HEAD:{path}"], capture_output=True)
                steps |= dict.fromkeys(find_steps(shown.stdout))
    return list(steps)


def find_steps(workflow: bytes) -> Iterator[str]:
    try:
        remaining: list[Any] = [yaml.safe_load(workflow)]
    except yaml.YAMLError:
        return
    while remaining:
        node = remaining.pop()
        if isinstance(node, dict):
            step = node.get("run")
            if isinstance(step, str) and len(step) <= LONGEST_STEP:
                yield step
            remaining += node.values()
        elif isinstance(node, list):
            remaining += node


def check_chunk(
    chunk: int, *, scripts: int, seed: int, every: int, steps: list[str]
) -> Result:
    """Check one chunk; the seeds as they are come first, then scripts that are made from the seed and the chunk."""
    first = chunk * CHUNK
    last = min(first + CHUNK, scripts)
    seeds = list_seeds(steps)[first:last]
    made = make_scripts(seed * 1_000_003 + chunk, last - first - len(seeds), steps)
    with RealBash() as bash:
        result = check(bash, [*seeds, *made], first=first, sample=every)
        result.seconds = bash.cpu
        return result


def show(failures: list[Failure], shown: int, shrinking: bool) -> None:
    """Print some failures of each sort and kind, the worst sort first."""
    groups: dict[tuple[Sort, str], list[Failure]] = {}
    for failure in failures:
        worst = min((each.sort for each in failure.differences), key=list(Sort).index)
        groups.setdefault((worst, failure.kind), []).append(failure)
    with RealBash() as bash:
        for (sort, kind), group in sorted(
            groups.items(), key=lambda item: list(Sort).index(item[0][0])
        ):
            print(f"\n{sort}: {kind}, {len(group):,} scripts")
            for failure in sorted(group, key=lambda each: len(each.script))[:shown]:
                smaller = shrink(bash, failure) if shrinking else failure
                print(
                    f"    {smaller.script!r}  ({smaller.profile}, number {smaller.number})"
                )
                print(f"        ran     {smaller.differences[0]}")
                print(f"        judged  {smaller.named}")


def main() -> None:
    """Check them all and print the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scripts", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--show", type=int, default=3)
    parser.add_argument("--shrink", action="store_true")
    chosen = parser.parse_args()
    try:
        RealBash().close()
    except NoNamespace as problem:
        sys.exit(f"not measured: {problem}")
    steps = [step for folder in ROOT.parents for step in read_steps(folder / ".mirror")]
    started = time.perf_counter()
    work = partial(
        check_chunk,
        scripts=chosen.scripts,
        seed=chosen.seed,
        every=chosen.every,
        steps=steps,
    )
    total = Result()
    with multiprocessing.Pool(chosen.jobs) as pool:
        for result in pool.imap_unordered(work, range(-(-chosen.scripts // CHUNK))):
            total.add(result)
    took = time.perf_counter() - started
    show(total.failures, chosen.show, chosen.shrink)
    by_sort = Counter(
        each.sort for failure in total.failures for each in set(failure.differences)
    )
    print(
        f"\n{chosen.scripts:,} scripts of seed {chosen.seed} ({len(steps):,} steps of workflows among the seeds)"
    )
    print(
        "  ".join(
            f"{verdict} {count:,}" for verdict, count in sorted(total.verdicts.items())
        )
    )
    print(f"{total.runs:,} runs, {total.killed:,} of them ended when their time was up")
    print(
        f"{took:,.0f} s, {chosen.scripts / took:,.0f} scripts a second; {total.seconds:,.0f} s of bash's processor time"
    )
    others = (
        "  ".join(f"{verdict} {count:,}" for verdict, count in sorted(total.others.items()))
        or "none"
    )
    print(
        f"scripts with differences that are not allowed (one of {chosen.every} was run): {others}"
    )
    print("  ".join(f"{sort}: {by_sort[sort]:,}" for sort in Sort if by_sort[sort]))
    print(f"scripts with differences under allow: {len(total.failures):,}")
    sys.exit(bool(total.failures))


if __name__ == "__main__":
    main()
