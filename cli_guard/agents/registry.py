"""The coding agents that cli-guard answers: THE list. One module an agent, imported at its first use.

Its module, or its row in `rules/agent_hooks.toml`, has these functions; each may raise CliGuardError. `protocol` there
says where its settings are. Its requests and answers are a row of `rules/dialects.toml`; one without a row is answered
by an exit code.

`install(repository: Repository, where: str = "project") -> str`: add our entry to the agent's settings; return what was
done. `where` is "project", "local" or "user".

`uninstall(repository: Repository, where: str | None = None) -> str | None`: remove it; None if there was none.

`is_installed(repository: Repository) -> bool | None`: whether the agent asks us; None if it has no settings here.

`find_call(repository: Repository) -> tuple[str, Mapping[str, Any]] | None`: the shell command that starts our hook, and
what the settings say about it, for `doctor --probe`; None if there is none. Raises UsageError if agents do not obey it.
"""

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from posixpath import basename
from typing import Any

from cli_guard.errors import CliGuardError, ExitCode
from cli_guard.lazy import frozen

# The exit code with which the hook of an agent blocks a tool; any other code lets it run.
BLOCKED = ExitCode.USAGE


# Variables that coding agents set for the commands they run, and the names of their programs. This is a reminder,
# not a protection: a process can drop its variables and leave its parents.
MARKERS = tuple(
    "CLAUDECODE CLAUDE_CODE_ENTRYPOINT CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED "
    "CODEX_THREAD_ID CURSOR_AGENT GEMINI_CLI OPENCODE CLINE_ACTIVE AUGMENT_AGENT "
    "GOOSE_TERMINAL AI_AGENT".split()
)
PROGRAMS = frozenset(
    "claude codex cursor-agent gemini opencode aider goose amp auggie qwen".split()
)
MOST_PARENTS = 30


def agent_around(env: Mapping[str, str], folder: Path = Path("/proc")) -> str:
    """Return the variable or the program of a coding agent that this process runs under, "" if there is none.

    The parents are read from proc(5); where there is none, only variables count.
    """
    found = next((name for name in MARKERS if env.get(name)), "")
    process = os.getppid()
    for _ in range(MOST_PARENTS):
        if found or process <= 1:
            break
        try:
            words = (folder / str(process) / "cmdline").read_bytes().split(b"\0")[:2]
            parent = (
                (folder / str(process) / "stat").read_bytes().rpartition(b")")[2].split()[1]
            )
        except (OSError, IndexError):
            break
        names = (basename(os.fsdecode(word)) for word in words)
        found = next((name for name in names if name in PROGRAMS), "")
        process = int(parent)
    return found


class ToolDenied(CliGuardError):
    """Say that the tool may not be used; the text is the reason, already safe to show."""


@frozen
class Agent:
    """A coding agent: its names on the command line and in sentences; its module, "" if it has a row."""

    name: str
    title: str
    module: str = ""

    def load(self) -> Any:
        if self.module:
            return import_module(self.module)
        return import_module(JSON_HOOKS).read_json_agent(self.name)


JSON_HOOKS = "cli_guard.agents.settings"


# In the order in which `doctor` names them.
AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude-code", "Claude Code"),
        Agent("codex", "Codex CLI"),
        Agent("gemini", "Gemini CLI"),
        Agent("cursor", "Cursor"),
        Agent("copilot", "Copilot CLI"),
        Agent("opencode", "OpenCode", "cli_guard.agents.opencode"),
        Agent("lefthook", "lefthook", "cli_guard.agents.lefthook"),
        # One line an agent.
    )
}
