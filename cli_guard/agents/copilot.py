"""GitHub Copilot CLI: its preToolUse requests, its answers, and a hooks file of our own.

Source: https://docs.github.com/en/copilot/reference/hooks-reference, and version 1.0.102 as it runs. Every exit code
but 0 denies, a time-out lets the tool run. `toolArgs` was JSON in a text in earlier versions.
"""

from collections.abc import Mapping
from typing import Any

from cli_guard.agents.judging import answer_request
from cli_guard.agents.payload import text_in
from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol
from cli_guard.agents.uses import (
    AgentRequest,
    as_object,
    find_folder,
    find_mcp_call,
    find_uses,
    read_object,
)
from cli_guard.execution.verdicts import as_json
from cli_guard.runtime import Invocation

NAME = "copilot"
EVENT = "preToolUse"


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request: JSON in, JSON out, "" for no decision. Raises ValueError, CliGuardError, OSError."""
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    if answer is None:
        return ""
    return as_json(
        {"permissionDecision": answer.word, "permissionDecisionReason": answer.text}
    )


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request. Raises ValueError."""
    name = text_in(data, "toolName")
    given = as_object(data.get("toolArgs"), "toolArgs")
    return AgentRequest(
        find_uses(name, given) or find_mcp_call(name, "-", given), find_folder(data)
    )


def write_request(command: str, folder: str) -> dict[str, object]:
    return {
        "sessionId": "",
        "cwd": folder,
        "toolName": "bash",
        "toolArgs": {"command": command},
    }


def make_entry(command: str) -> dict[str, object]:
    return {"type": "command", "bash": command, "timeoutSec": TIMEOUT_SECONDS}


PROTOCOL = Protocol(
    NAME,
    {"project": ".github/hooks/cli-guard.json", "user": "~/.copilot/hooks/cli-guard.json"},
    write_request,
    ("permissionDecision",),
    ("COPILOT_HOME", "~/.copilot"),
    (0,),
)
UNTRUSTED = "Copilot CLI runs the hooks of a project only in a folder that you trust; --where user runs in all"
HOOKS = JsonHooks(
    PROTOCOL, EVENT, make_entry, {"version": 1}, own=True, advice={"project": UNTRUSTED}
)
install = HOOKS.install
uninstall = HOOKS.uninstall
is_installed = HOOKS.is_installed
find_call = HOOKS.find_call
