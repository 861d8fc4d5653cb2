"""Keeps output that is too long to show, where the next call of the tool can read it."""

import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard.assistant.sandbox.model import Limits
from cli_guard.git.contents import read_worktree_file

FOLDER = "/tmp/cmd-output"  # noqa: S108 - a path inside the sandbox
NAMED_BY = ("/tmp", "cmd-")  # noqa: S108
NAME = re.compile(r"cmd-(\d{1,9})\.txt\Z")
DAY_SECONDS = 86_400


class Overflow:
    """The files of long output of one repository: `cmd-N.txt`, bounded in number, bytes and age.

    They lie in the state folder and are seen in the sandbox under FOLDER; without a state folder none is kept.
    """

    def __init__(self, state_folder: Path | None, limits: Limits) -> None:
        self._folder = state_folder / "cmd-output" if state_folder else None
        self._limits = limits

    def files(self, command: str) -> Mapping[str, bytes]:
        """Path in the sandbox -> content, of what is kept and not too old; read only for a command that names it."""
        found: dict[str, bytes] = {}
        if not any(part in command for part in NAMED_BY):
            return found
        self.clean()
        for _, path in self._kept():
            # A link there could lead anywhere, and a pipe would be waited for.
            raw = read_worktree_file(path.parent, path.name, self._limits.kept_bytes)
            if raw is not None:
                found[f"{FOLDER}/{path.name}"] = raw
        return found

    def keep(self, raw: bytes) -> str | None:
        """Keeps one output and gives its path in the sandbox; None where it cannot be kept."""
        if self._folder is None:
            return None
        kept = self._kept()
        number = kept[-1][0] + 1 if kept else 1
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            while True:
                try:
                    with (self._folder / f"cmd-{number}.txt").open("xb") as file:
                        file.write(raw)
                    break
                except FileExistsError:  # another call was faster
                    number += 1
        except OSError:
            return None
        self.clean()
        return f"{FOLDER}/cmd-{number}.txt"

    def clean(self) -> None:
        """Removes what is old, and the oldest beyond what may be kept; the newest stays."""
        oldest = time.time() - self._limits.kept_days * DAY_SECONDS
        size = 0
        for place, (_, path) in enumerate(reversed(self._kept())):
            with suppress(OSError):
                about = path.stat()
                size += about.st_size
                beyond = place >= self._limits.kept_files or size > self._limits.kept_bytes
                if about.st_mtime < oldest or (place and beyond):
                    path.unlink()

    def _kept(self) -> list[tuple[int, Path]]:
        """Number and file, the newest last."""
        if self._folder is None:
            return []
        with suppress(OSError):
            numbered = [(NAME.match(path.name), path) for path in self._folder.iterdir()]
            return sorted((int(found[1]), path) for found, path in numbered if found)
        return []
