"""Measure reviews of any size: seconds, processor time and peak memory, and how time grows with the change.

    python benchmarks/sizes.py [--only NAME] [--keep FOLDER]

Every repository is generated (git-fast-import(1)); with --keep it is made once and reused. `MB` is the peak of the
process itself, `most` that of its biggest child: git, or a copy that examines files (reviewers/workers.py).
"""

import argparse
import math
import os
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from review import GUARD, function, git

IDENTITY = b"Bench <bench@example.org> 1700000000 +0000"


@dataclass(frozen=True)
class Size:
    """A repository, how it is made, and the command that reviews it."""

    name: str
    make: Callable[[Path], None]
    command: tuple[str, ...]
    added: int


def fast_import(path: Path, stream: Iterator[bytes]) -> None:
    """Make a repository from a stream of commands."""
    path.mkdir(parents=True)
    git(path, "init", "-q", "-b", "main")
    process = subprocess.Popen(
        ("git", "fast-import", "--quiet"), cwd=path, stdin=subprocess.PIPE
    )
    assert process.stdin
    for piece in stream:
        process.stdin.write(piece)
    process.stdin.close()
    if process.wait():
        raise SystemExit(f"git fast-import failed in {path}")
    git(path, "read-tree", "main")


def commit(message: str) -> bytes:
    """Return the head of a commit on main."""
    return b"commit refs/heads/main\ncommitter %s\ndata %d\n%s\n" % (
        IDENTITY,
        len(message),
        message.encode(),
    )


def file(path: str, body: bytes) -> bytes:
    """Return one file of a commit."""
    return b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(body), body)


def module(rng: random.Random, lines: int) -> bytes:
    """Return a module of so many lines."""
    body = ['"""A module."""', ""]
    while len(body) < lines:
        body += function(rng)
    return ("\n".join(body[:lines]) + "\n").encode()


def add_files(files: int, lines: int) -> Callable[[Path], None]:
    """Make one commit that adds so many files of so many lines to an almost empty repository."""

    def stream() -> Iterator[bytes]:
        rng = random.Random(files)
        yield commit("Start") + file("README.md", b"# A repository\n") + commit("All of it")
        for number in range(files):
            yield file(f"lib/d{number % 100}/module_{number}.py", module(rng, lines))

    return lambda path: fast_import(path, stream())


def among_many(files: int, changed: int) -> Callable[[Path], None]:
    """Make a commit that changes a few of very many files."""

    def stream() -> Iterator[bytes]:
        rng = random.Random(files)
        yield commit("Start")
        for number in range(files):
            yield file(f"d{number % 500}/file_{number}.txt", b"text %d\n" % number)
        yield commit("A few")
        for number in range(changed):
            yield file(f"d{number}/file_{number}.py", module(rng, 50))

    return lambda path: fast_import(path, stream())


def one_blob(megabytes: int) -> Callable[[Path], None]:
    """Make a commit with one file of many megabytes, and one of a few lines."""

    def stream() -> Iterator[bytes]:
        rng = random.Random(megabytes)
        piece = rng.randbytes(1 << 20)
        yield commit("Start") + file("README.md", b"# A repository\n") + commit("A blob")
        yield file("a.py", module(rng, 50))
        yield b"M 100644 inline big.bin\ndata %d\n" % (megabytes << 20)
        for _ in range(megabytes):
            yield piece
        yield b"\n"

    return lambda path: fast_import(path, stream())


def commits(count: int) -> Callable[[Path], None]:
    """Make many commits of two files each, on top of a first one."""

    def stream() -> Iterator[bytes]:
        rng = random.Random(count)
        yield commit("Start") + file("README.md", b"# A repository\n")
        for number in range(count):
            yield commit(f"Change the module {number % 500}")
            yield file(f"lib/module_{number % 500}.py", module(rng, 20))
            yield file(f"notes/n{number}.md", b"A note about %d.\n" % number)

    return lambda path: fast_import(path, stream())


LAST = (GUARD, "review", "--range", "main~1..main", "--format", "json")
SIZES = (
    Size("100 files, 50,000 lines", add_files(100, 500), LAST, 50_000),
    Size("1,000 files, 200,000 lines", add_files(1_000, 200), LAST, 200_000),
    Size("5,000 files, 1,000,000 lines", add_files(5_000, 200), LAST, 1_000_000),
    Size("10,000 files of 5 lines", add_files(10_000, 5), LAST, 50_000),
    Size("10 of 200,000 files", among_many(200_000, 10), LAST, 500),
    Size("a blob of 300 MB", one_blob(300), LAST, 50),
    Size("500 commits", commits(500), (*LAST[:3], "main~499..main", *LAST[4:]), 10_500),
    Size(
        "5,000 commits", commits(5_000), (*LAST[:3], "main~4999..main", *LAST[4:]), 105_000
    ),
)
GROWTH = (
    ("1,000 files, 200,000 lines", "5,000 files, 1,000,000 lines"),
    ("500 commits", "5,000 commits"),
)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="the sizes whose name holds this")
    parser.add_argument("--keep", type=Path, help="where the repositories stay")
    given = parser.parse_args()
    env = {
        k: v
        for k, v in os.environ.items()
        if k not in ("PYTHONDONTWRITEBYTECODE", "SKIP", "CLI_GUARD")
    }
    spent: dict[str, float] = {}
    print(f"{'':32}{'s':>8}{'cpu s':>8}{'MB':>7}{'most':>7}{'exit':>6}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for size in SIZES:
            if given.only not in size.name:
                continue
            path = (given.keep or Path(scratch)) / size.name.replace(" ", "-").replace(
                ",", ""
            )
            if not path.exists():
                size.make(path)
            spent[size.name] = measure(size, path, env)
    for small, big in GROWTH:
        if small in spent and big in spent:
            lines = {size.name: size.added for size in SIZES}
            exponent = math.log(spent[big] / spent[small]) / math.log(
                lines[big] / lines[small]
            )
            print(
                f"from {small} to {big}: processor time grows by the power of {exponent:.2f}"
            )


def measure(size: Size, path: Path, env: dict[str, str]) -> float:
    """Run one review and print its cost; return the seconds of processor time, copies and git included."""
    started = time.perf_counter()
    process = subprocess.Popen(
        size.command,
        cwd=path,
        env=env,
        stdout=subprocess.DEVNULL,
    )
    own = 0.0
    status = None
    while status is None:
        own = max(own, peak_of(process.pid))
        time.sleep(0.02)
        done, code, usage = os.wait4(process.pid, os.WNOHANG)
        status = os.waitstatus_to_exitcode(code) if done else None
    cpu = usage.ru_utime + usage.ru_stime
    seconds = time.perf_counter() - started
    most = usage.ru_maxrss / 1024
    print(
        f"{size.name:32}{seconds:8.1f}{cpu:8.1f}{own:7.0f}{most:7.0f}{status:6}", flush=True
    )
    return cpu


def peak_of(pid: int) -> float:
    """Return the peak memory of a process so far in MB; 0 for one that has ended (proc_pid_status(5))."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return max(
        (int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")),
        default=0,
    )


if __name__ == "__main__":
    main()
