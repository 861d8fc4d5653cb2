"""Cursor: its preToolUse requests, its answers, and its hooks.json.

Source: https://cursor.com/docs/hooks, read in November 2026; not run here. Exit code 2 blocks the tool, and any other
failure lets it run. `ask` is not enforced before a tool, so what needs a person is denied. `{}` decides nothing. With
`failClosed` only an explicit allow would pass, which may skip Cursor's own prompt, so the command itself fails closed.
"""

from collections.abc import Mapping
from typing import Any

from cli_guard.agents.judging import answer_request
from cli_guard.agents.payload import text_in
from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol
from cli_guard.agents.uses import (
    AgentRequest,
    McpCall,
    as_object,
    check_event,
    find_uses,
    read_object,
)
from cli_guard.execution.verdicts import as_json
from cli_guard.model import Decision
from cli_guard.runtime import Invocation

NAME = "cursor"
EVENT = "preToolUse"
SILENT = "a hook of Cursor cannot ask"


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request: JSON in, JSON out. Raises ValueError, CliGuardError, OSError."""
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    if answer is None:
        return "{}"
    if answer.decision is Decision.ALLOW:
        return as_json({"permission": "allow"})
    return as_json(
        {"permission": "deny", "user_message": answer.text, "agent_message": answer.text}
    )


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request. Raises ValueError."""
    check_event(data, EVENT)
    name = text_in(data, "tool_name")
    given = as_object(data.get("tool_input"), "tool_input")
    # `cwd` is empty in the requests that were seen; the hook itself runs in the project.
    folder = (
        text_in(data, "cwd")
        if data.get("cwd")
        else next(iter(data.get("workspace_roots") or ()), "")
    )
    if not isinstance(folder, str):
        raise ValueError("workspace_roots holds no text")
    if name.startswith("MCP:"):
        return AgentRequest(
            (McpCall((("", name.removeprefix("MCP:")),), given),), folder, SILENT
        )
    return AgentRequest(find_uses(name, given), folder, SILENT)


def write_request(command: str, folder: str) -> dict[str, object]:
    given = {"command": command, "cwd": folder}
    return {
        "hook_event_name": EVENT,
        "cwd": folder,
        "tool_name": "Shell",
        "tool_input": given,
    }


def make_entry(command: str) -> dict[str, object]:
    return {"command": command, "timeout": TIMEOUT_SECONDS}


PROTOCOL = Protocol(
    NAME,
    {"project": ".cursor/hooks.json", "user": "~/.cursor/hooks.json"},
    write_request,
    ("permission",),
)
HOOKS = JsonHooks(PROTOCOL, EVENT, make_entry, {"version": 1})
install = HOOKS.install
uninstall = HOOKS.uninstall
is_installed = HOOKS.is_installed
find_call = HOOKS.find_call
