"""Runs commands in the foreground and the background, and looks after those that it has started."""

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes import preparing
from cli_guard.execution.processes.background import start
from cli_guard.execution.processes.foreground import run_to_end
from cli_guard.execution.processes.launcher import Door, Run
from cli_guard.execution.processes.logs import following, last_lines
from cli_guard.execution.processes.model import (
    RESPONSE,
    STARTUP_TIMEOUT,
    TIMEOUT,
    Limits,
    Process,
    Result,
    Started,
    Stopped,
)
from cli_guard.execution.processes.preparing import Refused
from cli_guard.execution.processes.registry import Entry, Registry
from cli_guard.execution.processes.results import decode_output
from cli_guard.execution.processes.sandbox import Sandbox
from cli_guard.execution.processes.stopping import stop_entries

Command = str | Sequence[str]
# To look through what has ended takes a time that grows with it.
PRUNED_EACH = 20


class ProcessManager:
    """The commands of one owner.

        with ProcessManager() as processes:
            print(processes.run("make test", timeout=300).stdout)
            server = processes.start(("python", "-m", "http.server", "8000"))
            processes.stop(server.pid)

    A text is run by bash, words as they are. `folder` holds records and logs; without one it is a temporary folder that
    goes with the manager. With `keep` the background processes go on when the manager and its process have ended, and
    a later manager of the same folder finds them; without, they end together with it, whatever ends it.
    """

    def __init__(self, folder: Path | None = None, *, keep: bool = False) -> None:
        # Made with the first command, and named so that nobody else has made it.
        own = Path(tempfile.gettempdir()) / f"cli-guard-{secrets.token_hex(8)}"
        temporary = str(own) if folder is None else ""
        self.folder = folder or own
        self._keep = keep
        self._registry = Registry(self.folder)
        self._door = Door(temporary)
        self._bound: dict[int, Run] = {}
        self._starts = 0
        self._close = weakref.finalize(self, close_manager, self._door, self._bound, temporary, os.getpid())

    def run(
        self,
        command: Command,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float | None = TIMEOUT,
        respond: str | None = RESPONSE,
        stdin: int | None = None,
        on_output: Callable[[str, bytes], None] | None = None,
        limits: Limits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Result:
        """Runs a command to its end, and with it ends whatever it has started.

        `env` is handed on as it is; without one a clean environment is made of ours. `timeout` is in seconds, None for
        none. The command reads `stdin` (a descriptor), or else is answered `respond`, None for no input. `on_output` is
        called with `stdout` or `stderr` and bytes, as they come. `terminal` gives it one of its own, of so many rows
        and columns; then all of its output is `stdout`, and what `stdin` holds is typed.
        """
        prepared = preparing.prepare(command, cwd, env, limits, terminal, sandbox, timeout)
        if isinstance(prepared, Refused):
            return prepared.result()
        answer = None if stdin is not None else respond
        return run_to_end(self._door, self._registry, prepared, timeout, answer, stdin, on_output)

    def start(
        self,
        command: Command,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        startup_timeout: float = STARTUP_TIMEOUT,
        port: int | None = None,
        respond: str | None = RESPONSE,
        limits: Limits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Started:
        """Starts a command, and watches it for `startup_timeout` seconds: it is ready as soon as its port answers.

        `port` is where it will listen; of the known servers it is read from the command.
        """
        prepared = preparing.prepare(command, cwd, env, limits, terminal, sandbox, startup_timeout)
        if isinstance(prepared, Refused):
            return prepared.started()
        if self._starts % PRUNED_EACH == 0:
            self._registry.prune()
        self._starts += 1
        begun, run = start(
            self._door, self._registry, prepared, startup_timeout, port, respond, keep=self._keep
        )
        if run is not None and begun.pid is not None:
            self._bound[begun.pid] = run
        return begun

    def stop(self, pid: int, *, force: bool = False) -> Stopped:
        """Ends a process and its family: SIGINT, SIGTERM, SIGKILL on one deadline; `force` is SIGKILL at once."""
        entry = self._registry.find(pid)
        if entry is None:
            method = preparing.method(force)
            return Stopped(
                pid, method, "", f"{pid} was not started here: see `cli-guard ps`; nothing is done"
            )
        return self._stopped([entry], force)[0]

    def stop_all(self, *, force: bool = False) -> tuple[Stopped, ...]:
        """Ends all that runs, at the same time."""
        return self._stopped([entry for entry in self._registry.entries() if entry.running], force)

    def _stopped(self, entries: list[Entry], force: bool) -> tuple[Stopped, ...]:
        results = stop_entries(entries, self._bound, force=force)
        for result in results:
            run = self._bound.pop(result.pid, None)
            if run is not None:
                run.close()
        return results

    def processes(self) -> tuple[Process, ...]:
        """What runs, and what has ended lately, the oldest first."""
        return tuple(entry.as_process() for entry in self._registry.entries())

    def logs(self, pid: int, lines: int = 50) -> str:
        """The last lines of what a process has put out. Raises CliGuardError for one that was not started here."""
        return decode_output(self.log_bytes(pid, lines))

    def log_bytes(self, pid: int, lines: int = 50) -> bytes:
        """The same as the bytes that they were."""
        return last_lines(self._entry(pid).log, lines)

    def follow(self, pid: int, lines: int | None = None) -> Iterator[bytes]:
        """What a process has put out (the last `lines` of it, or all), and what comes, until it has ended.

        Raises CliGuardError.
        """
        return following(self._entry(pid), lines)

    def _entry(self, pid: int) -> Entry:
        entry = self._registry.find(pid)
        if entry is None:
            raise CliGuardError(f"{pid} was not started here: see `cli-guard ps`")
        return entry

    def close(self) -> None:
        """Ends what is bound to this manager, and removes a temporary folder."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def close_manager(door: Door, bound: dict[int, Run], folder: str, owner: int) -> None:
    """The end of a manager. A forked child that inherits one ends nothing."""
    if os.getpid() != owner:
        return
    for run in bound.values():
        run.close()
    bound.clear()
    door.close()
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
