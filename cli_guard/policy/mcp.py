"""MCP servers: the schema of `[mcp.NAME]`, what a server claims about its tools, and which may be called.

A server is a third-party program. What it says about itself is a hint (MCP specification, ToolAnnotations: clients
should never decide by the annotations of untrusted servers), which can only make a decision stricter.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from cli_guard.errors import ConfigError
from cli_guard.lazy import frozen
from cli_guard.model import Decision, Verdict
from cli_guard.policy.globs import rule_matches
from cli_guard.policy.schema import Name, Section, Variable

PREFIX = "mcp:"
FROM_REPOSITORY = frozenset({"deny"})


@frozen
class Hints:
    """What a server claims about a tool; None where it claims nothing."""

    read_only: bool | None = None
    destructive: bool | None = None


@frozen
class McpTool:
    """A tool as its server describes it, safe to show.

    `name` is `mcp:<server>.<tool>`. `schema` is the JSON schema of its arguments. `unusable` is why it cannot be
    called, None if it can.
    """

    name: str
    server: str
    description: str
    schema: Mapping[str, Any]
    hints: Hints = Hints()
    unusable: str | None = None

    @property
    def own_name(self) -> str:
        """Return the name that the server gave it."""
        return self.name.removeprefix(f"{PREFIX}{self.server}.")


def check_command(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command. Raises ValueError if its program depends on the current folder."""
    if not words:
        raise ValueError("is empty: give the program and its arguments")
    if any("\0" in word for word in words):
        raise ValueError("contains a NUL character")
    if "/" in words[0] and not words[0].startswith("/"):
        # A relative path would name another program in every repository.
        raise ValueError("the program must be a name on PATH or an absolute path")
    if not words[0].strip():
        raise ValueError("the first word must be the program")
    return words


ToolName = Annotated[str, StringConstraints(min_length=1, max_length=128)]


class ServerConfig(Section):
    """`[mcp.NAME]`: an MCP server over stdio; only the user's own file can start one."""

    command: Annotated[tuple[str, ...], AfterValidator(check_command)] = Field(
        default=(),
        max_length=100,
        description="The program and its arguments; no shell reads them.",
    )
    env: tuple[Variable, ...] = Field(
        default=(),
        max_length=100,
        description="Names of environment variables to pass besides PATH and HOME.",
    )
    timeout_seconds: float = Field(
        default=30.0, gt=0, le=600, description="Seconds that one call may take."
    )
    start_seconds: float = Field(
        default=30.0,
        gt=0,
        le=600,
        description="Seconds until it must have started and listed its tools.",
    )
    allow: tuple[ToolName, ...] = Field(
        default=(), description="Names of the tools that are allowed without review."
    )
    deny: tuple[ToolName, ...] = Field(
        default=(),
        description="Tools that are denied: a name, or a prefix with *. A repository may add to it.",
    )

    def denying(self, more: Iterable[str]) -> "ServerConfig":
        """Return the same server with more tools denied."""
        return self.model_copy(update={"deny": tuple(dict.fromkeys((*self.deny, *more)))})


Servers = Annotated[dict[Name, ServerConfig], Field(description="MCP servers by name.")]


def check_shared(servers: Mapping[str, ServerConfig], source: str, user_file: str) -> None:
    """Refuse all but `deny` in a repository's file: starting a server runs a program. Raises ConfigError."""
    for name, server in servers.items():
        for key in sorted(server.model_fields_set - FROM_REPOSITORY):
            raise ConfigError(
                f"{source}: 'mcp.{name}.{key}' belongs in the user's own file, {user_file}: a repository cannot start"
                " a server, only deny tools"
            )


def check_users(servers: Mapping[str, ServerConfig], source: str) -> None:
    """Require a command for each server of the user's own file, unless it only denies tools. Raises ConfigError."""
    for name, server in servers.items():
        if not server.command and server.model_fields_set - FROM_REPOSITORY:
            raise ConfigError(f"{source}: 'mcp.{name}.command' is missing")


def decision(tool: McpTool, server: ServerConfig) -> Verdict:
    """Decide whether this tool may be called; a tool that is not configured needs review."""
    if tool.unusable:
        return Verdict(
            Decision.DENY, f"{tool.name} cannot be called: {tool.unusable}", "mcp-unusable"
        )
    own = tool.own_name
    denied = next((pattern for pattern in server.deny if rule_matches(pattern, own)), None)
    if denied is not None:
        return Verdict(
            Decision.DENY,
            f"mcp.{tool.server}.deny in the configuration names {denied!r}",
            "mcp-denied",
        )
    if own not in server.allow:
        return Verdict(
            Decision.REVIEW,
            f"{tool.name} runs a third-party program; mcp.{tool.server}.allow does not name it",
            "mcp-review",
        )
    if tool.hints.read_only is False or tool.hints.destructive is True:
        claims = (
            "makes changes" if tool.hints.destructive is not True else "may be destructive"
        )
        return Verdict(
            Decision.REVIEW,
            f"{tool.name} is allowed, but its server says that it {claims}",
            "mcp-contradicted",
        )
    return Verdict(Decision.ALLOW, f"mcp.{tool.server}.allow names it", "mcp-allowed")
