"""The coding agents that cli-guard answers: THE list. One module an agent, imported at its first use.

The module of an agent has these functions:

    install(repository: Repository) -> str               add our entry to the agent's settings; what was done
    uninstall(repository: Repository) -> str | None      remove it; None where there was none
    is_installed(repository: Repository) -> bool | None  does the agent ask us? None where it has no settings here
    respond(raw: bytes, invocation: Invocation) -> str   answer one request, read from standard input

Each may raise CliGuardError; `respond` may also raise ValueError for a request of another shape, and OSError.
"""

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType

from cli_guard.errors import ExitCode

# The exit code with which the hook of an agent blocks a tool; any other lets it run.
BLOCKED = ExitCode.USAGE


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent: its name on the command line, its name in sentences, its module."""

    name: str
    title: str
    module: str

    def load(self) -> ModuleType:
        """Import the module of the agent."""
        return import_module(self.module)


# In the order in which `doctor` names them.
AGENTS = {
    agent.name: agent
    for agent in (
        Agent("claude-code", "Claude Code", "cli_guard.agents.claude_code"),
        # One line an agent.
    )
}
