"""Read and write text files of the work tree for `cli-guard ignore`: their bytes stay as they are but for one edit."""

import codecs
import stat
from dataclasses import replace
from pathlib import Path

from cli_guard.errors import UsageError
from cli_guard.lazy import frozen
from cli_guard.repository.texts import read_worktree_file
from cli_guard.repository.unified import file_diff
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact
from cli_guard.state.files import write_atomically

MOST_BYTES = 50_000_000
# In this order: the mark of UTF-32 LE begins like that of UTF-16 LE.
ENCODINGS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (b"", "utf-8"),
)


@frozen
class EditedFile:
    """A file of the work tree before and after an edit; `before` is None for a new file.

    `mark` is its byte order mark, `permissions` those of its mode.
    """

    path: str
    before: str | None
    after: str
    encoding: str = "utf-8"
    mark: bytes = b""
    permissions: int = 0o644

    def edit(self, after: str) -> "EditedFile":
        return replace(self, after=after)

    @property
    def diff(self) -> str:
        """Return what changes, without secrets."""
        before = None if self.before is None else redact(self.before, self.path)
        return file_diff(self.path, before, redact(self.after, self.path))

    def write(self, root: Path) -> None:
        """Replace the file, all of it or nothing. Raises CliGuardError if a folder is there, OSError."""
        raw = self.mark + self.after.encode(self.encoding, "surrogateescape")
        write_atomically(root / self.path, raw, self.permissions)


def check_inside(root: Path, path: str) -> None:
    """Raise UsageError unless a path stays below the root, outside of Git's folder, without a link on the way."""
    parts = path.split("/")
    if Path(path).is_absolute() or {"", ".", ".."} & set(parts) or "\0" in path:
        raise UsageError(f"{printable(path)!r} is not a path of this work tree")
    if ".git" in map(str.lower, parts):
        raise UsageError(f"{printable(path)} belongs to Git")
    place = root
    for part in parts:
        place = place / part
        if place.is_symlink():
            raise UsageError(f"{printable(str(place))} is a link: nothing is written there")


def read_file(root: Path, path: str) -> EditedFile | None:
    """Return a file, None if it is no text that could be written back byte for byte. Raises UsageError."""
    check_inside(root, path)
    raw = read_worktree_file(root, path, MOST_BYTES)
    if raw is None:
        raise UsageError(f"{printable(path)} is not a file of the work tree")
    mark, encoding = next(each for each in ENCODINGS if raw.startswith(each[0]))
    try:
        text = raw[len(mark) :].decode(encoding, "surrogateescape")
    except UnicodeDecodeError:
        return None
    if "\0" in text or mark + text.encode(encoding, "surrogateescape") != raw:
        return None
    permissions = stat.S_IMODE((root / path).stat().st_mode)
    return EditedFile(path, text, text, encoding, mark, permissions)
