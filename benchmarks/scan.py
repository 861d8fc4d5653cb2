"""Measure `cli-guard scan --history`: time, CPU and memory with 1 and 2 processes, findings beside gitleaks.

    python benchmarks/scan.py [--commits 100000] [--keep FOLDER]

The history is written by `git fast-import`: source files of some kinds that grow and change by a few lines a commit,
branches that are merged, and planted keys, most of them removed again. gitleaks is taken from PATH, if it is there.
Ratios are those of one run on one machine, one after the other.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from review import GUARD

FILES = 400
WATCH_SECONDS = 0.02
LINES_A_FILE = 120
PLANT_EVERY = 1_000
WORDS = "open read value index client result buffer total parse config token_count keyboard secretary passage".split()
ENDINGS = ("py", "ts", "go", "java", "md", "yaml")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"


def line_of(rng: random.Random) -> str:
    one, two, three = rng.choices(WORDS, k=3)
    return f"    {one}_{rng.randrange(1000)} = {two}({three}, {rng.randrange(10**6)})  # {rng.choice(WORDS)}"


def key_of(rng: random.Random, number: int) -> str:
    """A key of a provider, put together here, so that no file of ours holds one."""
    upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    forms = (
        lambda: "aws_key = '" + "AKIA" + "".join(rng.choices(upper, k=16)) + "'",
        lambda: "token = 'ghp" + "_" + "".join(rng.choices(LETTERS, k=36)) + "'",
        lambda: (
            "slack: 'xoxb"
            + f"-{rng.randrange(10**11, 10**12)}-{rng.randrange(10**11, 10**12)}-"
            + "".join(rng.choices(LETTERS, k=24))
            + "'"
        ),
    )
    return forms[number % len(forms)]()


def history(commits: int, seed: int = 7) -> Iterator[tuple[bytes, str | None]]:
    """Yield the stream of git-fast-import(1) in pieces, each with the key that it plants."""
    rng = random.Random(seed)
    files: dict[str, list[str]] = {}
    mark = 0
    planted: list[tuple[str, str]] = []
    number = 0
    side: list[int] = []
    for at in range(1, commits + 1):
        mark += 1
        merges = f"merge :{side.pop()}\n" if side and at % 50 == 25 else ""
        branch = "refs/heads/main"
        text = f"Change {rng.choice(WORDS)} {at}\n"
        out = [
            f"commit {branch}\nmark :{mark}\ncommitter A U Thor <a@example.org> {1_600_000_000 + at * 60} +0000\n"
            f"data {len(text)}\n{text}\n{merges}"
        ]
        secret = None
        for _ in range(rng.randrange(1, 3)):
            path = f"src/d{rng.randrange(20)}/f{rng.randrange(FILES)}.{ENDINGS[rng.randrange(len(ENDINGS))]}"
            lines = files.setdefault(path, [line_of(rng) for _ in range(20)])
            for _ in range(rng.randrange(1, 4)):
                lines[rng.randrange(len(lines))] = line_of(rng)
            if len(lines) < LINES_A_FILE:
                lines.append(line_of(rng))
            if at % PLANT_EVERY == 500 and secret is None:
                secret = key_of(rng, number)
                number += 1
                planted.append((path, secret))
                lines.insert(0, secret)
            elif planted and at % PLANT_EVERY == 700:
                path, gone = planted[-1]
                lines = files[path] = [line for line in files[path] if line != gone]
            data = "\n".join(lines) + "\n"
            out.append(f"M 100644 inline {path}\ndata {len(data)}\n{data}\n")
        if at % 50 == 10:
            # A commit beside the line, merged some commits later.
            mark += 1
            side.append(mark)
            data = line_of(rng) + "\n"
            out.append(
                f"commit refs/heads/side\nmark :{mark}\ncommitter B <b@example.org> {1_600_000_000 + at * 60} +0000\n"
                f"data 5\nSide\n\nfrom :{mark - 1}\nM 100644 inline side/f{at}.py\ndata {len(data)}\n{data}\n"
            )
        yield "".join(out).encode(), secret


def generate(folder: Path, commits: int) -> list[str]:
    """Write a bare repository with so many commits; return the planted keys."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", folder], check=True)
    planted = []
    with subprocess.Popen(
        ["git", "-C", folder, "fast-import", "--quiet"], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin
        for piece, secret in history(commits):
            process.stdin.write(piece)
            if secret:
                planted.append(secret.split("'")[1])
        process.stdin.close()
    assert process.returncode == 0
    return planted


@dataclass(frozen=True)
class Spent:
    """What a command took: CPU and seconds with all of its processes, the peak of it and of its Git in MB."""

    cpu: float
    seconds: float
    own_mb: float
    git_mb: float
    code: int
    out: str


def measure(*command: str) -> Spent:
    """Run a command to its end."""
    begun = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        peaks = {"own": 0.0, "git": 0.0}
        while process.poll() is None:
            watch_memory(process.pid, "own", peaks)
            time.sleep(WATCH_SECONDS)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        out.seek(0)
        return Spent(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            time.perf_counter() - begun,
            peaks["own"],
            peaks["git"],
            process.returncode,
            out.read(),
        )


def watch_memory(pid: int, kind: str, peaks: dict[str, float]) -> None:
    """Note the peak of a process so far, and those of its descendants."""
    folder = Path("/proc", str(pid))
    try:
        status = dict(
            line.split(":\t", 1) for line in (folder / "status").read_text().splitlines()
        )
        children = (folder / "task" / str(pid) / "children").read_text().split()
    except OSError:  # it has ended
        return
    if status["Name"] == "git":
        kind = "git"
    peak = int(status.get("VmHWM", "0 kB").split()[0]) / 1024
    peaks[kind] = max(peaks[kind], peak)
    for child in children:
        watch_memory(int(child), kind, peaks)


def scan(folder: Path, jobs: int = 1) -> Spent:
    """Scan a history anew, the state in a folder of its own."""
    with tempfile.TemporaryDirectory() as state:
        options = ("--history", "--fresh", "--jobs", str(jobs), "--state", state)
        return measure(GUARD, "scan", *options, "--format", "json", str(folder))


def gitleaks(program: str, folder: Path, listed: Path) -> Spent:
    """Scan a history by gitleaks, whose findings go to a file."""
    options = ("--no-banner", "--exit-code", "0", "--report-path", str(listed))
    return measure(program, "git", *options, str(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = given.keep or Path(scratch)
        for commits in (given.commits // 10, given.commits):
            folder = base / f"history-{commits}.git"
            planted = keys_in(commits) if folder.exists() else generate(folder, commits)
            for jobs in (1, 2):
                spent = scan(folder, jobs)
                report = json.loads(spent.out)["scans"][0]
                print(
                    f"{commits:>7,} commits, {jobs} processes: {spent.seconds:.0f} s, CPU {spent.cpu:.0f} s, "
                    f"{spent.own_mb:.0f} MB, Git {spent.git_mb:.0f} MB; "
                    f"{len(report['findings'])} of {len(planted)} planted keys found"
                )
            if program := shutil.which("gitleaks"):
                listed = base / "gitleaks.json"
                spent = gitleaks(program, folder, listed)
                secrets = {each["Secret"] for each in json.loads(listed.read_text())}
                print(
                    f"gitleaks: CPU {spent.cpu:.0f} s, {len(secrets & set(planted))} found"
                )


def keys_in(commits: int) -> list[str]:
    """Return the keys that `generate` plants."""
    return [secret.split("'")[1] for _, secret in history(commits) if secret]


if __name__ == "__main__":
    main()
