"""`CLIToolsMixin`: the tools of seed 004 by their names and keys, for an agent that is a class.

Where the seed and its reference differ, or its reference errs, `tests/processes/test_reference.py` says what ours does.
"""

import platform
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cli_guard.errors import CliGuardError
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.execution.processes.model import RESPONSE, STARTUP_TIMEOUT, TIMEOUT, Process, Result, Started

ProcessInfo = Process
TOOLS = ("run_cli_command", "stop_process", "list_processes", "get_process_logs", "cleanup_all_processes")


class CLIToolsMixin:
    """Runs commands and looks after background processes; every method gives a dict, and raises nothing.

    All of it has the rights of the caller, and nothing is judged: `cli-guard exec` is the same under the gate. What is
    started ends with the object, or with its process, whatever ends that.
    """

    _manager: ProcessManager | None = None
    _stopped: frozenset[int] = frozenset()

    @property
    def manager(self) -> ProcessManager:
        """The manager behind the methods, made when it is first needed."""
        if self._manager is None:
            self._manager = ProcessManager()
        return self._manager

    @property
    def background_processes(self) -> dict[int, ProcessInfo]:
        """What runs in the background, by process id."""
        return {each.pid: each for each in self.manager.processes() if each.running}

    @property
    def port_registry(self) -> dict[int, int]:
        """The ports of what runs in the background, and the process of each."""
        return {each.port: pid for pid, each in self.background_processes.items() if each.port is not None}

    @property
    def platform(self) -> str:
        """`Linux`, `Darwin`, `Windows`."""
        return platform.system()

    @property
    def is_windows(self) -> bool:
        """Is this Windows?"""
        return self.platform == "Windows"

    def register_cli_tools(self) -> dict[str, Callable[..., dict[str, Any]]]:
        """The tools by name; an agent with a method `register_tool` is handed each of them."""
        tools: dict[str, Callable[..., dict[str, Any]]] = {name: getattr(self, name) for name in TOOLS}
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
        """Runs a command to its end, or starts it in the background; times are in seconds.

        `auto_respond` is what it reads on its input, None for nothing.
        """
        folder = Path(working_dir) if working_dir is not None else Path.cwd()
        if background:
            return self._run_background_command(command, folder, startup_timeout, expected_port, auto_respond)
        return self._run_foreground_command(command, folder, timeout, auto_respond)

    def _run_foreground_command(
        self, command: str, work_path: Path, timeout: float, auto_respond: str | None
    ) -> dict[str, Any]:
        result: Result = self.manager.run(command, cwd=work_path, timeout=timeout, respond=auto_respond)
        return result.as_dict()

    def _run_background_command(
        self,
        command: str,
        work_path: Path,
        startup_timeout: float,
        expected_port: int | None,
        auto_respond: str | None,
    ) -> dict[str, Any]:
        begun: Started = self.manager.start(
            command,
            cwd=work_path,
            startup_timeout=startup_timeout,
            port=expected_port,
            respond=auto_respond,
        )
        return begun.as_dict()

    def stop_process(self, pid: int, force: bool = False) -> dict[str, Any]:
        """Ends a background process and its family; `force` asks nobody."""
        stopped = self.manager.stop(pid, force=force)
        if stopped.success:
            self._stopped = self._stopped | {pid}
        return stopped.as_dict()

    def list_processes(self) -> dict[str, Any]:
        """Lists the background processes; one that has ended by itself is still told, one that was stopped is not."""
        known = [each for each in self.manager.processes() if each.running or each.pid not in self._stopped]
        processes = [asdict(each) for each in known]
        return {"status": "success", "success": True, "count": len(processes), "processes": processes}

    def get_process_logs(self, pid: int, lines: int = 50) -> dict[str, Any]:
        """The last lines of what a background process has put out."""
        try:
            output = self.manager.logs(pid, lines)
        except CliGuardError as error:
            return failure(str(error)) | {"pid": pid}
        log = next(each.log_file for each in self.manager.processes() if each.pid == pid)
        count = len(output.splitlines())
        return {
            "status": "success",
            "success": True,
            "pid": pid,
            "lines": count,
            "output": output,
            "log_file": log,
        }

    def cleanup_all_processes(self) -> dict[str, Any]:
        """Ends all background processes at the same time."""
        results = self.manager.stop_all()
        stopped = [each.pid for each in results if each.success]
        self._stopped = self._stopped.union(stopped)
        failed = [each.pid for each in results if not each.success]
        told = f"{len(stopped)} stopped" + (f", {len(failed)} not" if failed else "")
        errors = [each.error for each in results if each.error]
        return {
            "status": "error" if failed else "success",
            "success": not failed,
            "stopped": stopped,
            "failed": failed,
            "message": told,
            **({"error": errors[0]} if errors else {}),
        }

    def __del__(self) -> None:
        with suppress(Exception):
            if self._manager is not None:
                self._manager.close()


def failure(error: str) -> dict[str, Any]:
    """The beginning of an answer that is none."""
    return {"status": "error", "success": False, "error": error, "has_errors": True}
