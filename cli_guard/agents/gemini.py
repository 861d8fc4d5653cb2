"""Gemini CLI: its BeforeTool requests, its answers, and its settings.

Source: https://geminicli.com/docs/hooks/reference, and version 0.61.0 as it runs. Any exit code but 0 and 1 blocks the
tool; a hook that is killed or takes too long lets it run. An `ask` waits for a person: `gemini -p` waits for good. The
request does not say whether one is there.
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
    find_folder,
    find_uses,
    read_object,
)
from cli_guard.execution.verdicts import as_json
from cli_guard.model import Decision
from cli_guard.runtime import Invocation

NAME = "gemini"
EVENT = "BeforeTool"


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request: JSON in, JSON out, "" for no decision. Raises ValueError, CliGuardError, OSError."""
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    if answer is None:
        return ""
    # The model reads the reason, a person who is asked reads the system message.
    asked = {"systemMessage": answer.text} if answer.decision is Decision.REVIEW else {}
    return as_json({"decision": answer.word, "reason": answer.text, **asked})


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request. Raises ValueError."""
    check_event(data, EVENT)
    name = text_in(data, "tool_name")
    given = as_object(data.get("tool_input"), "tool_input")
    folder = find_folder(data)
    server = data.get("mcp_context")
    if isinstance(server, dict):
        return AgentRequest(
            (
                McpCall(
                    ((text_in(server, "server_name"), text_in(server, "tool_name")),), given
                ),
            ),
            folder,
        )
    return AgentRequest(find_uses(name, given), folder)


def write_request(command: str, folder: str) -> dict[str, object]:
    given = {"command": command}
    return {
        "hook_event_name": EVENT,
        "cwd": folder,
        "tool_name": "run_shell_command",
        "tool_input": given,
    }


def make_entry(command: str) -> dict[str, object]:
    hook = {
        "name": "cli-guard",
        "type": "command",
        "command": command,
        "timeout": TIMEOUT_SECONDS * 1000,
    }
    return {"matcher": ".*", "hooks": [hook]}


PROTOCOL = Protocol(
    NAME,
    {"project": ".gemini/settings.json", "user": "~/.gemini/settings.json"},
    write_request,
    ("decision",),
    passing=(0, 1),
)
UNTRUSTED = "Gemini CLI runs the hooks of a project only in a folder that you trust"
TIMEOUT_UNIT_S = 0.001
HOOKS = JsonHooks(PROTOCOL, EVENT, make_entry, advice={"project": UNTRUSTED})
install = HOOKS.install
uninstall = HOOKS.uninstall
is_installed = HOOKS.is_installed
find_call = HOOKS.find_call
