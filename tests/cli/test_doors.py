"""The ways in: old names of commands, `-C DIR`, and how quiet a review is and what it ends with."""

import os
import subprocess
from pathlib import Path

from examples import table
from in_process import guard, stage, waiting
from repositories import Repo, find_program

RISKY = {"risky.py": "eval(input())\n"}
PLAIN = {"plain.py": "print(1)\n"}


@table(
    ("old", "new", "code"),
    [
        ("reviews", "pending", 0),
        ("merge", "review --join", 2),
        ("merge part.json", "review --join part.json", 2),
        ("reject", "approve --reject", 2),
        ("reject r-1 --reason x", "approve --reject r-1 --reason x", 2),
        ("fetch nobody", "signers fetch nobody", 2),
        ("ps", "exec ps", 0),
        ("ps --format json", "exec ps --format json", 0),
        ("logs 1", "exec logs 1", None),
        ("stop --all", "exec stop --all", 0),
        ("stop --help", "exec stop --help", 0),
    ],
)
def test_an_old_name_says_the_new_one(
    committed: Repo, old: str, new: str, code: int | None
) -> None:
    was = guard(committed, *old.split())
    now = guard(committed, *new.split())
    said, _, rest = was.err.partition("\n")
    name = old.split()[0]
    words = 1 if new == "pending" else 2
    short = " ".join(new.split()[:words])
    assert said == f"cli-guard: `cli-guard {name}` is now `cli-guard {short}`"
    assert (was.code, was.out, rest) == (now.code, now.out, now.err)
    assert code is None or now.code == code


@table("old", ["reviews", "merge", "reject", "fetch", "ps", "logs", "stop"])
def test_no_help_lists_an_old_name(committed: Repo, old: str) -> None:
    top = guard(committed, "--help").out
    assert f"  {old} " not in top


@table(
    ("words", "says"),
    [
        (("exec", "ps"), "no background processes"),
        (("exec", "ps", "aux"), "for the program of that name: cli-guard exec -- ps"),
        (("exec", "stop", "--bogus"), "No such option"),
        (("exec", "stop", "0"), "not in the range"),
    ],
)
def test_the_words_behind_exec(committed: Repo, words: tuple[str, ...], says: str) -> None:
    assert says in guard(committed, *words).all


def test_a_program_may_have_such_a_name(committed: Repo) -> None:
    committed.write("bin/stop", "#!/bin/sh\necho stopped $1\n")
    (committed.path / "bin/stop").chmod(0o755)
    done = guard(committed, "exec", "--", "ps", "--version")
    assert "PID" not in done.out and "background" not in done.all


@table(
    ("options", "code", "prints"),
    [
        ((), 3, True),
        (("-q",), 3, True),
        (("--exit-zero",), 0, True),
        (("-q", "--exit-zero"), 0, True),
        (("--format", "json", "-q"), 3, True),
        (("--commit", "nope", "--exit-zero"), 2, False),
        (("--output", "no/such/folder", "--exit-zero"), 2, False),
        (("-q", "-v"), 2, False),
    ],
)
def test_a_review_that_stops(
    committed: Repo, options: tuple[str, ...], code: int, prints: bool
) -> None:
    stage(committed, RISKY)
    done = guard(committed, "review", *options)
    assert (done.code, bool(done.out)) == (code, prints)


@table(
    ("options", "prints"),
    [
        ((), True),
        (("-q",), False),
        (("--quiet",), False),
        (("-q", "--format", "json"), True),
    ],
)
def test_a_review_that_passes(
    committed: Repo, options: tuple[str, ...], prints: bool
) -> None:
    stage(committed, PLAIN)
    done = guard(committed, "review", *options)
    assert (done.code, bool(done.out), done.err) == (0, prints, "")


def test_no_hook_ends_with_zero_by_an_option(committed: Repo) -> None:
    stage(committed, RISKY)
    for option in ("--exit-zero", "-q"):
        assert guard(committed, "hook", "pre-commit", option).code == 2


@table(
    ("folders", "ends"),
    [
        (("-C", "sub"), 3),
        (("-C", "sub", "-C", ".."), 3),
        (("-C", ""), 3),
        (("-Csub",), 3),
        (("-C", "nowhere"), 2),
        (("-C", "sub", "-C", "sub"), 2),
        (("-C", "plain.py"), 2),
        (("-C", "/"), 2),
    ],
)
def test_another_folder_first(committed: Repo, folders: tuple[str, ...], ends: int) -> None:
    stage(committed, {"sub/risky.py": "eval(input())\n", **PLAIN})
    done = guard(committed, *folders, "review")
    process = subprocess.run(
        (find_program(), *folders, "review"),
        cwd=committed.path,
        env=committed.env,
        capture_output=True,
    )
    assert (done.code, process.returncode) == (ends, ends)
    assert ends != 2 or done.err.count("\n") == 1


def test_relative_paths_follow_the_folder(committed: Repo, tmp_path: Path) -> None:
    stage(committed, {"sub/risky.py": "eval(input())\n", **PLAIN})
    whole = guard(committed, "-C", "sub", "review", "risky.py", "-o", "report.txt")
    assert whole.code == 3 and "risky.py" in (committed.path / "sub/report.txt").read_text()
    assert guard(committed, "-C", "sub", "review", "../plain.py").code == 0
    far = {**committed.env, "PWD": str(tmp_path)}
    done = subprocess.run(
        (
            find_program(),
            "-C",
            os.path.relpath(committed.path, tmp_path),
            "hook",
            "pre-commit",
        ),
        cwd=tmp_path,
        env=far,
        capture_output=True,
    )
    assert done.returncode == 3 and len(waiting(committed)) == 1


def test_a_failure_of_an_agents_hook_blocks_in_another_folder_as_well(
    committed: Repo,
) -> None:
    for folder in (".", "nowhere"):
        done = subprocess.run(
            (find_program(), "-C", folder, "hook", "claude-code"),
            cwd=committed.path,
            env=committed.env,
            input=b"no json",
            capture_output=True,
        )
        assert done.returncode == 2


def test_rejecting_takes_an_id_and_a_reason_alone(committed: Repo) -> None:
    stage(committed, RISKY)
    assert guard(committed, "hook", "pre-commit").code == 3
    [known] = waiting(committed)
    for more in ("--diff", "--break-glass", "--key=x", "--for=risky.py", "--expires=1d"):
        assert guard(committed, "approve", "--reject", known, more).code == 2
    assert waiting(committed) == [known]
    done = guard(committed, "approve", "--reject", known, "-r", "no")
    assert (done.code, done.out) == (
        0,
        f"cli-guard: {known} rejected; nothing was changed\n",
    )
    assert waiting(committed) == []


@table("more", ["--staged", "--worktree", "--shard=1/2", "--no-cache", "--write-baseline"])
def test_joining_reviews_nothing(committed: Repo, more: str) -> None:
    committed.write("part.json", "{}")
    done = guard(committed, "review", "--join", more, "part.json")
    assert done.code == 2 and "--join reads reports" in done.err
