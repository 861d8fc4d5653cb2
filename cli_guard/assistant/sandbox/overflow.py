"""Keeps output that is too long to show, where the next call of the tool can read it."""

import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard.assistant.sandbox.model import RunLimits
from cli_guard.repository.texts import read_worktree_file
from cli_guard.state.files import open_state

FOLDER = "/tmp/cmd-output"  # noqa: S108 - a path inside the sandbox
NAMED_BY = ("/tmp", "cmd-")  # noqa: S108
NAME = re.compile(r"cmd-(\d{1,9})\.txt\Z")
DAY_SECONDS = 86_400


class Overflow:
    """The files of long output of one repository: `cmd-N.txt`, bounded in number, bytes and age.

    They are kept in the state folder and seen in the sandbox under FOLDER; without a state folder none is kept.
    """

    def __init__(self, state_folder: Path | None, limits: RunLimits) -> None:
        self._folder = state_folder / "cmd-output" if state_folder else None
        self._limits = limits

    def files_named_in(self, command: str) -> Mapping[str, bytes]:
        """Return path in the sandbox -> content of the kept files, empty for a command that names none."""
        found = {}
        if any(part in command for part in NAMED_BY):
            self._remove_old()
            for _, path in self._list():
                # A link there could lead anywhere, and a pipe would be waited for.
                raw = read_worktree_file(path.parent, path.name, self._limits.kept_bytes)
                if raw is not None:
                    found[f"{FOLDER}/{path.name}"] = raw
        return found

    def keep(self, raw: bytes) -> str | None:
        """Keep one output and return its path in the sandbox; None where it cannot be kept."""
        if not self._folder:
            return None
        number = max((number for number, _ in self._list()), default=0) + 1
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                try:
                    path = self._folder / f"cmd-{number}.txt"
                    with os.fdopen(
                        open_state(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb"
                    ) as file:
                        file.write(raw)
                    break
                except FileExistsError:  # another call was faster
                    number += 1
        except OSError:
            return None
        self._remove_old()
        return f"{FOLDER}/cmd-{number}.txt"

    def _remove_old(self) -> None:
        oldest = time.time() - self._limits.kept_days * DAY_SECONDS
        size = 0
        for index, (_, path) in enumerate(reversed(self._list())):
            with suppress(OSError):
                about = path.stat()
                size += about.st_size
                beyond = index >= self._limits.kept_files or size > self._limits.kept_bytes
                # The newest stays, whatever its size.
                if about.st_mtime < oldest or (index and beyond):
                    path.unlink()

    def _list(self) -> list[tuple[int, Path]]:
        """Return number and file, the newest last."""
        with suppress(OSError):
            paths = list(self._folder.iterdir()) if self._folder else []
            return sorted(
                (int(found[1]), path) for path in paths if (found := NAME.match(path.name))
            )
        return []
