"""Requests of coding agents as they were seen, sent to our hook with other inputs, and what the answers mean."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from in_process import guard
from repositories import Done, Repo

from cli_guard.agents.registry import AGENTS

PAYLOADS = Path(__file__).parent / "agents" / "payloads"
INPUTS = ("tool_input", "toolArgs", "args")
# What an agent can say to what needs a person.
ASKS = {"claude-code": "ask", "gemini": "ask", "copilot": "ask"}
NAMES = [name for name in AGENTS if list(PAYLOADS.glob(f"{name}-*.json"))]


def kinds_of(agent: str) -> list[str]:
    return sorted(
        path.stem.removeprefix(f"{agent}-") for path in PAYLOADS.glob(f"{agent}-*.json")
    )


def payload(repo: Repo, agent: str, kind: str, **given: object) -> dict[str, Any]:
    """A request that was seen, in this repository; `given` replaces parts of the tool's input."""
    text = (
        (PAYLOADS / f"{agent}-{kind}.json")
        .read_text()
        .replace("/work/repo", str(repo.path))
    )
    data: dict[str, Any] = json.loads(text)
    if agent == "claude-code":
        data["permission_mode"] = "default"
    tool_input = data[input_key(data)]
    if isinstance(tool_input, str):
        assert not given
        return data
    assert given.keys() <= tool_input.keys(), f"{agent} sends no {given.keys()}"
    tool_input.update(given)
    return data


def input_key(data: dict[str, Any]) -> str:
    return next(key for key in INPUTS if key in data)


def path_key(repo: Repo, agent: str, kind: str) -> str:
    """The name that an agent gives to the path of a file."""
    tool_input = payload(repo, agent, kind)
    keys = tool_input[input_key(tool_input)].keys()
    return next(key for key in ("file_path", "filePath", "path") if key in keys)


def text_key(repo: Repo, agent: str, kind: str) -> str:
    """The name that an agent gives to the text that it writes."""
    tool_input = payload(repo, agent, kind)
    keys = tool_input[input_key(tool_input)].keys()
    return next(
        key
        for key in ("content", "file_text", "new_string", "newString", "new_str")
        if key in keys
    )


def send(repo: Repo, agent: str, data: object) -> Done:
    return guard(
        repo, "hook", agent, stdin=data if isinstance(data, bytes) else json.dumps(data)
    )


def meaning(agent: str, done: Done) -> tuple[str, str]:
    """What an answer means to the agent: nothing, allow, ask or deny, and its reason."""
    read: dict[str, Callable[[Any], tuple[str, str]]] = {
        "gemini": lambda data: (data["decision"], data["reason"]),
        "cursor": lambda data: (
            data.get("permission", "nothing"),
            data.get("user_message", ""),
        ),
        "copilot": lambda data: (
            data["permissionDecision"],
            data["permissionDecisionReason"],
        ),
    }
    if done.code == 2:
        assert done.out == ""
        return "deny", done.err
    assert (done.code, done.err) == (0, "")
    if not done.out:
        return "nothing", ""
    if agent in read:
        return read[agent](done.json)
    output = done.json["hookSpecificOutput"]
    assert output["hookEventName"] == "PreToolUse"
    return output["permissionDecision"], output["permissionDecisionReason"]
