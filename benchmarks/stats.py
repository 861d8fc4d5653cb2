"""Measure `cli-guard stats` over a long audit log: CPU and peak memory.

    python benchmarks/stats.py [--entries 20000]

A commit has ten entries: reviews of its index, some with two findings each, which the last one finds no more.
"""

import argparse
import datetime
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from review import GUARD

from cli_guard.state.audit import START, digest

BEGUN = 1_700_000_000
REVIEWS = 10  # of a commit
RULES = (
    "code-sql-injection",
    "secret-generic-password",
    "drift-stale-reference",
    "refactor-long-function",
)


def write_commits(folder: Path, number: int) -> list[str]:
    """Make a repository with so many commits; return their ids, the oldest first."""
    stream = []
    for at in range(number):
        text = f"Line {at}\n"
        stream.append(
            f"commit refs/heads/main\ncommitter A <a@example.org> {BEGUN + at * 600} +0000\n"
            f"data {len(text)}\n{text}M 100644 inline src/f{at % 300}.py\n"
            f"data {3 * len(text)}\n{3 * text}\n"
        )
    git = ("git", "-C", str(folder))
    subprocess.run((*git, "init", "-q", "-b", "main"), check=True)
    subprocess.run(
        (*git, "fast-import", "--quiet"), input="".join(stream), text=True, check=True
    )
    subprocess.run((*git, "reset", "-q", "--hard", "main"), check=True)
    listed = subprocess.run(
        (*git, "rev-list", "--reverse", "main"), check=True, capture_output=True, text=True
    )
    return listed.stdout.split()


def list_entries(number: int, ids: list[str]) -> Iterator[dict[str, object]]:
    """Yield the entries of an audit log, as a pre-commit review writes them."""
    for at in range(number):
        commit, review = divmod(at, REVIEWS)
        seconds = BEGUN + commit * 600 + review * 50
        found = []
        rule = RULES[commit % len(RULES)]
        path = f"src/f{commit % 300}.py"
        marks = {}
        if at % 3 == 0:
            names = (f"{commit} {line}" for line in (1, 2))
            marks = {
                hashlib.sha256(name.encode()).hexdigest()[:16]: line
                for line, name in enumerate(names, 1)
            }
            found = [
                {
                    "rule": rule,
                    "severity": "high",
                    "decision": "review",
                    "path": path,
                    "lines": marks,
                }
            ]
        when = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
        yield {
            "schema": 1,
            "at": when.isoformat(timespec="seconds"),
            "user": "a",
            "version": "1",
            "event": "pre-commit",
            "decision": "allow",
            "status": "ok",
            "review_id": None,
            "content": f"c{at}",
            "policy": "p",
            "files": 2,
            "rules": {rule: len(marks)} if marks else {},
            "fingerprints": sorted(marks),
            "found": found,
            "suppressed": 0,
            "not_reviewed": 0,
            "ms": 20 + at % 280,
            "place": f"index {ids[commit - 1] if commit else ''}",
            "author": "A <a@example.org>",
        }


def generate(folder: Path, number: int) -> None:
    """Make a repository with so many entries in its audit log."""
    ids = write_commits(folder, -(-number // REVIEWS))
    state = folder / ".git" / "cli-guard"
    state.mkdir(mode=0o700)
    previous = START
    lines = []
    for entry in list_entries(number, ids):
        line = json.dumps({**entry, "previous": previous}, sort_keys=True).encode()
        lines.append(line + b"\n")
        previous = digest(line)
    (state / "audit.jsonl").write_bytes(b"".join(lines))
    (state / "audit.head").write_text(previous + "\n")
    for file in state.iterdir():
        file.chmod(0o600)


def measure(number: int) -> tuple[float, float]:
    """Return the seconds of CPU and the MB of `cli-guard stats` over so many entries, without a server."""
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), number)
        env = {**os.environ, "CLI_GUARD_SERVER": "0"}
        process = subprocess.Popen(
            (GUARD, "stats"), cwd=name, env=env, stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(
                f"cli-guard stats ended with {os.waitstatus_to_exitcode(status)}"
            )
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--entries", type=int, default=20_000)
    number = parser.parse_args().entries
    cpu, peak = measure(number)
    print(f"{number:,} entries: CPU {cpu:.2f} s, {peak:.0f} MB")


if __name__ == "__main__":
    main()
