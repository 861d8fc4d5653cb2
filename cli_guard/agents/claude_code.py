"""Claude Code: its PreToolUse requests, its answers, and its settings at three places.

Source: https://code.claude.com/docs/en/hooks, and version 2.1.330 as it runs. Exit code 0 comes with a decision on
standard output or none, 2 blocks the tool, and any other code, or a time-out, lets it run. `onFailure` blocks the tool
when the hook cannot even start; versions before 2.1.295 do not know it.
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
    split_name,
)
from cli_guard.agents.wording import HookAnswer
from cli_guard.execution.verdicts import as_json
from cli_guard.runtime import Invocation

NAME = "claude-code"
EVENT = "PreToolUse"
# The modes with a prompt. In `auto` an `ask` is answered without one.
ASKING = ("default", "acceptEdits", "plan")


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request: JSON in, JSON out, "" for no decision.

    Raises ValueError for a request of another shape, CliGuardError, OSError.
    """
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    return render_answer(answer) if answer else ""


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request of Claude Code, or of an agent that sends the same. Raises ValueError."""
    check_event(data, EVENT)
    name = text_in(data, "tool_name")
    given = data.get("tool_input")
    mode = data.get("permission_mode", "default")
    silent = "" if mode in ASKING else f"{mode} mode asks nobody"
    folder = find_folder(data)
    if name.startswith("mcp__"):
        name = name.removeprefix("mcp__")
        server = data.get("mcp_server")
        names = split_name(name, "__")
        if isinstance(server, dict) and "name" in server:
            names = (*names, (text_in(server, "name"), name.rpartition("__")[2]))
        return AgentRequest(
            (McpCall(names, as_object(given, "tool_input")),), folder, silent
        )
    return AgentRequest(find_uses(name, as_object(given, "tool_input")), folder, silent)


def render_answer(answer: HookAnswer) -> str:
    output = {
        "hookEventName": EVENT,
        "permissionDecision": answer.word,
        "permissionDecisionReason": answer.text,
    }
    return as_json({"hookSpecificOutput": output})


def write_request(command: str, folder: str) -> dict[str, object]:
    return {
        "hook_event_name": EVENT,
        "cwd": folder,
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    }


def make_entry(command: str) -> dict[str, object]:
    # Every tool: one that is not known yet may have a command.
    hook = {
        "type": "command",
        "command": command,
        "timeout": TIMEOUT_SECONDS,
        "onFailure": "block",
    }
    return {"matcher": "*", "hooks": [hook]}


PLACES = {
    "project": ".claude/settings.json",
    "local": ".claude/settings.local.json",
    "user": "~/.claude/settings.json",
}
FAILURE_SETTING = (
    "onFailure",
    "block",
    '"onFailure": "block" (Claude Code 2.1.295 or later)',
)
DENIAL = ("hookSpecificOutput", "permissionDecision")
PROTOCOL = Protocol(NAME, PLACES, write_request, DENIAL, ("CLAUDE_CONFIG_DIR", "~/.claude"))
HOOKS = JsonHooks(PROTOCOL, EVENT, make_entry)
install = HOOKS.install
uninstall = HOOKS.uninstall
is_installed = HOOKS.is_installed
find_call = HOOKS.find_call
