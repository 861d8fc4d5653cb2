"""What a command would have written, as a patch that `git apply` takes."""

from cli_guard.assistant.sandbox.model import Ran
from cli_guard.git.contents import decode
from cli_guard.git.snapshot import Snapshot
from cli_guard.git.unified import unified_diff
from cli_guard.model import Kind
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact


def as_patch(ran: Ran, snapshot: Snapshot) -> str:
    """The changes of a call as a unified diff, redacted; what is no text is named in a line of its own."""
    old: dict[str, str] = {}
    new: dict[str, str] = {}
    other = []
    for path, raw in sorted(ran.changes.items()):
        entry = snapshot.entries.get(path)
        text = None if raw is None else decode(raw)
        before = snapshot.get(path)
        if (entry and (entry.kind is not Kind.TEXT or before is None)) or (raw is not None and text is None):
            other.append(
                f"Binary or special file {printable(path)} would be {'removed' if raw is None else 'written'}\n"
            )
            continue
        if before is not None:
            old[path] = before
        if text is not None:
            new[path] = text
    return redact("".join(other) + unified_diff(old, new))
