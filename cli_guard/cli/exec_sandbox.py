"""The sandbox of `cli-guard exec --sandbox`: around the work tree, with a scratch folder for temporary files."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError

if TYPE_CHECKING:
    from cli_guard.execution.processes.sandbox import Sandbox


def check_sandbox() -> None:
    """Raises CliGuardError where none can be had."""
    from cli_guard.execution.processes.sandbox import why_not

    if reason := why_not():
        raise CliGuardError(reason)


def sandbox_of(folder: Path) -> "Sandbox":
    """The sandbox of a command that runs in a folder. Raises CliGuardError where there is no room for its files."""
    from cli_guard.execution.processes.sandbox import Sandbox
    from cli_guard.review.command_context import root_of

    try:
        scratch = Path(tempfile.mkdtemp(prefix="cli-guard-scratch-"))
    except OSError as error:
        raise CliGuardError(
            f"no scratch folder can be made in {tempfile.gettempdir()}: {error.strerror}"
        ) from error
    return Sandbox(root_of(folder) or folder, scratch)


def remove_scratch(sandbox: "Sandbox | None") -> None:
    """Removes the scratch folder of a sandbox whose command has ended."""
    if sandbox is not None:
        shutil.rmtree(sandbox.scratch, ignore_errors=True)
