"""What the result of a check depends on, so that the same tree is not checked twice.

The cache of the state folder keeps a pass alone: a failure may be the machine's fault, and its output is needed again.
"""

import hashlib
import json
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from cli_guard import __version__
from cli_guard.policy.checks import PlannedCheck

# Settings that do not change the result of a check.
IRRELEVANT = {"stage", "files", "timeout_seconds", "ready_seconds", "cache"}


def key_of(check: PlannedCheck, env: Mapping[str, str]) -> bytes:
    """Return a hash of all that the result of a check depends on; `env` is its environment.

    That is the tree with its lock files, the command and its settings, the programs that it names, and our version.
    """
    config = check.config
    given = {name: env.get(name) for name in sorted({"PATH", *config.pass_environment})}
    programs = [
        program(command, env.get("PATH"))
        for command in (config.command, config.server)
        if command
    ]
    parts = [
        check.tree,
        config.model_dump(mode="json", exclude=IRRELEVANT),
        given,
        programs,
        __version__,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode("ascii")).digest()


def program(command: str, path: str | None) -> tuple[str, int, int] | None:
    """Return the file of a command's program with its size and time of change, which a new version changes."""
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
