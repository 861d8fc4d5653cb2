"""The sandbox of `cli-guard exec --sandbox`: around the work tree, with a scratch folder for temporary files."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError

if TYPE_CHECKING:
    from cli_guard.execution.processes.sandbox import Sandbox


def check_sandbox() -> None:
    """Raise CliGuardError if no sandbox is available."""
    from cli_guard.execution.processes.sandbox import why_not

    if reason := why_not():
        raise CliGuardError(reason)


def sandbox_of(folder: Path) -> "Sandbox":
    """Build the sandbox of a command that runs in a folder. Raises CliGuardError if its files cannot be created."""
    from cli_guard.execution.context import root_of
    from cli_guard.execution.processes.sandbox import Sandbox

    try:
        scratch = Path(tempfile.mkdtemp(prefix="cli-guard-scratch-"))
    except OSError as error:
        raise CliGuardError(
            f"cannot create a scratch folder in {tempfile.gettempdir()}: {error.strerror}"
        ) from error
    return Sandbox(root_of(folder) or folder, scratch)


def remove_scratch(sandbox: "Sandbox | None") -> None:
    """Remove the scratch folder of a sandbox whose command has ended."""
    if sandbox is not None:
        shutil.rmtree(sandbox.scratch, ignore_errors=True)
