"""Where and when a command runs: passed down from the entry point, never looked up below it."""

import datetime
import errno
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# Windows has no such flags but O_BINARY, without which it changes the ends of lines. A FIFO would wait forever.
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)
PLAIN: int = sum(getattr(os, f"O_{name}", 0) for name in ("NONBLOCK", "CLOEXEC", "BINARY"))


@dataclass(frozen=True)
class Invocation:
    """Where and when a command runs."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    now: datetime.datetime

    @property
    def user(self) -> str:
        """Return who runs it, from the environment or the password file."""
        try:
            import getpass

            return self.env.get("LOGNAME") or self.env.get("USER") or getpass.getuser()
        except (ImportError, KeyError, OSError):  # Windows has no password file
            return "unknown"


def find_home(env: Mapping[str, str]) -> str:
    """Return the user's home folder, "" if there is none; Git for Windows sets HOME to what USERPROFILE names."""
    return env.get("HOME") or env.get("USERPROFILE", "")


def user_state(env: Mapping[str, str]) -> Path | None:
    """Return the user's own state folder (XDG base directory specification: a relative path is ignored).

    None if there is no home folder.
    """
    base, home = Path(env.get("XDG_STATE_HOME", "")), Path(find_home(env))
    if base.is_absolute():
        return base / "cli-guard"
    return home / ".local" / "state" / "cli-guard" if home.is_absolute() else None


def user_file(env: Mapping[str, str]) -> Path | None:
    """Return the user's own file in the platform's configuration folder (XDG base directory specification)."""
    base = env.get("XDG_CONFIG_HOME") or (f"{home}/.config" if (home := find_home(env)) else None)
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
            raise NotAPlainFileError(error.errno, f"it is {kind[error.errno]}", os.fsdecode(path)) from error
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        what = "a folder" if stat.S_ISDIR(mode) else "a FIFO" if stat.S_ISFIFO(mode) else "a device"
        raise NotAPlainFileError(errno.EINVAL, f"it is {what}", os.fsdecode(path))
    return descriptor


def read_plain(path: Path, *, follow: bool = False) -> bytes:
    """Return the content of a regular file. Raises as `open_plain` does."""
    with open(open_plain(path, os.O_RDONLY, follow=follow), "rb") as file:
        return file.read()


def read_bounded(path: Path, most: int) -> bytes:
    """Return the content of a regular file. Raises as `open_plain` does, and for one of more than `most` bytes."""
    with open(open_plain(path, os.O_RDONLY), "rb") as file:
        if len(data := file.read(most + 1)) > most:
            raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
        return data
