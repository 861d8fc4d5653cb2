"""Real commands: in the foreground and the background, whole families of processes, their output, errors and ports.

What is imported here is small: a command's keeper (`keeper/`) imports this package too.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli_guard.execution.processes.manager import ProcessManager
    from cli_guard.execution.processes.ports import (
        find_available_port,
        find_process_on_port,
        is_port_available,
        kill_process_on_port,
    )
    from cli_guard.execution.processes.tools_mixin import CLIToolsMixin

_HOME = {
    "CLIToolsMixin": "tools_mixin",
    "ProcessManager": "manager",
    "find_available_port": "ports",
    "find_process_on_port": "ports",
    "is_port_available": "ports",
    "kill_process_on_port": "ports",
}

__all__ = [
    "CLIToolsMixin",
    "ProcessManager",
    "find_available_port",
    "find_process_on_port",
    "is_port_available",
    "kill_process_on_port",
]


def __getattr__(name: str) -> object:
    """A public name, from the module where it stands. Raises AttributeError."""
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
