"""The form of a request, not the name of our entry, decides how it is read and answered."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from agents_seen import payload
from examples import table
from in_process import guard
from repositories import Done, Repo

from cli_guard.agents.dialects import DIALECTS, UNKNOWN, recognise

FOLDER = Path(__file__).parent / "dialects"
TABLES = {path.stem: tomllib.loads(path.read_text()) for path in FOLDER.glob("*.toml")}
REQUESTS = [
    (name, number, row["says"])
    for name, data in sorted(TABLES.items())
    for number, row in enumerate(data["request"])
]
# Those that are read as Claude Code's.
SAME = {"factory": "claude-code"}


def request_of(repo: Repo, name: str, number: int) -> dict[str, Any]:
    text = TABLES[name]["request"][number]["json"]
    data: dict[str, Any] = json.loads(text.replace("/work/repo", str(repo.path)))
    return data


def meaning(name: str, done: Done) -> str:
    """What an agent of this form takes the answer for."""
    if done.code == 2:
        assert done.out == "" and len(done.err.splitlines()) >= 1
        return "deny"
    assert (done.code, done.err) == (0, "")
    if not done.out:
        return "nothing"
    if name == "cursor":
        return str(done.json.get("permission", "nothing"))
    if name == "cline":
        return "deny" if done.json["cancel"] else "nothing"
    output = done.json["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse" and output["permissionDecisionReason"]
    return str(output["permissionDecision"])


@table(("name", "number", "says"), REQUESTS)
def test_a_request_is_answered_in_its_own_form(
    committed: Repo, name: str, number: int, says: str
) -> None:
    data = request_of(committed, name, number)
    done = guard(committed, "hook", "claude-code", stdin=json.dumps(data))
    assert meaning(name, done) == says, done.err or done.out


@pytest.mark.parametrize("name", sorted(TABLES))
def test_each_form_has_enough_requests_with_a_source(committed: Repo, name: str) -> None:
    assert (
        len(TABLES[name]["request"]) >= 6
        and TABLES[name]["source"]
        and TABLES[name]["read"]
    )
    found = [
        recognise(request_of(committed, name, number)).name
        for number in range(len(TABLES[name]["request"]))
    ]
    if name != "unknown":
        assert found.count(SAME.get(name, name)) >= 6
    else:
        assert set(found) == {UNKNOWN.name}


def test_every_row_has_a_source_with_a_date() -> None:
    assert all("2026" in each.source for each in DIALECTS)


ENTRIES = ("claude-code", "codex", "gemini", "cursor", "copilot", "opencode", "lefthook")


@table(("entry", "caller"), [(a, b) for a in ENTRIES for b in ENTRIES[:-1]])
def test_no_entry_is_laxer_for_the_form_of_another(
    committed: Repo, entry: str, caller: str
) -> None:
    data = payload(committed, caller, "shell", command="npm install left-pad")
    done = guard(committed, "hook", entry, stdin=json.dumps(data))
    can_ask = {"claude-code", "gemini", "copilot"} >= {entry, caller}
    assert ('"ask"' in done.out) is can_ask
    assert can_ask or done.code == 2 or '"deny"' in done.out


@table(
    "more",
    [
        {"hookEventName": "PreToolUse"},
        {"event": "PreToolUse"},
        {"toolName": "Read", "toolArgs": {"path": "a"}},
        {"cursor_version": "3"},
        {"agent_action_name": "pre_read_code", "tool_info": {"file_path": "a"}},
    ],
)
def test_more_keys_make_no_answer_laxer(committed: Repo, more: dict[str, Any]) -> None:
    data = payload(committed, "claude-code", "shell", command="npm install left-pad")
    data["permission_mode"] = "bypassPermissions"
    for given in (data, {k: v for k, v in data.items() if k != "hook_event_name"}):
        done = guard(committed, "hook", "claude-code", stdin=json.dumps(given | more))
        assert done.code == 2 or '"deny"' in done.out, given | more


def test_what_a_model_adds_to_its_input_makes_no_answer_laxer(committed: Repo) -> None:
    for more in (
        {"mcp_tool_name": "x", "mcp_server_name": "y"},
        {"args": ["--help"]},
        {"path": "a", "content": "b"},
        {"command_line": "ls", "cmd": "ls"},
    ):
        data = payload(committed, "claude-code", "shell", command="rm -rf /")
        data["tool_input"] |= more
        assert (
            '"deny"' in guard(committed, "hook", "claude-code", stdin=json.dumps(data)).out
        )
