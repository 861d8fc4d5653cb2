"""Cursor: its preToolUse requests, its answers, and its hooks.json.

Source: https://cursor.com/docs/hooks, read in November 2026; not run here. Exit code 2 blocks the tool, and any other
failure lets it run. `ask` is not enforced before a tool, so what needs a person is denied. `{}` decides nothing. With
`failClosed` only an explicit allow would pass, which may skip Cursor's own prompt, so the command itself fails closed.
"""

from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

NAME = "cursor"
EVENT = "preToolUse"


def write_request(command: str, folder: str) -> dict[str, object]:
    given = {"command": command, "cwd": folder}
    return {
        "hook_event_name": EVENT,
        "cursor_version": "",
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
