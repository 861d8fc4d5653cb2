"""Gemini CLI: its BeforeTool requests, its answers, and its settings.

Source: https://geminicli.com/docs/hooks/reference, and version 0.61.0 as it runs. Any exit code but 0 and 1 blocks the
tool; a hook that is killed or takes too long lets it run. An `ask` waits for a person: `gemini -p` waits for good. The
request does not say whether one is there.
"""

from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

NAME = "gemini"
EVENT = "BeforeTool"


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
