"""Background processes over several calls of the command line: `exec --background`, `ps`, `logs`, `stop`."""

import json
import os
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from in_process import guard
from repositories import GUARD, Repo, key
from terminals import waited_for

ALLOWED = ["python3 talk.py", "python3 -m http.server *", "/no/such/program *"]


@pytest.fixture
def repo_with_trust(committed: Repo) -> Iterator[Repo]:
    """A repository of a user whose own configuration allows some programs; all that is started here is stopped."""
    file = Path(committed.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    file.parent.mkdir(parents=True)
    file.write_text(f"[commands]\nallow = {json.dumps(ALLOWED)}\n")
    yield committed
    committed.guard("exec", "stop", "--all", "--force")


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def begun(repo: Repo, *words: str) -> int:
    """Starts a command in the background; its process."""
    done = guard(
        repo, "exec", "-b", "--startup-timeout", "0.3", "--format", "json", "--", *words
    )
    assert done.code == 0, done.all
    return int(done.json["pid"])


def test_a_server_over_several_calls(repo_with_trust: Repo) -> None:
    repo, port = repo_with_trust, free_port()
    words = ("--", "python3", "-m", "http.server", "--bind", "127.0.0.1", str(port))
    done = repo.guard(
        "exec", "--background", "--port", str(port), "--startup-timeout", "60", *words
    )
    assert done.code == 0, done.all
    assert done.out.startswith(f"ready on port {port}: process ")
    pid = int(done.out.split("process ")[1].split(",")[0])
    assert (
        done.out.endswith(f"; stop it with: cli-guard exec stop {pid}\n") and done.err == ""
    )
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/app.py", timeout=30) as answer:
        assert answer.read() == b"x = 1\n"
    [head, row] = repo.guard("exec", "ps").out.splitlines()
    assert head.split() == ["PID", "STATE", "PORT", "TIME", "COMMAND"]
    assert row.split()[:3] == [str(pid), "running", str(port)] and "http.server" in row
    assert waited_for(lambda: "GET /app.py" in repo.guard("exec", "logs", str(pid)).out)
    again = repo.guard("exec", "-b", "--port", str(port), *words)
    assert again.code == 1 and f"Port {port} is already in use" in again.err
    stopped = repo.guard("exec", "stop", str(pid))
    assert stopped.code == 0 and str(pid) in stopped.out
    assert not psutil.pid_exists(pid)
    assert "running" not in repo.guard("exec", "ps").out
    events = [
        json.loads(line)
        for line in (repo.path / ".git/cli-guard/audit.jsonl").read_text().splitlines()
    ]
    assert [each["event"] for each in events] == ["exec", "start", "exec", "start", "stop"]
    assert (events[1]["pid"], events[1]["state"], events[4]["pid"]) == (pid, "ready", pid)


def test_it_outlives_the_command_line_and_its_session(repo_with_trust: Repo) -> None:
    done = subprocess.run(
        (GUARD, "exec", "-b", "--startup-timeout", "0.3", "--", "sleep", "61"),
        cwd=repo_with_trust.path,
        env=repo_with_trust.env,
        capture_output=True,
        text=True,
        start_new_session=True,
        timeout=120,
    )
    pid = int(done.stdout.split("process ")[1].split(",")[0])
    assert psutil.pid_exists(pid)
    assert repo_with_trust.guard("exec", "stop", str(pid), "--force").code == 0
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize(
    ("words", "code", "out", "err"),
    [
        (("true",), 0, "exited with 0: process ", ""),
        (
            ("bash", "-c", "echo Error: no config; exit 4"),
            4,
            "",
            "cli-guard: failed with 4: process ",
        ),
        (("/no/such/program", "it"), 127, "", "cli-guard: /no/such/program: not found"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_what_does_not_stay_is_told(
    repo_with_trust: Repo, words: tuple[str, ...], code: int, out: str, err: str
) -> None:
    done = guard(repo_with_trust, "exec", "-b", "--", *words)
    assert done.code == code, done.all
    assert done.out.startswith(out) and done.err.startswith(err)
    assert out or done.out == ""


def test_json_has_the_names_of_the_seed(repo_with_trust: Repo) -> None:
    done = guard(
        repo_with_trust,
        "exec",
        "-b",
        "--startup-timeout",
        "0.3",
        "--format",
        "json",
        "--",
        "sleep",
        "61",
    )
    started = done.json
    assert started["success"] is True and started["background"] is True
    assert (started["state"], started["command"], started["port"]) == (
        "ready",
        "sleep 61",
        None,
    )
    assert Path(started["log_file"]).exists() and started["message"]
    listed = guard(repo_with_trust, "exec", "ps", "--format", "json").json
    assert (listed["success"], listed["count"]) == (True, 1)
    [process] = listed["processes"]
    assert (
        process.items()
        >= {
            "pid": started["pid"],
            "command": "sleep 61",
            "running": True,
            "port": None,
        }.items()
    )
    assert {"working_dir", "runtime_seconds", "log_file"} <= process.keys()
    stopped = guard(
        repo_with_trust, "exec", "stop", "--format", "json", str(started["pid"])
    ).json
    assert (
        stopped.items()
        >= {"success": True, "pid": started["pid"], "method": "graceful"}.items()
    )
    together = guard(repo_with_trust, "exec", "stop", "--all", "--format", "json").json
    assert together.items() >= {"success": True, "stopped": [], "failed": []}.items()


def test_logs_end_where_they_are_asked_to(repo_with_trust: Repo) -> None:
    secret = key("github")
    repo_with_trust.write(
        "talk.py",
        f"print('one\\ntwo\\n{secret}\\n\\x1b[2Jfour', flush=True)\nimport time; time.sleep(61)\n",
    )
    pid = str(begun(repo_with_trust, "python3", "talk.py"))
    assert waited_for(lambda: "four" in guard(repo_with_trust, "exec", "logs", pid).out)
    assert (
        guard(repo_with_trust, "exec", "logs", pid).out
        == "one\ntwo\nghp_****\n\\x1b[2Jfour\n"
    )
    assert guard(repo_with_trust, "exec", "logs", "-n", "1", pid).out == "\\x1b[2Jfour\n"
    assert guard(repo_with_trust, "exec", "logs", "-n", "0", pid).out == ""
    guard(repo_with_trust, "exec", "stop", "--force", pid)
    assert (
        guard(repo_with_trust, "exec", "logs", "-f", "-n", "1", pid).out == "\\x1b[2Jfour\n"
    ), "it has ended"


def test_following_shows_what_comes_until_the_end(repo_with_trust: Repo) -> None:
    repo_with_trust.write(
        "talk.py",
        "import os, time\nprint('first', flush=True)\n"
        "while not os.path.exists('go'): time.sleep(0.02)\nprint('last', flush=True)\n",
    )
    pid = begun(repo_with_trust, "python3", "talk.py")
    follower = subprocess.Popen(
        (GUARD, "logs", "--follow", str(pid)),
        cwd=repo_with_trust.path,
        env=repo_with_trust.env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert follower.stdout
    assert follower.stdout.readline() == "first\n"
    repo_with_trust.write("go", "")
    assert follower.stdout.read() == "last\n"
    assert follower.wait(60) == 0
    follower.stdout.close()


def test_stopping_all_ends_whole_families(repo_with_trust: Repo) -> None:
    pids = [
        begun(repo_with_trust, "bash", "-c", "setsid sleep 61 & sleep 61") for _ in range(3)
    ]
    leaders = [psutil.Process(pid) for pid in pids]
    assert waited_for(lambda: all(each.children() for each in leaders))
    families = [
        member for each in leaders for member in (each, *each.children(recursive=True))
    ]
    done = guard(repo_with_trust, "exec", "stop", "--all")
    assert done.code == 0 and len(done.out.splitlines()) == 3
    assert not any(each.is_running() and each.status() != "zombie" for each in families)
    assert (
        guard(repo_with_trust, "exec", "stop", "--all").out
        == "cli-guard: no background process is running\n"
    )


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (
            ("exec", "stop", "{own}"),
            1,
            "{own} was not started by cli-guard here: see `cli-guard exec ps`",
        ),
        (
            ("exec", "stop", "--force", "{own}"),
            1,
            "{own} was not started by cli-guard here: see `cli-guard exec ps`",
        ),
        (
            ("exec", "stop", "999999999"),
            1,
            "999999999 was not started by cli-guard here: see `cli-guard exec ps`",
        ),
        (
            ("exec", "logs", "{own}"),
            2,
            "{own} was not started by cli-guard here: see `cli-guard exec ps`",
        ),
        (
            ("exec", "logs", "-f", "999999999"),
            2,
            "999999999 was not started by cli-guard here: see `cli-guard exec ps`",
        ),
        (
            ("exec", "stop"),
            2,
            "give the PID of one process (see `cli-guard exec ps`), or --all",
        ),
        (
            ("exec", "stop", "--all", "1"),
            2,
            "give the PID of one process (see `cli-guard exec ps`), or --all",
        ),
        (
            ("exec", "stop", "0"),
            2,
            "Invalid value for '[PID]': 0 is not in the range x>=1; see `cli-guard exec stop --help`",
        ),
        (
            ("exec", "logs", "-n", "-1", "1"),
            2,
            "Invalid value for '--lines' / '-n': -1 is not in the range x>=0; see `cli-guard exec logs --help`",
        ),
        (
            (
                "exec",
                "logs",
            ),
            2,
            "Missing argument 'PID'; see `cli-guard exec logs --help`",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_is_one_line_and_nothing_is_touched(
    committed: Repo, words: tuple[str, ...], code: int, line: str
) -> None:
    own = str(os.getpid())
    done = guard(committed, *(word.format(own=own) for word in words))
    assert (done.code, done.out, done.err) == (
        code,
        "",
        f"cli-guard: {line.format(own=own)}\n",
    )


def test_nothing_runs(committed: Repo) -> None:
    assert guard(committed, "exec", "ps").out.startswith(
        "cli-guard: no background processes; start one with "
    )
    assert guard(committed, "exec", "ps", "--format", "json").json["processes"] == []
    assert guard(committed, "exec", "stop", "--all").code == 0


def test_each_repository_has_its_own(repo_with_trust: Repo, tmp_path: Path) -> None:
    pid = begun(repo_with_trust, "sleep", "61")
    other = Repo.create(tmp_path / "other", repo_with_trust.env)
    assert "no background process" in guard(other, "exec", "ps").out
    assert guard(other, "exec", "stop", str(pid)).code == 1
    assert psutil.pid_exists(pid)


def test_a_secret_in_a_command_is_shown_nowhere(repo_with_trust: Repo) -> None:
    secret = key("github")
    done = guard(
        repo_with_trust,
        "exec",
        "-b",
        "--startup-timeout",
        "0.3",
        "--",
        "bash",
        "-c",
        f"echo {secret}; sleep 61",
    )
    assert done.code == 0, done.all
    told = [
        done.all,
        guard(repo_with_trust, "exec", "ps").out,
        guard(repo_with_trust, "exec", "ps", "--format", "json").out,
    ]
    assert secret not in "".join(told)
    state = repo_with_trust.path / ".git" / "cli-guard"
    assert not [path.name for path in state.rglob("*.json*") if secret in path.read_text()]
