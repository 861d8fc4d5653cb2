"""Tools of MCP servers as tools of the graph, and as the `mcp` command of the sandboxed shell.

A server starts when one of its tools is first asked for. What the configuration says of a tool decides, never what its
server claims.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.graph.tools.tool import Arguments, OpenArguments, Tool, ToolOutput, World
from cli_guard.lazy import dataclass, frozen
from cli_guard.mcp.client.client import McpClient
from cli_guard.model import Decision
from cli_guard.policy.mcp import PREFIX, McpTool, ServerConfig, decision


@dataclass(frozen=True, eq=False)
class Servers(Mapping[str, Tool]):
    """The configured servers as tools by `mcp:<server>.<tool>`, and the client that starts them.

    A tool is looked up by itself: to list them would start every server.
    """

    client: McpClient
    configured: Mapping[str, ServerConfig]

    def find_tool(self, name: str) -> McpTool:
        """The tool `mcp:<server>.<tool>`. Raises KeyError if there is none, CliGuardError for a server that fails."""
        server = name.removeprefix(PREFIX).partition(".")[0]
        for tool in self.client.tools(server) if server in self.configured else ():
            if tool.name == name:
                return tool
        raise KeyError(name)

    @property
    def in_the_shell(self) -> "ShellTools | None":
        """What the sandboxed shell may call, None where no server is configured."""
        return ShellTools(self) if self.configured else None

    def __getitem__(self, name: str) -> Tool:
        if not name.startswith(PREFIX):
            raise KeyError(name)
        offered = self.find_tool(name)
        verdict = decision(offered, self.configured[offered.server])

        def run(world: World, arguments: Arguments) -> ToolOutput:
            if verdict.decision is Decision.DENY:
                raise CliGuardError(verdict.reason)
            done = self.client.call(name, arguments.model_dump())
            return ToolOutput(
                {
                    "error" if done.is_error else "output": done.text,
                    "truncated": done.truncated,
                }
            )

        return Tool(
            name,
            offered.description,
            "mcp",
            OpenArguments,
            run,
            decided=verdict,
            approvable=True,
        )

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


@contextmanager
def open_servers(
    configured: Mapping[str, ServerConfig], cwd: Path, env: Mapping[str, str]
) -> Iterator[Servers]:
    """The servers of a configuration, ended with the context."""
    with McpClient(configured, cwd=cwd, env=env) as client:
        yield Servers(client, configured)


@frozen
class ShellTools:
    """What the sandboxed shell may call: the tools that the configuration allows, as no person can be asked there."""

    servers: Servers

    def list(self) -> tuple[McpTool, ...]:
        """Every tool of every server."""
        return self.servers.client.tools()

    def call(self, name: str, arguments: str) -> str:
        """What a tool answers to arguments in JSON. Raises CliGuardError with the next step."""
        full = name if name.startswith(PREFIX) else PREFIX + name
        try:
            offered = self.servers.find_tool(full)
            given = json.loads(arguments)
        except KeyError as error:
            raise UsageError(f"there is no tool {name}: see `mcp list`") from error
        except (ValueError, RecursionError) as error:
            raise UsageError(
                'the arguments are no JSON: write an object, such as {"path": "."}'
            ) from error
        if not isinstance(given, dict):
            raise UsageError(
                'the arguments are no object: write one, such as {"path": "."}'
            )
        verdict = decision(offered, self.servers.configured[offered.server])
        if verdict.decision is not Decision.ALLOW:
            raise CliGuardError(
                f"{verdict.reason}: `cli-guard ask '{full} {{...}}'` asks a person"
            )
        done = self.servers.client.call(full, given)
        if done.is_error:
            raise CliGuardError(done.text)
        return done.text
