"""Writes down what runs and how it ended, where every later process finds it: `run.json` and `ended.json`."""

import errno
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress

from cli_guard.execution.processes.supervisor import family


def record_start(folder: str, told: Mapping[str, object], pid: int) -> int:
    """Writes down a process, and us who watch over it; the errno of a disk that takes nothing, else 0."""
    run = {
        "pid": pid,
        "identity": family.identity(pid),
        "guardian": os.getpid(),
        "guardian_identity": family.identity(os.getpid()),
        "started": time.time(),
    }
    return keep(f"{folder}/run.json", {**told, **run})


def record_end(folder: str, told: Mapping[str, object]) -> int:
    """Writes down how it ended; the errno, else 0."""
    return keep(f"{folder}/ended.json", {**told, "ended": time.time()})


def keep(path: str, data: Mapping[str, object]) -> int:
    """Writes a file whole or not at all."""
    try:
        with open(f"{path}.new", "w", encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow to load
            json.dump(data, file)
        os.replace(f"{path}.new", path)  # noqa: PTH105
    except OSError as error:
        with suppress(OSError):
            os.unlink(f"{path}.new")  # noqa: PTH108
        return error.errno or errno.EIO
    return 0
