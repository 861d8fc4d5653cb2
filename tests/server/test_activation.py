"""systemd listens for the server and starts it; on a machine without a user instance, one clear line says so."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from repositories import Repo
from watching import eventually

from cli_guard.server import activation, address

ACTIVATE = shutil.which("systemd-socket-activate")
ANALYZE = shutil.which("systemd-analyze")
JUDGED = ("check-command", "ls")

# What `server enable` does, without the instance of systemd that no test can have.
WRITE = """
import os, sys
from cli_guard.server import activation, control
activation.systemctl = lambda env, *arguments: print(*arguments)
print(control.enable())
"""
LISTEN = """
import sys
from cli_guard.server import address
print(address.socket_path(address.folder(__import__("os").environ), address.name_of(address.identity())))
"""


@pytest.fixture
def listening(committed: Repo, servers: Any) -> Iterator[Path]:
    """The socket of a server, on which the program of systemd listens that starts one service."""
    if ACTIVATE is None:
        pytest.skip("there is no systemd-socket-activate")
    inside = servers.folder / "cli-guard"
    inside.mkdir(mode=0o700)
    path = committed.run(
        sys.executable, "-E", "-P", "-c", LISTEN, env=servers.env
    ).out.strip()
    command = (sys.executable, "-E", "-P", "-m", "cli_guard.server", str(inside))
    kept = [f"-E{name}={committed.env[name]}" for name in ("HOME", "LANG", "LC_ALL")]
    process = subprocess.Popen(
        (ACTIVATE, "-l", path, *kept, *command), stderr=subprocess.DEVNULL
    )
    assert eventually(lambda: os.path.exists(path))
    yield Path(path)
    process.kill()
    process.wait()


def test_the_first_request_starts_it_and_its_end_leaves_the_socket(
    committed: Repo, servers: Any, listening: Path
) -> None:
    assert committed.guard(*JUDGED, env=servers.env).code == 0
    assert eventually(lambda: servers.status(committed).code == 0)
    assert committed.guard(*JUDGED, env=servers.required).code == 0
    # The first has found systemd at the other end, and has done its run itself.
    assert servers.runs(committed) == 1
    assert len(servers.processes()) == 1
    assert committed.guard("server", "stop", env=servers.env).code == 0
    assert listening.is_socket()


def test_nobody_else_listens_in_its_place(
    committed: Repo, servers: Any, listening: Path
) -> None:
    before = listening.stat().st_ino
    assert committed.guard("server", "start", env=servers.env).code == 0
    assert listening.stat().st_ino == before
    assert len(servers.processes()) == 1


def test_units_say_what_is_started_for_whom(committed: Repo, servers: Any) -> None:
    done = committed.run(sys.executable, "-E", "-P", "-c", WRITE, env=servers.env)
    calls = done.out.splitlines()
    assert calls[:-1] == ["daemon-reload", "enable --now cli-guard.socket"], done.all
    units = Path(committed.env["HOME"]) / ".config" / "systemd" / "user"
    assert f"\nListenStream={calls[-1]}\n" in (units / "cli-guard.socket").read_text()
    service = (units / "cli-guard.service").read_text()
    assert f'\nExecStart="{sys.executable}" "-E" "-P"' in service
    assert f'\nEnvironment="HOME={committed.env["HOME"]}"\n' in service
    if ANALYZE is not None:
        checked = committed.run(
            ANALYZE, "--user", "verify", str(units / "cli-guard.socket"), env=servers.env
        )
        assert "cli-guard.s" not in checked.all, checked.all


def test_without_a_user_instance_nothing_is_left(committed: Repo, servers: Any) -> None:
    away = {**servers.env, "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere"}
    done = committed.guard("server", "enable", env=away)
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    assert not list(
        (Path(committed.env["HOME"]) / ".config" / "systemd").rglob("cli-guard.*")
    )
    done = committed.guard("server", "disable", env=away)
    assert (done.code, done.out) == (0, "cli-guard: server: was not enabled\n")


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("/a b", '"/a b"'),
        ("100%", '"100%%"'),
        ('"', '"\\""'),
        ("\\", '"\\\\"'),
        ("$HOME", '"$HOME"'),
    ],
)
def test_a_word_of_a_unit_is_that_word(text: str, quoted: str) -> None:
    assert activation.quote(text) == quoted


def test_a_socket_is_taken_over_only_from_systemd(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LISTEN_FDS", "1")
    monkeypatch.setenv("LISTEN_PID", str(os.getpid() + 1))
    assert activation.take_inherited() is None


def test_a_path_too_long_for_systemd_is_refused(tmp_path: Path) -> None:
    long = f"{tmp_path}/{'x' * address.LONGEST}"
    with pytest.raises(Exception, match="too long"):
        activation.enable({"HOME": str(tmp_path)}, (), {}, long)
