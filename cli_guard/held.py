"""Keeps what objects have worked out of themselves, and lets the oldest of it go when there is too much."""

from collections import deque
from collections.abc import Callable, Iterable, Sized
from typing import TypeVar

T = TypeVar("T", bound=Sized)


def numbered(runs: Iterable[tuple[int, tuple[str, ...]]]) -> dict[int, str]:
    """Runs of lines, each with the number of its first, as lines by number."""
    return {number: text for start, lines in runs for number, text in enumerate(lines, start)}


class Held:
    """Values kept in the `__dict__` of their objects, together no longer than `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: deque[tuple[object, str, int]] = deque()
        self._length = 0

    def of(self, owner: object, name: str, make: Callable[[], T]) -> T:
        """What is kept at an object under a name, made if it is not; then the oldest of others makes room."""
        found: T | None = owner.__dict__.get(name)
        if found is None:
            found = owner.__dict__[name] = make()
            self._kept.append((owner, name, len(found)))
            self._length += len(found)
            while self._length > self._most and len(self._kept) > 1:
                oldest, its_name, length = self._kept.popleft()
                oldest.__dict__.pop(its_name, None)
                self._length -= length
        return found
