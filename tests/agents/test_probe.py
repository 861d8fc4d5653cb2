"""`cli-guard doctor --probe`: the hook is really started, as it is and broken; what a repository names is not run."""

import json
import os
import re
from pathlib import Path

import pytest
from examples import table
from in_process import guard
from repositories import GUARD, Done, Repo
from watching import eventually, marked

from cli_guard.agents.registry import AGENTS

CALL = "cli-guard hook claude-code"
UNSTARTED = ("not executable", "moved away", "killed")


def configure(repo: Repo, command: str, **more: object) -> None:
    """Write the settings of Claude Code with one hook."""
    hook = {"type": "command", "command": command, **more}
    path = repo.path / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})
    )


def probe(repo: Repo) -> Done:
    done = guard(repo, "doctor", "--probe")
    assert done.err == ""
    title, *lines = done.out.splitlines()
    assert title == "Agents" and lines
    assert done.code == int(any(line.startswith("  !") for line in lines))
    return done


def program(folder: Path, text: str) -> Path:
    """Make a program outside the work tree, under our name."""
    folder.mkdir(exist_ok=True)
    path = folder / "cli-guard"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@table(
    ("command", "more", "by"),
    [
        (CALL, {"onFailure": "block"}, "(4 of them by"),
        (f"{GUARD} hook claude-code", {"onFailure": "block"}, "(3 of them by"),
        (f"{CALL} || exit 2", {}, ""),
    ],
)
def test_an_agent_that_blocks_in_every_state(
    committed: Repo, command: str, more: dict[str, str], by: str
) -> None:
    configure(committed, command, **more)
    before = {
        path: path.read_bytes() for path in committed.path.rglob("*") if path.is_file()
    }
    done = probe(committed)
    assert done.code == 0
    (line,) = done.out.splitlines()[1:]
    assert line.startswith("  Claude Code: the tool is blocked in all 9 states")
    assert (by in line) and ("onFailure" in line) is bool(more)
    assert {
        path: path.read_bytes() for path in committed.path.rglob("*") if path.is_file()
    } == before


# The command is the same at each place: see tests/agents/test_installed.py.
@pytest.mark.parametrize(
    ("agent", "where"),
    [
        *((name, "project") for name in AGENTS if name != "lefthook"),
        ("claude-code", "user"),
    ],
)
def test_what_is_installed_blocks_in_every_state(
    committed: Repo, unchecked: list[str], agent: str, where: str
) -> None:
    assert guard(committed, "install", "--agent", agent, "--where", where).code == 0
    *shared, line = probe(committed).out.splitlines()[1:]
    assert line == f"  {AGENTS[agent].title}: the tool is blocked in all 9 states"
    assert ["this entry is shared" in each for each in shared] == [True] * (
        where == "project"
    )


@pytest.mark.parametrize(
    ("agent", "states"),
    [("codex", UNSTARTED[:2]), ("cursor", UNSTARTED[:2]), ("gemini", ()), ("copilot", ())],
)
def test_the_exit_codes_of_an_agent_count(
    committed: Repo, unchecked: list[str], agent: str, states: tuple[str, ...]
) -> None:
    """Copilot CLI takes any code but 0 for a denial, Gemini CLI any but 0 and 1."""
    assert guard(committed, "install", "--agent", agent).code == 0
    path = committed.path / AGENTS[agent].load().protocol.places["project"]
    path.write_text(
        re.sub(r"if .*?then (.*?) \|\| exit 2; else.*? fi", r"\1", path.read_text())
    )
    lines = probe(committed).out.splitlines()[1:]
    # Whether a kill is seen as one, or as a code, depends on the shell.
    assert [state for line in lines for state in UNSTARTED[:2] if state in line] == list(
        states
    )


def test_lefthook_is_never_called_closed(committed: Repo) -> None:
    done = guard(committed, "install", "--agent", "lefthook")
    assert (done.code, len(done.err.splitlines())) == (2, 1)
    assert "install the hook of each agent itself" in done.err
    committed.write("lefthook.yml", "pre-commit:\n  jobs:\n    - run: make lint\n")
    assert "lefthook" not in probe(committed).out
    committed.write(
        "lefthook.yml", "x:\n  jobs:\n    - run: cli-guard hook lefthook || exit 2\n"
    )
    (line,) = probe(committed).out.splitlines()[1:]
    assert (
        line.startswith("  ! lefthook: ")
        and "install the hook of each agent itself" in line
    )


def test_a_plugin_that_is_not_ours_is_not_run(committed: Repo) -> None:
    committed.write(
        ".opencode/plugins/cli-guard.js",
        'const command = "touch ran; cli-guard hook opencode"\n',
    )
    (line,) = probe(committed).out.splitlines()[1:]
    assert line.startswith("  ! OpenCode: ") and "is not a plugin of cli-guard" in line
    assert not (committed.path / "ran").exists()


@table(
    ("command", "states"),
    [
        (CALL, (*UNSTARTED, "an empty PATH")),
        (f"{GUARD} hook claude-code", UNSTARTED),
    ],
)
def test_the_states_in_which_the_tool_would_run(
    committed: Repo, command: str, states: tuple[str, ...]
) -> None:
    configure(committed, command)
    lines = probe(committed).out.splitlines()[1:]
    assert len(lines) == len(states)
    for state in states:
        (line,) = (each for each in lines if state in each)
        assert "lets the tool run with" in line
        assert (
            '"onFailure": "block" (Claude Code 2.1.295 or later)' in line
            and "|| exit 2" in line
        )


@table(
    ("timeout", "more", "closed"),
    [
        (5, {}, False),
        (29.5, {}, False),
        (30, {}, True),
        (600, {}, True),
        (5, {"onFailure": "block"}, True),
    ],
)
def test_a_time_out_shorter_than_the_hook_may_take(
    committed: Repo, timeout: float, more: dict[str, str], closed: bool
) -> None:
    configure(committed, f"{GUARD} hook claude-code || exit 2", timeout=timeout, **more)
    (line,) = probe(committed).out.splitlines()[1:]
    assert ("blocked in all 9 states" in line) is closed
    assert closed or f"waits {timeout:g} s for the hook, which may take 15 s" in line


def test_a_hook_that_says_nothing(committed: Repo, tmp_path: Path) -> None:
    configure(
        committed,
        f"{program(tmp_path / 'own', 'exit 0')} hook claude-code",
        onFailure="block",
    )
    lines = probe(committed).out.splitlines()[1:]
    # The setting closes what fails; an answer that allows is no failure.
    assert ["as it is" in lines[0], "empty PATH" in lines[1]] == [True, True]
    assert all("does not hand on the answer" in line for line in lines)


def test_a_hook_that_blocks_everything(committed: Repo, tmp_path: Path) -> None:
    configure(committed, f"{tmp_path / 'gone' / 'cli-guard'} hook claude-code || exit 2")
    (line,) = probe(committed).out.splitlines()[1:]
    assert "blocks even a harmless request (exit code 2)" in line


def test_a_hook_that_does_not_end_is_stopped(committed: Repo, tmp_path: Path) -> None:
    path = program(tmp_path / "own", "cat > /dev/null; exit 2")
    configure(committed, f"{path} hook claude-code")
    lines = probe(committed).out.splitlines()[1:]
    (slow,) = (line for line in lines if "does not end" in line)
    assert "(it did not end)" in slow and "|| exit 2" not in slow
    assert eventually(lambda: not marked(str(path)))


def test_no_agent(committed: Repo) -> None:
    done = probe(committed)
    assert done.code == 1 and "no coding agent asks cli-guard here" in done.out


RAN = "ran"


@pytest.mark.parametrize(
    "command",
    [
        f"touch {RAN}; {CALL}",
        f"{CALL} && touch {RAN}",
        f"{CALL}\ntouch {RAN}",
        f"$(touch {RAN}){CALL}",
        f'"$(touch {RAN})"/{CALL}',
        f"`touch {RAN}`{CALL}",
        f"X=1/{CALL}",
        f"{CALL} > {RAN}",
        f"{CALL} || touch {RAN}",
        f"./{CALL}",
        f"tools/{CALL}",
        f'"$CLAUDE_PROJECT_DIR"/{CALL}',
        f"sh hook claude-code; {CALL}",
    ],
)
def test_what_a_repository_names_is_not_run(
    committed: Repo, tmp_path: Path, command: str
) -> None:
    script = f"#!/bin/sh\ntouch {committed.path / RAN}\n"
    for path in (
        committed.path / "cli-guard",
        committed.path / "hook",
        tmp_path / "bin" / "hook",
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(script)
        path.chmod(0o755)
    (committed.path / "tools").mkdir()
    (committed.path / "tools" / "cli-guard").symlink_to("/bin/sh")
    configure(committed, command)
    path = f"{tmp_path / 'bin'}{os.pathsep}{committed.env['PATH']}"
    done = guard(committed, "doctor", "--probe", env={"PATH": path})
    assert done.code == 1 and "not started" in done.out
    assert not (committed.path / RAN).exists()
