"""The whole command line inside the test's own process: quicker than a process a call, and the same front door."""

import io
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from repositories import Done, Repo

from cli_guard.__main__ import main
from cli_guard.state.records import Records

RISKY = '''"""Runs reports."""

import subprocess


def render(name: str) -> None:
    """Renders the report of a name."""
    subprocess.run("render-report " + name, shell=True)
'''


class Terminal(io.StringIO):
    """A stream at which somebody sits."""

    def isatty(self) -> bool:
        return True


def call(
    cwd: Path,
    env: Mapping[str, str],
    *argv: str,
    stdin: str | bytes | io.StringIO = b"",
    shows: bool = False,
) -> Done:
    """Runs `cli-guard` here and gives what it answered; `shows`: to somebody at a terminal."""
    raw = stdin.encode() if isinstance(stdin, str) else stdin
    source = (
        raw if isinstance(raw, io.StringIO) else io.TextIOWrapper(io.BytesIO(raw), "utf-8")
    )
    out = Terminal() if shows else io.StringIO()
    err = io.StringIO()
    code = main(argv, source, out, err, cwd, env)
    return Done(int(code), out.getvalue(), err.getvalue())


def guard(
    repo: Repo,
    *argv: str,
    stdin: str | bytes | io.StringIO = b"",
    env: Mapping[str, str] | None = None,
    at: str = ".",
) -> Done:
    """Runs `cli-guard` in a repository, in this process."""
    return call(repo.path / at, repo.env | dict(env or {}), *argv, stdin=stdin)


def inspect(repo: Repo, *argv: str, **options: Any) -> Done:
    """Runs `cli-guard` in this process, and proves that it changed nothing."""
    with repo.unchanged():
        return guard(repo, *argv, **options)


def commit(repo: Repo, message: str) -> Done:
    """Commits as `git commit` does, with our hooks in this process; gives what stopped it, or what Git said."""
    repo.write(".git/COMMIT_EDITMSG", f"{message}\n")
    for words in (("pre-commit",), ("commit-msg", ".git/COMMIT_EDITMSG")):
        done = guard(repo, "hook", *words, env={"GIT_INDEX_FILE": ".git/index"})
        if done.code:
            return done
    return repo.try_git("commit", "-q", "--no-verify", "-m", message)


def records(repo: Repo) -> Records:
    """What cli-guard remembers of a repository."""
    return Records(repo.path / ".git" / "cli-guard")


def waiting(repo: Repo) -> list[str]:
    """The ids of what waits for a person."""
    return [review.id for review in records(repo).pending()]


def approve(repo: Repo, wanted: str, *options: str, answer: str = "yes") -> Done:
    """Somebody at a terminal answers."""
    return guard(repo, "approve", wanted, *options, stdin=Terminal(f"{answer}\n"))


@contextmanager
def damaged(path: Path, damage: str) -> Iterator[None]:
    """A database that is missing, garbage, or locked by another process."""
    if damage == "missing":
        path.unlink()
    elif damage == "garbage":
        path.write_bytes(b"not a database" * 500)
    else:
        with closing(sqlite3.connect(path)) as holder:
            holder.execute("BEGIN EXCLUSIVE")
            yield
        return
    yield


def stage(repo: Repo, files: Mapping[str, str | bytes]) -> None:
    """Writes files and stages everything."""
    for name, content in files.items():
        repo.write(name, content)
    repo.git("add", "-A")


def state_values(path: Path, change: object) -> None:
    """Rewrites what a checkpoint holds, as somebody would who has the library at hand."""
    from cli_guard.graph.build import build_graph
    from cli_guard.graph.run import THREAD, saver

    with sqlite3.connect(path, check_same_thread=False) as file:
        checkpoints = saver(file)
        values = build_graph(checkpointer=checkpoints).get_state(THREAD).values
        assert callable(change)
        last = checkpoints.get_tuple(THREAD)
        assert last is not None
        # Written in its place, with the same next node: the graph's own update would end the run.
        last.checkpoint["channel_values"].update(change(values))
        before = last.parent_config or {"configurable": {"checkpoint_ns": ""}}
        config = {"configurable": {**before["configurable"], **THREAD["configurable"]}}
        checkpoints.put(config, last.checkpoint, last.metadata, {})
    file.close()
