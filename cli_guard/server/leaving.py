"""Decide when a server exits: it is idle, has grown, its files have changed, or its socket was replaced."""

import os
import resource
import site
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import field
from pathlib import Path

from cli_guard.lazy import dataclass
from cli_guard.server.address import is_locked
from cli_guard.server.watching import Watch

IDLE_SECONDS = 3 * 3_600.0
MEMORY_BYTES = 512 * 1_048_576
# Of several environments, each with a server, only this many stay.
MOST_SERVERS = 2
# How often it checks its files while idle; before a run it always checks.
LOOK_SECONDS = 30.0
# The most links in a path (path_resolution(7)).
LINKS = 40

# madvise(2)
PAGE_OUT = 21

# Time of change, size and inode: every way of writing a file changes at least one of them.
Mark = tuple[int, int, int] | None


def mark(path: str) -> Mark:
    """Return the mark of a file, None if it does not exist."""
    try:
        about = os.stat(path)  # noqa: PTH116 - hundreds of them before every run
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


def marks(paths: Iterable[str]) -> dict[str, Mark]:
    return {path: mark(path) for path in paths}


def own_files() -> Iterator[str]:
    """Return the files of this package, and the folders of its rules and tables: a server may hold any."""
    root = Path(__file__).parent.parent
    tables = str(root / "rules")
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        if folder.startswith(tables):
            yield folder
        yield from (f"{folder}/{name}" for name in files)


def find_start_files() -> Iterator[str]:
    """Return what Python reads at its start: the interpreter, its settings, and what site.py runs in packages' folders.

    Of the user's own folder every change counts: its packages stand in for those of the interpreter.
    """
    yield sys.executable
    yield f"{Path(sys.executable).parent.parent}/pyvenv.cfg"
    yield site.getusersitepackages()
    for folder in package_folders():
        yield from (f"{folder}/{name}.py" for name in ("sitecustomize", "usercustomize"))
        with suppress(OSError):
            yield from (
                f"{folder}/{name}"
                for name in os.listdir(folder)  # noqa: PTH208
                if name.endswith(".pth")
            )


def package_folders() -> list[str]:
    return [each for each in sys.path if each.endswith(("site-packages", "dist-packages"))]


def find_loaded() -> Iterator[str]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            yield file


def folders(paths: Iterable[str]) -> Iterator[str]:
    """Yield the folders to watch, so that every change of these files and folders is noticed."""
    for path in map(Path, paths):
        folder = path.parent
        while not os.path.isdir(folder):  # noqa: PTH112 - False, too, for what may not be read
            folder = folder.parent
        yield str(folder)
        if os.path.isdir(path):  # noqa: PTH112
            yield str(path)
        for _ in range(LINKS):
            if not os.path.islink(path):  # noqa: PTH114
                break
            path = path.parent / path.readlink()
            yield str(path.parent)


def changed_since(path: str, moment: int) -> bool:
    """Check whether a file was written since a moment, in nanoseconds; the clock of files may be behind by 50 ms."""
    try:
        return os.stat(path).st_ctime_ns > moment - 50_000_000  # noqa: PTH116
    except OSError:
        return True


def give_back_memory() -> None:
    """Give back to the system what is free, and the pages of libraries, which it reads again when they are needed."""
    import ctypes

    library = ctypes.CDLL(None)
    with suppress(AttributeError, OSError, ValueError):
        library.malloc_trim(0)
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            lines = [line.split() for line in maps]
        for place, rights, *_, path in lines:
            if "w" not in rights and path.startswith("/"):
                start, end = (int(each, 16) for each in place.split("-"))
                library.madvise(
                    ctypes.c_void_p(start), ctypes.c_size_t(end - start), PAGE_OUT
                )


def peak_bytes() -> int:
    """Return the most memory that this process has held (getrusage(2): kilobytes, but bytes on macOS).

    On Linux that begins with what its parent held; VmHWM (proc(5)) does not.
    """
    with suppress(OSError, ValueError), open("/proc/self/status") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1_024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1_024


@dataclass
class Stay:
    """Decides whether a server may stay. Created before anything is loaded, to notice changes during loading."""

    idle_seconds: float = IDLE_SECONDS
    memory_bytes: int = MEMORY_BYTES
    socket: str = ""
    _begun: int = field(default_factory=time.time_ns)
    # The watch begins before the marks are read: no change in between is missed.
    _watch: Watch = field(
        default_factory=lambda: Watch(
            folders((*own_files(), *find_start_files(), *package_folders()))
        )
    )
    _known: dict[str, Mark] = field(
        default_factory=lambda: marks((*own_files(), *find_start_files()))
    )
    _socket: Mark = None
    _suspect: bool = False
    _asked: float = field(default_factory=time.monotonic)
    _looked: float = field(default_factory=time.monotonic)

    def settle(self, socket: str) -> None:
        """Record what is loaded, and the socket."""
        self.socket = socket
        self._socket = mark(socket)
        loaded = marks(find_loaded())
        self._watch.add(folders(loaded))
        # Written since we began: what was loaded may be the file before.
        self._suspect = any(changed_since(path, self._begun) for path in loaded)
        self._known |= {path: None for path in loaded if self._suspect} or loaded

    def remove_socket(self) -> None:
        """Remove the socket, unless another server has replaced it."""
        if mark(self.socket) == self._socket:
            with suppress(OSError):
                os.unlink(self.socket)  # noqa: PTH108

    def note_request(self) -> None:
        """Note a request that was answered."""
        self._asked = time.monotonic()

    @property
    def idle(self) -> float:
        """Return the seconds since the last request."""
        return time.monotonic() - self._asked

    def outdated(self) -> bool:
        """Check whether a file has changed that is loaded, or that Python reads at its start."""
        # Checked again until a check finds no further change.
        self._suspect = (self._suspect or self._watch.stirred()) and self._changed()
        return self._suspect

    def _changed(self) -> bool:
        if any(path not in self._known for path in find_start_files()):
            return True
        return any(mark(path) != known for path, known in self._known.items())

    def _is_crowded(self) -> bool:
        """Check whether enough servers of other environments have come since."""
        folder = os.path.dirname(self.socket)  # noqa: PTH120
        newer = 0
        with suppress(OSError):
            for name in os.listdir(folder):  # noqa: PTH208
                other = mark(f"{folder}/{name}") if not name.endswith(".lock") else None
                if (
                    other
                    and self._socket
                    and other > self._socket
                    and is_locked(f"{folder}/{name}.lock")
                ):
                    newer += 1
        return newer >= MOST_SERVERS

    def forget(self) -> None:
        """Close the watch in a child."""
        self._watch.close()

    def reason_to_leave(self) -> str:
        """Return why it should exit now, "" if it may stay."""
        self._looked = time.monotonic()
        if self._looked - self._asked >= self.idle_seconds:
            return "idle"
        if peak_bytes() > self.memory_bytes:
            return "memory"
        if mark(self.socket) != self._socket:
            return "socket"
        if self._changed():
            return "files"
        return "crowded" if self._is_crowded() else ""

    @property
    def pause(self) -> float:
        """Return the seconds until the next check."""
        return max(
            0.0, min(LOOK_SECONDS, self.idle_seconds) - (time.monotonic() - self._looked)
        )
