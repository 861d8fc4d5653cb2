"""Measure `cli-guard scan --history`: commits a second with 1 and 2 processes, memory, findings beside gitleaks.

    python benchmarks/scan.py [--commits 100000] [--keep FOLDER]

The history is written by `git fast-import`: source files of some kinds that grow and change by a few lines a commit,
branches that are merged, and planted keys, most of them removed again. gitleaks is taken from PATH, if it is there.
Ratios are those of one run on one machine, one after the other.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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
    files = {}
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
    with subprocess.Popen(["git", "-C", folder, "fast-import", "--quiet"], stdin=subprocess.PIPE) as process:
        assert process.stdin
        for piece, secret in history(commits):
            process.stdin.write(piece)
            if secret:
                planted.append(secret.split("'")[1])
        process.stdin.close()
    assert process.returncode == 0
    return planted


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    generate(folder, int(sys.argv[2]))
