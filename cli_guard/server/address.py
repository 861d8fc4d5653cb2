"""Where the server of a run is, and what both must share to be taken for one another. Loads nothing.

A server is found by a fingerprint of all that a run is made of and cannot be handed over: the interpreter, this
package, where a user's own packages would be, the encoding of names, and what of the file system can be seen.
"""

import os
import sys

from cli_guard import __version__

# What `typing` says, without loading it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# sockaddr_un(7): 108 bytes with the last 0; 104 on macOS and the BSDs.
LONGEST = 107 if sys.platform == "linux" else 103
# What Python itself reads of them is told to the server, or stands in sys.flags.
HARMLESS = frozenset(
    ("PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING", "PYTHONUNBUFFERED", "PYTHONUTF8", "PYTHONCOERCECLOCALE")
)
FLAGS = (
    "optimize",
    "dev_mode",
    "utf8_mode",
    "no_user_site",
    "bytes_warning",
    "warn_default_encoding",
)
# The largest prime of 128 bits: the remainder by it tells texts apart, and nothing has to be imported for it.
PRIME = (1 << 128) - 159


def switched_off(env: "Mapping[str, str]") -> str:
    """What in the environment keeps a run to itself, "" if nothing does."""
    if os.name != "posix":
        return "this is no POSIX system"
    if env.get("CLI_GUARD_SERVER") == "0":
        return "CLI_GUARD_SERVER=0"
    if env.get("CI", "") not in ("", "0", "false"):
        return "CI is set"
    return ""


def identity() -> str | None:
    """All of it as one text, None for a process that a server could not stand in for."""
    if not usual_path():
        return None
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - pathlib is slow to load
    # `python` and `python3` of one folder are one interpreter.
    programs = os.path.dirname(sys.executable)  # noqa: PTH120
    flags = (str(getattr(sys.flags, name)) for name in FLAGS)
    encoding = (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
    # The interpreter finds its packages by where it lies itself, and the user's own, if there are any, in the home.
    return "\n".join(
        (__version__, package, sys.version, programs, own_packages(), *flags, *encoding, *find_view())
    )


def own_packages() -> str:
    """The folder of packages that the user has installed for all environments, "" if there is none (PEP 370)."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    places = (
        f".local/lib/python{version}/site-packages",
        f"Library/Python/{version}/lib/python/site-packages",
    )
    home = os.environ.get("HOME", "")
    return next((f"{home}/{each}" for each in places if os.path.isdir(f"{home}/{each}")), "")  # noqa: PTH112


def usual_path() -> bool:
    """Does this process import from where its interpreter always does, but for the folder of our script?"""
    if not sys.flags.ignore_environment and any(
        name.startswith("PYTHON") and name not in HARMLESS for name in os.environ
    ):
        return False
    if sys.flags.safe_path:
        return True
    script = os.path.realpath(sys.argv[0])
    return sys.path[:1] == [os.path.dirname(script)] and not script.endswith(".py")  # noqa: PTH120


def find_view() -> tuple[str, str]:
    """What tells one view of the file system from another: a container may share no more than the home."""
    root = os.stat("/")  # noqa: PTH116
    try:
        mounts = os.readlink("/proc/self/ns/mnt")  # noqa: PTH115
    except OSError:
        mounts = ""
    return mounts, f"{root.st_dev}:{root.st_ino}"


def name_of(identity: str) -> str:
    """The name of the socket of an identity."""
    return f"{int.from_bytes(os.fsencode(identity), 'big') % PRIME:032x}"


def folder(env: "Mapping[str, str]") -> str | None:
    """The folder that sockets are in, None where there can be none. It need not be there."""
    runtime = env.get("XDG_RUNTIME_DIR", "")
    if runtime.startswith("/") and ours_alone(runtime):
        return f"{runtime}/cli-guard"
    home = env.get("HOME", "")
    state = env.get("XDG_STATE_HOME") or (f"{home}/.local/state" if home else "")
    return f"{state}/cli-guard/server" if state.startswith("/") else None


def ours_alone(path: str) -> bool:
    """Is this a folder, and no link to one, that nobody else may even look into?"""
    try:
        about = os.lstat(path)
    except OSError:
        return False
    return about.st_mode & 0o170077 == 0o040000 and about.st_uid == os.geteuid()


def socket_path(inside: str, name: str) -> str:
    """A path to a socket that is short enough to be used. Raises OSError.

    One that is too long is reached by the folder's descriptor, which stays open, where there is a /proc.
    """
    path = f"{inside}/{name}"
    if len(os.fsencode(path)) <= LONGEST:
        return path
    return f"/proc/self/fd/{os.open(inside, os.O_RDONLY | os.O_DIRECTORY)}/{name}"
