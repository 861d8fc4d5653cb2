"""Measure `cli-guard scan --history`: commits a second with 1 and 2 processes, memory, findings beside gitleaks.

    python benchmarks/scan.py [--commits 100000] [--keep FOLDER]

The history is written by `git fast-import`: source files of some kinds that grow and change by a few lines a commit,
branches that are merged, and planted keys, most of them removed again. gitleaks is taken from PATH, if it is there.
Ratios are those of one run on one machine, one after the other.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from review import GUARD

FILES = 400
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


def measure(*command: str) -> tuple[float, float, str]:
    """Run a command; return seconds, the peak of its largest process in MB, and its standard output."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        out.seek(0)
        # A process that has waited for its children reports the largest of them as well.
        return time.perf_counter() - begun, usage.ru_maxrss / 1024, out.read()


def scan(folder: Path, jobs: int) -> tuple[float, float, dict[str, Any]]:
    command = (
        "scan",
        "--history",
        "--fresh",
        "--jobs",
        str(jobs),
        "--format",
        "json",
        str(folder),
    )
    seconds, megabytes, out = measure(GUARD, *command)
    return seconds, megabytes, json.loads(out)["scans"][0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        base = given.keep or Path(scratch)
        rows = {}
        for commits in (given.commits // 10, given.commits):
            folder = base / f"history-{commits}.git"
            planted = keys_in(commits) if folder.exists() else generate(folder, commits)
            for jobs in (1, 2):
                seconds, megabytes, report = scan(folder, jobs)
                rate = report["coverage"]["files"] / seconds
                rows[commits, jobs] = rate
                print(
                    f"{commits:>7,} commits, {jobs} processes: {rate:,.0f} a second, {megabytes:,.0f} MB at most"
                )
            print(
                f"{commits:>7,} commits: 2 processes do {rows[commits, 2] / rows[commits, 1]:.2f} times as many"
            )
            print(
                f"{commits:>7,} commits: {len(planted)} keys planted, {len(report['findings'])} found",
                end="",
            )
            if gitleaks := shutil.which("gitleaks"):
                listed = base / "gitleaks.json"
                options = (
                    "git",
                    "--no-banner",
                    "--exit-code",
                    "0",
                    "--report-path",
                    str(listed),
                )
                seconds, _, _ = measure(gitleaks, *options, str(folder))
                secrets = {each["Secret"] for each in json.loads(listed.read_text())}
                print(
                    f"; gitleaks: {len(secrets & set(planted))} in {seconds:,.0f} s", end=""
                )
            print()


def keys_in(commits: int) -> list[str]:
    """Return the keys that `generate` plants."""
    return [secret.split("'")[1] for _, secret in history(commits) if secret]


if __name__ == "__main__":
    main()
