"""Seed 004 as it is written, and the rows on which its reference was measured: ours does what stands on their right.

The number in the name of a test is the number of the row. Where a row is about not hanging, the bound is far from what
it takes and far from what the reference took; no other time is looked at.
"""
# ruff: noqa: F541, B007 - the seed's own tests stand as they are

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from watching import eventually, marked, written

from cli_guard.api import (
    CLIToolsMixin,
    find_available_port,
    find_process_on_port,
    is_port_available,
)
from cli_guard.execution.processes.model import SHOWN_CHARS
from cli_guard.execution.processes.servers import find_expected_port

PYTHON = sys.executable


@pytest.fixture
def tools() -> Iterator[CLIToolsMixin]:
    made = CLIToolsMixin()
    yield made
    made.manager.close()


def running(tools: CLIToolsMixin) -> list[int]:
    """The background processes that are told to run."""
    return [each["pid"] for each in tools.list_processes()["processes"] if each["running"]]


# ------------------------------------------------------------------ the five tests of the seed


@pytest.fixture
def port_8888() -> None:
    """The seed names the port and the program."""
    if shutil.which("python") is None:
        pytest.skip("there is no program `python`")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8888)) == 0:
            pytest.skip("port 8888, which the seed names, is in use on this machine")


def test_run_foreground_command():
    """Test basic foreground command execution."""
    mixin = CLIToolsMixin()
    result = mixin.run_cli_command(
        command="echo 'Hello World'",
        background=False
    )  # fmt: skip

    assert result["success"]
    assert "Hello World" in result["stdout"]
    assert result["return_code"] == 0


@pytest.mark.usefixtures("port_8888")
def test_run_background_command():
    """Test background command execution."""
    mixin = CLIToolsMixin()
    result = mixin.run_cli_command(
        command="python -m http.server 8888",
        background=True,
        expected_port=8888
    )  # fmt: skip

    assert result["success"]
    assert "pid" in result
    assert result["port"] == 8888

    # Cleanup
    mixin.stop_process(result["pid"])


def test_port_availability():
    """Test port availability checking."""
    # Find an available port
    port = find_available_port(start=8000, end=9000)
    assert is_port_available(port)

    # Start process on that port
    with subprocess.Popen(
        [PYTHON, "-c", LISTENER, str(port)], stdout=subprocess.PIPE
    ) as server:
        try:
            assert server.stdout is not None
            assert server.stdout.readline() == b"listens\n"
            # Verify port is no longer available
            assert not is_port_available(port)
        finally:
            server.kill()


LISTENER = """
import socket, sys, time
with socket.create_server(("127.0.0.1", int(sys.argv[1]))):
    print("listens", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(
    shutil.which("npm") is None, reason="the seed's test is about npm, which is not here"
)
def test_error_detection():
    """Test error pattern detection."""
    mixin = CLIToolsMixin()
    result = mixin.run_cli_command(
        command="npm start",  # Will fail if no package.json
        background=False
    )  # fmt: skip

    assert not result["success"]
    assert len(result["errors"]) > 0


def test_process_cleanup():
    """Test process cleanup on deletion."""
    mixin = CLIToolsMixin()

    # Start multiple background processes
    pids = []
    for i in range(3):
        result = mixin.run_cli_command(
            command=f"sleep 60",
            background=True
        )  # fmt: skip
        pids.append(result["pid"])

    # Cleanup all
    result = mixin.cleanup_all_processes()
    assert result["success"]
    assert len(result["stopped"]) == 3


# ------------------------------------------------------------------ time-outs and output: rows 1 to 6


def test_row_01_a_timeout_ends_the_child_of_the_shell(
    tools: CLIToolsMixin, mark: str
) -> None:
    data = tools.run_cli_command(f"sleep {mark}; echo x", timeout=1)
    assert (data["status"], data["success"], data["timed_out"]) == ("error", False, True)
    assert "timed out after 1 s" in data["error"]
    assert not marked(mark)


def test_row_02_a_timeout_ends_who_runs_behind_the_shell(
    tools: CLIToolsMixin, mark: str
) -> None:
    data = tools.run_cli_command(f'sh -c "sleep {mark} & echo started; wait"', timeout=1)
    assert (data["stdout"], data["success"], data["timed_out"]) == (
        "started\n",
        False,
        True,
    )
    assert not marked(mark)


def test_row_03_who_is_left_behind_is_not_waited_for(
    tools: CLIToolsMixin, mark: str
) -> None:
    data = tools.run_cli_command(f"sleep {mark} & echo parent-done", timeout=60)
    assert (data["stdout"], data["success"], data["timed_out"]) == (
        "parent-done\n",
        True,
        False,
    )
    assert data["left_behind"] == 1
    assert any("left behind" in note for note in data["notes"])
    assert not marked(mark)


def test_row_04_a_timeout_holds_with_a_full_pipe_of_broken_text(
    tools: CLIToolsMixin, mark: str
) -> None:
    data = tools.run_cli_command(
        f"printf '\\377'; head -c 400000 /dev/zero | tr '\\0' x; sleep {mark}", timeout=2
    )
    assert (data["success"], data["timed_out"], data["output_truncated"]) == (
        False,
        True,
        True,
    )
    assert data["stdout"].startswith("\ufffdxxx")
    assert Path(data["log_file"]).read_bytes() == b"\xff" + b"x" * 400_000


def test_row_05_text_around_broken_bytes_is_kept(
    tools: CLIToolsMixin, capfd: pytest.CaptureFixture[str]
) -> None:
    data = tools.run_cli_command(r"printf 'ok\n\377\376\nafter'")
    assert (data["success"], data["stdout"]) == (True, "ok\n\ufffd\ufffd\nafter")
    assert capfd.readouterr() == ("", "")


def test_row_06_no_errors_are_no_error(tools: CLIToolsMixin) -> None:
    data = tools.run_cli_command('echo "0 errors, 0 warnings"')
    assert (data["success"], data["has_errors"], data["errors"]) == (True, False, [])


# ------------------------------------------------------------------ the start in the background: rows 7 to 12


def test_row_07_a_watcher_that_found_no_errors_stays_up(
    tools: CLIToolsMixin, mark: str
) -> None:
    data = tools.run_cli_command(
        f"echo 'Found 0 errors. Watching'; sleep {mark}", background=True, startup_timeout=1
    )
    assert (data["success"], data["state"], data["errors"]) == (True, "ready", [])
    assert data["output"] == "Found 0 errors. Watching\n"
    assert running(tools) == [data["pid"]]
    assert marked(mark)


def test_row_08_who_ends_at_once_has_exited(tools: CLIToolsMixin) -> None:
    data = tools.run_cli_command("echo done", background=True)
    assert (data["state"], data["return_code"], data["output"]) == ("exited", 0, "done\n")
    assert "ended at once" in data["error"]
    assert running(tools) == []


STARTS = {
    "ready": "sleep {mark}",
    "exited": "true",
    "failed": "echo \"Error: Cannot find module 'express'\" >&2; exit 1",
}


@pytest.mark.parametrize("state", STARTS)
def test_row_09_error_and_status_are_always_there(
    tools: CLIToolsMixin, mark: str, state: str
) -> None:
    data = tools.run_cli_command(
        STARTS[state].format(mark=mark), background=True, startup_timeout=1
    )
    assert data["state"] == state
    assert data["status"] == ("success" if data["success"] else "error")
    assert (data["error"] is None) == data["success"]
    assert {"output", "errors", "has_errors", "log_file"} <= data.keys()


def test_row_09_a_start_that_fails_says_why(tools: CLIToolsMixin) -> None:
    data = tools.run_cli_command(STARTS["failed"], background=True)
    assert (data["return_code"], data["has_errors"]) == (1, True)
    assert "express" in data["error"]
    assert [each["type"] for each in data["errors"]] == ["missing_dependency"]
    assert "express" in data["output"]
    assert "express" in Path(data["log_file"]).read_text()


def test_row_10_a_port_that_does_not_answer_yet(tools: CLIToolsMixin, mark: str) -> None:
    port = find_available_port(20_000, 30_000)
    data = tools.run_cli_command(
        f"echo up; sleep {mark}", background=True, startup_timeout=1, expected_port=port
    )
    assert (data["success"], data["state"], data["port"], data["output"]) == (
        False,
        "starting",
        port,
        "up\n",
    )
    assert f"port {port} does not answer yet" in data["error"]
    assert Path(data["log_file"]).read_text() == "up\n"
    assert running(tools) == [data["pid"]]


def test_row_11_a_foreground_command_may_talk_to_a_port(tools: CLIToolsMixin) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        data = tools.run_cli_command(
            f"exec 3<>/dev/tcp/localhost/{port} && echo asked localhost:{port}"
        )
    assert (data["success"], data["stdout"]) == (True, f"asked localhost:{port}\n")


@pytest.mark.parametrize(
    ("command", "port"),
    [
        ("echo 10:30", None),
        ("mkdir -p 2024/x", None),
        ("ssh -p 2222 host", None),
        ("export port 99", None),
        ("echo you are an invitee", None),
        ("python -m http.server 8888", 8888),
        ("curl localhost:99999", None),
        ("python -m http.server 99999", None),
    ],
)
def test_row_12_ports_of_servers_alone_are_read_from_commands(
    command: str, port: int | None
) -> None:
    found = find_expected_port(command)
    assert (found.port if found else None) == port


def test_row_12_a_port_out_of_range_is_told(tools: CLIToolsMixin) -> None:
    data = tools.run_cli_command("sleep 60", background=True, expected_port=99_999)
    assert (data["status"], data["success"]) == ("error", False)
    assert "99999" in data["error"]
    assert running(tools) == []


# ------------------------------------------------------------------ ends of processes: rows 13 to 18


def started(tools: CLIToolsMixin, command: str, shows: str = "") -> int:
    """A background process that has come as far as to show something."""
    data = tools.run_cli_command(command, background=True, startup_timeout=0.2)
    assert data["success"], data
    assert eventually(lambda: shows in written(Path(data["log_file"])))
    return int(data["pid"])


def test_row_13_who_was_killed_by_others_runs_no_more(tools: CLIToolsMixin) -> None:
    pid = started(tools, "exec sleep 600")
    os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: not running(tools))
    [process] = tools.list_processes()["processes"]
    assert (process["pid"], process["running"], process["return_code"]) == (pid, False, -9)
    assert not Path(f"/proc/{pid}").exists()


def test_row_14_the_family_of_one_that_was_killed_is_ended(
    tools: CLIToolsMixin, mark: str
) -> None:
    pid = started(tools, f"sleep {mark} & echo up; sleep 600", "up")
    os.kill(pid, signal.SIGKILL)
    assert tools.stop_process(pid)["success"]
    assert not marked(mark)


def test_row_15_all_of_a_group_hear_ctrl_c(tools: CLIToolsMixin, mark: str) -> None:
    told = tools.stop_process(
        started(tools, f'sh -c "sleep {mark} & echo up; sleep {mark}"', "up")
    )
    assert (told["success"], told["method"]) == (True, "graceful")
    # A shell ends as its child did, by the first signal of three.
    assert told["return_code"] in (-signal.SIGINT, 128 + signal.SIGINT)
    assert not marked(mark)


def test_row_16_force_asks_nobody(tools: CLIToolsMixin, mark: str, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    trap = f"trap 'touch {asked}' INT TERM; echo up; while :; do sleep 0.05; : {mark}; done"
    told = tools.stop_process(
        started(tools, f"bash -c '{trap.replace(chr(39), chr(34))}'", "up"), force=True
    )
    assert (told["success"], told["method"], told["return_code"]) == (True, "forced", -9)
    assert not asked.exists()
    assert not marked(mark)


def test_row_17_all_are_asked_at_once(tools: CLIToolsMixin, tmp_path: Path) -> None:
    # Each ends only when all of them were asked: one after the other, the first would wait until it is killed.
    wait = f"while test $(ls {tmp_path} | wc -l) -lt 4; do sleep 0.01; done; exit 0"
    for number in range(4):
        started(
            tools,
            f"trap 'touch {tmp_path}/{number}; {wait}' INT; echo up; while :; do sleep 0.05; done",
            "up",
        )
    told = tools.cleanup_all_processes()
    assert (told["success"], len(told["stopped"]), told["failed"]) == (True, 4, [])
    assert [each.return_code for each in tools.manager.processes()] == [0, 0, 0, 0]


def test_row_18_a_log_is_there_after_the_stop_and_goes_with_its_owner(mark: str) -> None:
    tools = CLIToolsMixin()
    pid = started(tools, f"echo up; sleep {mark}", "up")
    log = Path(next(each["log_file"] for each in tools.list_processes()["processes"]))
    tools.stop_process(pid)
    logs = tools.get_process_logs(pid)
    assert (logs["success"], logs["pid"], logs["lines"], logs["output"]) == (
        True,
        pid,
        1,
        "up\n",
    )
    assert logs["log_file"] == str(log)
    folder = tools.manager.folder
    assert log.is_relative_to(folder)
    del tools
    assert eventually(lambda: not folder.exists())
    assert not marked(mark)


# ------------------------------------------------------------------ what is told: rows 19 to 25


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize(("end", "timed_out"), [("exit 1", False), ("sleep {mark}", True)])
def test_row_19_beginning_and_end_are_shown_and_no_more(
    tools: CLIToolsMixin, mark: str, stream: str, end: str, timed_out: bool
) -> None:
    to = " >&2" if stream == "stderr" else ""
    data = tools.run_cli_command(
        f"seq 100000{to}; {end.format(mark=mark)}", timeout=2 if timed_out else 60
    )
    assert (data["success"], data["timed_out"], data["output_truncated"]) == (
        False,
        timed_out,
        True,
    )
    assert len(data[stream]) <= SHOWN_CHARS
    assert data[stream].startswith("1\n2\n3\n")
    assert data[stream].endswith("99999\n100000\n")
    assert len(data["error"]) < 500


@pytest.mark.parametrize(
    ("line", "type"),
    [
        ("Error: listen EADDRINUSE: address already in use :::3000", "port_conflict"),
        ("OSError: [Errno 98] Address already in use", "port_conflict"),
        ("bash: line 1: npm: command not found", "missing_dependency"),
        ("ModuleNotFoundError: No module named 'yaml'", "missing_dependency"),
    ],
)
def test_row_20_an_error_is_told_once_with_its_line(
    tools: CLIToolsMixin, line: str, type: str
) -> None:
    data = tools.run_cli_command(f'printf "%s\\n" starting "{line}" stopping >&2; exit 1')
    [error] = data["errors"]
    assert (error["type"], error["line"], error["text"]) == (type, 2, line)
    assert line in error["context"]
    assert "starting" in error["context"]


def test_row_21_an_answer_is_given_unless_it_is_switched_off(tools: CLIToolsMixin) -> None:
    ask = 'if read -r x; then echo "got $x"; else echo nothing; fi'
    assert tools.run_cli_command(ask)["stdout"] == "got y\n"
    assert tools.run_cli_command(ask, auto_respond="no\n")["stdout"] == "got no\n"
    assert tools.run_cli_command(ask, auto_respond=None)["stdout"] == "nothing\n"


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize(
    ("name", "says"),
    [("absent", "Working directory not found"), ("file", "Path is not a directory")],
)
def test_row_22_a_folder_that_is_none(
    tools: CLIToolsMixin, tmp_path: Path, name: str, says: str, background: bool
) -> None:
    (tmp_path / "file").touch()
    data = tools.run_cli_command(
        "true", working_dir=str(tmp_path / name), background=background
    )
    expected = {
        "status": "error",
        "success": False,
        "has_errors": True,
        "error": f"{says}: {tmp_path / name}",
    }
    assert expected.items() <= data.items()


def test_row_23_an_end_by_a_signal(tools: CLIToolsMixin) -> None:
    data = tools.run_cli_command("kill -9 $$")
    assert (data["return_code"], data["success"], data["error"]) == (
        -9,
        False,
        "ended by SIGKILL",
    )


def test_row_24_a_port_that_is_taken(tools: CLIToolsMixin, mark: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        data = tools.run_cli_command(f"sleep {mark}", background=True, expected_port=port)
    expected = {
        "port": port,
        "blocking_pid": os.getpid(),
        "error": f"Port {port} is already in use",
    }
    assert expected.items() <= data.items()
    assert (data["success"], running(tools), marked(mark)) == (False, [], [])


def test_row_25_nothing_is_printed(
    tools: CLIToolsMixin,
    mark: str,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    tools.run_cli_command("echo out; echo err >&2; exit 3")
    tools.run_cli_command("no-such-program-at-all")
    pid = started(tools, f"echo up; sleep {mark}", "up")
    (
        tools.list_processes(),
        tools.get_process_logs(pid),
        tools.stop_process(pid),
        tools.stop_process(pid),
    )
    tools.cleanup_all_processes()
    tools.manager.close()
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


# ------------------------------------------------------------------ ports: rows 26 and 27


def listening(family: socket.AddressFamily, host: str) -> socket.socket:
    """A listener on a port that the system chooses."""
    try:
        server = socket.socket(family)
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        server.bind((host, 0))
    except OSError as error:
        pytest.skip(f"{host} cannot be bound here: {error}")
    server.listen()
    return server


@pytest.mark.parametrize(
    ("family", "host"),
    [
        (socket.AF_INET, "127.0.0.1"),
        (socket.AF_INET, "0.0.0.0"),
        (socket.AF_INET6, "::1"),
        (socket.AF_INET6, "::"),
    ],
)
def test_row_26_a_port_is_free_where_both_protocols_are(
    family: socket.AddressFamily, host: str
) -> None:
    with listening(family, host) as server:
        port = server.getsockname()[1]
        assert not is_port_available(port)
    assert eventually(lambda: is_port_available(port))


def test_row_27_who_has_a_port_is_who_listens_there() -> None:
    with listening(socket.AF_INET, "127.0.0.1") as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client:
            assert find_process_on_port(port) == os.getpid()
            assert find_process_on_port(client.getsockname()[1]) is None


# ------------------------------------------------------------------ what the seed says of every answer


def test_every_answer_is_plain_data(tools: CLIToolsMixin, mark: str) -> None:
    pid = started(tools, f"echo up; sleep {mark}", "up")
    answers: list[dict[str, Any]] = [
        tools.run_cli_command("echo out"),
        tools.run_cli_command("echo \"Error: Cannot find module 'x'\" >&2; exit 1"),
        tools.run_cli_command("true", background=True),
        tools.list_processes(),
        tools.get_process_logs(pid),
        tools.get_process_logs(1),
        tools.stop_process(pid),
        tools.stop_process(1),
        tools.cleanup_all_processes(),
    ]
    for answer in answers:
        assert json.loads(json.dumps(answer)) == answer
        assert answer["status"] == ("success" if answer["success"] else "error")
