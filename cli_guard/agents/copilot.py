"""GitHub Copilot CLI: its preToolUse requests, its answers, and a hooks file of our own.

Source: https://docs.github.com/en/copilot/reference/hooks-reference, and version 1.0.102 as it runs. Every exit code
but 0 denies, a time-out lets the tool run. `toolArgs` was JSON in a text in earlier versions.
"""

from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

NAME = "copilot"
EVENT = "preToolUse"


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
