"""The hook of a coding agent ends in time and blocks the tool, whatever hangs or fails."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from repositories import GUARD, Repo
from server.test_bad_servers import impostor, name_of_socket

from cli_guard.__main__ import BLOCKED
from cli_guard.agents import registry
from cli_guard.server.client import HOOK_SECONDS

HOOK = ("hook", "claude-code")
SHORT = {"CLI_GUARD_HOOK_SECONDS": "0.3"}
LATE = "not judged within 0.3 s: ask your user"
COLD = {"CLI_GUARD_SERVER": "0"}


def asked(command: str, mode: str = "default") -> bytes:
    data = {
        "hook_event_name": "PreToolUse",
        "permission_mode": mode,
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }
    return json.dumps(data).encode()


def run(
    repo: Repo, stdin: bytes, env: Mapping[str, str], *, closed: bool = True
) -> tuple[int, str, str]:
    """Call the hook; `closed` says whether its standard input ends."""
    with subprocess.Popen(
        (GUARD, *HOOK),
        cwd=repo.path,
        env=repo.env | dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(stdin)
        process.stdin.flush()
        if closed:
            process.stdin.close()
        # They end with the last process that holds them: nothing is left that an agent would wait for.
        out = process.stdout.read()
        err = process.stderr.read()
        return process.wait(), out.decode(), err.decode()


@pytest.fixture(params=["cold", "warm"])
def how(request: pytest.FixtureRequest, warm: Any) -> dict[str, str]:
    return COLD if request.param == "cold" else dict(warm.required)


def test_an_input_that_does_not_end(committed: Repo, how: dict[str, str]) -> None:
    code, out, err = run(committed, asked("ls"), how | SHORT, closed=False)
    assert (code, out) == (BLOCKED, "")
    assert LATE in err


@pytest.mark.parametrize("command", ["npm ci", "git commit -m 'Add x'"])
@pytest.mark.parametrize("mode", ["default", "dontAsk"])
def test_a_git_that_hangs(
    committed: Repo, tmp_path: Path, how: dict[str, str], command: str, mode: str
) -> None:
    """What is not judged in time is asked about, or denied where nobody is asked, and nothing is remembered."""
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\nexec sleep 600\n")
    git.chmod(0o755)
    path = {"PATH": f"{tmp_path}{os.pathsep}{committed.env['PATH']}"}
    code, out, err = run(committed, asked(command, mode), how | SHORT | path)
    assert LATE in err
    assert code == 0, err
    said = json.loads(out)["hookSpecificOutput"]
    assert said["permissionDecision"] == ("ask" if mode == "default" else "deny")
    assert "not judged in time" in said["permissionDecisionReason"]
    assert not Path(
        committed.env["HOME"], ".local/state/cli-guard/questions.jsonl"
    ).exists()


def test_a_server_that_begins_and_hangs(committed: Repo, servers: Any) -> None:
    def begin(connection: socket.socket) -> None:
        connection.recv(100_000)
        connection.sendall(b"A\0")
        _, descriptors, _, _ = socket.recv_fds(connection, 1, 8)
        assert os.read(descriptors[0], 1)
        connection.sendall(b"B\0")
        while connection.recv(100):
            pass
        for each in descriptors:
            os.close(each)

    with impostor(
        servers.folder / "cli-guard", name_of_socket(committed, servers.env), begin
    ):
        code, out, err = run(committed, asked("ls"), servers.env | SHORT)
    # Whoever has begun may have read the request.
    assert (code, out) == (BLOCKED, "")
    assert LATE in err


def test_an_answer_in_time_is_an_answer(committed: Repo, how: dict[str, str]) -> None:
    code, out, err = run(committed, asked("ls"), how)
    assert (code, err) == (0, "")
    assert out == "" or json.loads(out)


def test_a_broken_installation(committed: Repo, tmp_path: Path) -> None:
    (tmp_path / "dataclasses.py").write_text("raise ImportError('not today')\n")
    code, out, err = run(committed, asked("ls"), COLD | {"PYTHONPATH": str(tmp_path)})
    assert (code, out) == (BLOCKED, "")
    assert "not today" in err
    # Git stops at any code but 0.
    assert (
        committed.guard("hook", "pre-commit", env=COLD | {"PYTHONPATH": str(tmp_path)}).code
        == 4
    )


@pytest.mark.parametrize("wanted", ["", "0.5", "99", "inf", "nan", "0", "-1", "soon"])
def test_the_limit_can_only_be_shortened(wanted: str) -> None:
    script = (
        "import signal; from cli_guard.__main__ import limit_time; limit_time();"
        " print(signal.getitimer(signal.ITIMER_REAL)[0])"
    )
    env = {**os.environ, "CLI_GUARD_HOOK_SECONDS": wanted}
    done = subprocess.run(
        (sys.executable, "-c", script), env=env, capture_output=True, text=True, check=True
    )
    limit = 0.5 if wanted == "0.5" else HOOK_SECONDS
    assert 0 < float(done.stdout) <= limit
    assert float(done.stdout) > limit / 2


@pytest.mark.parametrize("agent", registry.AGENTS.values(), ids=lambda agent: agent.name)
def test_it_is_at_most_half_of_what_an_agent_waits(agent: registry.Agent) -> None:
    assert getattr(agent, "timeout_s", 60) / 2 >= HOOK_SECONDS
    assert registry.BLOCKED == BLOCKED
