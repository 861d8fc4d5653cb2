"""Claude Code: its PreToolUse requests, its answers, and its settings at three places.

Source: https://code.claude.com/docs/en/hooks, and version 2.1.330 as it runs. Exit code 0 comes with a decision on
standard output or none, 2 blocks the tool, and any other code, or a time-out, lets it run. `onFailure` blocks the tool
when the hook cannot even start; versions before 2.1.295 do not know it.
"""

from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

NAME = "claude-code"
EVENT = "PreToolUse"


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
