"""The context in which commands would run: folder, work tree, Git configuration, command patterns.

Git is called only if a command needs it, and only once.
"""

import os
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path

from cli_guard.commands import Context
from cli_guard.commands.model import Pattern
from cli_guard.errors import NotARepository
from cli_guard.git.process import Git, own_configuration, refusal
from cli_guard.git.repository import Repository
from cli_guard.runtime import read_plain, user_file

RECORDED = b"HEAD:cli-guard.toml\nHEAD:pyproject.toml\n"
MOST_NAMES = 2_000
MOST_FOLDERS = 20_000
OTHER_SECTIONS = frozenset("decisions rules ignore limits git message mcp checks".split())


class Configuration(Mapping[str, tuple[str, ...]]):
    """Git's configuration, read on first use."""

    def __init__(self, read: Callable[[], Mapping[str, tuple[str, ...]]]) -> None:
        self._read = read
        self._data: Mapping[str, tuple[str, ...]] | None = None

    @property
    def data(self) -> Mapping[str, tuple[str, ...]]:
        """Return the keys and values."""
        if self._data is None:
            self._data = self._read()
        return self._data

    def __getitem__(self, key: str) -> tuple[str, ...]:
        return self.data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)


class Repositories(Collection[str]):
    """The folders below a root that Git takes for repositories of their own, looked for on first use."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)

    @cached_property
    def found(self) -> tuple[str, ...]:
        """Return their paths: the root itself, which stands for all below it, if there are too many folders."""
        found = []
        for count, (folder, folders, files) in enumerate(os.walk(self._root)):
            if count > MOST_FOLDERS:
                return (self._root,)
            if folder == self._root:
                folders[:] = [each for each in folders if each != ".git"]
                continue
            inside = {*folders, *files}
            if ".git" in inside or {"HEAD", "objects", "refs"} <= inside:
                found.append(folder)
                folders.clear()
        return tuple(found)

    def __contains__(self, path: object) -> bool:
        return path in self.found

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


def command_context(cwd: Path, env: Mapping[str, str]) -> Context:
    """Build the context of commands that run in a folder. Raises CliGuardError for an invalid policy."""
    git = Git(cwd, env)
    root = root_of(cwd)
    return Context(
        home=env.get("HOME"),
        folder=str(cwd),
        root=str(root) if root else None,
        git_config=Configuration(lambda: own_configuration(git)),
        patterns=patterns_in_force(git, root),
        names=names_in(cwd),
        repositories=Repositories(root) if root else None,
    )


def names_in(folder: Path) -> frozenset[str] | None:
    """List what a folder holds, None if that is too much or cannot be read."""
    try:
        with os.scandir(folder) as entries:
            found = list(islice(entries, MOST_NAMES + 1))
            names = frozenset(
                entry.name for entry in found if not entry.is_dir() or is_importable(entry.path)
            )
    except OSError:
        return None
    return names if len(found) <= MOST_NAMES else None


def is_importable(folder: str) -> bool:
    """May Python import a folder in the place of a module of its own library?"""
    if Path(folder).name not in sys.stdlib_module_names:
        return True
    with os.scandir(folder) as entries:
        return any(entry.name.startswith("__init__.") for entry in entries)


def root_of(folder: Path) -> Path | None:
    """Find the top folder of the work tree around a folder by its `.git`."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), None)


def patterns_in_force(git: Git, root: Path | None) -> tuple[Pattern, ...]:
    """Return the command patterns of the user's own file and of the policy at HEAD. Raises CliGuardError."""
    if not (user_configures(git.env) or (root and repository_configures(git))):
        return ()
    from cli_guard.review.policy import policy_for
    from cli_guard.review.request import Staged

    repository = Repository.discover(git.cwd, git.env) if root else None
    policy, _ = policy_for(Staged(), repository, git.env)
    return policy.patterns


def user_configures(env: Mapping[str, str]) -> bool:
    """May the user's own file configure commands? True if it cannot be read."""
    path = user_file(env)
    try:
        return path is not None and speaks(read_plain(path, follow=True), whole=True)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def repository_configures(git: Git) -> bool:
    """May the policy at HEAD configure commands? Raises GitError."""
    code, out, err = git.attempt("cat-file", "--batch", stdin=RECORDED)
    if code != 0:
        error = refusal(err, code)
        if isinstance(error, NotARepository):
            return False
        raise error
    own, shared = split_batch(out)
    return speaks(own, whole=True) or speaks(shared, whole=False)


def split_batch(out: bytes) -> tuple[bytes, bytes]:
    """Split the output of `git cat-file --batch` for two files; a missing one is empty (git-cat-file(1))."""
    files = []
    for _ in range(2):
        line, _, out = out.partition(b"\n")
        size = 0 if line.endswith(b" missing") else int(line.rsplit(b" ", 1)[-1] or 0)
        files.append(out[:size])
        out = out if line.endswith(b" missing") else out[size + 1 :]
    return files[0], files[1]


def speaks(raw: bytes, *, whole: bool) -> bool:
    """Does a configuration have `commands`, or an unknown key that may be a misspelling of it?"""
    if not whole and b"cli-guard" not in raw:
        return False
    try:
        data = tomllib.loads(raw.decode("utf-8-sig"))
        table = data if whole else data.get("tool", {}).get("cli-guard", {})
        return not OTHER_SECTIONS.issuperset(table)
    except (ValueError, TypeError, AttributeError, RecursionError):
        return True
