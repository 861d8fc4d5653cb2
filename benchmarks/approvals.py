"""Measure what signed approvals cost, as ratios to a bare Python start and to a review of the same range, in one run.

    python benchmarks/approvals.py [--runs N]

Whole processes, in turn, without the warm server: `verify` works where there is none. Ranges of one commit and of
thirty, clean and with approvals, once with 100,000 notes that have nothing to do with them. `approve` runs in a
pseudo-terminal and signs with a key file; each time for another content.
"""

import math
import os
import pty
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from agents import Case
from review import GUARD, PYTHON, git
from server import measure_rounds

RISKY = 'import subprocess\n\n\ndef run{0}(name):\n    subprocess.run("report {0} " + name, shell=True)\n'
POLICY = '[approvals]\nhigh = "key"\n'
MOST = 1.5
NOTES = 100_000


class Answered(Case):
    """`approve` of something new that is staged, with a person who says yes."""

    def measure(self) -> None:
        """Stage, approve, and count only the approval. Raises RuntimeError if it fails."""
        number = len(self.times)
        (self.cwd / f"new{number}.py").write_text(RISKY.format(f"_new{number}"), "utf-8")
        git(self.cwd, "add", "-A")
        started = time.perf_counter()
        code = in_terminal(self.command, self.cwd, self.env)
        self.times.append((time.perf_counter() - started) * 1000)
        git(self.cwd, "reset", "-q", "--hard")
        if code:
            raise RuntimeError(f"{self.name}: exit code {code}")


def in_terminal(command: tuple[str, ...], cwd: Path, env: dict[str, str]) -> int:
    """Run a command in a pseudo-terminal whose user types yes; return its exit code."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    os.write(master, b"yes\n")
    code = process.wait()
    os.close(master)
    return code


def make(folder: Path, name: str, env: dict[str, str], commits: int, approved: int) -> Path:
    """Make a repository with an enrolled key and a range of commits, the first of them with an approved finding."""
    rng = random.Random(commits)
    where = folder / name
    where.mkdir()
    git(where, "init", "-q", "-b", "main")
    git(where, "config", "user.name", "Ada")
    git(where, "config", "user.email", "ada@example.org")
    (where / "app.py").write_text("VALUE = 1\n", "utf-8")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "Begin")
    subprocess.run(
        (GUARD, "signers", "init"),
        cwd=where,
        env=env,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    (where / "cli-guard.toml").write_text(POLICY, "utf-8")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "Enrol Ada")
    git(where, "tag", "base")
    for number in range(commits):
        text = (
            RISKY.format(number)
            if number < approved
            else f"VALUE_{number} = {rng.random()}\n" * 20
        )
        (where / f"file{number}.py").write_text(text, "utf-8")
        git(where, "add", "-A")
        if number < approved and in_terminal((GUARD, "approve"), where, env):
            raise RuntimeError("the approval failed")
        git(where, "commit", "-q", "-m", f"Add file {number}")
    return where


def add_notes(where: Path, number: int) -> None:
    """Add notes on objects that do not exist, as years of approvals leave them behind (git-fast-import(1))."""
    keys = (random.Random(at).randbytes(20).hex() for at in range(number))
    ref = "refs/notes/cli-guard"
    head = f"commit {ref}\ncommitter Ada <ada@example.org> 0 +0000\ndata 0\nfrom {ref}^0\n"
    # The path of a note as Git writes it when there are many: two folders of two digits.
    body = "".join(
        f"M 100644 inline {key[:2]}/{key[2:4]}/{key[4:]}\ndata 3\nold\n" for key in keys
    )
    done = subprocess.run(
        ("git", "fast-import", "--quiet", "--force"),
        cwd=where,
        input=(head + body).encode(),
        check=False,
    )
    if done.returncode:
        raise RuntimeError("the notes were not written")


def cases(folder: Path, env: dict[str, str]) -> list[Case]:
    """Prepare the cases: the reference first, then each verify after the review of its range."""
    home = folder / "home"
    (home / ".ssh").mkdir(parents=True)
    cold = env | {"CLI_GUARD_SERVER": "0", "HOME": str(home)}
    key = (
        "ssh-keygen",
        "-q",
        "-t",
        "ed25519",
        "-N",
        "",
        "-f",
        str(home / ".ssh" / "id_ed25519"),
    )
    subprocess.run(key, check=True)
    one = make(folder, "one", cold, 1, 1)
    found = [Case("python -c pass", (PYTHON, "-c", "pass"), one, cold)]
    worlds = {
        "1 commit, 1 approval": one,
        "30 commits, clean": make(folder, "clean", cold, 30, 0),
        "30 commits, 10 approvals": make(folder, "thirty", cold, 30, 10),
    }
    many = folder / "many"
    shutil.copytree(worlds["30 commits, 10 approvals"], many)
    add_notes(many, NOTES)
    worlds[f"the same, {NOTES:,} notes"] = many
    for name, where in worlds.items():
        found.append(
            Case(f"review, {name}", (GUARD, "review", "--range", "base..HEAD"), where, cold)
        )
        found.append(
            Case(f"verify, {name}", (GUARD, "verify", "--range", "base..HEAD"), where, cold)
        )
    fresh = folder / "fresh"
    shutil.copytree(one, fresh)
    found.append(
        Answered("approve what is staged, signed", (GUARD, "approve"), fresh, cold)
    )
    return found


def p95(case: Case) -> float:
    times = sorted(case.times[1:])
    return times[math.ceil(0.95 * len(times)) - 1]


def main() -> None:
    """Measure and print the table."""
    measured = measure_rounds(__doc__, cases)
    bare = statistics.median(measured[0].times[1:])
    print(f"{'':40}{'median':>9}{'p95':>9}{'x pass':>8}  of the review of the same range")
    for before, case in zip([measured[0], *measured], measured, strict=False):
        shown = f"{case.name:40}{case.median:9.1f}{p95(case):9.1f}{case.median / bare:8.1f}"
        if case.name.startswith("verify"):
            ratio = p95(case) / p95(before)
            verdict = "kept" if ratio <= MOST else "MISSED"
            shown += f"  {case.median / before.median:.2f} x, p95 {ratio:.2f} x <= {MOST}: {verdict}"
        print(shown)


if __name__ == "__main__":
    sys.exit(main())
