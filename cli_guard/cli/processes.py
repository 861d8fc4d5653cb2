"""Shared by `exec`, `ps`, `logs` and `stop`: the process manager, and output without secrets."""

import json

from cli_guard.cli.io import Io
from cli_guard.execution.processes.manager import ProcessManager
from cli_guard.secrets.printable import json_value, printable
from cli_guard.secrets.redact import redact
from cli_guard.state.records import state_folder


def manager_of(io: Io) -> ProcessManager:
    """Return the manager of the background processes started from here. Raises CliGuardError."""
    return ProcessManager(state_folder(io.cwd, io.env) / "processes", keep=True)


def one_line(text: str) -> str:
    """Format a text about a command on one line, without secrets."""
    return printable(redact(text))


def redact_data(value: object) -> object:
    """Mask the secrets in every text of plain data."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(each) for each in value]
    return value


def say_json(io: Io, data: object) -> None:
    """Print data as JSON, without secrets."""
    io.say(json.dumps(json_value(redact_data(data)), indent=2, allow_nan=False))
