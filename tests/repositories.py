"""A handle on a real repository for tests: git, the installed `cli-guard`, and a proof that nothing changed."""

import datetime
import hashlib
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cli_guard.model import Finding
from cli_guard.review.render.review import Review
from cli_guard.review.request import Request, Staged
from cli_guard.review.run import ReviewOptions, review_request
from cli_guard.runtime import Invocation

GUARD = str(Path(sys.executable).parent / "cli-guard")
KEPT = (
    "PATH",
    "PYTHONPATH",
    "PYTHONDONTWRITEBYTECODE",
    "TMPDIR",
    "LANG",
    "SSL_CERT_FILE",
    "PIP_CERT",
)
KEPT += ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")
# Where the warm server of this session is: see `pytest_configure` in conftest.py.
SERVER = ("CLI_GUARD_SERVER", "XDG_RUNTIME_DIR")
KEPT_PREFIXES = ("PIP_", "PYTEST_", "UV_", "COV_")


# A run in its own process is what such a test is about: see `isolated` in conftest.py.
cold = pytest.mark.cold
# Finds the folder of a preloaded `cli-guard` that stands in for the installed one: see `isolated` in conftest.py.
find_stand_in: Callable[[], Path] | None = None


def find_program() -> str:
    """The path of the installed `cli-guard`, or of what stands in for it."""
    return f"{find_stand_in()}/cli-guard" if find_stand_in else GUARD


# A folder to write down in what every program said: see cold_and_warm.py.
TRANSCRIPT = os.environ.get("CLI_GUARD_TRANSCRIPT")


def write_down(command: tuple[str, ...], answer: "Done") -> None:
    """One more line: the test, the words of the command, the exit code and both streams."""
    said = (
        os.environ["PYTEST_CURRENT_TEST"],
        *command,
        str(answer.code),
        answer.out,
        answer.err,
    )
    with Path(TRANSCRIPT or "", str(os.getpid())).open("a", encoding="utf-8") as file:
        file.write(json.dumps(said) + "\n")


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
        **{name: os.environ[name] for name in SERVER if name in os.environ},
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

    def run(
        self,
        *command: str,
        stdin: str | bytes = b"",
        env: dict[str, str] | None = None,
        at: str = ".",
    ) -> Done:
        """Runs a program in the work tree, ours by what stands in for it; `env` adds to the environment."""
        if command[0] in ("cli-guard", GUARD):
            command = (find_program(), *command[1:])
        done = subprocess.run(
            command,
            cwd=self.path / at,
            env=self.env | (env or {}),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            timeout=300,
        )
        answer = Done(
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )
        if TRANSCRIPT:
            write_down(command, answer)
        return answer

    def try_git(self, *arguments: str, **options: Any) -> Done:
        """Runs git, whatever comes of it."""
        return self.run("git", *arguments, **options)

    def git(self, *arguments: str, **options: Any) -> str:
        """Runs git, which must succeed, and gives its output."""
        done = self.try_git(*arguments, **options)
        assert done.code == 0, f"git {arguments}: {done.all}"
        return done.out.strip()

    def guard(self, *arguments: str, **options: Any) -> Done:
        """Runs the installed `cli-guard`, or what stands in for it."""
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
        # Git would start two more processes, to see whether there is something to tidy up.
        plain = ("-c", "maintenance.auto=false", "commit", "-q", "--no-verify")
        self.git(*plain, "--allow-empty", "-m", message)
        return self.head()

    def head(self) -> str:
        """The id of the commit that is checked out; no process is started where a file has it."""
        git = self.path / ".git"
        try:
            branch = (git / "HEAD").read_text().strip().removeprefix("ref: ")
            return (git / branch).read_text().strip()
        except OSError:
            return self.git("rev-parse", "HEAD")

    def fingerprint(self) -> str:
        """A hash of all that a review must leave alone: index, refs, HEAD, configuration, objects, work tree."""
        digest = hashlib.sha256()
        for folder, folders, files in os.walk(self.path):
            folders.sort()
            if "HEAD" in files and "objects" in folders and "cli-guard" in folders:
                folders.remove("cli-guard")
            for name in sorted(files):
                file = os.path.join(folder, name)
                about = os.lstat(file)
                digest.update(f"{os.fsencode(file)!r} {about.st_mode}".encode())
                if not (stat.S_ISREG(about.st_mode) or stat.S_ISLNK(about.st_mode)):
                    continue
                digest.update(
                    os.fsencode(os.readlink(file))
                    if os.path.islink(file)
                    else Path(file).read_bytes()
                )
        return digest.hexdigest()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Fails if what is done meanwhile changes anything that a review must leave alone."""
        before = self.fingerprint()
        yield
        assert self.fingerprint() == before, "the review changed the repository"

    def inspect(self, *arguments: str, **options: Any) -> Done:
        """Runs the installed `cli-guard`, and proves that it changed nothing."""
        with self.unchanged():
            return self.guard(*arguments, **options)

    def look(
        self,
        request: Request | None = None,
        *,
        at: str = ".",
        env: dict[str, str] | None = None,
        through_gitpython: bool = False,
    ) -> Review:
        """Reviews in this process (what is staged, unless told otherwise), and proves that nothing changed."""
        invocation = Invocation(
            self.path / at,
            self.env | (env or {}),
            datetime.datetime(2026, 5, 4, tzinfo=datetime.UTC),
        )
        with self.unchanged():
            return review_request(
                request or Staged(),
                invocation,
                ReviewOptions(through_gitpython=through_gitpython),
            )

    def watch_hooks(self, *names: str, preloaded: Path | None = None) -> None:
        """Installs our hooks (all, if none is named), each wrapped so that `hooks_run` tells what it wrote.

        With the folder of a `preloaded` Python, each is a fork of it: see preloaded.py.
        """
        from in_process import guard
        from preloaded import use_preloaded

        names = names or ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
        guard(self, "install", *(word for name in names for word in ("--hook-type", name)))
        for name in names:
            hook = self.path / ".git" / "hooks" / name
            if preloaded:
                use_preloaded(hook, preloaded)
            real = hook.parent / "real" / name
            real.parent.mkdir(exist_ok=True)
            hook.rename(real)
            hook.write_text(
                WATCHED_HOOK.replace("@NAME@", name).replace(
                    "@GIT@", str(self.path / ".git")
                )
            )
            hook.chmod(0o755)

    def hooks_run(self) -> list[str]:
        """The watched hooks that ran, in order; fails if one of them changed the repository."""
        log = self.path / ".git" / "cli-guard" / "watched"
        lines = log.read_text().splitlines() if log.exists() else []
        assert not [line for line in lines if line.endswith(" changed")]
        return [line.split()[0] for line in lines]


# Runs inside `git commit`, where the index may be a temporary one: what Git itself does there is not ours.
WATCHED_HOOK = """#!/bin/sh
state() {
    find "@GIT@/.." -path "@GIT@/../.git/cli-guard" -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
}
mkdir -p "@GIT@/cli-guard"
before=$(state)
"@GIT@/hooks/real/@NAME@" "$@"
code=$?
after=$(state)
[ "$before" = "$after" ] && word=same || word=changed
echo "@NAME@ $word" >> "@GIT@/cli-guard/watched"
exit $code
"""


def placed(review: Review) -> list[tuple[str, int | None]]:
    """Where the secrets of a review stand: path and line."""
    return [(found.path, found.line) for found in secrets(review)]


def secrets(review: Review) -> list[Finding]:
    """The findings of a review that are about secrets."""
    return [
        each.finding
        for each in review.sort_findings()
        if each.finding.rule.startswith("secret-")
    ]


def key(kind: str = "aws") -> str:
    """A credential that looks real, assembled here so that no hosting site stops this repository."""
    parts = {
        "aws": ("AKIA", "Q3XV7ZB2N", "LKTW4FY"),
        "github": ("ghp", "_", "x7Kq2mZr9Tb4Wn8Yc3Vd6Hf1Jg5LsPaQe0R"),
        "password": ("pass", "word = ", '"hunter2-prod-9f3k"'),
    }
    return "".join(parts[kind])
