"""Report an internal error: one line for the user, a report file to attach."""

import errno
import platform
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

from cli_guard import __version__

GO_ON = "to skip cli-guard once, set SKIP=cli-guard"


def report_crash(
    error: Exception, argv: Sequence[str], cwd: Path, env: Mapping[str, str], go_on: str = GO_ON
) -> str:
    """Write the report; return one line that says where it is, and how to continue."""
    # Redact before truncating: half a key would no longer be recognised.
    what = safe(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"the disk is full ({error.filename or error.strerror}): free some space and try again; {go_on}"
        )
    text = "\n".join(
        (
            f"cli-guard {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"arguments: {list(argv)!r}",
            "".join(traceback.format_exception(error)),
        )
    )
    try:
        path = write_report(text, cwd, env)
    except OSError as unwritable:
        return f"internal error: {what}; no report could be written ({unwritable.strerror}); {go_on}"
    return f"internal error: {what}; the report to attach is {path}; {go_on}"


def safe(text: str) -> str:
    """Mask the secrets of a text; withhold the text if even that fails."""
    try:
        from cli_guard.secrets.redact import redact

        return redact(text)
    except Exception:
        return "(details withheld: they could not be redacted)"


def write_report(text: str, cwd: Path, env: Mapping[str, str]) -> Path:
    """Write the report to the state folder, or to the temporary folder if there is none."""
    try:
        from cli_guard.git.repository import Repository

        folder = Repository.discover(cwd, env).state_folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except Exception:
        folder = Path(tempfile.gettempdir())
    with tempfile.NamedTemporaryFile(
        "w",
        dir=folder,
        prefix="crash-",
        suffix=".txt",
        delete=False,
        encoding="utf-8",
        errors="backslashreplace",
    ) as file:
        file.write(safe(text))
        return Path(file.name)
