"""Start Git through GitPython: for Python callers, who have a `git.Repo`, and for questions about the whole history.

What Git is asked, with which options, and how its answer is read is the same as without it (`cli_guard.git.process`),
so that a verdict does not depend on who starts Git. Only `git.Git` is used: a `git.Repo` reads the configuration of
the repository when it is made, with any file that is included there, and such a file may have no end.
"""

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from threading import Thread
from typing import IO, cast

from cli_guard.git.call import File, Process, Started, limit_memory

# GitPython adds the environment of this process to what it is given: these would change what Git reads, or load code.
INHERITED = ("GIT_", "LD_", "DYLD_")
# An emergency stop: what Git left behind may keep its stderr open.
JOIN_SECONDS = 60.0


def start_by_gitpython(
    command: tuple[str, ...], cwd: Path, env: Mapping[str, str], stdin: File, errors: File
) -> Started:
    """Start a command by `git.Git.execute`, see `Starter`. Raises OSError, also if GitPython finds no Git."""
    # It would run Git where this process runs.
    if not os.access(cwd, os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(cwd))
    inherited = [name for name in os.environ if name.startswith(INHERITED)]
    # Not --unset, which GNU env alone has.
    unset = [word for name in inherited if name not in env for word in ("-u", name)]
    command = ("env", *unset, *command) if unset else command
    try:
        # Imported first, it runs `git version`.
        from git import Git, GitCommandNotFound
    except ImportError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    try:
        running = Git(str(cwd)).execute(
            command, istream=stdin, as_process=True, shell=False, env=env
        )
    except GitCommandNotFound as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)) from error
    process = cast(Process, running.proc)
    # Or it would end Git as soon as nobody refers to it.
    running.proc = None
    limit_memory(process.pid)
    # GitPython makes a pipe of stderr, and Git waits when it is full.
    reader = Thread(target=drain, args=(process.stderr, errors), daemon=True)
    reader.start()
    return process, partial(reader.join, JOIN_SECONDS)


def drain(pipe: IO[bytes], errors: File) -> None:
    """Copy a pipe to a file until its end."""
    # Who ends a call closes it.
    with suppress(ValueError), pipe, open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path of ours
        copyfileobj(pipe, nowhere if isinstance(errors, int) else errors)
