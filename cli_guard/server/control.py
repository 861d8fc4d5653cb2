"""Start and stop the server, and ask for its status."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.hooks import find_hook
from cli_guard.lazy import frozen
from cli_guard.runtime import Env, user_file
from cli_guard.server import address, client

START_SECONDS = 60.0
STOP_SECONDS = 5.0
SUPPLIES = Path("/sys/class/power_supply")
# The variables that give a server the same identity as ours; each run sends the rest of its environment.
KEPT = ("HOME", "LANG", "LC_ALL", "LC_CTYPE")
# The process that a new server waits for, 0 for none.
AFTER = "CLI_GUARD_AFTER"


@frozen
class ServerStatus:
    """The status of a server: process, start (seconds since 1970), runs, bytes of memory."""

    pid: int
    since: float
    runs: int
    memory: int


def why_not(env: Env) -> str:
    """Return why no server is used in this environment, "" if one may be."""
    reason = address.switched_off(env)
    if reason or is_enabled(env):
        return reason
    return f"[server] enabled = false in {user_file(env)}"


def is_enabled(
    env: Env,
    key: str = "enabled",
    section: str = "server",
    *,
    default: bool = True,
) -> bool:
    """Check a key of the user's configuration; an unreadable file is reported elsewhere."""
    path = user_file(env)
    if path is None or not path.is_file():
        return default
    import tomllib

    try:
        table = tomllib.loads(path.read_text("utf-8-sig")).get(section)
    except (OSError, ValueError, RecursionError):
        return default
    value = table.get(key) if isinstance(table, dict) else default
    return value if isinstance(value, bool) else default


def ask_model_later() -> None:
    """Start a process that asks a model about the commit that is being made, if the user's own file wants that.

    It has the environment of the commit, with the key, which neither this child nor the server keeps. Raises OSError.
    """
    if is_enabled(os.environ, "after_hooks", "model", default=False):
        command = (
            sys.executable,
            "-E",
            "-P",
            *flags(),
            "-m",
            "cli_guard",
            "last",
            "--background",
        )
        null = subprocess.DEVNULL
        subprocess.Popen(
            command, stdin=null, stdout=null, stderr=null, start_new_session=True
        )


def leave_behind(argv: list[str]) -> None:
    """Start a server for later runs; it loads once this process, or the commit that it is a hook of, has ended."""
    if not client.is_routed(argv) or why_not(os.environ):
        return
    hook = find_hook(argv)
    # Our hooks are what Git starts itself; its next hook would share the processors with what loads.
    is_of_commit = hook is not None and hook.is_of_commit
    with suppress(OSError):
        start(after=os.getppid() if is_of_commit else os.getpid())


def prepares(env: Env, supplies: Path = SUPPLIES) -> bool:
    """Check whether to prepare reviews: by configuration, and not on battery (power_supply of sysfs)."""

    def read(path: Path) -> str:
        with suppress(OSError):
            return path.read_text("ascii").strip()
        return ""

    mains = [
        read(each.parent / "online")
        for each in supplies.glob("*/type")
        if read(each) == "Mains"
    ]
    wanted = env.get("CLI_GUARD") != "0" and is_enabled(env, "prewarm")
    return wanted and (not mains or "1" in mains)


def prepare(argv: list[str]) -> None:
    """Start a server for the review of what was just staged, and ask it for that; do nothing of it in this process.

    A server that is there has refused, or has ended it for something newer.
    """
    if why_not(os.environ) or not prepares(os.environ) or client.connect() is not None:
        return
    with suppress(OSError):
        start()
    until = time.monotonic() + client.ANSWER_SECONDS
    while client.ask_server(argv) is None and time.monotonic() < until:
        time.sleep(0.02)


def start(*options: str, after: int = 0) -> "subprocess.Popen[bytes] | None":
    """Start a server, unless there cannot be one or one runs already. Raises OSError.

    It loads when the process `after` has ended, if one is named.
    """
    inside = address.folder(os.environ)
    who = address.identity()
    if inside is None or who is None:
        return None
    for each in (os.path.dirname(inside), inside):  # noqa: PTH120 - as client.py has it
        os.makedirs(each, 0o700, exist_ok=True)  # noqa: PTH103
    if not address.is_own_folder(inside) or address.is_locked(
        f"{inside}/{address.name_of(who)}.lock"
    ):
        return None
    return subprocess.Popen(
        (sys.executable, "-E", "-P", *flags(), "-m", "cli_guard.server", inside, *options),
        # Not our streams: Git, or a framework, reads them until every process has closed them.
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={name: os.environ[name] for name in KEPT if name in os.environ}
        | {"PATH": os.defpath, AFTER: str(after)},
        start_new_session=True,
    )


def flags() -> tuple[str, ...]:
    """Return the Python options of this process, on which the identity depends."""
    wanted = {
        "-B": sys.dont_write_bytecode,
        "-s": sys.flags.no_user_site,
        "-Xutf8": sys.flags.utf8_mode,
    }
    return tuple(flag for flag, on in wanted.items() if on)


def status() -> ServerStatus | None:
    """Return the status of our server, None if none answers."""
    answer = ask_status("status").split()
    return (
        ServerStatus(int(answer[0]), float(answer[1]), int(answer[2]), int(answer[3]))
        if len(answer) == 4
        else None
    )


def ask_status(kind: str) -> bytes:
    """Return our server's answer to a question about itself, empty for no server."""
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


def own_place() -> tuple[str, str]:
    """Return the folder and the identity of our server. Raises CliGuardError if there can be none."""
    inside = address.folder(os.environ)
    who = address.identity()
    if inside is None or who is None:
        raise CliGuardError(
            "no server can do what this process does: there is no HOME, or a PYTHON* variable is set"
        )
    return inside, who


def start_and_wait() -> ServerStatus:
    """Start our server unless one runs, and wait until it answers. Raises CliGuardError."""
    inside, who = own_place()
    try:
        process = start()
    except OSError as error:
        raise CliGuardError(
            f"the server cannot be started: {error.strerror} ({error.filename})"
        ) from error
    if not address.is_own_folder(inside):
        raise CliGuardError(
            f"{inside} must be your own and closed to other users: `chmod 700` it"
        )
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        found = status()
        if found is not None:
            return found
        ended = process is None or process.poll() is not None
        if ended and not address.is_locked(f"{inside}/{address.name_of(who)}.lock"):
            break
        time.sleep(0.02)
    raise CliGuardError(
        "the server does not answer: see `cli-guard doctor`, or set CLI_GUARD_SERVER=0"
    )


def stop() -> bool:
    """End our server after its runs; False if there was none. Raises CliGuardError if it does not end."""
    if status() is None:
        return False
    ask_status("stop")
    until = time.monotonic() + STOP_SECONDS
    while time.monotonic() < until:
        if status() is None:
            return True
        time.sleep(0.01)
    raise CliGuardError(
        "the server does not end: kill the process that `server status` names"
    )


def run_on_server(argv: list[str]) -> int:
    """Do a run on a server or fail (`CLI_GUARD_SERVER=require`): for tests and measurements."""
    problem = "CLI_GUARD_SERVER=require is set, and the server refused this run"
    # A running server may exit at that moment: its files have changed.
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
