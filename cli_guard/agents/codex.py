"""Codex CLI: the same requests as Claude Code's; of the answers it knows only the denial.

Source: codex-rs/hooks of github.com/openai/codex, and version 0.169.0 as it runs. It knows neither allow nor ask; an
answer that it does not know, a crash, a time-out and any exit code but 0 and 2 let the tool run; 2 blocks it if there
is a reason on standard error. What is typed into a running command (`write_stdin`) reaches no hook.
"""

from cli_guard.agents import claude_code
from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol

NAME = "codex"


def make_entry(command: str) -> dict[str, object]:
    return {
        "matcher": "*",
        "hooks": [{"type": "command", "command": command, "timeout": TIMEOUT_SECONDS}],
    }


TRUST = (
    "Codex runs no hook that is not trusted: start it here and trust this one with /hooks"
)
PROTOCOL = Protocol(
    NAME,
    {"project": ".codex/hooks.json", "user": "~/.codex/hooks.json"},
    claude_code.write_request,
    claude_code.DENIAL,
    ("CODEX_HOME", "~/.codex"),
)
HOOKS = JsonHooks(
    PROTOCOL, claude_code.EVENT, make_entry, advice={"project": TRUST, "user": TRUST}
)
install = HOOKS.install
uninstall = HOOKS.uninstall
is_installed = HOOKS.is_installed
find_call = HOOKS.find_call
