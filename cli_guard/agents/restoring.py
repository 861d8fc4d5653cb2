"""Remember the settings of an agent as they were before our hook came to them, and restore them byte for byte.

The record is in our own state folder, that of the repository or of the user, and readable by its owner alone: settings
may hold keys.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import user_state
from cli_guard.state.files import make_folder, read_state, write_atomically


@frozen
class Original:
    """A file before we wrote it: its bytes, None if there was none, and the folders that we created for it.

    `after` is the hash of what we wrote: a file that was changed since is not restored.
    """

    before: bytes | None
    after: str
    folders: tuple[str, ...] = ()

    def remove(self, path: Path) -> None:
        """Delete a file that was not there before, and its folders if nothing else came to them. Raises OSError."""
        path.unlink()
        for folder in path.parents:
            if str(folder) in self.folders:
                # Somebody else's file is there: the folder stays.
                with suppress(OSError):
                    folder.rmdir()


def hash_of(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def record_of(repository: Repository, path: Path) -> Path:
    """Return where the original of a settings file is kept; those outside the repository are the user's."""
    folder = repository.state_folder
    is_own = not repository.bare and path.is_relative_to(repository.root.resolve())
    if not is_own:
        folder = user_state(repository.git.env) or folder
    return (
        folder / "agents" / f"{hash_of(str(path).encode('utf-8', 'surrogateescape'))}.json"
    )


def read_original(repository: Repository, path: Path) -> Original | None:
    """Return the original of a file, None if it is not known."""
    try:
        data = json.loads(read_state(record_of(repository, path)))
        before = data["before"]
        raw = None if before is None else bytes.fromhex(before)
        return Original(raw, str(data["after"]), tuple(map(str, data["folders"])))
    except (CliGuardError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_original(repository: Repository, path: Path, text: str) -> None:
    """Remember a file before `text` is written to it; what we wrote earlier is no original.

    Raises CliGuardError, OSError.
    """
    known = read_original(repository, path)
    before = path.read_bytes() if path.exists() else None
    folders = [str(each) for each in path.parents if not each.exists()]
    if known and before is not None and hash_of(before) == known.after:
        before = known.before
        folders = [*known.folders]
    kept = {
        "before": None if before is None else before.hex(),
        "after": hash_of(text.encode("utf-8", "surrogatepass")),
        "folders": folders,
    }
    record = record_of(repository, path)
    make_folder(record.parent)
    write_atomically(record, json.dumps(kept))


def restore_original(repository: Repository, path: Path) -> bool:
    """Restore a file that nobody has changed since; return whether that was done. Raises OSError."""
    original = read_original(repository, path)
    if original is None or hash_of(path.read_bytes()) != original.after:
        return False
    if original.before is None:
        original.remove(path)
    else:
        write_atomically(path, original.before, path.stat().st_mode & 0o777)
    record_of(repository, path).unlink()
    return True
