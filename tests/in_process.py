"""The whole command line inside the test's own process: quicker than a process a call, and the same front door."""

import io
from collections.abc import Mapping
from pathlib import Path

from repositories import Done, Repo

from cli_guard.__main__ import main

RISKY = '''"""Runs reports."""

import subprocess


def render(name: str) -> None:
    """Renders the report of a name."""
    subprocess.run("render-report " + name, shell=True)
'''


class Terminal(io.StringIO):
    """A standard input at which somebody sits and types."""

    def isatty(self) -> bool:
        return True


def call(cwd: Path, env: Mapping[str, str], *argv: str, stdin: str | bytes | io.StringIO = b"") -> Done:
    """Runs `cli-guard` here and gives what it answered."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    source = raw if isinstance(raw, io.StringIO) else io.TextIOWrapper(io.BytesIO(raw), "utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = main(argv, source, out, err, cwd, env)
    return Done(int(code), out.getvalue(), err.getvalue())


def guard(
    repo: Repo, *argv: str, stdin: str | bytes | io.StringIO = b"", env: Mapping[str, str] | None = None
) -> Done:
    """Runs `cli-guard` in a repository, in this process."""
    return call(repo.path, repo.env | dict(env or {}), *argv, stdin=stdin)


def stage(repo: Repo, files: Mapping[str, str | bytes]) -> None:
    """Writes files and stages everything."""
    for name, content in files.items():
        repo.write(name, content)
    repo.git("add", "-A")
