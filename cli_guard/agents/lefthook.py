"""lefthook's agent hooks (`ai:`): it calls us for Claude Code, Codex, Cursor and Copilot CLI, and passes on a code.

Source: https://lefthook.dev/configuration/ai, and version 2.2.2 as it runs: it ends with 1 whatever its hook ends with,
and of these agents only Copilot CLI takes that for a denial. So `install` refuses; docs/agents.md shows the lines for a
version that passes on 2.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cli_guard.agents import claude_code, codex, copilot, cursor
from cli_guard.agents.judging import answer_request
from cli_guard.agents.registry import ToolDenied
from cli_guard.agents.uses import AgentRequest, read_object
from cli_guard.errors import UsageError
from cli_guard.git.hooks import contents_of
from cli_guard.git.managers import LEFTHOOK
from cli_guard.model import Decision
from cli_guard.repository.protocol import Repository
from cli_guard.runtime import Invocation

SILENT = "lefthook passes on no question"
REFUSAL = (
    "lefthook ends with code 1 where its hook denies, and Claude Code, Codex and Cursor then run the tool: install the"
    " hook of each agent itself, such as --agent claude-code; see docs/agents.md"
)


def respond(raw: bytes, invocation: Invocation) -> str:
    """Answer one request of any of these agents: "" passes. Raises ToolDenied, ValueError, CliGuardError, OSError."""
    request = replace(read_request(read_object(raw)), silent=SILENT)
    answer = answer_request(request, invocation, "lefthook")
    if answer and answer.decision is not Decision.ALLOW:
        raise ToolDenied(answer.text)
    return ""


def read_request(data: Mapping[str, Any]) -> AgentRequest:
    """Read a request by the form of the agent that it comes from. Raises ValueError."""
    if "toolName" in data:
        return copilot.read_request(data)
    if data.get("hook_event_name") == cursor.EVENT:
        return cursor.read_request(data)
    return codex.read_request(data) if "turn_id" in data else claude_code.read_request(data)


def install(repository: Repository, where: str = "project") -> str:
    """Raise UsageError: a hook that agents do not obey must not be called installed."""
    raise UsageError(REFUSAL)


def uninstall(repository: Repository, where: str | None = None) -> str | None:
    return None


def is_installed(repository: Repository) -> bool | None:
    """Return True if the configuration calls us, None otherwise: most use lefthook for Git's hooks alone."""
    paths = [] if repository.bare else [repository.root / name for name in LEFTHOOK]
    return any(b"hook lefthook" in (contents_of(path) or b"") for path in paths) or None


def find_call(repository: Repository) -> None:
    """Raise UsageError if lefthook calls us, because agents do not obey it."""
    if is_installed(repository):
        raise UsageError(REFUSAL)
