"""Runs commands in the foreground and the background, and manages those that it has started."""

import os
import secrets
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes import preparing
from cli_guard.execution.processes.launcher import Launcher, Run
from cli_guard.execution.processes.model import (
    RESPONSE,
    STARTUP_TIMEOUT,
    TIMEOUT,
    Process,
    ProcessLimits,
    Result,
    Started,
    StopMethod,
    Stopped,
)
from cli_guard.execution.processes.registry import (
    ProcessRecord,
    Registry,
    follow_log,
    last_lines,
)
from cli_guard.execution.processes.results import decode_output
from cli_guard.execution.processes.running import run_to_end, start
from cli_guard.execution.processes.sandbox import Sandbox
from cli_guard.execution.processes.stopping import stop_entries

Command = str | Sequence[str]
# Pruning reads all records, so not at every start.
STARTS_PER_PRUNE = 20
NOT_OURS = "{pid} was not started by cli-guard here: see `cli-guard exec ps`"


class ProcessManager:
    """The commands of one owner.

        with ProcessManager() as processes:
            print(processes.run("make test", timeout=300).stdout)
            server = processes.start(("python", "-m", "http.server", "8000"))
            processes.stop(server.pid)

    A text is run by bash, words without a shell. `folder` holds records and logs; by default it is a temporary folder
    that is removed with the manager. With `keep` the background processes outlive the manager and its process, and a
    later manager of the same folder finds them; without, they end with it, whatever ends it.
    """

    def __init__(self, folder: Path | None = None, *, keep: bool = False) -> None:
        # Created with the first command; the random name cannot exist yet.
        own = Path(tempfile.gettempdir()) / f"cli-guard-{secrets.token_hex(8)}"
        temporary = str(own) if folder is None else ""
        self.folder = folder or own
        self._keep = keep
        self._registry = Registry(self.folder)
        self._launcher = Launcher(temporary)
        self._bound: dict[int, Run] = {}
        self._starts = 0
        self._close = weakref.finalize(self, close_manager, self._launcher, os.getpid())

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
        limits: ProcessLimits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Result:
        """Run a command to its end, and end its whole process tree with it.

        `env` is passed as it is; by default a clean environment is made of ours. `timeout` is in seconds, None for no
        limit. The command reads `stdin` (a descriptor), or else `respond`, None for no input. `on_output` is called
        with `stdout` or `stderr` and bytes, as they come. `terminal` gives it a terminal of its own (True, or rows and
        columns); then all output is `stdout`, and `stdin` is typed.
        """
        try:
            prepared = preparing.prepare(
                command, cwd, env, limits, terminal, sandbox, timeout
            )
        except CliGuardError as error:
            return Result(*preparing.text_and_folder(command, cwd), error=str(error))
        answer = None if stdin is not None else respond
        return run_to_end(
            self._launcher, self._registry, prepared, timeout, answer, stdin, on_output
        )

    def start(
        self,
        command: Command,
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        startup_timeout: float = STARTUP_TIMEOUT,
        port: int | None = None,
        respond: str | None = RESPONSE,
        limits: ProcessLimits | None = None,
        terminal: bool | tuple[int, int] = False,
        sandbox: Sandbox | None = None,
    ) -> Started:
        """Start a command, and watch it for `startup_timeout` seconds: it is ready as soon as its port answers.

        The `port` of known servers is read from the command if it is not given.
        """
        try:
            prepared = preparing.prepare(
                command, cwd, env, limits, terminal, sandbox, startup_timeout
            )
        except CliGuardError as error:
            return Started(*preparing.text_and_folder(command, cwd), error=str(error))
        if self._starts % STARTS_PER_PRUNE == 0:
            self._registry.prune()
        self._starts += 1
        begun, run = start(
            self._launcher,
            self._registry,
            prepared,
            startup_timeout,
            port,
            respond,
            keep=self._keep,
        )
        if run is not None and begun.pid is not None:
            self._bound[begun.pid] = run
        return begun

    def stop(self, pid: int, *, force: bool = False) -> Stopped:
        """End a process tree: SIGINT, SIGTERM, SIGKILL on one deadline; `force` sends SIGKILL at once."""
        entry = self._registry.find(pid)
        if entry is None:
            method: StopMethod = "forced" if force else "graceful"
            return Stopped(pid, method, "", NOT_OURS.format(pid=pid))
        return self._stop([entry], force)[0]

    def stop_all(self, *, force: bool = False) -> tuple[Stopped, ...]:
        """End all running processes at the same time."""
        return self._stop(
            [entry for entry in self._registry.entries() if entry.running], force
        )

    def _stop(self, entries: list[ProcessRecord], force: bool) -> tuple[Stopped, ...]:
        results = stop_entries(entries, force=force)
        for result in results:
            run = self._bound.pop(result.pid, None)
            if run is not None:
                run.close()
        return results

    def processes(self) -> tuple[Process, ...]:
        """Return the running processes and those that ended within the last hour, the oldest first."""
        return tuple(entry.as_process() for entry in self._registry.list_recent())

    def logs(self, pid: int, lines: int = 50) -> str:
        """Return the last lines of a process's output. Raises CliGuardError for one that was not started here."""
        return decode_output(self.log_bytes(pid, lines))

    def log_bytes(self, pid: int, lines: int) -> bytes:
        return last_lines(self._entry(pid).log, lines)

    def follow(self, pid: int, lines: int | None = None) -> Iterator[bytes]:
        """Yield the output of a process (the last `lines` of it, or all) until it has ended. Raises CliGuardError."""
        return follow_log(self._entry(pid), lines)

    def _entry(self, pid: int) -> ProcessRecord:
        entry = self._registry.find(pid)
        if entry is None:
            raise CliGuardError(NOT_OURS.format(pid=pid))
        return entry

    def close(self) -> None:
        """End what is bound to this manager, and remove a temporary folder."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def close_manager(launcher: Launcher, owner: int) -> None:
    """Close a manager; a forked child that inherits one does nothing."""
    if os.getpid() != owner:
        return
    launcher.close()
