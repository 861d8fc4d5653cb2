"""Let systemd's user instance listen for the server and start it at the first request (systemd.socket(5))."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.server import address

# sd_listen_fds(3)
FIRST_DESCRIPTOR = 3
UNIT = "cli-guard"
SYSTEMCTL_SECONDS = 30.0

SOCKET = """\
[Unit]
Description=Socket of the cli-guard server
[Socket]
ListenStream={path}
SocketMode=0600
DirectoryMode=0700
[Install]
WantedBy=sockets.target
"""
SERVICE = """\
[Unit]
Description=cli-guard server: keeps everything loaded, so that reviews start at once
[Service]
{variables}
ExecStart={command}
WorkingDirectory=/
UMask=0077
"""


def take_inherited() -> socket.socket | None:
    """Return the listening socket that systemd has handed to this process, None if it has not."""
    if (
        os.environ.get("LISTEN_PID") != str(os.getpid())
        or os.environ.get("LISTEN_FDS") != "1"
    ):
        return None
    os.set_inheritable(FIRST_DESCRIPTOR, False)
    return socket.socket(fileno=FIRST_DESCRIPTOR)


def enable(
    env: Mapping[str, str],
    command: tuple[str, ...],
    variables: Mapping[str, str],
    path: str,
) -> None:
    """Write the units and start the socket. Raises CliGuardError, and then leaves no unit behind."""
    if len(os.fsencode(path)) > address.LONGEST:
        raise CliGuardError(f"systemd cannot listen there, the path is too long: {path}")
    folder = units(env)
    settings = "\n".join(
        f"Environment={quote(f'{name}={value}')}" for name, value in variables.items()
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{UNIT}.socket").write_text(
            SOCKET.format(path=path.replace("%", "%%")), "utf-8"
        )
        service = SERVICE.format(
            variables=settings,
            command=" ".join(quote(word).replace("$", "$$") for word in command),
        )
        (folder / f"{UNIT}.service").write_text(service, "utf-8")
    except OSError as error:
        raise CliGuardError(
            f"a unit cannot be written: {error.strerror} ({error.filename})"
        ) from error
    try:
        systemctl(env, "daemon-reload")
        systemctl(env, "enable", "--now", f"{UNIT}.socket")
    except CliGuardError:
        remove(env)
        raise


def disable(env: Mapping[str, str]) -> bool:
    """Stop the socket and remove the units; False if there are none. Raises CliGuardError."""
    if not (units(env) / f"{UNIT}.socket").exists():
        return False
    systemctl(env, "disable", "--now", f"{UNIT}.socket")
    remove(env)
    systemctl(env, "daemon-reload")
    return True


def remove(env: Mapping[str, str]) -> None:
    for kind in ("socket", "service"):
        (units(env) / f"{UNIT}.{kind}").unlink(missing_ok=True)


def units(env: Mapping[str, str]) -> Path:
    """Return the folder of a user's own units (systemd.unit(5))."""
    return Path(env.get("XDG_CONFIG_HOME") or f"{env['HOME']}/.config") / "systemd" / "user"


def systemctl(env: Mapping[str, str], *arguments: str) -> None:
    program = shutil.which("systemctl", path=env.get("PATH", os.defpath))
    if program is None or sys.platform != "linux":
        raise CliGuardError(
            "there is no systemctl here: the server starts with the first `git add` or review anyway"
        )
    argv = [program, "--user", *arguments]
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, env=dict(env), timeout=SYSTEMCTL_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CliGuardError(
            f"`systemctl --user {arguments[0]}` cannot be run: {error}"
        ) from error
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise CliGuardError(f"`systemctl --user {arguments[0]}` failed: {reason}")


def quote(text: str) -> str:
    """Quote a word of a unit's setting: no specifier or escape is read in it (systemd.syntax(7))."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'
