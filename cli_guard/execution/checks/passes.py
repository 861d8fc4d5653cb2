"""What has passed, so that the same tree is not checked twice.

Only a pass is kept. What has failed is run again: it may have failed for what the machine lacked, and its output
is wanted anew.
"""

import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cli_guard import __version__
from cli_guard.policy.checks import PlannedCheck
from cli_guard.state.audit import lock
from cli_guard.state.records import write_atomically

FILE = "checks-passed.json"
KEPT = 500
# What of a table changes nothing in what a check finds.
NO_MATTER = {"stage", "files", "timeout_seconds", "ready_seconds", "cache"}


@dataclass(frozen=True, slots=True)
class Pass:
    """A check that has passed: how long it took in seconds, and when (ISO 8601, UTC)."""

    seconds: float
    at: str


class Passes:
    """The passes that a state folder remembers; a file that is gone or broken remembers none."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE

    def find(self, key: str) -> Pass | None:
        """The pass under a key."""
        with suppress(TypeError, KeyError, AttributeError):
            found = self._read()[key]
            seconds, at = found["seconds"], found["at"]
            if isinstance(seconds, int | float) and isinstance(at, str):
                return Pass(seconds, at)
        return None

    def keep(self, key: str, passed: Pass) -> None:
        """Remembers a pass, and lets go of the oldest beyond the number kept. Raises OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock(self.path):
            data = self._read()
            data.pop(key, None)
            data[key] = {"seconds": round(passed.seconds, 1), "at": passed.at}
            write_atomically(self.path, json.dumps(dict(list(data.items())[-KEPT:]), indent=0) + "\n")

    def _read(self) -> dict[str, dict[str, object]]:
        try:
            data = json.loads(self.path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}


def key_of(check: PlannedCheck, env: Mapping[str, str]) -> str:
    """A hash of all that the result of a check rests on; `env` is what it runs with.

    That is the tree, its lock files with it, the command and what it is given, the programs that it names, and us.
    """
    config = check.config
    given = {name: env.get(name) for name in sorted({"PATH", *config.pass_environment})}
    programs = [program(command, env.get("PATH")) for command in (config.command, config.server) if command]
    parts = [
        check.tree,
        config.model_dump(mode="json", exclude=NO_MATTER),
        given,
        programs,
        __version__,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).hexdigest()


def program(command: str, path: str | None) -> tuple[str, int, int] | None:
    """The file behind the first word of a command, its size and time of change: another version is another file."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return None
    first = next((word for word in words if "=" not in word), None)
    found = shutil.which(first, path=path) if first else None
    if found is None:
        return None
    with suppress(OSError):
        file = Path(found).resolve()
        about = file.stat()
        return str(file), about.st_size, about.st_mtime_ns
    return None
