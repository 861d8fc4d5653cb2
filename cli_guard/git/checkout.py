"""A scratch checkout of one tree outside the repository: a check may write into it, and it is removed afterwards.

It has a `.git` of its own, which borrows the objects of the repository (gitrepository-layout(5), `alternates`), so
that `git status`, `git log` and `git describe` answer in it. It has no remote, no hook and nothing of the repository's
configuration; no filter runs while it is made. Index, refs and work trees of the repository are left alone.
"""

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cli_guard.errors import CliGuardError, GitError
from cli_guard.git.worktree import read_filters
from cli_guard.lazy import frozen
from cli_guard.model import Skipped
from cli_guard.repository.entries import list_entries, name_some
from cli_guard.repository.protocol import Commands, Repository
from cli_guard.repository.snapshot import SUBMODULE
from cli_guard.repository.texts import place_in
from cli_guard.runtime import is_own, read_plain

PREFIX = "cli-guard-check-"
OWNED = re.compile(PREFIX + r"(\d+)-")
POINTER = b"version https://git-lfs.github.com/spec/"
# The only variables of Git that are kept: others could lead Git out of the scratch checkout.
KEPT_OF_GIT = ("GIT_EXEC_PATH",)
CONFIG = """\
[core]
\trepositoryformatversion = {version}
\tbare = false
\tlogAllRefUpdates = false
[gc]
\tauto = 0
"""


@frozen
class Checkout:
    """A checkout: its top folder, and the parts of the tree that it lacks."""

    folder: Path
    missing: tuple[Skipped, ...] = ()


@contextmanager
def checked_out(
    repository: Repository, tree: str, commit: str | None, *, staged: bool = False
) -> Iterator[Checkout]:
    """Check out a tree in a scratch folder, HEAD at a commit (None: before the first one); remove it at the end.

    `staged`: the tree is that of the index, which Git has not written yet. Raises GitError for an incomplete tree or
    a name that no file may have, CliGuardError if no folder outside the repository can be used.
    """
    with scratch(repository) as outer:
        folder = outer / (top_name(repository) or "checkout")
        git = prepare_checkout(repository, folder, commit)
        if staged and write_index(repository, folder / ".git" / "objects", outer) != tree:
            raise GitError("the index changed during the checks: commit again")
        git.run("read-tree", "--reset", "-u", tree)
        yield Checkout(folder, tuple(missing_in(git, folder)))


def tree_of_index(repository: Repository) -> str:
    """Return the id of the tree that a commit of the index would record; write nothing to the repository."""
    with scratch(repository) as outer:
        objects = outer / "objects"
        objects.mkdir()
        (outer / "shared").symlink_to(place_of(repository, "objects"))
        return write_index(repository, objects, outer)


def write_index(repository: Repository, objects: Path, outer: Path) -> str:
    """Write the trees of the index to a folder of objects (git-write-tree(1)); return the id of the top one.

    The link `shared` beside that folder leads to the objects of the repository. Git records in the index what it
    wrote, so it works on a copy.
    """
    copy = outer / "index"
    try:
        shutil.copyfile(place_of(repository, "index"), copy)
    except FileNotFoundError:
        copy.unlink(missing_ok=True)  # nothing was ever staged
    given = repository.git.env.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")
    shared = quote_alternate(objects.parent / "shared")
    env = {
        **repository.git.env,
        "GIT_INDEX_FILE": str(copy),
        "GIT_OBJECT_DIRECTORY": str(objects),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": f"{shared}{os.pathsep}{given}"
        if given
        else shared,
    }
    try:
        return repository.git.at(repository.git.cwd, env).text("write-tree")
    finally:
        copy.unlink(missing_ok=True)


def quote_alternate(path: Path) -> str:
    """Quote a path for Git's list of object folders, so that a colon in it is not a separator (git(1))."""
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def place_of(repository: Repository, name: str) -> Path:
    """Return the path of the repository's `objects`, `index` or `shallow`; the environment may have moved them."""
    return (
        repository.git.cwd / repository.git.text("rev-parse", "--git-path", name)
    ).absolute()


def top_name(repository: Repository) -> str:
    """Return the name of the top folder, which some programs use as the name of the project."""
    folder = repository.common_dir if repository.bare else repository.root
    return folder.name.removesuffix(".git")


def prepare_checkout(repository: Repository, folder: Path, commit: str | None) -> Commands:
    """Make the `.git` of a checkout; return the Git that works in it."""
    own = folder / ".git"
    for name in ("objects/info", "objects/pack", "refs", "info"):
        (own / name).mkdir(parents=True)
    # A link, because the path itself may hold characters that are special in the file of alternates.
    (own / "shared").symlink_to(place_of(repository, "objects"))
    (own / "objects" / "info" / "alternates").write_text("../shared\n", "ascii")
    sha1 = repository.object_format == "sha1"
    config = CONFIG.format(version=0 if sha1 else 1)
    config += "" if sha1 else f"[extensions]\n\tobjectFormat = {repository.object_format}\n"
    (own / "config").write_text(config, "ascii")
    (own / "HEAD").write_text(f"{commit or 'ref: refs/heads/main'}\n", "ascii")
    kinds = ("refs/heads", "refs/remotes", "refs/tags")
    refs = repository.git.run("for-each-ref", "--format=%(objectname) %(refname)", *kinds)
    (own / "packed-refs").write_bytes(refs)
    with suppress(FileNotFoundError):
        shutil.copyfile(place_of(repository, "shallow"), own / "shallow")
    return repository.git.at(folder, own_environment(repository))


def own_environment(repository: Repository) -> dict[str, str]:
    """Return an environment in which Git finds only the checkout, and no configuration that names a filter."""
    kept = {
        name: value
        for name, value in repository.git.env.items()
        if not name.startswith("GIT_") or name in KEPT_OF_GIT
    }
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
    }


def missing_in(git: Commands, folder: Path) -> Iterator[Skipped]:
    """Yield the parts of the tree that a checkout lacks: submodules, and files that Git LFS keeps elsewhere."""
    submodules: list[str] = []
    paths: list[str] = []
    for (mode, *_), path in list_entries(git.run("ls-files", "-z", "--stage")):
        if mode == SUBMODULE:
            submodules.append(path)
        elif mode.startswith("100"):
            paths.append(path)
    if submodules:
        yield Skipped(name_some(submodules), "a submodule: not checked out")
    attributes = (path for path in paths if path.endswith(".gitattributes"))
    if any(has(folder, path, b"lfs") for path in attributes):
        pointers = [
            path
            for path, value in read_filters(git, paths).items()
            if value == "lfs" and has(folder, path, POINTER)
        ]
        if pointers:
            yield Skipped(
                name_some(pointers), "stored by Git LFS: only its pointer is checked out"
            )


def has(folder: Path, path: str, words: bytes) -> bool:
    """Return whether the beginning of a regular file contains these words."""
    try:
        return words in read_plain(place_in(folder, path), most=65_536)
    except OSError:
        return False


@contextmanager
def scratch(repository: Repository) -> Iterator[Path]:
    """Make a private folder outside the repository; remove it at the end. Raises CliGuardError."""
    base = room_outside(repository)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=base))
    except OSError as error:
        raise CliGuardError(
            f"cannot create a scratch checkout in {base}: {error.strerror}"
        ) from error
    try:
        yield folder
    except OSError as error:
        if error.filename and str(error.filename).startswith(str(folder)):
            raise CliGuardError(
                f"the scratch checkout {folder} cannot be written: {error.strerror}"
            ) from error
        raise
    finally:
        remove(folder)


def room_outside(repository: Repository) -> Path:
    """Return a folder for temporary files outside the repository. Raises CliGuardError if there is none."""
    inside = {repository.common_dir.resolve()} | (
        set() if repository.bare else {repository.root.resolve()}
    )
    for name in (tempfile.gettempdir(), "/tmp", "/var/tmp"):  # noqa: S108 - mkdtemp makes the name
        base = Path(name).resolve()
        if base.is_dir() and not inside.intersection((base, *base.parents)):
            return base
    raise CliGuardError(
        "every folder for temporary files is inside the repository: set TMPDIR to another one"
    )


def sweep(repository: Repository) -> None:
    """Remove the scratch folders that killed processes have left behind. Raises CliGuardError."""
    for folder in room_outside(repository).glob(f"{PREFIX}*"):
        found = OWNED.match(folder.name)
        with suppress(OSError):
            if found and is_own(folder.lstat()) and not alive(int(found[1])):
                remove(folder)


def alive(pid: int) -> bool:
    """Return whether a process with this id exists (kill(2), signal 0)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove(folder: Path) -> None:
    """Remove a folder, even if a check has made parts of it read-only; follow no link."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    with suppress(OSError):
        folder.chmod(stat.S_IRWXU)
    for top, folders, _ in os.walk(folder):
        for name in folders:
            path = os.path.join(top, name)  # noqa: PTH118 - the name may not be UTF-8
            with suppress(OSError):
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    os.chmod(path, stat.S_IRWXU)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)
