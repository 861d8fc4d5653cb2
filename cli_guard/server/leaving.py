"""Decide when a server exits: it is idle, has grown, its files have changed, or its socket was replaced."""

import os
import resource
import site
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cli_guard.server.watching import Watch

IDLE_SECONDS = 600.0
MEMORY_BYTES = 512 * 1_048_576
# How often it checks its files while idle; before a run it always checks.
LOOK_SECONDS = 30.0
# The most links in a path (path_resolution(7)).
LINKS = 40

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
    """Return the files of this package, and the folders of the tables of programs: a server may hold any."""
    root = Path(__file__).parent.parent
    tables = str(root / "rules" / "programs")
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        if folder.startswith(tables):
            yield folder
        yield from (f"{folder}/{name}" for name in files)


def find_installed() -> Iterator[str]:
    """Return the interpreter, and the folders of packages, which every installation, upgrade or removal changes.

    The user's own folder is not searched before it exists.
    """
    yield sys.executable
    yield f"{Path(sys.executable).parent.parent}/pyvenv.cfg"
    yield site.getusersitepackages()
    yield from (each for each in sys.path if each.endswith(("site-packages", "dist-packages")))


def find_loaded() -> Iterator[str]:
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str):
            yield file


def folders(paths: Iterable[str]) -> Iterator[str]:
    """Yield the folders to watch, so that every change of these files and folders is noticed."""
    for path in map(Path, paths):
        folder = path.parent
        while not folder.is_dir():
            folder = folder.parent
        yield str(folder)
        if path.is_dir():
            yield str(path)
        for _ in range(LINKS):
            if not path.is_symlink():
                break
            path = path.parent / path.readlink()
            yield str(path.parent)


def peak_bytes() -> int:
    """Return the most memory that this process has held (getrusage(2): kilobytes, but bytes on macOS)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1_024


@dataclass
class Stay:
    """Decides whether a server may stay. Created before anything is loaded, to notice changes during loading."""

    idle_seconds: float = IDLE_SECONDS
    memory_bytes: int = MEMORY_BYTES
    socket: str = ""
    # The watch begins before the marks are read: no change in between is missed.
    _watch: Watch = field(default_factory=lambda: Watch(folders((*own_files(), *find_installed()))))
    _own: dict[str, Mark] = field(default_factory=lambda: marks((*own_files(), *find_installed())))
    _all: dict[str, Mark] = field(default_factory=dict)
    _socket: Mark = None
    _suspect: bool = False
    _asked: float = field(default_factory=time.monotonic)
    _looked: float = field(default_factory=time.monotonic)

    def settle(self, socket: str) -> None:
        """Record what is loaded, and the socket."""
        self.socket, self._socket = socket, mark(socket)
        self._all = marks(find_loaded())

    def remove_socket(self) -> None:
        """Remove the socket, unless another server has replaced it."""
        if mark(self.socket) == self._socket:
            with suppress(OSError):
                os.unlink(self.socket)  # noqa: PTH108

    def note_request(self) -> None:
        """Note a request that was answered."""
        self._asked = time.monotonic()

    def outdated(self) -> bool:
        """Check whether a loaded file or the installation has changed."""
        # Checked again until a check finds no further change.
        self._suspect = (self._suspect or self._watch.stirred()) and self._changed()
        return self._suspect

    def _changed(self) -> bool:
        return any(mark(path) != known for path, known in self._own.items())

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
        if self._changed() or any(mark(path) != known for path, known in self._all.items()):
            return "files"
        return ""

    @property
    def pause(self) -> float:
        """Return the seconds until the next check."""
        return max(0.0, min(LOOK_SECONDS, self.idle_seconds) - (time.monotonic() - self._looked))
