"""Parse the patches of `unified_diff`: their exact effect, and a safe way to show them.

A person must approve exactly what is written, so a patch that `git apply` could read in another way is refused.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cli_guard.errors import MissingObject, UsageError
from cli_guard.lazy import dataclass
from cli_guard.repository.protocol import OID, Repository
from cli_guard.repository.snapshot import SnapshotBounds
from cli_guard.repository.texts import decode, read_worktree_file
from cli_guard.repository.unified import (
    HUNK,
    NO_NEWLINE,
    apply_in_memory,
    header,
    header_of,
)

STARS = "****"


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The patch of one file: the lines of its header, and each hunk with its own line first."""

    path: str
    header: tuple[str, ...]
    hunks: tuple[tuple[str, ...], ...]


def file_patches(patch: str) -> list[FilePatch]:
    """Return the files of a patch exactly as `unified_diff` writes it: text, no rename, no link, no other mode.

    Raises ValueError for any other: `git apply` may see more in it than is parsed here.
    """
    lines = patch.split("\n")
    if lines.pop():
        raise ValueError("its last line has no end")
    found = []
    at = 0
    while at < len(lines):
        old, new, end = header(lines, at)
        path = new if new is not None else old
        head = lines[at:end]
        at = end
        hunks = []
        while at < len(lines) and not lines[at].startswith("diff --git "):
            end = hunk_end(lines, at)
            hunks.append(tuple(lines[at:end]))
            at = end
        is_new = old is None
        is_gone = new is None
        if path is None or not (hunks or is_new or is_gone):
            raise ValueError(f"line {at} ends no patch that is written here")
        if head != header_of(path, is_new=is_new, is_gone=is_gone, has_lines=bool(hunks)):
            raise ValueError(f"{path} has a header of another form")
        found.append(FilePatch(path, tuple(head), tuple(hunks)))
    if len({each.path for each in found}) != len(found):
        raise ValueError("it names a file twice")
    return found


def hunk_end(lines: list[str], at: int) -> int:
    """Return the line after a hunk, by its own counts. Raises ValueError."""
    counts = HUNK.fullmatch(lines[at])
    if not counts:
        raise ValueError(f"line {at + 1} begins no hunk")
    left = int(counts[2])
    right = int(counts[4])
    at += 1
    while left > 0 or right > 0 or lines[at : at + 1] == [NO_NEWLINE]:
        sign = lines[at][:1] if at < len(lines) else ""
        if sign not in (" ", "-", "+", "\\"):
            raise ValueError(f"line {at + 1} is not of its hunk")
        left -= sign in (" ", "-")
        right -= sign in (" ", "+")
        at += 1
    if left or right:
        raise ValueError(f"line {at} is one more than its hunk has")
    return at


def mask_patch(
    patch: str, redact: Callable[[str, str], str], texts: Mapping[str, str]
) -> str:
    """Mask every secret in a patch of `unified_diff`, keeping its lines.

    `redact` takes a text and its path; `texts` are the files that the patch changes. Raises ValueError for a patch of
    another form, or for other files.
    """
    made = apply_in_memory(patch, texts)
    lines: list[str] = []
    for each in file_patches(patch):
        old = masked_lines(texts.get(each.path, ""), each.path, redact)
        new = masked_lines(made[each.path] or "", each.path, redact)
        lines += each.header
        for head, *rest in each.hunks:
            lines += (head, *mask_hunk(head, rest, old, new))
    return "".join(f"{line}\n" for line in lines)


def mask_hunk(head: str, lines: list[str], old: list[str], new: list[str]) -> Iterator[str]:
    """Build the lines of a hunk from the masked lines of both sides. Raises ValueError, IndexError."""
    counts = HUNK.fullmatch(head)
    if not counts:
        raise ValueError("no hunk")
    a, b = (int(counts[n]) - (1 if int(counts[n + 1]) else 0) for n in (1, 3))
    for line in lines:
        places = (((old, a),) if line[:1] in " -" else ()) + (
            ((new, b),) if line[:1] in " +" else ()
        )
        sides = [masked_side[at] for masked_side, at in places]
        # A line of both sides may be part of a secret in one of them alone.
        yield line[:1] + next((side for side in sides if side != line[1:]), line[1:])
        a += line[:1] in " -"
        b += line[:1] in " +"


def masked_lines(text: str, path: str, redact: Callable[[str, str], str]) -> list[str]:
    """Mask the secrets of a text without changing its number of lines."""
    lines = text.split("\n")
    left = redact(text, path).split("\n")
    if len(left) == len(lines):
        return left
    # A secret of several lines became one: the mask is repeated on each.
    kept = set(left)
    return [line if line in kept else STARS for line in lines]


def shown_patch(
    repository: Repository, arguments: Mapping[str, Any], mask: Callable[[str, str], str]
) -> str:
    """Return a `patch` with its `bases` (path -> blob id) masked for display, see `masked`.

    Raises UsageError if it does not fit its bases.
    """
    problem: Exception | None = None
    for read in (read_blob_text, read_worktree_text):
        try:
            bases = {
                path: blob for path, blob in arguments["bases"].items() if blob is not None
            }
            texts = {path: read(repository, path, blob) for path, blob in bases.items()}
            return mask_patch(arguments["patch"], mask, texts)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            IndexError,
            MissingObject,
        ) as error:
            # A request about the work tree may give a patch with the line ends of the files there, or one that builds
            # on a patch that nobody has staged.
            problem = error
    raise UsageError(f"the patch has an unsupported form ({problem}): ask again")


def read_blob_text(repository: Repository, path: str, blob: str) -> str:
    """Return the text of a blob. Raises ValueError for an invalid blob id, MissingObject."""
    if not OID.fullmatch(blob):
        raise ValueError("it rests on no blob")
    with repository.blobs(SnapshotBounds().file_bytes) as reader:
        return decode(reader.read(blob) or b"") or ""


def read_worktree_text(repository: Repository, path: str, blob: str) -> str:
    return (
        decode(
            read_worktree_file(repository.root, path, SnapshotBounds().file_bytes) or b""
        )
        or ""
    )
