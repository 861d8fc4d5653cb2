"""The scratch world of one task: its folders, its repository made by Git from data, and hashes of all its files.

    FOLDER/repository   the work tree
    FOLDER/home         the home folder, empty
    FOLDER/tmp          where temporary files go
    FOLDER/*            what a task puts outside the repository

Git is called with a fixed set of verbs, without hooks, and with its default configuration.
"""

import datetime
import hashlib
import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.packages import path_of, texts_of
from benchmarks.runner.contents import raw
from benchmarks.runner.model import Content, Files, Setup, Step
from cli_guard.errors import CliGuardError
from cli_guard.git.process import Git
from cli_guard.runtime import Invocation

START = datetime.datetime(2026, 3, 2, 9, 0, tzinfo=datetime.UTC)
NOW = datetime.datetime(2026, 3, 9, 12, 0, tzinfo=datetime.UTC)
PERSON = "Ada"
OWN_FOLDERS = ("repository", "home", "tmp")
# The only variables that a task's process takes from its caller's environment.
DRIVE = re.compile(r"[A-Za-z]:")
KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")


def environment(folder: Path, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a task, without any user's configuration."""
    home = folder / "home"
    scripts = str(Path(sys.executable).parent)
    return {name: outer[name] for name in KEPT if name in outer} | {
        "PATH": f"{scripts}{os.pathsep}{outer.get('PATH', os.defpath)}",
        "HOME": str(home),
        "LOGNAME": PERSON,
        "TMPDIR": str(folder / "tmp"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_STATE_HOME": str(home / ".state"),
        "XDG_DATA_HOME": str(home / ".data"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CEILING_DIRECTORIES": str(folder),
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "NO_COLOR": "1",
    }


@dataclass
class Scratch:
    """A scratch world; `minute` counts the commits, so that each has a time of its own."""

    folder: Path
    env: dict[str, str]
    minute: int = 0

    @classmethod
    def create(
        cls, folder: Path, setup: Setup, outer: Mapping[str, str], *, git: bool
    ) -> "Scratch":
        """Make a new world in a new folder. Raises CliGuardError if the setup is not possible, OSError."""
        # Git resolves links, so our paths must be resolved too.
        folder = folder.resolve()
        scratch = cls(folder, environment(folder, outer))
        for name in OWN_FOLDERS:
            (folder / name).mkdir(parents=True)
        for path, content in setup.outside.items():
            write(folder, path, content)
        if git:
            scratch.git("init", "-q", "-b", "main", "--template=", "--object-format=sha1")
            files = {**files_of_package(setup.package), **setup.files}
            if files:
                scratch.do(Step("commit", files=files, message="Start", author=PERSON))
            for step in setup.steps:
                scratch.do(step)
        return scratch

    @property
    def root(self) -> Path:
        """Return the work tree."""
        return self.folder / "repository"

    @property
    def invocation(self) -> Invocation:
        """Return where and when the task runs."""
        return Invocation(self.root, self.env, NOW)

    def git(self, *arguments: str, author: str = PERSON, stdin: bytes = b"") -> str:
        """Run Git at the time of the next commit. Raises GitError."""
        return (
            Git(self.root, self._env(author))
            .run(*arguments, stdin=stdin)
            .decode("utf-8", "replace")
        )

    def do(self, step: Step) -> None:
        """Do one step. Raises CliGuardError, OSError."""
        touched = self._files(step)
        match step.do:
            case "write":
                pass
            case "stage":
                self._stage(touched)
            case "commit":
                self._stage(touched)
                self._commit(step.message, step.author)
            case "branch":
                self.git("branch", step.name, step.to)
            case "switch":
                self.git("switch", "-q", step.name)
            case "delete-branch":
                self.git("branch", "-q", "-D", step.name)
            case "reset":
                self.git("reset", "-q", "--hard", step.to)
            case "merge":
                self._merge(step)
            case "stash":
                self.git("stash", "push", "-q")
            case "tag":
                self.git("tag", "-a", "-m", step.message, step.name)
            case _:
                raise CliGuardError(f"no step is called {step.do}")
        self.minute += 1

    def _env(self, author: str) -> dict[str, str]:
        at = (START + datetime.timedelta(minutes=self.minute)).isoformat()
        mail = f"{author.lower().replace(' ', '.')}@example.org"
        return self.env | {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", author), ("EMAIL", mail), ("DATE", at))
        }

    def _files(self, step: Step) -> list[str]:
        """Write, move and remove files of the work tree; return the paths that changed."""
        for path, content in step.files.items():
            write(self.root, path, content)
        for old, new in step.rename.items():
            target = below(self.root, new)
            target.parent.mkdir(parents=True, exist_ok=True)
            below(self.root, old).rename(target)
        for path in step.remove:
            below(self.root, path).unlink()
        return [*step.files, *step.rename, *step.rename.values(), *step.remove]

    def _stage(self, paths: list[str]) -> None:
        if paths:
            self.git("add", "-A", "-f", "--", *dict.fromkeys(paths))

    def _commit(self, message: str, author: str) -> None:
        given = message.encode("utf-8", "surrogateescape")
        self.git(
            "commit", "-q", "--no-verify", "--allow-empty", "--cleanup=verbatim", "-F", "-",
            author=author, stdin=given,
        )  # fmt: skip

    def _merge(self, step: Step) -> None:
        """Merge a branch; leave a conflict in the work tree, as Git does."""
        git = Git(self.root, self._env(PERSON))
        code, out, err = git.attempt(
            "merge", "-q", "--no-ff", "-m", step.message, step.name
        )
        if code not in (0, 1) or (code == 1 and b"CONFLICT" not in out):
            words = " ".join((err or out).decode("utf-8", "replace").split())
            raise CliGuardError(f"git merge {step.name}: {words}")


def files_of_package(package: str) -> Files:
    """Return the text files of a package's archive that can be below a repository; none without a package.

    Raises OSError if the archive is not kept.
    """
    if not package:
        return {}
    texts = texts_of(path_of(package).read_bytes())
    return {path: Content(text) for path, text in texts.items() if not leads_out(path)}


def leads_out(path: str) -> bool:
    """Return whether a path may lead out of a repository, or into Git's own folder."""
    parts = path.split("/")
    return (
        any(part in ("", ".", "..") or is_git(part) for part in parts)
        or DRIVE.match(path) is not None
        or any(c in path for c in "\\\0\n")
    )


def is_git(part: str) -> bool:
    """Return whether a file system may read a name as `.git`: other case, ignored letters (HFS+), dots (NTFS)."""
    seen = part.lower().encode("ascii", "ignore").decode("ascii")
    return seen.rstrip(". ") in (".git", "git~1") or seen.startswith(".git:")


def below(root: Path, path: str) -> Path:
    """Return the full path of a file below a folder. Raises CliGuardError if a link is on the way."""
    full = root / path
    # An earlier step may have made a folder on the way a link.
    for parent in full.relative_to(root).parents:
        if (root / parent).is_symlink():
            raise CliGuardError(
                f"{path} is behind a link: a task may write only to its own folder"
            )
    return full


def write(root: Path, path: str, content: Content) -> None:
    """Write one file. Raises CliGuardError, OSError."""
    full = below(root, path)
    full.parent.mkdir(parents=True, exist_ok=True)
    full.unlink(missing_ok=True)
    if content.link is not None:
        full.symlink_to(content.link)
        return
    full.write_bytes(raw(content))
    full.chmod(0o755 if content.executable else 0o644)


def texts(files: Files) -> dict[str, str]:
    """Return the files of a task in memory as texts."""
    return {path: content.text or "" for path, content in files.items()}


def hash_files(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, str]:
    """Hash mode and content of all files and folders below a folder; return path -> hash."""
    found = {}
    for top, folders, files in os.walk(folder):
        here = os.path.relpath(top, folder)
        folders[:] = sorted(
            name for name in folders if os.path.normpath(f"{here}/{name}") not in without
        )
        for name in (*folders, *sorted(files)):
            full = Path(top, name)
            about = os.lstat(full)
            digest = hashlib.sha256(f"{about.st_mode} ".encode())
            if stat.S_ISLNK(about.st_mode):
                digest.update(os.fsencode(full.readlink()))
            elif stat.S_ISREG(about.st_mode):
                digest.update(full.read_bytes())
            found[os.path.normpath(f"{here}/{name}")] = digest.hexdigest()
    return found
