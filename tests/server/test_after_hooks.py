"""After a commit the model is asked in the background, by nobody whom the commit waits for."""

import json
from pathlib import Path
from typing import Any

import pytest
from in_process import guard
from openai_server import Server, say_json, serve
from repositories import Repo
from watching import eventually

KEY = "an-imaginary-key"
SAID = {
    "summary": ["Adds a loop that sends again."],
    "questions": [
        {"path": "send.py", "line": 2, "text": "Should it stop after some tries?"}
    ],
}
FIRST = {"send.py": "def send(message):\n    while not post(message):\n        pass\n"}


# A process of low priority gets little time beside other tests.
PATIENCE = 90


def configure(repo: Repo, server: Server, *, after_hooks: bool = True) -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"]) / "cli-guard/config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'[model]\ndeadline_s = 300\nlight = ["openai:test-model"]\nbase_url = "{server.base_url}"\n'
        'api_key_env = "TEST_KEY"\n'
        f"after_hooks = {str(after_hooks).lower()}\n"
    )


def commit(repo: Repo, warm: Any, files: dict[str, str], *options: str, **env: str) -> str:
    """Commits as a user does, with the native hooks and a server, and gives what was printed."""
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A", env={"CLI_GUARD_SERVER": "0"})
    done = repo.try_git(
        "commit",
        "-m",
        "Send a message",
        *options,
        env=warm.required | {"TEST_KEY": KEY} | env,
    )
    assert done.code == 0, done.all
    return done.all


def stored(repo: Repo) -> list[dict[str, Any]]:
    folder = repo.path / ".git/cli-guard/advice"
    return [
        json.loads(each.read_text())
        for each in folder.glob("*.json")
        if each.stem != "latest"
    ]


def last(repo: Repo, **env: str) -> Any:
    return guard(repo, "last", env={"CLI_GUARD_SERVER": "0", **env})


def test_the_background_asks_once_and_the_next_hook_tells(guarded: Repo, warm: Any) -> None:
    with serve([say_json(SAID)]) as model:
        configure(guarded, model)
        assert "question" not in commit(guarded, warm, FIRST)
        assert eventually(lambda: stored(guarded), seconds=PATIENCE)
        # The key is that of the commit.
        assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
        head = guarded.git("rev-parse", "HEAD")
        # Without a key: what is stored needs none.
        guarded.write("other.py", "x = 1\n")
        guarded.git("add", "-A")
        told = guarded.guard("hook", "pre-commit", env=warm.required)
        assert f"1 question on {head[:7]}: cli-guard last" in told.out and told.code == 0
        cold = guarded.guard("hook", "pre-commit", env={"CLI_GUARD_SERVER": "0"})
        assert (cold.code, cold.out, cold.err) == (told.code, told.out, told.err)
        shown = last(guarded)
        assert "send.py:2  Should it stop after some tries?" in shown.out and not shown.err
        # Seen: not told again.
        assert "question" not in guarded.guard("hook", "pre-commit", env=warm.required).out
    assert len(model.requests) == 1


def test_a_change_of_the_line_withdraws_it(guarded: Repo, warm: Any) -> None:
    with serve([say_json(SAID)]) as model:
        configure(guarded, model)
        commit(guarded, warm, FIRST)
        assert eventually(lambda: stored(guarded), seconds=PATIENCE)
    guarded.write("send.py", FIRST["send.py"].replace("while", "if"))
    shown = last(guarded).out
    assert "withdrawn, as their lines have changed: 1" in shown and "send.py:2" not in shown
    # Staged, it is withdrawn from the hook as well.
    guarded.git("add", "-A")
    assert "question" not in guarded.guard("hook", "pre-commit", env=warm.required).out
    guarded.git("reset", "-q")
    # Lines above it move it, and do not change it.
    guarded.write("send.py", "import time\n\n\n" + FIRST["send.py"])
    assert "send.py:2" in last(guarded).out


@pytest.mark.parametrize("how", ["not wanted", "skipped", "denied", "no server"])
def test_nothing_is_asked(guarded: Repo, warm: Any, how: str) -> None:
    with serve([]) as model:
        configure(guarded, model, after_hooks=how != "not wanted")
        if how == "denied":
            guarded.write("send.py", FIRST["send.py"])
            guarded.git("add", "-A")
            empty = guarded.write("message", "wip\n")
            (guarded.path / "cli-guard.toml").write_text('[rules]\n"message-*" = "deny"\n')
            guarded.git("add", "-A")
            guarded.git("commit", "--no-verify", "-q", "-m", "Policy")
            done = guarded.guard("hook", "commit-msg", str(empty), env=warm.required)
            assert done.code == 1, done.all
        elif how == "skipped":
            commit(guarded, warm, FIRST, SKIP="cli-guard")
        else:
            commit(
                guarded,
                warm,
                FIRST,
                **({"CLI_GUARD_SERVER": "0"} if how == "no server" else {}),
            )
        assert not eventually(lambda: stored(guarded) or model.requests, seconds=3)


def test_two_commits_in_a_row_and_an_amended_one(guarded: Repo, warm: Any) -> None:
    with serve(lambda request: say_json(SAID)) as model:
        configure(guarded, model)
        commit(guarded, warm, {"first.py": "a = 1\n"})
        commit(guarded, warm, FIRST)
        assert eventually(lambda: stored(guarded), seconds=PATIENCE)
        assert not eventually(lambda: len(model.requests) > 1, seconds=3), (
            "the last of them alone"
        )
        assert stored(guarded)[0]["commit"] == guarded.git("rev-parse", "HEAD")
        # The same content under another message is not asked about again.
        commit(guarded, warm, {}, "--amend", "-m", "Send it until it arrives")
        head = guarded.git("rev-parse", "HEAD")
        assert eventually(lambda: stored(guarded)[0]["commit"] == head, seconds=PATIENCE)
        assert len(model.requests) == 1 and len(stored(guarded)) == 1
