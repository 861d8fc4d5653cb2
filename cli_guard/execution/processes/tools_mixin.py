"""`CLIToolsMixin`: the tools of seed 004 by their names and keys, for an agent that is a class.

Where the seed, its reference and ours differ, `tests/execution/processes/test_reference.py` shows what ours does.
"""

import platform
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import (
    RESPONSE,
    STARTUP_TIMEOUT,
    TIMEOUT,
    Process,
    list_as_dict,
    stopped_as_dict,
)

TOOLS = (
    "run_cli_command",
    "stop_process",
    "list_processes",
    "get_process_logs",
    "cleanup_all_processes",
)


class CLIToolsMixin:
    """Runs commands and manages background processes; every method returns a dict, and raises nothing.

    Commands run with the rights of the caller and are not judged: `cli-guard exec` is the same under the gate.
    Processes end with the object, or with its process, whatever ends that.
    """

    _manager: ProcessManager | None = None
    _stopped: frozenset[int] = frozenset()

    @property
    def manager(self) -> ProcessManager:
        """The manager behind the methods, created when it is first needed."""
        if self._manager is None:
            self._manager = ProcessManager()
        return self._manager

    @property
    def background_processes(self) -> dict[int, Process]:
        """The running background processes, by process id."""
        return {each.pid: each for each in self.manager.processes() if each.running}

    @property
    def port_registry(self) -> dict[int, int]:
        """The ports of the running background processes, and the process of each."""
        return {
            each.port: pid
            for pid, each in self.background_processes.items()
            if each.port is not None
        }

    @property
    def platform(self) -> str:
        """`Linux`, `Darwin`, `Windows`."""
        return platform.system()

    @property
    def is_windows(self) -> bool:
        return self.platform == "Windows"

    def register_cli_tools(self) -> dict[str, Callable[..., dict[str, Any]]]:
        """Return the tools by name, and pass each to `self.register_tool(name, tool)` if there is one."""
        tools: dict[str, Callable[..., dict[str, Any]]] = {
            name: getattr(self, name) for name in TOOLS
        }
        register = getattr(self, "register_tool", None)
        if callable(register):
            for name, tool in tools.items():
                register(name, tool)
        return tools

    def run_cli_command(
        self,
        command: str,
        working_dir: str | None = None,
        background: bool = False,
        timeout: float = TIMEOUT,
        startup_timeout: float = STARTUP_TIMEOUT,
        expected_port: int | None = None,
        auto_respond: str | None = RESPONSE,
    ) -> dict[str, Any]:
        """Run a command to its end, or start it in the background; times are in seconds.

        `auto_respond` is its input, None for none.
        """
        folder = Path(working_dir) if working_dir is not None else Path.cwd()
        if background:
            begun = self.manager.start(
                command,
                cwd=folder,
                startup_timeout=startup_timeout,
                port=expected_port,
                respond=auto_respond,
            )
            return begun.as_dict()
        return self.manager.run(
            command, cwd=folder, timeout=timeout, respond=auto_respond
        ).as_dict()

    def stop_process(self, pid: int, force: bool = False) -> dict[str, Any]:
        """End a background process and its process tree; `force` sends SIGKILL at once."""
        stopped = self.manager.stop(pid, force=force)
        if stopped.success:
            self._stopped = self._stopped | {pid}
        return stopped.as_dict()

    def list_processes(self) -> dict[str, Any]:
        """List the background processes, those that have ended by themselves included."""
        known = [
            each
            for each in self.manager.processes()
            if each.running or each.pid not in self._stopped
        ]
        return list_as_dict(known)

    def get_process_logs(self, pid: int, lines: int = 50) -> dict[str, Any]:
        """Return the last lines of a background process's output."""
        try:
            output = self.manager.logs(pid, lines)
        except CliGuardError as error:
            return {
                "status": "error",
                "success": False,
                "error": str(error),
                "has_errors": True,
                "pid": pid,
            }
        log = next(each.log_file for each in self.manager.processes() if each.pid == pid)
        count = len(output.splitlines())
        data = {"pid": pid, "lines": count, "output": output, "log_file": log}
        return {"status": "success", "success": True, **data}

    def cleanup_all_processes(self) -> dict[str, Any]:
        """End all background processes at the same time."""
        results = self.manager.stop_all()
        self._stopped = self._stopped.union(each.pid for each in results if each.success)
        return stopped_as_dict(results)

    def __del__(self) -> None:
        with suppress(Exception):
            if self._manager is not None:
                self._manager.close()
