"""`cli-guard exec`: what runs, what does not, and what is said and kept of it.

The command line is called in this process where that makes no difference; what it runs are real processes always.
"""

import json
import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from examples import table
from in_process import guard
from repositories import GUARD, Repo, key
from terminals import waited_for

from cli_guard.execution.processes.sandbox import why_not

ALLOWED = [
    "python3 *",
    "python3 show.py",
    "bash *",
    "kill *",
    "touch x",
    "./run *",
    "no-such-program",
    "sleep *",
]


@pytest.fixture
def trusting(committed: Repo) -> Repo:
    """A repository of a user whose own configuration allows some programs."""
    file = Path(committed.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    file.parent.mkdir(parents=True)
    file.write_text(f"[commands]\nallow = {json.dumps(ALLOWED)}\n")
    return committed


def trail(repo: Repo) -> list[dict[str, Any]]:
    done = guard(repo, "audit", "show", "--format", "json", "--all")
    return [json.loads(line) for line in done.out.splitlines()]


def marked() -> str:
    """A time to sleep that nobody else sleeps."""
    return f"61.{uuid.uuid4().int % 10**12:012}"


def sleepers(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        try:
            if process.cmdline()[:2] == ["sleep", mark]:
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def mark() -> Iterator[str]:
    """A mark; whoever still sleeps for it in the end is ended."""
    made = marked()
    yield made
    for process in sleepers(made):
        process.kill()


def test_what_is_harmless_runs_and_its_streams_stay_apart(committed: Repo) -> None:
    done = committed.guard("exec", "--", "ls", "app.py")
    assert (done.code, done.out, done.err) == (0, "app.py\n", "")
    done = committed.guard("exec", "echo out; echo err >&2; exit 7")
    assert (done.code, done.out, done.err) == (7, "out\n", "err\n")


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (("echo a b | tr a-z A-Z",), "A B\n"),
        (("echo", "a b | tr a-z A-Z"), "a b | tr a-z A-Z\n"),
        (("echo", "$HOME", "*", "x;y"), "$HOME * x;y\n"),
        (("--", "echo", "--", "-n"), "-- -n\n"),
        (("echo", "--timeout", "0"), "--timeout 0\n"),
    ],
)
def test_one_word_is_for_bash_and_several_are_for_no_shell(
    committed: Repo, words: tuple[str, ...], out: str
) -> None:
    done = guard(committed, "exec", *words)
    assert (done.code, done.out) == (0, out)


def test_what_is_denied_does_not_run_whoever_says_yes(trusting: Repo) -> None:
    (trusting.path / "sub").mkdir()
    for options in ((), ("--yes",), ("--background", "--yes")):
        done = guard(trusting, "exec", *options, "--", "bash", "-c", "touch x; rm -rf ~")
        assert (done.code, done.out) == (1, "")
        assert "deny  deletes a whole home folder" in done.err
        assert "  -> delete only the folder you mean, by its name" in done.err
    assert not (trusting.path / "x").exists()
    assert [(each["event"], each["answer"]) for each in trail(trusting)] == [
        ("exec", "denied")
    ] * 3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            (),
            "cli-guard: not run: it needs approval at a terminal, or a rule in your own configuration",
        ),
        (
            ("--yes",),
            "cli-guard: not run: --yes is only valid at a terminal; it needs approval at a terminal",
        ),
    ],
)
def test_without_a_terminal_nobody_says_yes(
    committed: Repo, options: tuple[str, ...], said: str
) -> None:
    done = guard(committed, "exec", *options, "--", "touch", "x", stdin="y\ny\n")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("review  writes ") and said in done.err
    assert not (committed.path / "x").exists()
    [entry] = trail(committed)
    assert (entry["verdict"], entry["answer"], entry["command"]) == (
        "review",
        "needs review",
        "touch x",
    )


def test_the_users_own_configuration_allows_exactly_what_it_names(trusting: Repo) -> None:
    assert guard(trusting, "exec", "--", "touch", "x").code == 0
    assert (trusting.path / "x").exists()
    assert guard(trusting, "exec", "--", "touch", "y").code == 3
    assert guard(trusting, "exec", "touch x; touch y").code == 3
    assert not (trusting.path / "y").exists()
    assert [each["answer"] for each in trail(trusting) if each["event"] == "exec"] == [
        "by config",
        "needs review",
        "needs review",
    ]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ("python3", "-c", "import os; os.kill(os.getpid(), 9)"),
            137,
            "cli-guard: ended by SIGKILL\n",
        ),
        (("no-such-program",), 127, "not found"),
        (("./run", "it"), 126, "cli-guard: ./run: not executable"),
        (
            ("--timeout", "0.3", "--", "sleep", "50"),
            124,
            "cli-guard: timed out after 0.3 s",
        ),
        (("bash", "-c", "exit 124"), 124, ""),
        (("bash", "-c", "exit 3"), 3, ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_exit_codes_are_those_of_a_shell(
    trusting: Repo, words: tuple[str, ...], code: int, said: str
) -> None:
    trusting.write("run", "echo hi\n")
    done = guard(trusting, "exec", *words)
    assert (done.code, done.out) == (code, "")
    assert said in done.err if said else done.err == ""
    told = guard(trusting, "exec", "--format", "json", *words)
    assert told.code == code
    own = told.json["return_code"]
    assert own == (None if words[0] == "./run" else -9 if code == 137 else own)
    assert told.json["timed_out"] == ("--timeout" in words)


def test_errors_are_told_with_their_lines_and_only_of_what_failed(trusting: Repo) -> None:
    script = "import sys; print('x\\n' * {}); print('Error: Port 3000 is already in use'); sys.exit({})"
    for before, code, said in ((30, 1, True), (30, 0, False), (1, 1, False)):
        done = guard(trusting, "exec", "--", "python3", "-c", script.format(before, code))
        assert done.code == code
        assert (f"cli-guard: line {before + 2}: " in done.err) is said, (before, code)


def test_what_is_left_behind_is_ended_and_told(trusting: Repo, mark: str) -> None:
    done = guard(trusting, "exec", "--", "bash", "-c", f"sleep {mark} & echo done")
    assert (done.code, done.out) == (0, "done\n")
    assert "left behind" in done.err
    assert sleepers(mark) == []


def test_it_reads_our_input_or_what_it_is_answered(trusting: Repo) -> None:
    assert trusting.guard("exec", "--", "cat", stdin="piped\n").out == "piped\n"
    read = ("bash", "-c", "read a; read b; echo $a-$b")
    assert (
        trusting.guard("exec", "--stdin", "yes", "--", *read, stdin="no\n").out == "yes-\n"
    )
    assert (
        trusting.guard("exec", "--respond", "yes", "--", *read, stdin="no\n").out
        == "yes-\n"
    )
    assert (
        trusting.guard(
            "exec", "--tty", "--", "bash", "-c", "test -t 1 && echo a terminal"
        ).code
        == 0
    )


def test_an_answer_is_judged_with_what_it_answers(trusting: Repo) -> None:
    done = guard(trusting, "exec", "--stdin", "rm -rf ~", "--", "bash")
    assert done.code == 1 and "deny  deletes a whole home folder" in done.err
    assert guard(trusting, "exec", "--stdin", "rm -rf ~", "cat; sh").code == 1
    assert guard(trusting, "exec", "--stdin", "rm -rf ~", "--", "cat").out == "rm -rf ~\n"


def test_the_environment_is_clean_but_for_what_is_named(trusting: Repo) -> None:
    env = {"COLOUR_OF_TEA": "green", "MY_API_TOKEN": key("github")}
    trusting.write(
        "show.py",
        "import os\nprint([n for n in ('COLOUR_OF_TEA', 'MY_API_TOKEN') if n in os.environ])\n",
    )
    show = ("--", "python3", "show.py")
    assert guard(trusting, "exec", *show, env=env).out == "[]\n"
    done = guard(
        trusting, "exec", "--env", "COLOUR_OF_TEA", "--env", "MY_API_TOKEN", *show, env=env
    )
    assert done.out == "['COLOUR_OF_TEA']\n"
    assert done.err == "cli-guard: MY_API_TOKEN is not passed on: it looks like a secret\n"


def test_a_variable_that_decides_what_code_runs_is_judged(trusting: Repo) -> None:
    done = guard(
        trusting, "exec", "--env", "PYTHONPATH", "--", "ls", env={"PYTHONPATH": "/tmp/x"}
    )
    assert done.code == 3 and "sets PYTHONPATH" in done.err
    skip = guard(
        trusting, "exec", "--env", "SKIP", "--", "git", "status", env={"SKIP": "cli-guard"}
    )
    assert skip.code == 1


def test_secrets_and_what_acts_on_a_terminal_are_not_shown(trusting: Repo) -> None:
    secret = key("github")
    trusting.write("out.txt", f"token = {secret}\n\x1b[2Jcleared\n")
    done = guard(trusting, "exec", "--", "cat", "out.txt")
    assert secret not in done.out and done.out == "token = ghp_****\n\\x1b[2Jcleared\n"
    raw = trusting.guard("exec", "--raw", "--", "cat", "out.txt")
    assert raw.out == f"token = {secret}\n\x1b[2Jcleared\n"
    told = guard(trusting, "exec", "--format", "json", "--", "cat", "out.txt")
    assert secret not in told.out and told.json["stdout"].startswith("token = ghp_****")
    guard(trusting, "exec", "--", "echo", secret)
    assert secret not in (trusting.path / ".git" / "cli-guard" / "audit.jsonl").read_text()


def test_raw_bytes_pass_as_they_are(trusting: Repo) -> None:
    done = subprocess.run(
        (
            GUARD,
            "exec",
            "--raw",
            "--",
            "python3",
            "-c",
            "import os; os.write(1, bytes(range(256)))",
        ),
        cwd=trusting.path,
        env=trusting.env,
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, bytes(range(256)))


def test_json_has_the_names_of_the_seed(committed: Repo) -> None:
    done = guard(committed, "exec", "--format", "json", "--", "echo", "hi").json
    assert (done["status"], done["success"], done["stdout"], done["return_code"]) == (
        "success",
        True,
        "hi\n",
        0,
    )
    assert done["permission"]["answer"] == "allowed"
    for words, answer, code in (
        (("touch", "x"), "needs review", 3),
        (("rm", "-rf", "/"), "denied", 1),
    ):
        refused = guard(committed, "exec", "--format", "json", "--", *words)
        assert refused.code == code
        assert refused.json["permission"]["answer"] == answer
        assert (refused.json["success"], refused.json["return_code"]) == (False, None)
        assert answer in refused.json["error"]
        assert done.keys() == refused.json.keys()


def test_the_trail_holds_the_permission_and_the_end(trusting: Repo) -> None:
    guard(trusting, "exec", "--", "bash", "-c", "touch x; exit 5")
    first, last = trail(trusting)
    assert (first["event"], first["command"], first["answer"]) == (
        "exec",
        "bash -c 'touch x; exit 5'",
        "by config",
    )
    assert first["folder"] == str(trusting.path)
    assert (last["event"], last["run"], last["return_code"]) == (
        "exec-end",
        first["run"],
        5,
    )
    assert last["duration"] > 0
    assert guard(trusting, "audit", "verify").code == 0
    shown = guard(trusting, "audit").out
    assert (
        "exec  " in shown
        and "(by config)  bash -c 'touch x; exit 5'" in shown
        and "return_code 5" in shown
    )


def test_a_folder_in_place_of_the_audit_log_is_named_and_stops_the_command(
    committed: Repo,
) -> None:
    (committed.path / ".git" / "cli-guard" / "audit.jsonl").mkdir(parents=True)
    done = guard(committed, "exec", "--", "echo", "hi")
    assert (done.code, done.out) == (2, "")
    log = committed.path / ".git/cli-guard/audit.jsonl"
    assert done.err == f"cli-guard: {log} should be a file, but it is a folder: remove it\n"


def test_no_folder_for_logs_stops_nothing_but_what_has_to_be_found_again(
    committed: Repo,
) -> None:
    committed.write(".git/cli-guard", "a file\n")
    done = committed.guard("exec", "--", "echo", "hi")
    assert (done.code, done.out) == (0, "hi\n")
    assert "not recorded in" in done.err
    begun = committed.guard("exec", "-b", "--", "sleep", "60")
    assert begun.code == 1
    assert "no log can be written in" in begun.err


def test_a_kill_of_the_command_line_leaves_nothing(trusting: Repo, mark: str) -> None:
    script = f"setsid sleep {mark} & sleep {mark}"
    process = subprocess.Popen(
        (GUARD, "exec", "--", "bash", "-c", script),
        cwd=trusting.path,
        env=trusting.env,
        stdin=subprocess.DEVNULL,
    )
    assert waited_for(lambda: len(sleepers(mark)) == 2)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    assert waited_for(lambda: not sleepers(mark))


def test_a_reader_that_has_had_enough_ends_it(trusting: Repo, mark: str) -> None:
    process = subprocess.Popen(
        (GUARD, "exec", "--", "bash", "-c", f"sleep {mark} & while echo line; do :; done"),
        cwd=trusting.path,
        env=trusting.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )
    assert process.stdout and process.stdout.readline() == b"line\n"
    process.stdout.close()
    assert process.wait(60) == 2
    assert waited_for(lambda: not sleepers(mark))


NO_TIME = "is not a time: give a number of seconds above 0"
PORTS = "is not in the range 1<=x<=65535"


@table(
    ("options", "line"),
    [
        ("--timeout 0", f"Invalid value for '--timeout': '0' {NO_TIME}, or none"),
        ("--timeout=-1", f"Invalid value for '--timeout': '-1' {NO_TIME}, or none"),
        ("--timeout nan", f"Invalid value for '--timeout': 'nan' {NO_TIME}, or none"),
        (
            "-b --startup-timeout inf",
            f"Invalid value for '--startup-timeout': 'inf' {NO_TIME}",
        ),
        ("-b --port 0", f"Invalid value for '--port': 0 {PORTS}"),
        ("-b --port 65536", f"Invalid value for '--port': 65536 {PORTS}"),
        ("--port 80", "--port requires --background"),
        ("-b --timeout 3", "--timeout cannot be combined with --background"),
        (
            "--raw --format json",
            "--raw and --format json exclude each other: give one of them",
        ),
        ("--cwd /no/such", "Working directory not found: /no/such"),
        ("--cwd app.py", "Path is not a directory: {path}/app.py"),
        ("--env NOT_SET", "the variable NOT_SET is not set: set it, or omit --env NOT_SET"),
        (
            "--env A=b",
            "Invalid value for '--env': give a name; to set a value, write A=... before the command",
        ),
        ("--memory 0", "Invalid value for '--memory': 0 is not in the range x>=1"),
    ],
)
def test_bad_options_are_one_line(committed: Repo, options: str, line: str) -> None:
    done = guard(committed, "exec", *options.split(), "--", "echo", "hi")
    assert (done.code, done.out) == (2, "")
    [said] = done.err.splitlines()
    assert said.removesuffix(
        "; see `cli-guard exec --help`"
    ) == "cli-guard: " + line.format(path=committed.path)


@pytest.mark.parametrize("words", [(), ("--",), ("",), ("--", " ")])
def test_no_command_is_one_line(committed: Repo, words: tuple[str, ...]) -> None:
    done = guard(committed, "exec", *words)
    assert (done.code, len(done.err.splitlines())) == (2, 1)


def test_a_syntax_error_is_asked_about_and_told_by_bash(trusting: Repo) -> None:
    assert "not understood as shell syntax" in guard(trusting, "exec", "if").err
    done = guard(trusting, "exec", "--", "bash", "-c", "echo hi; if")
    assert done.code in (2, 3)


def test_no_time_limit_is_none(committed: Repo) -> None:
    assert guard(committed, "exec", "--timeout", "none", "--", "echo", "hi").out == "hi\n"


def test_limits_hold(trusting: Repo) -> None:
    burn = guard(
        trusting, "exec", "--cpu-seconds", "1", "--", "python3", "-c", "while True: pass"
    )
    assert burn.code in (128 + signal.SIGXCPU, 137)
    eat = guard(
        trusting, "exec", "--memory", "200", "--", "python3", "-c", "x = bytearray(10**9)"
    )
    assert eat.code == 1 and "MemoryError" in eat.err


@pytest.mark.skipif(why_not() is not None, reason="no sandbox can be had here")
def test_a_sandbox_holds_and_is_told(trusting: Repo, tmp_path: Path) -> None:
    trusting.write(
        "try.sh",
        "touch app.py || echo read-only; echo kept > $TMPDIR/a && cat $TMPDIR/a; exit 3\n",
    )
    file = Path(trusting.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    file.write_text('[commands]\nallow = ["bash try.sh"]\n')
    (tmp_path / "temporary").mkdir()
    temporary = {"TMPDIR": str(tmp_path / "temporary")}
    done = trusting.guard("exec", "--sandbox", "--", "bash", "try.sh", env=temporary)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert (done.code, done.out) == (3, "read-only\nkept\n")
    assert "cli-guard: it ran in a sandbox: no network" in done.err
    told = guard(trusting, "exec", "--sandbox", "--format", "json", "--", "echo", "hi").json
    assert "no network" in told["sandbox"] and (told["left_behind"], told["notes"]) == (
        0,
        [],
    )


def test_where_no_sandbox_can_be_had_nothing_runs(committed: Repo, tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("git", "bash"):
        (programs / name).symlink_to(str(shutil.which(name)))
    done = committed.guard(
        "exec", "--sandbox", "--", "echo", "hi", env={"PATH": str(programs)}
    )
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "bubblewrap" in done.err


def test_the_folder_is_that_of_the_command(trusting: Repo, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = guard(trusting, "exec", "--cwd", "../elsewhere", "--", "pwd")
    assert done.out == f"{tmp_path}/elsewhere\n"
    # What the repository that we are in forbids is forbidden elsewhere too.
    trusting.commit("Policy", {"cli-guard.toml": '[commands]\ndeny = ["touch *"]\n'})
    done = guard(trusting, "exec", "--cwd", "../elsewhere", "--", "touch", "x")
    assert done.code == 1 and "denies it" in done.err
    assert os.listdir(tmp_path / "elsewhere") == []


def test_outside_of_any_repository_the_trail_is_the_users(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    def guard(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
        kept = {name: value for name, value in {**isolated, **env}.items() if value}
        return subprocess.run(
            (GUARD, *words),
            cwd=tmp_path,
            env=kept,
            capture_output=True,
            text=True,
            timeout=120,
        )

    assert guard("exec", "--", "echo", "hi").stdout == "hi\n"
    assert Path(isolated["HOME"], ".local/state/cli-guard/audit.jsonl").exists()
    assert (
        "exec-end" in guard("audit").stdout
        and "2 entries" in guard("audit", "verify").stdout
    )
    guard("exec", "--", "echo", "hi", XDG_STATE_HOME=str(tmp_path / "state"))
    assert (tmp_path / "state/cli-guard/audit.jsonl").exists()
    lost = guard("exec", "--", "echo", "hi", HOME="")
    assert (lost.returncode, lost.stdout, len(lost.stderr.splitlines())) == (2, "", 1)
    assert "set HOME or XDG_STATE_HOME" in lost.stderr
