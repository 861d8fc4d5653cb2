"""A handle on pre-commit or prek."""

import sys
from dataclasses import dataclass
from pathlib import Path

from repositories import Done, Repo


@dataclass(frozen=True)
class Framework:
    """One of the two programs: its name, and the variables that name its store."""

    name: str
    env: dict[str, str]
    # Where a Python is that has pre-commit loaded, so that it and its hooks are forks: see preloaded.py.
    preloaded: Path | None = None

    @property
    def command(self) -> tuple[str, ...]:
        """The program beside the interpreter that runs the tests, or what stands in for it."""
        if self.preloaded and self.name == "pre-commit":
            return (str(self.preloaded / "python"), "-m", "pre_commit")
        return (str(Path(sys.executable).parent / self.name),)

    def run(self, repo: Repo, *arguments: str, **options: str) -> Done:
        """Runs the program in a repository, which must succeed."""
        done = repo.run(*self.command, *arguments, env=self.env, **options)
        assert done.code == 0, f"{self.name} {arguments}: {done.all}"
        return done
