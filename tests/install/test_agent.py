"""The hook of a coding agent in its settings: put in once, taken out again, everything else as it was."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from examples import table
from in_process import call, guard
from repositories import GUARD, Done, Repo

from cli_guard.agents.registry import AGENTS
from cli_guard.agents.settings import BY_PATH, SHARED
from cli_guard.runtime import own_program

# That the hook is started before it is installed, see tests/agents/test_installed.py.
pytestmark = pytest.mark.usefixtures("unchecked")
COMMAND = AGENTS["claude-code"].load().protocol.command("project", str(Path(GUARD).parent))
ENTRY = {
    "matcher": "*",
    "hooks": [{"type": "command", "command": COMMAND, "timeout": 60, "onFailure": "block"}],
}
OTHERS = {
    "permissions": {"deny": ["Bash(curl *)"], "allow": ["Bash(ls)"]},
    "hooks": {
        "PostToolUse": [
            {"matcher": "Edit", "hooks": [{"type": "command", "command": "fmt"}]}
        ],
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": "./log"}]},
            {"matcher": "odd"},
            "odder",
        ],
    },
    "model": "größer",
}


def settings_of(repo: Repo) -> Path:
    return repo.path / ".claude" / "settings.json"


def write(repo: Repo, text: str) -> None:
    settings_of(repo).parent.mkdir(exist_ok=True)
    settings_of(repo).write_text(text, "utf-8")


def install(repo: Repo, *argv: str) -> Done:
    return guard(repo, "install", "--agent", "claude-code", *argv)


def uninstall(repo: Repo) -> Done:
    return guard(repo, "uninstall", "--agent", "claude-code")


def refused(done: Done) -> str:
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    return done.err


def test_into_a_repository_without_settings(committed: Repo) -> None:
    done = install(committed)
    assert (done.code, done.err) == (0, "")
    first, recommended, allowed = done.out.splitlines()
    assert first == "cli-guard: .claude/settings.json: installed"
    assert (
        "recommended for yourself: `cli-guard install --agent claude-code --where user`"
        in recommended
    )
    assert "Claude Code is told what is allowed" in allowed
    text = settings_of(committed).read_text()
    assert text == json.dumps({"hooks": {"PreToolUse": [ENTRY]}}, indent=2) + "\n"
    assert settings_of(committed).stat().st_mode & 0o777 == 0o644
    assert not (committed.path / ".git" / "hooks" / "pre-commit").exists()


def test_from_a_folder_below(committed: Repo) -> None:
    (committed.path / "src").mkdir()
    assert (
        call(
            committed.path / "src", committed.env, "install", "--agent", "claude-code"
        ).code
        == 0
    )
    assert settings_of(committed).exists()


def test_twice_is_once(committed: Repo) -> None:
    install(committed)
    before = settings_of(committed).read_bytes()
    assert "is there already" in install(committed).out
    assert settings_of(committed).read_bytes() == before


def test_beside_others_and_out_again(committed: Repo) -> None:
    before = json.dumps(OTHERS, indent=2, ensure_ascii=False) + "\n"
    write(committed, before)
    settings_of(committed).chmod(0o600)
    assert install(committed).code == 0
    data = json.loads(settings_of(committed).read_text("utf-8"))
    assert list(data) == list(OTHERS)
    assert data["hooks"]["PreToolUse"] == [*OTHERS["hooks"]["PreToolUse"], ENTRY]  # type: ignore[index]
    assert uninstall(committed).code == 0
    assert settings_of(committed).read_text("utf-8") == before
    assert settings_of(committed).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "command", ["cli-guard hook claude-code", "uvx cli-guard hook claude-code || exit 2"]
)
def test_an_entry_of_ours_in_other_words_is_brought_up_to_date(
    committed: Repo, command: str
) -> None:
    mixed = {
        "matcher": "Bash",
        "hooks": [{"type": "command", "command": each} for each in (command, "./log")],
    }
    write(committed, json.dumps({"hooks": {"PreToolUse": [mixed]}}))
    assert "brought up to date" in install(committed).out
    entries = json.loads(settings_of(committed).read_text())["hooks"]["PreToolUse"]
    assert entries == [
        {"matcher": "Bash", "hooks": [{"type": "command", "command": "./log"}]},
        ENTRY,
    ]


def test_nothing_to_take_out(committed: Repo) -> None:
    assert "no cli-guard hook" in uninstall(committed).out
    write(committed, before := '{ "hooks": {} }')
    assert "no cli-guard hook" in uninstall(committed).out
    assert settings_of(committed).read_text() == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "{} // the settings",
        '{"a": 1,}',
        "[]",
        "3",
        '{"hooks": []}',
        '{"hooks": {"PreToolUse": {}}}',
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        '{"a": 1e999}',
        '{"a": "\\ud800"}',
        "[" * 100_000,
    ],
    ids=lambda text: repr(text[:30]),
)
def test_settings_that_cannot_be_added_to_stay_as_they_are(
    committed: Repo, text: str
) -> None:
    write(committed, text)
    done = install(committed)
    assert (done.code in (1, 2), done.out, len(done.err.splitlines())) == (True, "", 1)
    assert ".claude/settings.json" in done.err
    assert settings_of(committed).read_text() == text
    assert os.listdir(settings_of(committed).parent) == ["settings.json"]


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_out_of_the_repository_is_not_followed(committed: Repo, what: str) -> None:
    outside = committed.path.parent / "outside"
    outside.mkdir()
    (outside / "settings.json").write_text("{}")
    if what == "folder":
        (committed.path / ".claude").symlink_to(outside)
    else:
        (committed.path / ".claude").mkdir()
        settings_of(committed).symlink_to(outside / "settings.json")
    assert "out of the repository" in refused(install(committed))
    assert (outside / "settings.json").read_text() == "{}"
    refused(uninstall(committed))


def test_a_link_inside_stays_one(committed: Repo) -> None:
    committed.write("agents/settings.json", "{}")
    (committed.path / ".claude").symlink_to("agents")
    assert install(committed).code == 0
    assert (committed.path / ".claude").is_symlink()
    assert json.loads((committed.path / "agents" / "settings.json").read_text())["hooks"]


@pytest.mark.parametrize(
    "argv", [("--force",), ("--hook-type", "pre-push"), ("--agent", "other")]
)
def test_what_does_not_go_together_is_refused(
    committed: Repo, argv: tuple[str, ...]
) -> None:
    refused(install(committed, *argv))
    assert not settings_of(committed).exists()


def test_a_bare_repository_has_no_settings(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    bare = Repo.create(tmp_path / "bare", isolated, "--bare")
    assert "bare" in refused(install(bare))


def test_outside_a_repository(tmp_path: Path, isolated: dict[str, str]) -> None:
    assert "no Git repository" in refused(
        call(tmp_path, isolated, "install", "--agent", "claude-code")
    )


def test_git_s_hooks_are_not_touched(guarded: Repo) -> None:
    hook = guarded.path / ".git" / "hooks" / "pre-commit"
    before = hook.read_bytes()
    install(guarded)
    uninstall(guarded)
    assert hook.read_bytes() == before
    assert guard(guarded, "uninstall").code == 0
    assert not hook.exists()


def told(repo: Repo) -> Any:
    return [
        line.strip()
        for line in guard(repo, "doctor").out.splitlines()
        if line.strip().startswith("Claude")
    ]


def test_doctor_tells(guarded: Repo) -> None:
    assert told(guarded) == []
    install(guarded)
    asks, allowed = told(guarded)
    assert asks == "Claude Code: asks cli-guard first"
    assert allowed.startswith("Claude Code is told what is allowed and does not ask")
    source = "its format: https://code.claude.com/"
    assert source in guard(guarded, "doctor", "-v").out
    assert source not in guard(guarded, "doctor").out
    uninstall(guarded)
    assert told(guarded) == []
    write(guarded, "{}")
    assert told(guarded) == ["Claude Code: does not ask cli-guard"]
    settings_of(guarded).write_text("{")
    assert told(guarded) == []


@table(
    ("program", "on_path", "warns"),
    [
        ("", False, True),
        ("/gone/cli-guard", False, True),
        ("", True, False),
        ("/gone/cli-guard", True, False),
        (str(own_program()), False, False),
    ],
)
def test_doctor_says_where_shared_settings_find_no_program(
    committed: Repo, program: str, on_path: bool, warns: bool
) -> None:
    form = BY_PATH + SHARED if program else SHARED
    call = form.format(program=program, name="claude-code", notice="'not installed' >&2")
    hook = {"type": "command", "command": call}
    write(committed, json.dumps({"hooks": {"PreToolUse": [{"hooks": [hook]}]}}))
    folders = ["/usr/bin", "/bin"]
    if on_path:
        folders.append(str(own_program().parent))
    env = {**committed.env, "PATH": os.pathsep.join(folders)}
    said = "! cli-guard is not on PATH, so Claude Code is not judged here"
    assert (said in guard(replace(committed, env=env), "doctor").out) is warns
