"""The hook of every agent as `install` writes it: three places, our program by its path, started before it is said.

The hook in the project is a real process; that of another place must be the same command.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from agents_seen import NAMES, meaning, payload, send
from examples import table
from in_process import guard
from repositories import GUARD, Done, Repo

from cli_guard.agents.registry import AGENTS

PLACES = [(name, where) for name in NAMES for where in AGENTS[name].load().protocol.places]


def settings_of(repo: Repo, agent: str, where: str = "project") -> Path:
    name = AGENTS[agent].load().protocol.places[where]
    return Path(repo.env["HOME"], name[2:]) if where == "user" else repo.path / name


def texts_of(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for each in value.values() for text in texts_of(each)]
    return (
        [text for each in value for text in texts_of(each)]
        if isinstance(value, list)
        else [str(value)]
    )


def command_in(path: Path) -> str:
    """The shell command that an agent would start."""
    text = path.read_text("utf-8")
    if path.suffix == ".js":
        line = next(
            line for line in text.splitlines() if line.startswith("const command = ")
        )
        return str(json.loads(line.removeprefix("const command = ")))
    return next(each for each in texts_of(json.loads(text)) if " hook " in each)


def start(command: str, repo: Repo, data: object) -> Done:
    """Starts a hook as an agent does, without a PATH."""
    done = subprocess.run(
        ("/bin/sh", "-c", command),
        cwd=repo.path,
        env={name: value for name, value in repo.env.items() if name != "PATH"},
        input=json.dumps(data),
        capture_output=True,
        text=True,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("agent", NAMES)
def test_the_hook_of_a_project_is_a_process(committed: Repo, agent: str) -> None:
    done = guard(committed, "install", "--agent", agent)
    assert (done.code, done.err) == (0, "")
    command = command_in(settings_of(committed, agent))
    assert command.startswith(GUARD)
    harmless = payload(committed, agent, "shell")
    harmful = payload(committed, agent, "shell", command="rm -rf /")
    started = start(command, committed, harmful)
    assert meaning(agent, started)[0] == "deny"
    assert started == send(committed, agent, harmful), "as in one process"
    assert meaning(agent, send(committed, agent, harmless))[0] == "nothing"


@pytest.mark.parametrize(("agent", "where"), PLACES)
def test_at_each_place(
    committed: Repo, unchecked: list[str], agent: str, where: str
) -> None:
    path = settings_of(committed, agent, where)
    options = ("--agent", agent, "--where", where)
    done = guard(committed, "install", *options)
    assert (done.code, done.err) == (0, "")
    assert ": installed" in done.out
    assert unchecked == [command_in(path)], "started before it is installed"
    before = path.read_bytes()
    assert "is there already" in guard(committed, "install", *options).out
    assert path.read_bytes() == before
    assert AGENTS[agent].title in guard(committed, "doctor").out
    assert "removed" in guard(committed, "uninstall", *options).out
    assert not path.exists() or "cli-guard" not in path.read_text()
    assert "no cli-guard hook" in guard(committed, "uninstall", *options).out
    guard(committed, "install", "--agent", agent)
    assert len({*unchecked}) == 1, "the same command as in the project"


@pytest.mark.parametrize("agent", NAMES)
def test_a_program_in_a_folder_with_a_blank(
    committed: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    folder = tmp_path / "my 'own' programs"
    folder.mkdir()
    program = folder / "cli-guard"
    program.write_text(f'#!/bin/sh\nexec {GUARD} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    assert guard(committed, "install", "--agent", agent).code == 0
    command = command_in(settings_of(committed, agent))
    harmful = payload(committed, agent, "shell", command="rm -rf /")
    assert meaning(agent, start(command, committed, harmful))[0] == "deny"
    # Whatever happens to the program later, the tool is blocked.
    program.chmod(0o644)
    assert start(command, committed, payload(committed, agent, "shell")).code == 2
    program.unlink()
    assert start(command, committed, payload(committed, agent, "shell")).code == 2


WRONG = {
    "answers nothing": "exit 0",
    "blocks everything": "echo no >&2; exit 2",
    "ends with 1": "exit 1",
}


@table("script", WRONG.values(), ids=WRONG)
@table("agent", NAMES)
def test_a_program_that_answers_wrongly_is_not_installed(
    committed: Repo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    script: str,
) -> None:
    program = tmp_path / "cli-guard"
    program.write_text(f"#!/bin/sh\ncat >/dev/null\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    done = guard(committed, "install", "--agent", agent)
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert "nothing was changed" in done.err
    assert not settings_of(committed, agent).exists()


@pytest.mark.parametrize("agent", NAMES)
def test_settings_that_are_not_ours_stay(
    committed: Repo, unchecked: list[str], agent: str
) -> None:
    path = settings_of(committed, agent)
    path.parent.mkdir(parents=True, exist_ok=True)
    for text in ("{} // a comment", "[]", "\xff"):
        path.write_bytes(text.encode("latin-1"))
        done = guard(committed, "install", "--agent", agent)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert path.read_bytes() == text.encode("latin-1")
        assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("agent", NAMES)
def test_a_link_out_of_the_repository_is_not_followed(
    committed: Repo, unchecked: list[str], agent: str
) -> None:
    outside = committed.path.parent / "outside"
    outside.mkdir()
    name = AGENTS[agent].load().protocol.places["project"]
    (committed.path / name.split("/")[0]).symlink_to(outside)
    done = guard(committed, "install", "--agent", agent)
    assert (done.code, done.out) == (2, "") and "out of the repository" in done.err
    assert list(outside.iterdir()) == []


def test_where_is_about_agents(committed: Repo) -> None:
    assert "--agent" in guard(committed, "install", "--where", "user").err
    assert "--agent" in guard(committed, "uninstall", "--where", "user").err
