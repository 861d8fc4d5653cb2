"""Worlds for the run tool: files in memory, a real repository, and real bash as the oracle."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from repositories import Repo
from shell_chains import CHAINS, FILES, STDIN

from cli_guard.assistant import sandbox as shell
from cli_guard.git.repository import GitRepository
from cli_guard.git.snapshot import read_index
from cli_guard.repository.snapshot import Snapshot, entry_of
from cli_guard.state.memory import Memory

REFUSED = re.compile(
    r"syntax error|unexpected (EOF|argument|token)|conditional binary operator expected",
    re.MULTILINE,
)
ABSENT = re.compile(r"line \d+: (\S+): command not found")
PLAYED = frozenset(("nosuchcommand", "nosuchcmd"))


# On a busy machine a call may take longer than a person would wait for it.
PATIENT = shell.RunLimits(seconds=300)


def world(files: dict[str, bytes] | None = None, **more: object) -> shell.CommandWorld:
    """Files in memory."""
    raw = files or {}
    more.setdefault("limits", PATIENT)
    return shell.CommandWorld(
        Snapshot("memory", [entry_of(path, data) for path, data in raw.items()], raw),
        **more,
    )  # type: ignore[arg-type]


def of_repository(repo: Repo) -> shell.CommandWorld:
    """What is staged in a repository, with its history and memory."""
    repository = GitRepository.discover(repo.path, repo.env)
    folder = repository.state_folder
    return shell.CommandWorld(
        read_index(repository),
        repository,
        Memory(folder),
        state_folder=folder,
        limits=PATIENT,
    )


# What coding agents type over the checkout that history.sh makes, and the answers of programs that few machines have.
AGENT_LINES = Path(__file__).parent.parent / "fixtures" / "shell"
RECORDED = {
    row["line"]: (row["code"], row["stdout"].encode())
    for row in map(
        json.loads, (AGENT_LINES / "recorded.jsonl").read_text("utf-8").splitlines()
    )
}
RECORDED_PROGRAMS = re.compile(r"\b(?:rg|fd|tree|yq|bat)\b")
# These print in the order that a file system or their threads give.
UNORDERED = re.compile(r"\b(?:rg|find|grep -\w*r\w*|grep [^|]* -r)\b|\*\*")


def read_lines(path: Path) -> list[str]:
    """The lines of a file that are no comment."""
    return [
        line
        for line in path.read_text("utf-8").splitlines()
        if line and not line.startswith("#")
    ]


def make_checkout(folder: Path) -> Repo:
    """The repository of fixtures/shell, with its six commits."""
    subprocess.run(
        ["bash", str(AGENT_LINES / "history.sh"), str(folder)],
        check=True,
        capture_output=True,
    )
    return Repo(
        folder, {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "GIT_PAGER": "cat"}
    )


def ask_bash(line: str, checkout: Repo) -> tuple[int, bytes] | None:
    """Exit code and standard output of a line; None where this machine lacks a program that it needs."""
    if line in RECORDED:
        return RECORDED[line]
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=checkout.path,
        env=checkout.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return (
        None
        if ABSENT.search(done.stderr.decode("utf-8", "replace"))
        else (done.returncode, done.stdout)
    )


def is_same(line: str, expected: tuple[int, bytes], ran: shell.RunResult) -> bool:
    """Are exit code and output the same, but for an order that is open?"""
    if UNORDERED.search(line):
        ours = sorted(ran.stdout.splitlines())
        theirs = sorted(expected[1].splitlines())
        return (expected[0], theirs) == (ran.exit_code, ours)
    return expected == (ran.exit_code, ran.stdout)


def kept(folder: Path) -> list[str]:
    """The names of the overflow files."""
    return sorted(path.name for path in (folder / "cmd-output").glob("*"))


class Oracle:
    """Real bash in a folder that holds FILES, laid out anew after a chain that changed something in it."""

    def __init__(self, folder: Path) -> None:
        self._repo = folder / "repo"
        self._script = folder / "chain.sh"
        self._as_laid_out: dict[str, tuple[int, ...]] = {}

    def answer(self, text: str) -> tuple[int, bytes] | None:
        """Exit code and standard output; None where this machine lacks a program that the chain needs."""
        if not self._as_laid_out or self._seen() != self._as_laid_out:
            self._lay_out()
        self._script.write_text(text + "\n")
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._repo),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
        command = ("bash", str(self._script))
        done = subprocess.run(
            command,
            cwd=self._repo,
            env=env,
            input=STDIN,
            capture_output=True,
            timeout=60,
            check=False,
        )
        said = done.stderr.decode("utf-8", "replace")
        if set(ABSENT.findall(said)) - PLAYED:
            return None
        if REFUSED.search(said) and text in CHAINS["syntax"]:
            return (
                2,
                b"",
            )  # bash goes on behind some errors of syntax; a tool that says no is to say so
        return done.returncode, done.stdout

    def _lay_out(self) -> None:
        shutil.rmtree(self._repo, ignore_errors=True)
        for name, raw in FILES.items():
            path = self._repo / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(raw)
        self._as_laid_out = self._seen()

    def _seen(self) -> dict[str, tuple[int, ...]]:
        """Mode, size and times of all files there, by path."""
        found = {}
        for top, folders, files in os.walk(self._repo):
            for name in (".", *folders, *files):
                about = os.lstat(os.path.join(top, name))
                found[os.path.join(top, name)] = (
                    about.st_mode,
                    about.st_size,
                    about.st_mtime_ns,
                    about.st_ctime_ns,
                )
        return found
