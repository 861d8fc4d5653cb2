"""Worlds for the run tool: files in memory, and a real repository."""

from pathlib import Path

from repositories import Repo

from cli_guard.assistant import sandbox as shell
from cli_guard.git.repository import Repository
from cli_guard.git.snapshot import Snapshot, entry_of, read_index
from cli_guard.state.memory import Memory


def world(files: dict[str, bytes] | None = None, **more: object) -> shell.Shell:
    """Files in memory."""
    raw = files or {}
    return shell.Shell(Snapshot("memory", [entry_of(path, data) for path, data in raw.items()], raw), **more)  # type: ignore[arg-type]


def of_repository(repo: Repo) -> shell.Shell:
    """What is staged in a repository, with its history and memory."""
    repository = Repository.discover(repo.path, repo.env)
    folder = repository.state_folder
    return shell.Shell(read_index(repository), repository, Memory(folder), state_folder=folder)


def kept(folder: Path) -> list[str]:
    """The names of the overflow files."""
    return sorted(path.name for path in (folder / "cmd-output").glob("*"))
