"""Leaves a server behind, starts and stops one, and asks how it is."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.runtime import user_file
from cli_guard.server import address, client

START_SECONDS = 60.0
STOP_SECONDS = 5.0
# What a server needs to be what we are; the rest of the environment comes with each run.
KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE")


@dataclass(frozen=True, slots=True)
class Status:
    """A server that answers: its process, since when (seconds since 1970), runs, and bytes of memory."""

    pid: int
    since: float
    runs: int
    memory: int


def why_not(env: Mapping[str, str]) -> str:
    """Why no server is asked or started in this environment, "" if one is."""
    if not (hasattr(os, "fork") and os.name == "posix"):
        return "this system cannot fork"
    reason = address.switched_off(env)
    if reason or configured(env):
        return reason
    return f"{user_file(env)} says so"


def configured(env: Mapping[str, str]) -> bool:
    """Does the user's own file allow it? One that cannot be read is complained of by whoever needs it."""
    path = user_file(env)
    if path is None or not path.is_file():
        return True
    import tomllib

    try:
        section = tomllib.loads(path.read_text("utf-8-sig")).get("server")
    except (OSError, ValueError, RecursionError):
        return True
    return not (isinstance(section, dict) and section.get("enabled") is False)


def leave_behind(argv: list[str]) -> None:
    """Starts a server for the runs to come."""
    if not client.routed(argv) or why_not(os.environ):
        return
    with suppress(OSError):
        start()


def start(*options: str) -> "subprocess.Popen[bytes] | None":
    """Starts a server, if there can be one and none is there or on its way. Raises OSError."""
    inside, who = address.folder(os.environ), address.identity()
    if inside is None or who is None:
        return None
    for each in (os.path.dirname(inside), inside):  # noqa: PTH120 - as client.py has it
        os.makedirs(each, 0o700, exist_ok=True)  # noqa: PTH103
    name = address.name_of(who)
    if not address.ours_alone(inside) or held(f"{inside}/{name}.lock"):
        return None
    return subprocess.Popen(
        (sys.executable, "-E", "-P", *flags(), "-m", "cli_guard.server", inside, name, *options),
        # Not ours: Git, or a framework, waits for the end of what it reads from us.
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={name: os.environ[name] for name in KEPT if name in os.environ} | {"PATH": os.defpath},
        start_new_session=True,
    )


def flags() -> tuple[str, ...]:
    """The options by which Python starts as we were started; by others the identity is another, and nobody comes."""
    wanted = {
        "-B": sys.dont_write_bytecode,
        "-s": sys.flags.no_user_site,
        "-Xutf8": sys.flags.utf8_mode,
    }
    return tuple(flag for flag, on in wanted.items() if on)


def held(path: str) -> bool:
    """Does somebody hold the place of the server?"""
    # `server status` and `doctor` say of Windows, which has no such locks, that there is no server.
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def status() -> Status | None:
    """How our server is, None if there is none that answers."""
    answer = ask_status("status").split()
    return (
        Status(int(answer[0]), float(answer[1]), int(answer[2]), int(answer[3])) if len(answer) == 4 else None
    )


def ask_status(kind: str) -> bytes:
    """What our server answers to a question about itself, nothing if there is none."""
    connection = client.connect()
    if connection is None:
        return b""
    with suppress(OSError):
        connection.settimeout(2.0)
        connection.sendall(client.request(kind, []))
        answer = b""
        while more := connection.recv(256):
            answer += more
        return answer
    return b""


def start_and_wait() -> Status:
    """Starts our server unless there is one, and waits until it answers. Raises CliGuardError."""
    inside, who = address.folder(os.environ), address.identity()
    if inside is None or who is None:
        raise CliGuardError(
            "no server can do what this process does: there is no HOME, or a PYTHON* variable is set"
        )
    try:
        process = start()
    except OSError as error:
        raise CliGuardError(f"the server cannot be started: {error.strerror} ({error.filename})") from error
    if not address.ours_alone(inside):
        raise CliGuardError(f"{inside} must be a folder of yours that nobody else can open: `chmod 700` it")
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        found = status()
        if found is not None:
            return found
        if (process is None or process.poll() is not None) and not held(
            f"{inside}/{address.name_of(who)}.lock"
        ):
            break
        time.sleep(0.02)
    raise CliGuardError("the server does not answer: see `cli-guard doctor`, or set CLI_GUARD_SERVER=0")


def stop() -> bool:
    """Ends our server, once its runs have ended; was there one? Raises CliGuardError for one that stays."""
    if status() is None:
        return False
    ask_status("stop")
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until:
        if status() is None:
            return True
        time.sleep(0.01)
    raise CliGuardError("the server does not end: kill the process that `server status` names")


def run_on_server(argv: list[str]) -> int:
    """A run that must be done by a server (`CLI_GUARD_SERVER=require`): for tests of the server, and measuring it."""
    problem = "CLI_GUARD_SERVER=require is set, and the server refused this run"
    # The one that is there may leave at that moment: its files have changed.
    for _ in range(2):
        try:
            start_and_wait()
        except CliGuardError as error:
            problem = str(error)
            break
        code = client.ask_server(argv)
        if code is not None:
            return code
    sys.stderr.write(f"cli-guard: {problem}\n")
    return ExitCode.INTERNAL
