"""A state of a repository as files by path, for the assistant, the run tool and tests: nothing of Git is needed.

As a mapping a `Snapshot` is path -> text; anything else (a picture, a link, a submodule) is in `entries` alone.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from cli_guard.lazy import frozen
from cli_guard.model import Kind, Skipped
from cli_guard.repository.texts import decode

LINK = "120000"
SUBMODULE = "160000"


@frozen
class TreeEntry:
    """One path of a snapshot: `mode` as Git writes it, `size` in bytes, `identity` of the content.

    `identity` is a blob id, or a hash of the bytes where Git has no blob; two files of one snapshot that have the same
    one are equal.
    """

    path: str
    mode: str
    size: int
    identity: str

    @property
    def kind(self) -> Kind:
        """Return whether it is a file, a link or a submodule."""
        return {LINK: Kind.SYMLINK, SUBMODULE: Kind.SUBMODULE}.get(self.mode, Kind.TEXT)


@frozen
class SnapshotBounds:
    """The most that is read of a repository: the number of files, the bytes of one file, and of all of them."""

    files: int = 50_000
    file_bytes: int = 2_000_000
    total_bytes: int = 200_000_000


class Snapshot(Mapping[str, str]):
    """Files by path, read completely when it is made, and never again.

    `name` is the state for people ("the index", "the work tree", a revision, "memory"). `skipped` are the paths that
    were left out, and why; `entries` has them all the same. `of_blobs`: every identity is a blob id.
    """

    def __init__(
        self,
        name: str,
        entries: Iterable[TreeEntry],
        contents: Mapping[str, bytes],
        skipped: Iterable[Skipped] = (),
        *,
        of_blobs: bool = False,
    ) -> None:
        self.name = name
        self.of_blobs = of_blobs
        self.entries = {entry.path: entry for entry in entries}
        self.skipped = tuple(skipped)
        self._contents = contents

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> "Snapshot":
        contents = {
            path: text.encode("utf-8", "surrogateescape")
            for path, text in sorted(texts.items())
        }
        return cls(
            "memory", (entry_of(path, raw) for path, raw in contents.items()), contents
        )

    @cached_property
    def _texts(self) -> dict[str, str]:
        plain = (path for path, entry in self.entries.items() if entry.kind is Kind.TEXT)
        found = (
            (path, decode(self._contents[path])) for path in plain if path in self._contents
        )
        return {path: text for path, text in found if text is not None}

    def raw(self, path: str) -> bytes | None:
        """Return the bytes of a file, or the target of a link; None for a skipped file and a submodule."""
        return self._contents.get(path)

    @cached_property
    def identity(self) -> str:
        """Hash all paths, modes and contents."""
        lines = sorted(
            f"{each.mode} {each.identity} {each.path}" for each in self.entries.values()
        )
        return hashlib.sha256(
            "\0".join(lines).encode("utf-8", "surrogateescape")
        ).hexdigest()

    def only(self, paths: Collection[str]) -> "Snapshot":
        """Return the same state with these paths alone."""
        entries = [entry for path, entry in self.entries.items() if path in paths]
        contents = {path: raw for path, raw in self._contents.items() if path in paths}
        skipped = (each for each in self.skipped if each.path in paths)
        return Snapshot(self.name, entries, contents, skipped, of_blobs=self.of_blobs)

    def __getitem__(self, path: str) -> str:
        return self._texts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def entry_of(path: str, raw: bytes, mode: str = "100644") -> TreeEntry:
    """Return the entry of a file that Git has no blob of."""
    return TreeEntry(path, mode, len(raw), hashlib.sha256(raw).hexdigest())
