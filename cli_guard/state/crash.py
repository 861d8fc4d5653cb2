"""Report an internal error: one line for the user, a report file to attach."""

import errno
import hashlib
import platform
import tempfile
import traceback
from collections.abc import Sequence
from pathlib import Path

from cli_guard import __version__
from cli_guard.runtime import Env
from cli_guard.state.files import write_atomically

GO_ON = "to skip cli-guard once, set SKIP=cli-guard"


def report_crash(
    error: Exception,
    argv: Sequence[str],
    cwd: Path,
    env: Env,
    go_on: str = GO_ON,
) -> str:
    """Write the report; return one line that says where it is, and how to continue."""
    # Redact before truncating: half a key would no longer be recognised.
    what = safe(" ".join(f"{type(error).__name__}: {error}".split()))[:200]
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full ({error.filename or error.strerror}): free some space and try again; {go_on}"
    try:
        path = write_report(error, argv, cwd, env)
    except OSError as unwritable:
        return f"internal error: {what}; no report could be written ({unwritable.strerror}); {go_on}"
    return f"internal error: {what}; the report to attach is {path}; {go_on}"


def report_failure(error: Exception, argv: Sequence[str], cwd: Path, env: Env) -> str:
    """Write the report; return a reason why something is not reviewed, the same for the same bug on any machine."""
    kind = type(error).__name__
    try:
        return f"internal error: {kind}, report {write_report(error, argv, cwd, env).name} in .git/cli-guard"
    except OSError:
        return f"internal error: {kind}, and no report could be written"


def safe(text: str) -> str:
    """Mask the secrets of a text; withhold the text if even that fails."""
    try:
        from cli_guard.secrets.redact import redact

        return redact(text)
    except Exception:
        return "(details withheld: they could not be redacted)"


def write_report(error: Exception, argv: Sequence[str], cwd: Path, env: Env) -> Path:
    """Write the report to the state folder, or to the temporary folder if there is none. Raises OSError."""
    text = "\n".join(
        (
            f"cli-guard {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"arguments: {list(argv)!r}",
            "".join(traceback.format_exception(error)),
        )
    )
    # The same bug has the same report: an approval of what it left unread counts at the next try too.
    places = [
        (frame.name, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
    ]
    name = f"crash-{hashlib.sha256(repr(places).encode('utf-8')).hexdigest()[:12]}.txt"
    try:
        from cli_guard.git.repository import GitRepository

        folder = GitRepository.discover(cwd, env).state_folder
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except Exception:
        folder = Path(tempfile.gettempdir())
    path = folder / name
    write_atomically(path, safe(text).encode("utf-8", "backslashreplace").decode("utf-8"))
    return path
