"""lefthook's agent hooks (`ai:`): it calls us for Claude Code, Codex, Cursor and Copilot CLI, and passes on a code.

Source: https://lefthook.dev/configuration/ai, and version 2.2.2 as it runs: it ends with 1 whatever its hook ends with,
and of these agents only Copilot CLI takes that for a denial. So `install` refuses. The lines for a version that passes
on 2, as in docs/agents.md:

    ai:
      claude: {PreToolUse: cli-guard-agent}
    cli-guard-agent:
      jobs:
        - run: /path/to/cli-guard hook lefthook || exit 2
          use_stdin: true
"""

from cli_guard.errors import UsageError
from cli_guard.git.hooks import contents_of
from cli_guard.git.managers import LEFTHOOK
from cli_guard.repository.protocol import Repository

REFUSAL = (
    "lefthook ends with code 1 where its hook denies, and Claude Code, Codex and Cursor then run the tool: install the"
    " hook of each agent itself, such as --agent claude-code; see docs/agents.md"
)


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
