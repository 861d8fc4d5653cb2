"""The hook of every agent as `install` writes it: three places, our program by name or path, started before it is said.

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


def start(command: str, repo: Repo, data: object, *kept: str) -> Done:
    """Starts a hook as an agent does, without a PATH unless it is kept."""
    done = subprocess.run(
        ("/bin/sh", "-c", command),
        cwd=repo.path,
        env={key: value for key, value in repo.env.items() if key != "PATH" or kept},
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
    assert command.startswith("if command -v cli-guard")
    harmless = payload(committed, agent, "shell")
    harmful = payload(committed, agent, "shell", command="rm -rf /")
    started = start(command, committed, harmful, "PATH")
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
    expected = f"{GUARD} hook {agent} || exit 2"
    if where == "project":
        assert str(Path(GUARD).parent) not in unchecked[0], "others have no such folder"
    else:
        assert unchecked[0] == expected


@pytest.mark.parametrize(
    ("programs", "form"),
    [
        ({"first": "own"}, "if command -v cli-guard"),
        ({"first": "", "second": "own"}, "if command -v cli-guard"),
        ({"first": "other", "second": "own"}, "if [ -e "),
        ({"first": "other"}, "if [ -e "),
        ({}, "if [ -e "),
    ],
)
def test_what_is_shared_names_the_program_that_path_finds(
    committed: Repo,
    unchecked: list[str],
    tmp_path: Path,
    programs: dict[str, str],
    form: str,
) -> None:
    for name, kind in programs.items():
        folder = tmp_path / name
        folder.mkdir()
        if kind == "own":
            (folder / "cli-guard").symlink_to(GUARD)
        elif kind:
            (folder / "cli-guard").write_text("#!/bin/sh\n")
            (folder / "cli-guard").chmod(0o755)
    folders = [*(str(tmp_path / name) for name in programs), "/usr/bin", "/bin"]
    env = {"PATH": os.pathsep.join(folders)}
    assert guard(committed, "install", "--agent", "claude-code", env=env).code == 0
    (command,) = unchecked
    assert command.startswith(form)


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
    program.chmod(0o644)
    assert start(command, committed, harmful).code == 2
    program.unlink()
    assert guard(committed, "install", "--agent", agent, "--where", "user").code == 2


@pytest.mark.parametrize("agent", NAMES)
def test_a_clone_without_the_program(
    committed: Repo, unchecked: list[str], tmp_path: Path, agent: str
) -> None:
    """What a repository shares leaves the call to the agent's own question; the user's own entry blocks."""
    lonely = {"PATH": "/usr/bin:/bin"}
    assert guard(committed, "install", "--agent", agent, env=lonely).code == 0
    shared = command_in(settings_of(committed, agent)).replace(GUARD, "/home/ada/cli-guard")
    harmful = payload(committed, agent, "shell", command="rm -rf /")
    done = start(shared, committed, harmful)
    assert done.code == 0
    words = done.out + done.err
    assert words.count("\n") == 1 and "pip install" in words
    if done.out:
        (key,) = done.json
        assert key in ("systemMessage", "user_message")
    # Another one of the name is as good.
    env = committed.env | {"PATH": f"{Path(GUARD).parent}:/usr/bin:/bin"}
    assert (
        meaning(agent, start(shared, Repo(committed.path, env), harmful, "PATH"))[0]
        == "deny"
    )
    assert guard(committed, "install", "--agent", agent, "--where", "user").code == 0
    own = command_in(settings_of(committed, agent, "user")).replace(
        GUARD, "/home/ada/cli-guard"
    )
    assert start(own, committed, harmful).code == 2


def test_cursor_is_asked_about_its_shell_twice(
    committed: Repo, unchecked: list[str]
) -> None:
    assert guard(committed, "install", "--agent", "cursor").code == 0
    hooks = json.loads(settings_of(committed, "cursor").read_text())["hooks"]
    assert hooks["preToolUse"] == hooks["beforeShellExecution"] and len(hooks) == 2
    del hooks["beforeShellExecution"]
    settings_of(committed, "cursor").write_text(json.dumps({"version": 1, "hooks": hooks}))
    assert "brought up to date" in guard(committed, "install", "--agent", "cursor").out
    assert "removed" in guard(committed, "uninstall", "--agent", "cursor").out


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
