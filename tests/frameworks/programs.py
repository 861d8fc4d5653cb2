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

    @property
    def program(self) -> str:
        """The program beside the interpreter that runs the tests."""
        return str(Path(sys.executable).parent / self.name)

    def run(self, repo: Repo, *arguments: str, **options: str) -> Done:
        """Runs the program in a repository, which must succeed."""
        done = repo.run(self.program, *arguments, env=self.env, **options)
        assert done.code == 0, f"{self.name} {arguments}: {done.all}"
        return done
