"""The trusted work tree as the judge of commands asks about it. Git is called only if a command needs it, once."""

import glob
import os
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.commands.effects.credentials import holds_secrets
from cli_guard.commands.invocations import INSTALLED
from cli_guard.commands.model import TaskFile
from cli_guard.errors import CliGuardError, NotARepository
from cli_guard.git.hooks import FRAMEWORK, contents_of
from cli_guard.lazy import regex
from cli_guard.repository.protocol import Commands
from cli_guard.runtime import read_plain

if TYPE_CHECKING:
    from cli_guard.execution.installs import AllowedInstalls

# A line that is no comment calls us.
CALL = regex(rb"(?m)^[^#\n]*cli[-_]guard")
LOCKS = ("Gemfile.lock", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock")
STATUS = (
    "status",
    "--porcelain=v1",
    "-z",
    "--no-renames",
    "--untracked-files=all",
    "--ignored=matching",
)
MOST_FOUND = 500
MOST_ENTRIES = 20_000
# What others published, keys for their tests included, and what Git stores compressed.
NOT_OWN = frozenset(
    (".git", ".hg", "node_modules", "site-packages", "vendor", ".venv", "venv", ".tox")
)
STATUS_BYTES = 1_000_000
# A dash or plus at the beginning of a name, or behind a blank where it is split; quotes, which xargs takes away; what
# perl runs as a command.
ODD = regex(r"""(?:\A|\s)[-+]|[|<>'"\\]""")
REVISION = regex(r"[A-Za-z0-9_@][\w./@~^-]*")
DIFF = (
    "diff",
    "--name-only",
    "-z",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--ignore-submodules",
)
# What Git writes into a file with a conflict.
MARK = regex(rb"(?m)^<<<<<<< ")
MOST_NAMES = 30_000
INDEX_BYTES = 5_000_000
# path_resolution(7): what is longer, a name or a whole path, is none.
LONGEST_NAME = 255
LONGEST_PATH = 4_096
# Each star of a pattern multiplies what Git tries.
MOST_STARS = 6


def is_possible_path(text: str) -> bool:
    """Return whether the file system can be asked for a text: any word of a command gets here, code included."""
    try:
        raw = os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return (
        b"\0" not in raw
        and len(raw) <= LONGEST_PATH
        and all(len(name) <= LONGEST_NAME for name in raw.split(b"/"))
    )


def follow_links(path: str) -> str:
    """Return where the links of an absolute path lead; a text that can be no path leads nowhere else."""
    return os.path.realpath(path) if is_possible_path(path) else os.path.normpath(path)


class TrustedTree:
    """See `cli_guard.commands.model.WorkTree`."""

    def __init__(
        self, root: Path, git: Commands, installs: "AllowedInstalls | None" = None
    ) -> None:
        self._git = git.at(root, git.env)
        self._installs = installs
        self._secrets: dict[str, str | None] = {}
        self._tasks: dict[tuple[object, ...], TaskFile | None] = {}
        self._uncommitted: tuple[tuple[str, bool], ...] | None = None

    def exists(self, path: str) -> bool:
        """Return whether there is anything at a path, a broken link included."""
        return is_possible_path(path) and os.path.lexists(path)

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""
        # Unlike Path.is_dir, it answers False where nothing can be asked (a loop of links, no permission).
        return is_possible_path(path) and os.path.isdir(path)  # noqa: PTH112

    def expand(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that a pattern of the shell finds, at most MOST_FOUND."""
        if not is_possible_path(pattern):
            return ()
        # Absolute and with links, as the shell does it.
        return tuple(islice(glob.iglob(pattern, include_hidden=True), MOST_FOUND))  # noqa: PTH207

    def holds_odd_names(self) -> bool:
        """Return whether a name is odd (see ODD), or there are too many to look at."""
        return self._survey[0]

    def list_links(self) -> tuple[str, ...]:
        """Return the symbolic links in the index and in the tree, as far as the bound allows."""
        return self._survey[1]

    @cached_property
    def _survey(self) -> tuple[bool, tuple[str, ...]]:
        """Look at each name in the index and in the tree, but for what others published there."""
        try:
            out, is_odd = self._git.run_bounded(
                "ls-files", "--stage", "-z", limit=INDEX_BYTES
            )
        except NotARepository:
            out = b""
            is_odd = False
        # gitformat-index(5): the mode of a link.
        rows = [os.fsdecode(row).partition("\t") for row in out.split(b"\0")]
        is_odd = is_odd or any(
            ODD.search(name) for _, _, path in rows for name in path.split("/")
        )
        links = [
            f"{self._git.cwd}/{path}" for mode, _, path in rows if mode.startswith("120000")
        ]
        folders = [str(self._git.cwd)]
        count = 0
        while folders and count <= MOST_NAMES:
            for entry in scan_folder(folders.pop()):
                count += 1
                is_odd = is_odd or ODD.search(entry.name) is not None
                if entry.is_symlink():
                    links.append(entry.path)
                elif entry.name not in NOT_OWN and entry.is_dir():
                    folders.append(entry.path)
        return is_odd or bool(folders), tuple(links)

    def adds_links(self, revision: str) -> bool:
        """Return whether a commit has a link that HEAD has not; False if nothing is named so."""
        commit = self._find_commit(revision)
        if commit is None:
            return False
        raw = ("diff-tree", "-r", "-z", "--no-renames", "HEAD", commit, "--")
        try:
            out, more = self._git.run_bounded(*raw, limit=INDEX_BYTES)
        except CliGuardError:
            return True
        # git-diff-tree(1): `:OLD-MODE NEW-MODE ...`.
        return more or any(row[8:14] == b"120000" for row in out.split(b"\0"))

    def diff_holds_odd_names(self, revisions: tuple[str, ...]) -> bool:
        """Return whether `git diff --name-only` of some revisions lists such a name, or cannot be asked."""
        if not all(map(REVISION.fullmatch, revisions)):
            return True
        try:
            out, more = self._git.run_bounded(*DIFF, *revisions, "--", limit=INDEX_BYTES)
        except CliGuardError:
            return True
        names = os.fsdecode(out).replace("\0", "/").split("/")
        return more or any(map(ODD.search, names))

    def list_uncommitted(self, most: int) -> tuple[tuple[str, bool], ...]:
        """Return changed, new and ignored paths from the top, each with whether Git ignores it.

        An ignored folder is one path. A tree that tracks files whose names take over `most` bytes is not listed, and
        counts as changed everywhere.
        """
        if self._uncommitted is None:
            try:
                if self._git.run_bounded("ls-files", "-z", limit=most)[1]:
                    return (("*", False),)
                out, more = self._git.run_bounded(*STATUS, limit=STATUS_BYTES)
            except CliGuardError:
                return (("*", False),)
            entries = [os.fsdecode(each) for each in out.split(b"\0") if len(each) > 3]
            listed = tuple((each[3:].rstrip("/"), each[:2] == "!!") for each in entries)
            self._uncommitted = (*listed, ("*", False)) if more else listed
        return self._uncommitted

    def holds_work(self, path: str) -> bool:
        """Return whether a file at or below a path, or what a pattern finds, is not ignored.

        True if Git cannot be asked.
        """
        if not is_possible_path(path) or path.count("*") > MOST_STARS:
            return True
        listing = (
            "--no-literal-pathspecs",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--",
        )
        try:
            out, _ = self._git.run_bounded(*listing, path, limit=LONGEST_PATH)
        except CliGuardError:
            return True
        return bool(out)

    def locks(self, program: str) -> bool:
        """Return whether the project's environment alone can hold a program; see `WorkTree`."""
        locked = [lock for lock in LOCKS if self.exists(f"{self._git.cwd}/{lock}")]
        if locked and not self._is_elsewhere(program):
            return True
        name = regex(rb"(?<![\w-])" + re.escape(program.encode()) + rb"(?![\w-])")
        for lock in LOCKS:
            try:
                if name.search(read_plain(self._git.cwd / lock)):
                    return True
            except OSError:
                continue
        return False

    def makes_program(self, program: str) -> bool:
        """Return whether the tree makes or holds a program of this name, and no other file on PATH has it."""
        installed = (f"{self._git.cwd}/{folder}/{program}" for folder in INSTALLED)
        is_here = program in self._own_programs or any(map(self.exists, installed))
        return is_here and not self._is_elsewhere(program)

    def _is_elsewhere(self, program: str) -> bool:
        """Return whether the name of a program finds a file outside of the tree."""
        import shutil

        found = shutil.which(program, path=self._git.env.get("PATH", ""))
        return found is not None and not Path(found).is_relative_to(self._git.cwd)

    @cached_property
    def _own_programs(self) -> frozenset[str]:
        from cli_guard.execution.own_programs import find_own_programs

        return find_own_programs(self._git.cwd)

    def allows_install(
        self, lock: tuple[str, ...], needed: tuple[str, ...], settings: tuple[str, ...]
    ) -> bool:
        """Return whether a person has allowed installs by these files as they are now."""
        return self._installs is not None and self._installs.covers(lock, needed, settings)

    def owns_process(self, number: str) -> bool:
        """Return whether a process runs in a folder of the tree, as far as proc(5) says; False elsewhere."""
        try:
            folder = Path(f"/proc/{number}/cwd").readlink()
        except OSError:
            return False
        return folder.is_relative_to(self._git.cwd.resolve())

    def read_number(self, path: str) -> str | None:
        """Return the process id that a file holds, "" for another text; None if there is no such file."""
        try:
            text = read_plain(Path(path)).decode("ascii", "replace").strip()
        except FileNotFoundError:
            return None
        except OSError:
            return ""
        return text if text.isdecimal() else ""

    def read_tasks(
        self,
        files: tuple[str, ...],
        place: str,
        given: Mapping[str, str],
        *,
        dry: bool = False,
    ) -> TaskFile | None:
        """See `WorkTree.read_tasks`; `./` before the name of a file: it does not count in folders below its own."""
        from cli_guard.execution.tasks import read_tasks

        key = (files, place, *given.items(), dry)
        if key not in self._tasks:
            paths = self._list_task_files(files, place)
            read = (read_tasks(path, given, dry=dry) for path in paths)
            self._tasks[key] = next((each for each in read if each), None)
        return self._tasks[key]

    def _list_task_files(self, files: tuple[str, ...], place: str) -> Iterator[Path]:
        root = self._git.cwd.resolve()
        folder = Path(os.path.realpath(place))
        if folder.is_file():
            yield folder
        while folder.is_relative_to(root):
            yield from (folder / name for name in files)
            files = tuple(name for name in files if not name.startswith("./"))
            folder = folder.parent

    def list_packages(self) -> tuple[str, ...]:
        """Return the folders of the tree that have a package.json, Git's ignored ones left out."""
        listing = (
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        )
        try:
            out, _ = self._git.run_bounded(
                "--no-literal-pathspecs", *listing, "--", "*package.json", limit=INDEX_BYTES
            )
        except CliGuardError:
            return ()
        found = (self._git.cwd / os.fsdecode(each) for each in out.split(b"\0"))
        return tuple(str(path.parent) for path in found if path.name == "package.json")

    def is_pushed(self) -> bool:
        """Return whether a remote-tracking branch has the commit at HEAD."""
        return bool(
            self._git.optional(
                "for-each-ref", "--count=1", "--contains=HEAD", "--format=1", "refs/remotes"
            )
        )

    def _find_commit(self, revision: str) -> str | None:
        if not is_possible_path(revision):
            return None
        named = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        return self._git.optional(*named, f"{revision}^{{commit}}") or None

    def is_on_branch(self, revision: str) -> bool | None:
        """Return whether a reference other than the stash holds a commit; None if nothing is named so."""
        commit = self._find_commit(revision)
        if commit is None:
            return None
        holding = ("for-each-ref", "--count=1", "--format=1", f"--contains={commit}")
        return bool(self._git.optional(*holding, "refs/heads", "refs/remotes", "refs/tags"))

    def holds_resolutions(self) -> bool:
        """Return whether a conflict was resolved: in the index, or in a file that has no marks any more."""
        if self._git.optional("ls-files", "--resolve-undo"):
            return True
        out, more = self._git.run_bounded("ls-files", "--unmerged", "-z", limit=INDEX_BYTES)
        rows = {row.partition(b"\t")[2] for row in out.split(b"\0") if row}
        paths = (Path(self._git.cwd, os.fsdecode(row)) for row in rows)
        return more or any(
            not MARK.search(read_plain(path)) for path in paths if path.is_file()
        )

    def reviews_commits(self) -> bool:
        """Return whether Git runs a pre-commit hook that is ours, or that calls cli-guard."""
        listed = (
            self._git.optional(
                "config", "--show-scope", "--path", "--get-all", "core.hooksPath"
            )
            or ""
        )
        # Our own calls of Git set it on the command line.
        values = (line.partition("\t") for line in listed.split("\n"))
        own = next(
            (value for scope, _, value in reversed([*values]) if scope != "command"), ""
        )
        common = self._git.optional("rev-parse", "--git-common-dir")
        if common is None:
            return False
        path = self._git.cwd / (own or f"{common}/hooks") / "pre-commit"
        framework = FRAMEWORK.search(contents_of(path) or b"")
        named = self._git.cwd / ".pre-commit-config.yaml" if framework else path
        try:
            return os.access(path, os.X_OK) and CALL.search(named.read_bytes()) is not None
        except OSError:
            return False

    def find_secret(self, folder: str) -> str | None:
        """Return a file below a folder, or a pattern of paths, whose name says that it holds secrets."""
        if folder not in self._secrets:
            self._secrets[folder] = search_secret(folder)
        return self._secrets[folder]


def scan_folder(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def search_secret(pattern: str) -> str | None:
    """Return a file of secrets among the first MOST_ENTRIES at and below the paths of a pattern."""
    seen = 0
    for top in glob.iglob(pattern):  # noqa: PTH207 - as `expand`, without what is hidden
        seen += 1
        if NOT_OWN.intersection(Path(top).parts):
            continue
        if Path(top).is_file() and holds_secrets(top):
            return top
        for path, folders, files in os.walk(top):
            folders[:] = [name for name in folders if name not in NOT_OWN]
            seen += len(folders) + len(files)
            found = (f"{path.rstrip('/')}/{name}" for name in files)
            if file := next(filter(holds_secrets, found), None):
                return file
            if seen > MOST_ENTRIES:
                return None
    return None
