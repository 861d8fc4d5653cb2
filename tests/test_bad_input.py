"""Whatever goes wrong: the right exit code, one line on standard error, no traceback, and nothing lost."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from examples import table
from in_process import RISKY, call, guard, stage
from repositories import GUARD, Done, Repo, cold, key

from cli_guard.reviewers import code
from cli_guard.reviewers.review_input import ReviewInput

LEAK = f'aws_access_key_id = "{key()}"\n'
MEASURED = (
    "import resource, subprocess, sys\n"
    "done = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)\n"
    "sys.stdout.buffer.write(done.stdout)\n"
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)\n"
    "sys.exit(done.returncode)\n"
)


# The front door (`__main__`, `cli.app`) has still to learn these.


def one_line(done: Done, code: int, says: str) -> None:
    assert done.code == code, done.all
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    assert done.err.startswith("cli-guard: ")
    assert says in done.err
    assert "Traceback" not in done.err


@table(
    ("argv", "says"),
    [
        ("--bogus", "No such option"),
        ("review --formt json", "--format"),
        ("review extra", "matches no file of this change"),
        ("review --color pink", "'pink' is not one of"),
        ("review --commit nope", "there is no commit 'nope'"),
        ("review --commit HEAD:app.py", "there is no commit"),
        ("review --range nope..HEAD", "there is no commit 'nope'"),
        ("review --range HEAD....HEAD", "is not a range"),
        ("review --range ..", "is not a range"),
        ("review --patch app.py", "not a patch"),
        ("review --patch .", "Is a directory"),
        ("review --patch nope.diff", "No such file"),
        ("approve", "needs a person at a terminal"),
        ("approve nope", "no pending review matches 'nope'"),
        ("explain nope", "no rule 'nope'"),
        ("audit nope", "No such command"),
        ("hook", "Missing command"),
        ("hook commit-msg", "Missing argument"),
        ("hook commit-msg .", "Is a directory"),
        ("completion", "Choose from: bash, zsh, fish; see"),
        ("install --hook-type post-commit", "is not one of"),
    ],
)
def test_wrong_usage(committed: Repo, argv: str, says: str) -> None:
    with committed.unchanged():
        done = guard(committed, *argv.split())
    if argv == "hook":
        assert (done.code, done.out) == (2, "")
        return
    one_line(done, 2, says)


@pytest.mark.parametrize(
    "argv",
    [("review", "--commit", "a\x1b[31m\nb"), ("explain", "\x1b]0;x\x07"), ("\x1b[2J",)],
    ids=repr,
)
def test_what_was_typed_reaches_no_terminal_raw(
    committed: Repo, argv: tuple[str, ...]
) -> None:
    done = guard(committed, *argv)
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "\x1b" not in done.err
    assert "\x07" not in done.err


@pytest.mark.parametrize(
    "stdin",
    [
        "nonsense\n",
        "a b c d\n",
        f"refs/heads/x {'z' * 40} refs/heads/x {'0' * 40}\n",
        "\0" * 50,
    ],
)
def test_a_push_that_is_none(committed: Repo, stdin: str) -> None:
    one_line(
        guard(committed, "hook", "pre-push", "origin", "url", stdin=stdin),
        2,
        "standard input",
    )


def test_a_push_of_what_is_not_there(committed: Repo) -> None:
    line = f"refs/heads/x {'1' * 40} refs/heads/x {'0' * 40}\n"
    done = guard(committed, "hook", "pre-push", "origin", "url", stdin=line)
    assert done.code in (2, 3)
    assert "Traceback" not in done.all


def test_a_missing_object(committed: Repo) -> None:
    stage(committed, {"a.py": "y = 1\n", "b.py": LEAK})
    blob = committed.git("rev-parse", ":b.py")
    (committed.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with committed.unchanged():
        done = guard(committed, "hook", "pre-commit")
    one_line(done, 2, "git fsck")


def test_a_missing_object_in_the_history(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    committed.commit("Two", {"b.py": LEAK})
    committed.commit("Three", {"c.py": "z = 1\n"})
    oid = committed.git("rev-parse", "HEAD~1:b.py")
    (committed.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    one_line(guard(committed, "review", "--range", f"{base}..HEAD"), 2, "git fsck")


def test_a_broken_index(committed: Repo) -> None:
    (committed.path / ".git" / "index").write_bytes(b"DIRC nonsense")
    with committed.unchanged():
        done = guard(committed, "review")
    one_line(done, 2, "index")


def test_no_git(committed: Repo, tmp_path: Path) -> None:
    one_line(committed.guard("review", env={"PATH": str(tmp_path)}), 2, "git was not found")


def measured(repo: Repo, *argv: str) -> tuple[Done, int]:
    """Runs `cli-guard` as a process; what it answered, and the most memory that it or its git took, in MB."""
    done = repo.run(sys.executable, "-c", MEASURED, GUARD, *argv)
    return done, int(done.err.splitlines()[-1])


@pytest.mark.parametrize("content", ["zeros", "text"])
def test_a_blob_of_200_mb(committed: Repo, content: str) -> None:
    path = committed.path / "big.dat"
    if content == "zeros":
        with path.open("wb") as file:
            file.truncate(200_000_000)
    else:
        lines = random.Random(7).randbytes(40_000).hex(" ", 30).encode() + b"\n"
        with path.open("wb") as file:
            for _ in range(200_000_000 // len(lines)):
                file.write(lines)
    committed.write("settings.py", LEAK)
    committed.git("-c", "core.compression=0", "-c", "core.bigFileThreshold=1m", "add", "-A")
    done, megabytes = measured(committed, "review", "--format", "json")
    assert done.code == 1
    assert [f["rule"] for f in done.json["findings"] if f["decision"] == "deny"] == [
        "secret-aws-access-key"
    ]
    assert "big.dat" in [each["path"] for each in done.json["coverage"]["skipped"]]
    assert "policy-not-reviewed" in [f["rule"] for f in done.json["findings"]]
    assert megabytes < 400


def test_a_line_of_1_mb(committed: Repo) -> None:
    stage(
        committed,
        {
            "line.py": "x = [" + "1, " * 400_000 + "]\n",
            "line.txt": "word " * 200_000,
            "settings.py": LEAK,
        },
    )
    done, megabytes = measured(committed, "review", "--format", "json")
    assert done.code == 1
    assert done.json["coverage"]["reviewed"] == 3
    assert megabytes < 400


def test_10_000_files(committed: Repo) -> None:
    blob = committed.git("hash-object", "-w", "--stdin", stdin="value = 1\n")
    other = committed.git("hash-object", "-w", "--stdin", stdin=LEAK)
    lines = [f"100644 {blob}\tsrc/f{n:05}.py" for n in range(9_999)] + [
        f"100644 {other}\tsrc/g.py"
    ]
    committed.git("update-index", "--index-info", stdin="\n".join(lines) + "\n")
    done, megabytes = measured(committed, "review", "--format", "json")
    assert done.code == 1
    coverage = done.json["coverage"]
    named = {each["path"] for each in coverage["skipped"]}
    assert coverage["files"] == 10_000
    assert coverage["reviewed"] + len(named) >= 10_000
    assert [
        (f["rule"], f["path"]) for f in done.json["findings"] if f["decision"] == "deny"
    ] == [("secret-aws-access-key", "src/g.py")]
    assert megabytes < 400


def test_more_files_than_the_limit_are_named(committed: Repo) -> None:
    blob = committed.git("hash-object", "-w", "--stdin", stdin="value = 1\n")
    lines = [f"100644 {blob}\tsrc/f{n:05}.txt" for n in range(30)]
    committed.commit("Limit", {"cli-guard.toml": "[limits]\nfiles = 20\n"})
    committed.git("update-index", "--index-info", stdin="\n".join(lines) + "\n")
    done = guard(committed, "review", "--format", "json")
    assert done.code == 3
    assert (
        len(
            [
                each
                for each in done.json["coverage"]["skipped"]
                if "limits.files" in each["reason"]
            ]
        )
        == 10
    )


def test_an_output_that_is_full(committed: Repo) -> None:
    stage(committed, {"a.py": "y = 1\n"})
    one_line(committed.inspect("review", "--output", "/dev/full"), 2, "No space left")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            (GUARD, "review"),
            cwd=committed.path,
            env=committed.env,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode not in (0, 120)
    assert len(done.stderr.decode().splitlines()) == 1
    assert b"Traceback" not in done.stderr


def test_a_full_disk_under_the_state_folder(committed: Repo) -> None:
    state = committed.path / ".git" / "cli-guard"
    state.mkdir()
    mounted = subprocess.run(
        ("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(state)), capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a small file system: {mounted.stderr.decode().strip()}")
    try:
        with (
            pytest.raises(OSError, match="No space"),
            (state / "filler").open("wb") as file,
        ):
            while True:
                file.write(b"x" * 4_096)
                file.flush()
        stage(committed, {"reports.py": RISKY})
        done = committed.guard("hook", "pre-commit")
        assert done.code == 3
        assert "not recorded" in done.all
        assert "cli-guard approve" not in done.out
        assert "Traceback" not in done.all
        (state / "filler").unlink()
        assert "cli-guard approve" in committed.guard("hook", "pre-commit").out
    finally:
        subprocess.run(("umount", str(state)), check=True)


def test_a_state_folder_that_cannot_be_written(committed: Repo) -> None:
    (committed.path / ".git" / "cli-guard").write_text("in the way")
    stage(committed, {"settings.py": LEAK})
    done = guard(committed, "hook", "pre-commit")
    assert (done.code, done.out) == (2, "")
    assert "cli-guard should be a folder: remove it" in done.err


@pytest.mark.parametrize(
    "argv",
    [("review",), ("rules",), ("--help",), ("review", "--format", "json")],
    ids=" ".join,
)
def test_a_reader_that_has_had_enough(committed: Repo, argv: tuple[str, ...]) -> None:
    stage(committed, {"settings.py": LEAK})
    done = committed.run("sh", "-c", '"$@" | head -n 0', "sh", GUARD, *argv)
    assert (done.out, done.err) == ("", "")


def test_closed_streams(committed: Repo) -> None:
    stage(committed, {"settings.py": LEAK})
    for redirection in (">&-", "2>&-", "<&-"):
        done = committed.run("sh", "-c", f'"$@" {redirection}', "sh", GUARD, "review")
        assert done.code not in (0, 120), redirection
        assert "Traceback" not in done.all


@cold
@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="needs Linux to see the child processes"
)
@pytest.mark.parametrize("after", [0.0, 0.2, 0.6, 1.2])
def test_interrupted(committed: Repo, after: float) -> None:
    text = "".join(
        f"def f{n}(a: int) -> int:\n    return a + {n}\n\n\n" for n in range(3_000)
    )
    stage(committed, {f"m{n}.py": text.replace("f", f"f{n}_") for n in range(8)})
    with committed.unchanged():
        process = subprocess.Popen(
            (GUARD, "review"),
            cwd=committed.path,
            env=committed.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            # Whoever runs the tests in the background has interrupts ignored, and a child inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        wait_for_a_child(process.pid)
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    # CPython ends by the signal itself, which a shell shows as 130 too, where it came inside an `exec` of text
    # (a dataclass being made): it takes that for unhandled, whoever handled it.
    assert process.returncode in (130, -signal.SIGINT), err.decode()
    assert out == b""
    assert err.decode().splitlines() == ["cli-guard: interrupted; nothing was changed"]
    for _ in range(250):
        left = living(process.pid)
        if not left:
            break
        time.sleep(0.02)
    assert left == []


def test_an_interrupt_where_nothing_can_be_raised(tmp_path: Path) -> None:
    program = """
import os, signal, sys, time
import cli_guard.__main__ as front

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

def work(*_):
    Deaf()
    time.sleep(30)
    return 0

signal.signal(signal.SIGINT, signal.default_int_handler)
front.answer = work
front.run()
"""
    done = subprocess.run(
        (sys.executable, "-c", program),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.splitlines() == ["cli-guard: interrupted; nothing was changed"]


def wait_for_a_child(pid: int) -> None:
    """Waits until a process has started its first git: until then Python itself may answer an interrupt."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(5_000):
        if children.read_text():
            break
        time.sleep(0.002)


def living(group: int) -> list[str]:
    """The processes of a group that run: not those that only wait for somebody to hear of their end (proc(5))."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, _, of = rest.split()[:3]
        if of == str(group) and state != "Z":
            found.append(name)
    return found


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """An environment in which a library that every review needs is broken."""
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "langgraph.py").write_text(
        f"raise RuntimeError('cannot start with {LEAK.strip()}')\n"
    )
    return {"PYTHONPATH": str(folder)}


@cold
def test_a_crash_is_one_line_and_a_report_without_secrets(
    committed: Repo, broken: dict[str, str]
) -> None:
    stage(committed, {"app.py": "def f() -> None:\n    pass\n", "settings.py": LEAK})
    with committed.unchanged():
        done = committed.guard("hook", "pre-commit", env=broken)
    one_line(done, 4, "internal error")
    assert "SKIP=cli-guard" in done.err
    [report] = (committed.path / ".git" / "cli-guard").glob("crash-*.txt")
    assert str(report) in done.err
    text = report.read_text()
    assert "Traceback" in text
    assert "RuntimeError" in text
    assert "hook" in text
    for shown in (done.err, text):
        assert key() not in shown
    assert report.stat().st_mode & 0o077 == 0


@cold
def test_a_crash_where_no_report_can_be_written(
    committed: Repo, broken: dict[str, str]
) -> None:
    stage(committed, {"app.py": "def f() -> None:\n    pass\n"})
    (committed.path / ".git" / "cli-guard").write_text("in the way")
    one_line(
        committed.guard("review", env=broken | {"TMPDIR": "/nowhere"}), 4, "internal error"
    )


def test_a_reviewer_that_crashes_asks_for_the_same_approval_each_time(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(subject: ReviewInput) -> None:
        raise RuntimeError(f"cannot read {LEAK.strip()}")

    monkeypatch.setattr(code, "review", crash)
    stage(committed, {"app.py": "def f() -> None:\n    pass\n"})
    first, again = (guard(committed, "review", "--format", "json").json for _ in range(2))
    [report] = (committed.path / ".git" / "cli-guard").glob("crash-*.txt")
    reason = f"internal error: RuntimeError, report {report.name} in .git/cli-guard"
    assert {"path": "code", "reason": reason, "asks": True} in first["coverage"]["skipped"]
    assert first["decision"] == "review"
    assert first["review_id"] == again["review_id"]
    assert key() not in report.read_text()


def test_a_failure_of_ours_blocks_the_commit_and_names_the_way_on(guarded: Repo) -> None:
    state = guarded.path / ".git" / "cli-guard"
    (state / "audit.jsonl").mkdir(parents=True)
    stage(guarded, {"app.py": "x = 2\n"})
    head = guarded.git("rev-parse", "HEAD")
    stopped = guarded.try_git("commit", "-m", "Set two")
    assert stopped.code != 0
    assert "audit.jsonl" in stopped.err
    assert guarded.git("rev-parse", "HEAD") == head
    assert guarded.try_git("commit", "-qm", "Set two", env={"SKIP": "cli-guard"}).code == 0


def test_two_reviews_in_two_threads_do_not_meet(
    isolated: dict[str, str], tmp_path: Path
) -> None:
    contents = {
        "clean": "x = 1\n",
        "leak": LEAK,
        "risky": RISKY,
        "tidy": '"""Nothing."""\n',
    }
    repos = {name: Repo.create(tmp_path / name, isolated) for name in contents}
    for name, repo in repos.items():
        stage(repo, {f"{name}.py": contents[name]})
    alone = {
        name: guard(repo, "review", "--format", "json").json for name, repo in repos.items()
    }
    before = dict(os.environ)
    together: dict[str, list[Any]] = {name: [] for name in repos}
    start = threading.Barrier(len(repos))

    def work(name: str) -> None:
        start.wait()
        for _ in range(4):
            together[name].append(
                call(repos[name].path, isolated, "review", "--format", "json")
            )

    threads = [threading.Thread(target=work, args=(name,)) for name in repos]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, runs in together.items():
        assert len(runs) == 4
        for done in runs:
            assert done.err == ""
            assert without_times(done.json) == without_times(alone[name])
    assert dict(os.environ) == before


def without_times(review: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in review.items() if name != "timings_ms"}
