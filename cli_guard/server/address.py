"""Where the server of a run is, and the identity that client and server must share. Imports nothing heavy.

A server is found by a fingerprint of all that a run depends on and that cannot be handed over: the interpreter, this
package, the user's own packages, the encoding of names, and the view of the file system.
"""

import sys

from cli_guard import __version__

try:
    import posix as found
except ImportError:  # Windows, which has no server
    import os as found  # type: ignore[no-redef]

# What `os` itself is made of: to load that takes a tenth of a run on the server.
system = found
# As in `typing`, without loading it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# sockaddr_un(7): 108 bytes with the last 0; 104 on macOS and the BSDs.
LONGEST = 107 if sys.platform == "linux" else 103
# Variables of Python whose effect is sent to the server, or is in sys.flags.
HARMLESS = frozenset(
    (
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONIOENCODING",
        "PYTHONUNBUFFERED",
        "PYTHONUTF8",
        "PYTHONCOERCECLOCALE",
    )
)
FLAGS = (
    "optimize",
    "dev_mode",
    "utf8_mode",
    "no_user_site",
    "bytes_warning",
    "warn_default_encoding",
)
# The largest prime of 128 bits: the remainder is a hash that needs no import.
PRIME = (1 << 128) - 159


def encode(text: str) -> bytes:
    """Do as `os.fsencode` does."""
    return text.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def decode(raw: "bytes | str") -> str:
    """Do as `os.fsdecode` does."""
    if isinstance(raw, str):
        return raw
    return raw.decode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def variables() -> dict[str, str]:
    """Return the environment of this process, as `os.environ` has it."""
    return {decode(name): decode(value) for name, value in system.environ.items()}


def parent_of(path: str) -> str:
    """Return the folder of an absolute path."""
    return path.rpartition("/")[0] or "/"


def is_folder(path: str) -> bool:
    try:
        return system.stat(path).st_mode & 0o170000 == 0o040000
    except (OSError, ValueError):
        return False


def switched_off(env: "Mapping[str, str]") -> str:
    """Return why this environment does not use a server, "" if it may."""
    if not hasattr(system, "fork"):
        return "this system cannot fork"
    if env.get("CLI_GUARD_SERVER") == "0":
        return "CLI_GUARD_SERVER=0"
    if env.get("CI", "") not in ("", "0", "false"):
        return "CI is set"
    return ""


def identity() -> str | None:
    """Return the identity as text, None for a process that a server cannot replace."""
    if not usual_path():
        return None
    package = parent_of(parent_of(__file__))
    # `python` and `python3` of one folder are one interpreter.
    programs = parent_of(sys.executable)
    flags = (str(getattr(sys.flags, name)) for name in FLAGS)
    encoding = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
    # The interpreter finds its packages by its own path, and the user's own packages, if any, in the home.
    return "\n".join(
        (
            __version__,
            package,
            sys.version,
            programs,
            own_packages(),
            *flags,
            *encoding,
            *find_view(),
        )
    )


def own_packages() -> str:
    """Return the user's own package folder, "" if there is none (PEP 370)."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    places = (
        f".local/lib/python{version}/site-packages",
        f"Library/Python/{version}/lib/python/site-packages",
    )
    home = variables().get("HOME", "")
    found = [f"{home}/{each}" for each in places if is_folder(f"{home}/{each}")]
    return found[0] if found else ""


def usual_path() -> bool:
    """Check that modules are imported from the interpreter's default path and the folder of our script only."""
    if not sys.flags.ignore_environment and any(
        name.startswith("PYTHON") and name not in HARMLESS for name in variables()
    ):
        return False
    if sys.flags.safe_path:
        return True
    import os

    script = os.path.realpath(sys.argv[0])
    return sys.path[:1] == [parent_of(script)] and not script.endswith(".py")


def find_view() -> tuple[str, str]:
    """Return a fingerprint of the file system's view: a container may share nothing but the home."""
    root = system.stat("/")
    try:
        mounts = system.readlink("/proc/self/ns/mnt")
    except OSError:
        mounts = ""
    return mounts, f"{root.st_dev}:{root.st_ino}"


def name_of(identity: str) -> str:
    return f"{int.from_bytes(encode(identity), 'big') % PRIME:032x}"


def folder(env: "Mapping[str, str]") -> str | None:
    """Return the folder of the sockets, None if there can be none; it may not exist yet."""
    runtime = env.get("XDG_RUNTIME_DIR", "") if hasattr(system, "fork") else ""
    if runtime.startswith("/") and is_own_folder(runtime):
        return f"{runtime}/cli-guard"
    home = env.get("HOME", "")
    state = env.get("XDG_STATE_HOME") or (f"{home}/.local/state" if home else "")
    return (
        f"{state}/cli-guard/server"
        if state.startswith("/") and hasattr(system, "fork")
        else None
    )


def is_own_folder(path: str) -> bool:
    """Check that this is a folder, not a link, that only this user can open."""
    try:
        about = system.lstat(path)
    except OSError:
        return False
    return about.st_mode & 0o170077 == 0o040000 and about.st_uid == system.geteuid()


def describe_process(pid: int) -> str:
    """Return id, start and program of a process (proc(5)), "" if unknown; the program cannot choose any of them."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - every run waits for it
            # Its name, in parentheses, may contain anything.
            start = file.read().rpartition(b")")[2].split()[19]
        return f"{pid} {int(start)} {system.readlink(f'/proc/{pid}/exe')}"
    except OSError:
        return ""


def is_recorded(pid: int, path: str) -> bool:
    """Check that a process is the one that has written itself to the lock of a server, and runs our program."""
    if sys.platform != "linux":
        return True
    found = describe_process(pid)
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            recorded = decode(file.read(8_192))
        ours = system.readlink("/proc/self/exe")
    except OSError:
        return False
    return found == recorded and found.endswith(f" {ours}")


def is_locked(path: str) -> bool:
    """Check whether a server holds the lock. Raises OSError."""
    # `server status` and `doctor` say of Windows, which has no such locks, that there is no server.
    import fcntl

    try:
        descriptor = system.open(path, system.O_RDWR | system.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        system.close(descriptor)
    return False


def socket_path(inside: str, name: str) -> str:
    """Return a usable path to a socket. Raises OSError.

    One that is too long goes through the folder's descriptor, which stays open, if there is a /proc.
    """
    path = f"{inside}/{name}"
    if len(encode(path)) <= LONGEST:
        return path
    return (
        f"/proc/self/fd/{system.open(inside, system.O_RDONLY | system.O_DIRECTORY)}/{name}"
    )
