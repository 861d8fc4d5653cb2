"""A handle on a real repository for tests: git, the installed `cli-guard`, and a proof that nothing changed."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GUARD = str(Path(sys.executable).parent / "cli-guard")
KEPT = ("PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TMPDIR", "LANG", "SSL_CERT_FILE", "PIP_CERT")
KEPT_PREFIXES = ("PIP_", "PYTEST_", "UV_", "COV_")


def isolated_environment(home: Path) -> dict[str, str]:
    """An environment in which Git knows no configuration but its own defaults."""
    kept = {k: v for k, v in os.environ.items() if k in KEPT or k.startswith(KEPT_PREFIXES)}
    scripts = str(Path(sys.executable).parent)
    return kept | {
        "PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": ":",
        "LC_ALL": "C.UTF-8",
    }


@dataclass(frozen=True)
class Done:
    """What a program answered."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Both streams."""
        return self.out + self.err

    @property
    def json(self) -> Any:
        """Standard output as JSON."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Repo:
    """A work tree."""

    path: Path
    env: dict[str, str]

    @classmethod
    def create(cls, path: Path, env: dict[str, str], *options: str) -> "Repo":
        """A new repository with the branch `main`."""
        path.mkdir(parents=True)
        repo = cls(path, env)
        repo.git("init", "-q", "-b", "main", *options)
        return repo

    def run(self, *command: str, stdin: str | bytes = b"", env: dict[str, str] | None = None, at: str = ".") -> Done:
        """Runs a program in the work tree; `env` adds to the environment."""
        done = subprocess.run(
            command,
            cwd=self.path / at,
            env=self.env | (env or {}),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            timeout=300,
        )
        return Done(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))

    def try_git(self, *arguments: str, **options: Any) -> Done:
        """Runs git, whatever comes of it."""
        return self.run("git", *arguments, **options)

    def git(self, *arguments: str, **options: Any) -> str:
        """Runs git, which must succeed, and gives its output."""
        done = self.try_git(*arguments, **options)
        assert done.code == 0, f"git {arguments}: {done.all}"
        return done.out.strip()

    def guard(self, *arguments: str, **options: Any) -> Done:
        """Runs the installed `cli-guard`."""
        return self.run(GUARD, *arguments, **options)

    def review(self, *arguments: str, **options: Any) -> Any:
        """Runs `cli-guard review --format json` and gives what it says; it must say something."""
        done = self.guard("review", "--format", "json", *arguments, **options)
        assert done.out, done.err
        return done.json

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        """Writes a file of the work tree."""
        path = Path(os.fsdecode(os.path.join(os.fsencode(self.path), os.fsencode(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, message: str, files: dict[str, str | bytes] | None = None) -> str:
        """Writes files, stages everything, commits without hooks, and gives the commit's id."""
        for name, content in (files or {}).items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def fingerprint(self) -> str:
        """A hash of all that a review must leave alone: index, refs, HEAD, configuration, objects, work tree."""
        digest = hashlib.sha256()
        state = self.path / ".git" / "cli-guard"
        for folder, folders, files in os.walk(self.path):
            folders.sort()
            if Path(folder) == state:
                folders.clear()
                continue
            for name in sorted(files):
                file = os.path.join(folder, name)
                about = os.lstat(file)
                digest.update(f"{os.fsencode(file)!r} {about.st_mode}".encode())
                digest.update(os.fsencode(os.readlink(file)) if os.path.islink(file) else Path(file).read_bytes())
        return digest.hexdigest()


def key(kind: str = "aws") -> str:
    """A credential that looks real, assembled here so that no hosting site stops this repository."""
    parts = {
        "aws": ("AKIA", "Q3XV7ZB2N", "LKTW4FY"),
        "github": ("ghp", "_", "x7Kq2mZr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0R"),
        "password": ("pass", "word = ", '"hunter2-prod-9f3k"'),
    }
    return "".join(parts[kind])
