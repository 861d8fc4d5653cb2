"""What `exec`, `ps`, `logs` and `stop` share: where processes are kept, and how what is said of them is made safe."""

from typing import TYPE_CHECKING

from cli_guard.cli.io import Io
from cli_guard.state.records import state_folder

if TYPE_CHECKING:
    from cli_guard.execution.processes.manager import ProcessManager


def manager_of(io: Io) -> "ProcessManager":
    """The processes that were started from here, and go on without us. Raises CliGuardError."""
    from cli_guard.execution.processes.manager import ProcessManager

    return ProcessManager(state_folder(io.cwd, io.env) / "processes", keep=True)


def one_line(text: str) -> str:
    """A text about a command, without secrets, on one line."""
    from cli_guard.secrets.printable import printable
    from cli_guard.secrets.redact import redact

    return printable(redact(text))


def redact_data(value: object) -> object:
    """Plain data with the secrets masked in every text."""
    from cli_guard.secrets.redact import redact

    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [redact_data(each) for each in value]
    return value


def say_json(io: Io, data: object) -> None:
    """Prints data as JSON, without secrets."""
    import json

    from cli_guard.secrets.printable import json_value

    io.say(json.dumps(json_value(redact_data(data)), indent=2, allow_nan=False))
