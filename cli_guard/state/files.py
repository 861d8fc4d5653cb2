"""Read, write and lock the files of the state folder: plain files of mode 0600. No call waits for more than 2 s.

Anything else in their place (a FIFO, a link, a folder) is an error that blocks, and says what to remove.
"""

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, cast, get_origin

from cli_guard.errors import CliGuardError
from cli_guard.runtime import NotAPlainFileError, open_plain

Record = TypeVar("Record")
LOCK_SECONDS = 2.0
LOCK_STEP = 0.02


def open_state(path: Path, flags: int) -> int:
    """Open a file of the state folder. Raises CliGuardError if it is not a plain file, OSError."""
    try:
        descriptor = open_plain(path, flags)
    except NotAPlainFileError as error:
        raise CliGuardError(
            f"{path} should be a file, but {error.strerror}: remove it"
        ) from error
    if flags & (os.O_WRONLY | os.O_RDWR) and os.fstat(descriptor).st_mode & 0o077:
        # An older version made it readable for others.
        with suppress(AttributeError, OSError):  # Windows has no such rights
            os.fchmod(descriptor, 0o600)
    return descriptor


def read_state(path: Path) -> bytes:
    """Return the content of a file of the state folder. Raises CliGuardError if it is not a plain file, OSError."""
    with os.fdopen(open_state(path, os.O_RDONLY), "rb") as file:
        return file.read()


def read_lines(path: Path) -> Iterator[str]:
    """Return the lines of a file, none if it is missing or owned by another user, who could forge them."""
    try:
        yield from read_state(path).decode("utf-8", "replace").splitlines()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return


def record_of(kind: type[Record], data: Mapping[str, Any]) -> Record:
    """Build a dataclass of texts, booleans, tuples of and maps to texts from JSON. Raises TypeError for others."""
    values = dict(data)
    for each in fields(cast("Any", kind)):
        if each.name not in values:
            continue
        value = values[each.name]
        inside = [value]
        if each.type is bool:
            inside = [] if isinstance(value, bool) else [None]
        elif get_origin(each.type) is tuple:
            inside = value if isinstance(value, list) else [None]
            values[each.name] = tuple(inside)
        elif each.type is not str:
            inside = [text for text in value.values() if text is not None]
        if not all(isinstance(text, str) for text in inside):
            raise TypeError(each.name)
    return kind(**values)


def check_fields(record: Record) -> Record:
    """Return a record if each of its plain fields has its type, as JSON may hold anything. Raises TypeError."""
    for each in fields(cast("Any", record)):
        kind: Any = each.type
        is_plain = isinstance(kind, type | UnionType)
        if is_plain and not isinstance(getattr(record, each.name), kind):
            raise TypeError(f"{each.name} is not of type {kind}")
    return record


def write_atomically(path: Path, content: str | bytes, permissions: int = 0o600) -> None:
    """Write a file, all of it or nothing. Raises CliGuardError if a folder is there, OSError."""
    if path.is_dir() and not path.is_symlink():
        raise CliGuardError(f"{path} should be a file, but it is a folder: remove it")
    # mkstemp(3) creates it with mode 0600.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
        if permissions != 0o600:
            Path(name).chmod(permissions)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def make_folder(path: Path) -> None:
    """Create a folder that only its owner can read. Raises CliGuardError if something else is there, OSError."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError as error:
        raise CliGuardError(f"{path} should be a folder: remove it") from error
    if path.is_symlink():
        raise CliGuardError(f"{path} should be a folder, but it is a link: remove it")


@contextmanager
def explain_write_errors(what: str = "it") -> Iterator[None]:
    """Raise CliGuardError for an OSError: what cannot be written, to which file if it says so, and why."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        where = f" to {error.filename}" if error.filename else ""
        raise CliGuardError(f"{what} cannot be written{where}: {error.strerror}") from error


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold a lock file beside `path`, so that two processes cannot overwrite each other.

    Raises CliGuardError if it is still held after LOCK_SECONDS, OSError.
    """
    make_folder(path.parent)
    file = path.with_suffix(path.suffix + ".lock")
    descriptor = open_state(file, os.O_RDWR | os.O_CREAT)
    try:
        with suppress(ImportError):  # outside POSIX there is no fcntl, and no lock
            import fcntl

            until = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > until:
                        words = "another process holds it: wait for that process, or end it, and remove the file"
                        raise CliGuardError(f"{file} is locked: {words}") from None
                    time.sleep(LOCK_STEP)
        yield
    finally:
        os.close(descriptor)
