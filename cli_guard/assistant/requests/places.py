"""The known paths of a repository by the names that people give them: base name, folder, module, end of a path."""

import posixpath
from collections.abc import Collection, Iterable
from functools import cached_property

# A path is found by its last parts up to this many; nobody writes more of them.
PARTS = 8
# What a path may be called without its ending: `README` and `config.utils`, not `README.md.bak`.
PACKAGE_FILES = ("__init__", "mod", "index")


class Places:
    """Looks up known paths; each table is built when it is first asked for, in the time that their number takes."""

    def __init__(self, known: Collection[str]) -> None:
        self.known = frozenset(known)

    @cached_property
    def _sorted(self) -> list[tuple[str, list[str]]]:
        return [(path, path.split("/")) for path in sorted(self.known)]

    @cached_property
    def folders(self) -> dict[str, list[str]]:
        """The files under each folder, not too deep."""
        folders: dict[str, list[str]] = {}
        for path, parts in self._sorted:
            for size in range(1, min(len(parts) - 1, PARTS) + 1):
                folders.setdefault("/".join(parts[:size]), []).append(path)
        return folders

    @cached_property
    def ends(self) -> dict[str, list[str]]:
        """The files that end in some parts: `login.py`, `auth/login.py`."""
        ends: dict[str, list[str]] = {}
        for path, parts in self._sorted:
            for size in range(1, min(len(parts), PARTS) + 1):
                ends.setdefault("/".join(parts[-size:]), []).append(path)
        return ends

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """The same without the ending of the file: what a module is imported as."""
        stems: dict[str, list[str]] = {}
        for path, parts in self._sorted:
            stem, dot, _ = parts[-1].rpartition(".")
            name = stem if dot and stem else parts[-1]
            folders = parts[-PARTS:-1]
            names = folders if name in PACKAGE_FILES else [*folders, name]
            for size in range(1, len(names) + 1):
                stems.setdefault("/".join(names[-size:]), []).append(path)
        return stems

    def files_of(self, folder: str) -> list[str]:
        """The known files under a folder, sorted; none where there is no such folder."""
        if folder.count("/") < PARTS:
            return self.folders.get(folder, [])
        return [path for path in sorted(self.known) if path.startswith(folder + "/")]

    def named(self, word: str) -> list[str]:
        """The known paths that a word with an ending or a slash can be: itself, or those that end in it."""
        return [word] if word in self.known else self.ends.get(word, [])

    def module(self, dotted: str) -> list[str]:
        """The known files that a dotted name can be: the shortest path with that ending wins."""
        found = self.stems.get(dotted.replace(".", "/").replace("::", "/"), [])
        return nearest(found)


def nearest(paths: Iterable[str]) -> list[str]:
    """Of some paths those with the fewest folders above; a test is not what a module's name means."""
    found = [path for path in paths if not posixpath.basename(path).startswith("test_")]
    least = min((path.count("/") for path in found), default=0)
    return [path for path in found if path.count("/") == least]
