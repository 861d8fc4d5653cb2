"""Notice changes in folders through the kernel (inotify(7)); reading the folders takes milliseconds.

Python has no call for it. On a system without it, or if it refuses, the answer is always that something may have
changed.
"""

import os
from collections.abc import Iterable
from contextlib import suppress

# <sys/inotify.h>: all but the reading of a file, IN_ALL_EVENTS without IN_ACCESS, IN_CLOSE_NOWRITE and IN_OPEN.
CHANGES = 0xFFF & ~0x001 & ~0x010 & ~0x020
EVENTS_BYTES = 65_536


class Watch:
    """A watch on folders and the files directly in them."""

    def __init__(self, folders: Iterable[str]) -> None:
        self._descriptor = open_watch()
        self._places: dict[str, tuple[int, int] | None] = {}
        self.add(folders)

    def add(self, folders: Iterable[str]) -> None:
        """Watch more folders, all of them or, if that fails, none from now on."""
        new = sorted(set(folders) - set(self._places))
        self._places |= {folder: place(folder) for folder in new}
        if self._descriptor is not None and not all(
            watch(self._descriptor, folder) for folder in new
        ):
            self.close()

    def stirred(self) -> bool:
        """Return whether anything may have changed since the last call."""
        if self._descriptor is None:
            return True
        # A folder further up may have been replaced, or be a link: the watch on the folder itself does not see that.
        stirred = any(place(folder) != known for folder, known in self._places.items())
        with suppress(BlockingIOError):
            while os.read(self._descriptor, EVENTS_BYTES):
                stirred = True
        return stirred

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def place(folder: str) -> tuple[int, int] | None:
    """Return the identity of the folder that a path leads to now, None for none."""
    try:
        about = os.stat(folder)  # noqa: PTH116 - before every run
    except OSError:
        return None
    return about.st_dev, about.st_ino


def open_watch() -> int | None:
    """Return a descriptor for the events of folders, None where there is none."""
    import ctypes

    try:
        descriptor: int = ctypes.CDLL(None).inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    except (AttributeError, OSError):
        return None
    return descriptor if descriptor >= 0 else None


def watch(descriptor: int, folder: str) -> bool:
    """Add a folder to those whose events come; False if that fails."""
    import ctypes

    return (
        int(ctypes.CDLL(None).inotify_add_watch(descriptor, os.fsencode(folder), CHANGES))
        >= 0
    )
