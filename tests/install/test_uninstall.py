"""What `uninstall` leaves: what was there before, byte for byte, and a word on the folders that stay."""

from pathlib import Path

import pytest
from in_process import guard, stage
from repositories import Repo

AGENTS = ("claude-code", "codex", "cursor", "copilot", "gemini", "opencode")
SETTINGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}
TEXTS = (
    "{}",
    '{\n\t"a":1 }',
    '{"hooks": {}}\r\n',
    '{"hooks": {"PreToolUse": []}, "b": "\\u00e4"}',
)


def picture(repo: Repo) -> dict[str, bytes | None]:
    """Every path of the work tree and the configuration of Git, with the bytes of files."""
    paths = [repo.path / ".git/config"]
    paths += [
        path
        for path in repo.path.rglob("*")
        if ".git" not in path.relative_to(repo.path).parts
    ]
    return {str(path): path.read_bytes() if path.is_file() else None for path in paths}


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("agent", AGENTS)
def test_files_and_folders_that_install_created_are_gone(
    committed: Repo, agent: str
) -> None:
    before = picture(committed)
    for _ in range(2):
        assert guard(committed, "install", "--agent", agent).code == 0
    assert picture(committed) != before
    assert guard(committed, "uninstall", "--agent", agent).code == 0
    assert picture(committed) == before


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("agent", SETTINGS)
def test_settings_are_restored_byte_for_byte(committed: Repo, agent: str) -> None:
    path = committed.path / SETTINGS[agent]
    path.parent.mkdir()
    for text in TEXTS:
        path.write_bytes(text.encode())
        path.chmod(0o600)
        for _ in range(2):
            assert guard(committed, "install", "--agent", agent).code == 0
        assert guard(committed, "uninstall", "--agent", agent).code == 0
        assert path.read_bytes() == text.encode()
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("unchecked")
def test_what_was_written_since_is_kept(committed: Repo) -> None:
    path = committed.path / SETTINGS["claude-code"]
    assert guard(committed, "install", "--agent", "claude-code").code == 0
    path.write_text(path.read_text().replace("{", '{"model": "m",', 1))
    (path.parent / "notes.md").write_text("mine")
    assert guard(committed, "uninstall", "--agent", "claude-code").code == 0
    assert path.read_text() == '{\n  "model": "m"\n}\n'
    assert guard(committed, "install", "--agent", "claude-code").code == 0
    path.unlink()
    assert guard(committed, "install", "--agent", "claude-code").code == 0
    assert guard(committed, "uninstall", "--agent", "claude-code").code == 0
    assert [each.name for each in path.parent.iterdir()] == ["notes.md"]


def test_the_configuration_of_git_is_as_before(committed: Repo) -> None:
    before = picture(committed)
    assert guard(committed, "install").code == 0
    assert picture(committed) != before
    assert guard(committed, "uninstall").code == 0
    assert picture(committed) == before
    committed.git("config", "notes.cli-guard.mergeStrategy", "ours")
    own = picture(committed)
    assert guard(committed, "uninstall").code == 0
    assert picture(committed) == own, "somebody else has set it"


def test_it_names_what_stays_and_where(guarded: Repo, tmp_path: Path) -> None:
    stage(guarded, {"a.py": "x = 1\n"})
    assert guard(guarded, "hook", "pre-commit").code == 0
    done = guard(guarded, "uninstall")
    assert f"kept: {guarded.path}/.git/cli-guard, the audit log" in done.out
    assert guard(guarded, "uninstall").out.startswith(
        "cli-guard: no cli-guard hook is installed here\ncli-guard: kept: "
    )


def test_install_says_what_git_add_starts(committed: Repo) -> None:
    env = {"CLI_GUARD_SERVER": "1"}
    assert "`cli-guard server status`" in guard(committed, "install", env=env).out
    for options, values in (
        (("-t", "pre-commit"), env),
        ((), {"CLI_GUARD_SERVER": "0"}),
    ):
        assert "server" not in guard(committed, "install", *options, env=values).out
