"""Codex CLI: the same requests as Claude Code's; of the answers it knows only the denial.

Source: codex-rs/hooks of github.com/openai/codex, and version 0.169.0 as it runs. It knows neither allow nor ask; an
answer that it does not know, a crash, a time-out and any exit code but 0 and 2 let the tool run; 2 blocks it if there
is a reason on standard error. What is typed into a running command (`write_stdin`) reaches no hook.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cli_guard.agents import claude_code
from cli_guard.agents.judging import answer_request
from cli_guard.agents.settings import TIMEOUT_SECONDS, JsonHooks, Protocol
from cli_guard.agents.uses import AgentRequest, ShellKind, read_object, read_patch
from cli_guard.model import Decision
from cli_guard.runtime import Invocation

NAME = "codex"
SILENT = "a hook of Codex cannot ask"
# Codex applies such a command itself, without a shell.
PATCH_CALL = re.compile(
    r"\s*apply_patch\s+<<\s*(['\"])(\w+)\1\n(?P<patch>.*)\n\2\s*\Z", re.DOTALL
)


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request, "" but for a denial. Raises ValueError, CliGuardError, OSError."""
    answer = answer_request(read_request(read_object(raw)), invocation, NAME)
    return (
        claude_code.render_answer(answer)
        if answer and answer.decision is Decision.DENY
        else ""
    )


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request. Raises ValueError."""
    request = claude_code.read_request(data)
    use = request.uses[0] if request.uses else None
    call = PATCH_CALL.match(use.command) if isinstance(use, ShellKind) else None
    return replace(
        request, uses=read_patch(call["patch"]) if call else request.uses, silent=SILENT
    )


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
