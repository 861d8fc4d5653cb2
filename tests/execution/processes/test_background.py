"""Commands in the background: started, listed, followed and stopped."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from watching import DEAF, STARTUP, eventually, marked, written

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes import stopping
from cli_guard.execution.processes.manager import ProcessManager

PYTHON = sys.executable


def test_a_background_process_is_listed_logged_and_stopped(
    manager: ProcessManager, mark: str
) -> None:
    begun = manager.start(f"echo begun; sleep {mark}", startup_timeout=STARTUP)
    assert (begun.state, begun.success, begun.stdout) == ("ready", True, "begun\n")
    assert begun.pid is not None
    [process] = manager.processes()
    assert (process.pid, process.running, process.command) == (
        begun.pid,
        True,
        f"echo begun; sleep {mark}",
    )
    assert manager.logs(begun.pid) == "begun\n"
    stopped = manager.stop(begun.pid)
    assert (stopped.success, stopped.method) == (True, "graceful")
    assert not marked(mark)
    [process] = manager.processes()
    assert (process.running, process.return_code) == (False, -signal.SIGINT)
    assert manager.logs(begun.pid) == "begun\n"
    assert "had already ended" in manager.stop(begun.pid).message


@pytest.mark.parametrize("force", [False, True])
def test_stopping_ends_those_who_started_sessions_of_their_own(
    manager: ProcessManager, mark: str, force: bool
) -> None:
    begun = manager.start(
        f"setsid sleep {mark} & (sleep {mark} &); sleep {mark}", startup_timeout=STARTUP
    )
    assert begun.pid is not None
    assert eventually(lambda: len(marked(mark)) >= 3)
    assert manager.stop(begun.pid, force=force).method == (
        "forced" if force else "graceful"
    )
    assert not marked(mark)


def test_who_does_not_hear_is_forced(manager: ProcessManager, mark: str) -> None:
    begun = manager.start((PYTHON, "-u", "-c", DEAF, mark), startup_timeout=STARTUP)
    assert begun.pid is not None
    assert eventually(lambda: manager.logs(begun.pid or 0) == "deaf\n")
    # Not asked to be forced; nothing else has ended it.
    stopped = manager.stop(begun.pid)
    assert (stopped.method, stopped.return_code) == ("forced", -signal.SIGKILL)
    assert not marked(mark)
    assert manager.stop(begun.pid).method == "graceful"


def test_all_are_stopped_at_the_same_time(
    manager: ProcessManager, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pids = {
        manager.start((PYTHON, "-c", DEAF, mark), startup_timeout=STARTUP).pid
        for _ in range(3)
    }
    steps = []

    def note(step: Callable[..., Any]) -> None:
        def run(*given: Any) -> Any:
            steps.append(step.__name__)
            return step(*given)

        monkeypatch.setattr(stopping, step.__name__, run)

    note(stopping.request_stop)
    note(stopping.wait_until_stopped)
    assert {each.pid for each in manager.stop_all() if each.success} == pids
    # One after the other would take three times the deadline of five seconds.
    assert steps == ["request_stop"] * 3 + ["wait_until_stopped"] * 3
    assert not marked(mark)


@pytest.mark.parametrize(
    "command, state, code", [("echo done", "exited", 0), ("echo no; exit 4", "failed", 4)]
)
def test_one_that_ends_at_once_is_told(
    manager: ProcessManager, command: str, state: str, code: int
) -> None:
    begun = manager.start(command, startup_timeout=20)
    assert (begun.state, begun.return_code, begun.success) == (state, code, False)
    assert begun.error
    assert begun.stdout == command.split()[1].strip(";") + "\n"
    data = begun.as_dict()
    assert {
        "status",
        "success",
        "error",
        "output",
        "errors",
        "has_errors",
        "log_file",
    } <= data.keys()


def test_one_whose_child_goes_on_goes_on(manager: ProcessManager, mark: str) -> None:
    begun = manager.start(f"(sleep {mark} &); echo parent", startup_timeout=STARTUP)
    assert begun.state == "ready"
    assert begun.pid is not None
    assert manager.processes()[0].running
    assert manager.stop(begun.pid).success
    assert not marked(mark)


def test_a_process_that_is_not_ours_is_left_alone(manager: ProcessManager) -> None:
    with subprocess.Popen(("sleep", "60")) as other:
        stopped = manager.stop(other.pid)
        assert not stopped.success
        assert "was not started by cli-guard here" in (stopped.error or "")
        assert other.poll() is None
        other.kill()
    assert not manager.stop(2**22 + 1).success
    with pytest.raises(CliGuardError, match="was not started by cli-guard here"):
        manager.logs(1)
    with pytest.raises(CliGuardError, match="was not started by cli-guard here"):
        manager.follow(1)


def test_a_log_is_followed_to_the_end(manager: ProcessManager) -> None:
    begun = manager.start(
        "for i in 1 2 3; do echo $i; sleep 0.2; done", startup_timeout=0.05
    )
    assert begun.pid
    assert b"".join(manager.follow(begun.pid)) == b"1\n2\n3\n"


def test_the_last_lines_of_a_log(manager: ProcessManager) -> None:
    pid = manager.start("seq 100000; echo -n end", startup_timeout=20).pid
    assert pid
    assert manager.logs(pid, 3) == "99999\n100000\nend"
    assert manager.logs(pid, 0) == ""
    assert len(manager.logs(pid, 90_000).splitlines()) == 90_000


def test_a_record_that_is_broken_is_none(tmp_path: Path, mark: str) -> None:
    with ProcessManager(tmp_path) as manager:
        begun = manager.start(f"sleep {mark}", startup_timeout=STARTUP)
        for number, text in enumerate(
            ("", "{", "[]", "{}", '{"pid": 1}', '{"pid": "x"}', "\0" * 100)
        ):
            (tmp_path / f"broken{number}").mkdir()
            (tmp_path / f"broken{number}" / "run.json").write_text(text)
        assert [each.pid for each in manager.processes()] == [begun.pid]


def test_a_folder_that_takes_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with ProcessManager(tmp_path / "file") as manager:
        assert "no log can be written" in (manager.run("true").error or "")
        assert "no log can be written" in (manager.start("true").error or "")


def test_a_port_that_is_taken_is_told(manager: ProcessManager) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        data = manager.start("sleep 60", port=port).as_dict()
    assert data["error"] == f"Port {port} is already in use"
    [error] = data["errors"]
    assert (error["type"], error["message"]) == ("port_conflict", data["error"])
    assert (data["port"], data["success"], data["blocking_pid"]) == (
        port,
        False,
        os.getpid(),
    )


@pytest.mark.parametrize(
    ("words", "kind"),
    [(("no-such-program", "x"), "missing_dependency"), (("/etc/passwd",), "permission")],
)
def test_a_program_that_cannot_start_is_an_error_of_its_kind(
    manager: ProcessManager, words: tuple[str, ...], kind: str
) -> None:
    for result in (manager.start(words), manager.run(words)):
        [error] = result.errors
        assert (error.type, error.message) == (kind, result.error)
    assert manager.run("true").errors == ()


def test_a_server_is_ready_when_it_answers(manager: ProcessManager) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = f"sleep 0.5; exec {PYTHON} -m http.server {port} --bind 127.0.0.1"
    begun = manager.start(command, port=port, startup_timeout=60)
    assert (begun.state, begun.port) == ("ready", port)
    socket.create_connection(("127.0.0.1", port)).close()
    assert begun.pid
    assert manager.stop(begun.pid).success


def test_a_server_that_does_not_answer_goes_on_starting(
    manager: ProcessManager, mark: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    begun = manager.start(f"sleep {mark}", port=port, startup_timeout=STARTUP)
    assert (begun.state, begun.success) == ("starting", False)
    assert "does not answer yet" in (begun.error or "")
    assert len(marked(mark)) > 0


def test_secrets_of_a_command_are_not_written_down(
    manager: ProcessManager, mark: str
) -> None:
    key = "AKIA" + "Q3EGRI4ZVXNP7K2W"
    manager.start(f"AWS_ACCESS_KEY_ID={key} sleep {mark}", startup_timeout=STARTUP)
    assert key not in manager.processes()[0].command
    assert all(key not in written(file) for file in manager.folder.rglob("*.json"))


def test_a_log_that_has_lost_its_beginning_is_told(manager: ProcessManager) -> None:
    begun = manager.start("head -c 60000000 /dev/zero", startup_timeout=60)
    assert begun.state == "exited"
    assert begun.notes == ("the log has reached its limit: its beginning was deleted",)
