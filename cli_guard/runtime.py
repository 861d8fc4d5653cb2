"""Where and when a command runs: passed down from the entry point, never looked up below it."""

import datetime
import errno
import json
import os
import shlex
import signal
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path

from cli_guard.lazy import frozen

# The variables of a process.
Env = Mapping[str, str]
# Windows has no such flags but O_BINARY, without which it changes the ends of lines. A FIFO would wait forever.
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
PLAIN: int = sum(getattr(os, f"O_{name}", 0) for name in ("NONBLOCK", "CLOEXEC", "BINARY"))


@frozen
class Invocation:
    """Where and when a command runs."""

    cwd: Path
    env: Env = field(repr=False)
    now: datetime.datetime

    @property
    def user(self) -> str:
        """Return who runs it, from the environment or the password file."""
        try:
            import getpass

            return self.env.get("LOGNAME") or self.env.get("USER") or getpass.getuser()
        except (ImportError, KeyError, OSError):  # Windows has no password file
            return "unknown"

    @property
    def author(self) -> str:
        """Return the author that Git tells its hooks of, as `Name <mail>`, "" elsewhere."""
        name = self.env.get("GIT_AUTHOR_NAME", "")
        mail = self.env.get("GIT_AUTHOR_EMAIL", "")
        return f"{name} <{mail}>" if name and mail else ""


def own_program() -> Path:
    """Return the script that starts this very installation; there may be none."""
    return Path(sys.executable).with_name("cli-guard")


def find_on_path(folders: str) -> Path | None:
    """Return the file that `cli-guard` starts where PATH has these folders, through links; None for none."""
    import shutil

    found = shutil.which("cli-guard", path=folders)
    return Path(found).resolve() if found else None


def find_home(env: Env) -> str:
    """Return the user's home folder, "" if there is none; Git for Windows sets HOME to what USERPROFILE names."""
    return env.get("HOME") or env.get("USERPROFILE", "")


def user_state(env: Env) -> Path | None:
    """Return the user's own state folder (XDG base directory specification: a relative path is ignored).

    None if there is no home folder.
    """
    base = Path(env.get("XDG_STATE_HOME", ""))
    home = Path(find_home(env))
    if base.is_absolute():
        return base / "cli-guard"
    return home / ".local" / "state" / "cli-guard" if home.is_absolute() else None


def user_file(env: Env) -> Path | None:
    """Return the user's own file in the platform's configuration folder (XDG base directory specification)."""
    base = env.get("XDG_CONFIG_HOME") or (
        f"{home}/.config" if (home := find_home(env)) else None
    )
    return Path(base) / "cli-guard" / "config.toml" if base else None


def is_own(about: os.stat_result) -> bool:
    """Check whether a file is this user's; on Windows, whose access rights os.stat does not tell, it is."""
    return not hasattr(os, "geteuid") or about.st_uid == os.geteuid()


class NotAPlainFileError(OSError):
    """A folder, a FIFO, a device or a link is where a file should be: `strerror` says which."""


def open_plain(path: Path | bytes, flags: int, *, follow: bool = False) -> int:
    """Open a regular file without waiting, and only through a link if `follow`; a new one has mode 0600.

    Raises NotAPlainFileError, or another OSError.
    """
    kind = {errno.ELOOP: "a link", errno.ENXIO: "a FIFO", errno.EISDIR: "a folder"}
    try:
        if not follow and not NO_LINK and os.path.islink(path):  # noqa: PTH114 - it may be bytes
            raise OSError(errno.ELOOP, "")
        descriptor = os.open(path, flags | PLAIN | (0 if follow else NO_LINK), 0o600)
    except OSError as error:
        if error.errno in kind:
            raise NotAPlainFileError(
                error.errno, f"it is {kind[error.errno]}", os.fsdecode(path)
            ) from error
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "a device"
        if stat.S_ISDIR(mode):
            what = "a folder"
        elif stat.S_ISFIFO(mode):
            what = "a FIFO"
        raise NotAPlainFileError(errno.EINVAL, f"it is {what}", os.fsdecode(path))
    return descriptor


def read_plain(path: Path | bytes, *, follow: bool = False, most: int = -1) -> bytes:
    """Return the content of a regular file, at most so many bytes unless that is -1. Raises as `open_plain` does."""
    with open(open_plain(path, os.O_RDONLY, follow=follow), "rb") as file:
        return file.read(most)


def missing_extra(what: str, extra: str) -> str:
    """Return one line: `what` needs an extra of this package, and the command that installs it.

    The command names the place that the package was installed from (PEP 610): on an index, its name may be another's.
    """
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    said = f"{what} needs the extra `{extra}`, which is not installed"
    try:
        package = distribution("cli-guard")
        origin = json.loads(package.read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return f"{said}: install cli-guard again, with this extra"
    command = (
        "uv pip install"
        if (package.read_text("INSTALLER") or "").strip() == "uv"
        else "pip install"
    )
    for receipt, tool in (("pipx_metadata.json", "pipx"), ("uv-receipt.toml", "uv tool")):
        if Path(sys.prefix, receipt).is_file():
            command = f"{tool} install --force"
    url = origin.get("url", "")
    revision = origin.get("vcs_info")
    target = f"cli-guard[{extra}]"
    if not url:
        return f"{said}: {command} '{target}', from the index that cli-guard came from"
    if url.startswith("file:") and not revision:
        target = f"{url2pathname(urlsplit(url).path)}[{extra}]"
    else:
        target += (
            f" @ {revision['vcs']}+{url}@{revision['commit_id']}"
            if revision
            else f" @ {url}"
        )
    editable = " --editable" if origin.get("dir_info", {}).get("editable") else ""
    return f"{said}: {command}{editable} {shlex.quote(target)}"


class TooLate(Exception):
    """The emergency stop of a run was reached: a fault of ours, since what a run does is bounded by counts."""


class _Interrupt(BaseException):
    """Raised by the alarm, wherever the run is."""


@contextmanager
def emergency_stop(seconds: float) -> Iterator[None]:
    """Raise TooLate after some seconds, whatever is waited for; in the main thread, unless another alarm is set."""
    is_over = False

    def interrupt(number: int, frame: object) -> None:
        nonlocal is_over
        is_over = True
        raise _Interrupt

    try:
        is_set = signal.getitimer(signal.ITIMER_REAL)[0] > 0
        before = None if is_set else signal.signal(signal.SIGALRM, interrupt)
    except (AttributeError, ValueError):  # Windows has none; another thread gets no signals
        before = None
    if before is None:
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except (_Interrupt, Exception):
        # A library may make another error of the interrupt; below, it may have lost it with what it was doing.
        if not is_over:
            raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if is_over:
        raise TooLate(f"not done within {seconds:g} s")
