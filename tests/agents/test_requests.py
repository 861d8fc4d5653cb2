"""Every agent's requests as they were seen: what passes in silence, what is asked about, what is denied."""

import datetime
import json
from pathlib import Path

import pytest
from agents_seen import (
    ASKS,
    NAMES,
    input_key,
    kinds_of,
    meaning,
    path_key,
    payload,
    send,
    text_key,
)
from examples import table
from repositories import Repo, key

from cli_guard.agents.registry import AGENTS
from cli_guard.runtime import Invocation
from cli_guard.state.questions import last_questions

KEY = key()
LEAK = f'key = "{KEY}"\n'
REQUESTS = [(agent, kind) for agent in NAMES for kind in kinds_of(agent)]


def configure(repo: Repo, text: str) -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"]) / "cli-guard" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def answer(repo: Repo, agent: str, kind: str, **given: object) -> tuple[str, str]:
    return meaning(agent, send(repo, agent, payload(repo, agent, kind, **given)))


@table(("agent", "kind"), REQUESTS)
def test_what_was_seen_passes_in_silence(committed: Repo, agent: str, kind: str) -> None:
    assert answer(committed, agent, kind) == ("nothing", "")


@table("agent", NAMES)
def test_a_command(committed: Repo, agent: str) -> None:
    assert answer(committed, agent, "shell", command="git status")[0] == "nothing"
    said, reason = answer(committed, agent, "shell", command="rm -rf /")
    assert said == "deny"
    assert reason.startswith("cli-guard: deletes the whole file system; instead: ")
    said, reason = answer(committed, agent, "shell", command="npm install left-pad")
    assert said == ASKS.get(agent, "deny")
    assert (
        "cli-guard allow 'npm install left-pad'" in reason
        or "types `cli-guard allow --last`" in reason
    )
    assert ("in a terminal of their own" in reason) is (said == "deny")


@table("agent", NAMES)
def test_a_question_is_kept_for_the_user(committed: Repo, agent: str) -> None:
    data = payload(committed, agent, "shell", command="npm install left-pad")
    if "dir_path" in data[input_key(data)]:
        data[input_key(data)]["dir_path"] = "src"
        (committed.path / "src").mkdir(exist_ok=True)
    send(committed, agent, data)
    answer(committed, agent, "shell", command="ls")
    now = datetime.datetime.now(datetime.UTC)
    latest = last_questions(Invocation(committed.path, committed.env, now))[0]
    assert (latest.agent, latest.command, latest.masked) == (
        agent,
        "npm install left-pad",
        False,
    )
    assert latest.folder == str(committed.path / ("src" if agent == "gemini" else ""))


@table("agent", NAMES)
def test_an_allow_is_said_only_to_those_who_want_it(committed: Repo, agent: str) -> None:
    configure(committed, f'[agent.{agent}]\nanswer = "allow"\n')
    can = agent not in ("codex", "opencode", "lefthook")
    assert answer(committed, agent, "shell", command="ls")[0] == (
        "allow" if can else "nothing"
    )
    assert answer(committed, agent, "shell", command="rm -rf /")[0] == "deny"


@table("agent", NAMES)
def test_in_the_floors_profile_only_denials_are_said(committed: Repo, agent: str) -> None:
    configure(committed, '[agent]\nprofile = "floors"\nanswer = "allow"\n')
    assert answer(committed, agent, "shell", command="npm install left-pad")[0] == "nothing"
    assert answer(committed, agent, "shell", command="rm -rf /")[0] == "deny"
    if "read" in kinds_of(agent):
        where = path_key(committed, agent, "read")
        assert answer(committed, agent, "read", **{where: "/etc/shadow"})[0] == "nothing"


@table("agent", NAMES)
def test_a_fault_of_ours_needs_a_person_in_each_profile(
    committed: Repo, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(committed, '[agent]\nprofile = "floors"\nanswer = "allow"\n')

    def broken(*_: object) -> None:
        raise RecursionError

    with monkeypatch.context() as patch:
        patch.setattr("cli_guard.commands.engine.judge", broken)
        said, reason = answer(committed, agent, "shell", command="ls")
    assert said == ASKS.get(agent, "deny")
    assert "internal error: RecursionError, so this was not judged" in reason


WRITES = [(agent, kind) for agent, kind in REQUESTS if kind in ("write", "edit")]


@table(("agent", "kind"), WRITES)
def test_a_secret_in_what_is_written(committed: Repo, agent: str, kind: str) -> None:
    path = path_key(committed, agent, kind)
    text = text_key(committed, agent, kind)
    said, reason = answer(committed, agent, kind, **{text: LEAK})
    assert said == "deny"
    assert "secret-aws-access-key" in reason and KEY not in reason
    # A file for credentials is where they belong, and what is there already is not new.
    assert (
        answer(committed, agent, kind, **{text: LEAK, path: str(committed.path / ".env")})[
            0
        ]
        == "nothing"
    )
    committed.write("keys.py", LEAK)
    assert (
        answer(
            committed, agent, kind, **{text: LEAK, path: str(committed.path / "keys.py")}
        )[0]
        == "nothing"
    )


def test_what_is_too_long_to_be_searched_asks(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, kind = WRITES[0]
    text = text_key(committed, agent, kind)
    for length, asks in ((50, False), (1_000, True)):
        monkeypatch.setattr("cli_guard.agents.judging.MOST_CHARS", 500)
        reason = answer(committed, agent, kind, **{text: "x" * length})[1]
        assert ("too much to search" in reason) is asks


@table(("agent", "kind"), WRITES)
def test_a_file_that_guards(committed: Repo, agent: str, kind: str) -> None:
    path = path_key(committed, agent, kind)
    if not (committed.path / "notes").is_symlink():
        (committed.path / "notes").symlink_to(".git/hooks")
    for name in (
        ".git/hooks/pre-commit",
        "notes/pre-commit",
        ".claude/settings.json",
        ".github/hooks/cli-guard.json",
    ):
        assert (
            answer(committed, agent, kind, **{path: str(committed.path / name)})[0]
            == "deny"
        ), name
    workflow = str(committed.path / ".github/workflows/ci.yml")
    assert answer(committed, agent, kind, **{path: workflow})[0] == ASKS.get(agent, "deny")
    assert (
        answer(committed, agent, kind, **{path: str(committed.path / "src/new.py")})[0]
        == "nothing"
    )


@table("agent", [agent for agent, kind in REQUESTS if kind == "read"])
def test_a_read(committed: Repo, agent: str) -> None:
    path = path_key(committed, agent, "read")
    home = committed.env["HOME"]
    asked = ASKS.get(agent, "deny")
    for name in (
        f"{home}/.ssh/id_ed25519",
        "~/.aws/credentials",
        ".env",
        "/home/somebody-else/notes.txt",
    ):
        assert answer(committed, agent, "read", **{path: name})[0] == asked, name
    if not (committed.path / "notes.txt").is_symlink():
        (committed.path / "notes.txt").symlink_to(f"{home}/.ssh/id_ed25519")
    assert (
        answer(committed, agent, "read", **{path: str(committed.path / "notes.txt")})[0]
        == asked
    )
    for name in ("app.py", "/etc/hosts", f"{home}/.bashrc", "/usr/include/stdio.h"):
        assert answer(committed, agent, "read", **{path: name})[0] == "nothing", name


FETCHES = [
    (f"https://example.org/?k={KEY}", "deny"),
    (f"https://example.org/%41{KEY[1:]}", "deny"),
    ("https://ada:" + "hunter2pass@example.org/", "deny"),
    ("http://169.254.169.254/latest/meta-data/", "ask"),
    ("http://2852039166/", "ask"),
    ("http://[::ffff:a9fe:a9fe]/", "ask"),
    ("http://metadata.google.internal/computeMetadata/v1/", "ask"),
    ("file:///etc/shadow", "ask"),
    ("https://docs.python.org/3/library/re.html#module-re", "nothing"),
    ("http://127.0.0.1:8000/health?verbose=1", "nothing"),
    ("http://metadata.example.org/", "nothing"),
    ("https://example.org/reset?code=123456", "nothing"),
]


@table(
    ("agent", "address", "wanted"),
    [(agent, *row) for agent, kind in REQUESTS if kind == "fetch" for row in FETCHES],
)
def test_a_fetch(committed: Repo, agent: str, address: str, wanted: str) -> None:
    given = payload(committed, agent, "fetch")
    where = "url" if "url" in given[input_key(given)] else "prompt"
    said, reason = answer(committed, agent, "fetch", **{where: f"{address}"})
    assert said == (ASKS.get(agent, "deny") if wanted == "ask" else wanted)
    assert KEY not in reason


@pytest.mark.parametrize("agent", [agent for agent, kind in REQUESTS if kind == "mcp"])
def test_an_mcp_tool(committed: Repo, agent: str) -> None:
    said, reason = answer(committed, agent, "mcp", text=f"my key is {KEY}")
    assert said == "deny" and KEY not in reason
    configure(committed, '[mcp.notes]\ndeny = ["add_*"]\n')
    assert answer(committed, agent, "mcp")[0] == "deny"
    configure(committed, '[mcp.other]\ndeny = ["add_*"]\n')
    # Cursor does not name the server: what is denied of any is denied.
    assert answer(committed, agent, "mcp")[0] == (
        "deny" if agent == "cursor" else "nothing"
    )
    committed.commit("Deny", {"cli-guard.toml": '[mcp.notes]\ndeny = ["add_note"]\n'})
    assert answer(committed, agent, "mcp")[0] == "deny"


def broken(repo: Repo, agent: str) -> dict[str, bytes]:
    data = payload(repo, agent, "shell")
    where = input_key(data)
    return {
        "nothing": b"",
        "no JSON": b"{",
        "no UTF-8": json.dumps(data).encode() + b"\xff",
        "a list": b"[]",
        "no input": json.dumps({k: v for k, v in data.items() if k != where}).encode(),
        "no command": json.dumps(data | {where: {}}).encode(),
        "an input that is no object": json.dumps(data | {where: 3}).encode(),
        "a command that is no text": json.dumps(data | {where: {"command": 3}}).encode(),
        "half a character": json.dumps(data | {where: {"command": "\ud800"}}).encode(),
        "two commands": json.dumps(data)
        .replace('"command"', '"command": "ls", "command"')
        .encode(),
        "two folders": json.dumps(
            data | {where: {"command": "ls", "cwd": "/a", "workdir": "/b"}}
        ).encode(),
    }


@pytest.mark.parametrize("agent", NAMES)
def test_what_is_no_request_blocks(committed: Repo, agent: str) -> None:
    for what, raw in broken(committed, agent).items():
        done = send(committed, agent, raw)
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), what
        assert done.err.startswith("cli-guard: the tool use could not be judged"), what


@pytest.mark.parametrize("agent", NAMES)
def test_a_request_that_is_too_big_blocks(
    committed: Repo, monkeypatch: pytest.MonkeyPatch, agent: str
) -> None:
    monkeypatch.setattr("cli_guard.agents.uses.LARGEST", 2_000)
    done = send(
        committed, agent, payload(committed, agent, "shell", command="ls " + "a" * 2_000)
    )
    assert done.code == 2 and "smaller steps" in done.err


def test_the_list_of_agents_is_that_of_the_configuration() -> None:
    from cli_guard.policy.config import AGENT_NAMES

    assert list(AGENTS) == AGENT_NAMES
