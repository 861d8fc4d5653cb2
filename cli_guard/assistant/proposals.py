"""Shows the patches of `unified_diff` without their secrets.

A person must approve exactly what is written: a patch that is not exactly the one that is written for its effect
is refused.
"""

from collections.abc import Callable, Mapping
from typing import Any

from cli_guard.errors import MissingObject, UsageError
from cli_guard.repository.protocol import OID, Repository
from cli_guard.repository.snapshot import SnapshotBounds
from cli_guard.repository.texts import decode, read_worktree_file
from cli_guard.repository.unified import apply_in_memory, unified_diff

STARS = "****"


def mask_patch(
    patch: str, redact: Callable[[str, str], str], texts: Mapping[str, str]
) -> str:
    """Mask every secret in a patch of `unified_diff`, keeping its lines.

    `redact` takes a text and its path; `texts` are the files that the patch changes. Raises ValueError for a patch of
    another form, or for other files.
    """
    made = apply_in_memory(patch, texts)
    old = {path: texts[path] for path in made if path in texts}
    new = {path: text for path, text in made.items() if text is not None}
    if unified_diff(old, new) != patch:
        raise ValueError("it is not as it is written here")
    return unified_diff(old, new, lambda text, path: masked_text(text, path, redact))


def masked_text(text: str, path: str, redact: Callable[[str, str], str]) -> str:
    """Mask the secrets of a text without changing its number of lines."""
    lines = text.split("\n")
    left = redact(text, path).split("\n")
    if len(left) != len(lines):
        # A secret of several lines became one: the mask is repeated on each.
        kept = set(left)
        left = [line if line in kept else STARS for line in lines]
    return "\n".join(left)


def shown_patch(
    repository: Repository, arguments: Mapping[str, Any], mask: Callable[[str, str], str]
) -> str:
    """Return a `patch` with its `bases` (path -> blob id) masked for display, see `mask_patch`.

    Raises UsageError if it does not fit its bases.
    """
    problem: Exception | None = None
    for is_staged in (True, False):
        try:
            texts = {
                path: read_base(repository, path, blob, is_staged=is_staged)
                for path, blob in arguments["bases"].items()
                if blob is not None
            }
            return mask_patch(arguments["patch"], mask, texts)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            MissingObject,
        ) as error:
            # A request about the work tree may give a patch with the line ends of the files there, or one that builds
            # on a patch that nobody has staged.
            problem = error
    raise UsageError(f"the patch has an unsupported form ({problem}): ask again")


def read_base(repository: Repository, path: str, blob: str, *, is_staged: bool) -> str:
    """Return the text of a blob, or of the file in the work tree. Raises ValueError for no blob id, MissingObject."""
    most = SnapshotBounds().file_bytes
    if not is_staged:
        raw = read_worktree_file(repository.root, path, most)
    elif OID.fullmatch(blob):
        with repository.blobs(most) as reader:
            raw = reader.read(blob)
    else:
        raise ValueError("it rests on no blob")
    return decode(raw or b"") or ""
