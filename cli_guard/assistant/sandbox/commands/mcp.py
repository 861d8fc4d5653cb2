"""`mcp`: the tools of the servers that the configuration names (Model Context Protocol)."""

import json

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    McpTools,
)
from cli_guard.policy.mcp import PREFIX, McpTool


def find_servers(call: CommandCall) -> McpTools:
    """Return the configured servers. Raises CommandFailure where there are none."""
    if not call.world.mcp:
        raise CommandFailure(
            "no server is configured: name one in ~/.config/cli-guard/config.toml as [mcp.NAME] with its command"
        )
    return call.world.mcp


def plain_name(tool: McpTool) -> str:
    return tool.name.removeprefix(PREFIX)


def list_tools(call: CommandCall) -> str:
    found = [
        t
        for t in find_servers(call).list()
        if not call.arguments or t.server == call.arguments[0]
    ]
    if not found:
        raise CommandFailure("no tool is offered; see mcp list for every server")
    rows = (f"{plain_name(t)}  {' '.join(t.description.split())[:200]}" for t in found)
    return "\n".join(rows)


def show_tool(call: CommandCall) -> str:
    for tool in find_servers(call).list():
        if plain_name(tool) == call.arguments[0]:
            schema = json.dumps(tool.schema, indent=2, sort_keys=True)
            return f"{call.arguments[0]}\n  {tool.description}\nparameters (JSON schema):\n{schema}"
    raise CommandFailure(f"no tool {call.arguments[0]}: see mcp list")


def call_tool(call: CommandCall) -> str:
    arguments = (
        " ".join(call.arguments[1:])
        or call.stdin.decode("utf-8", "replace").strip()
        or "{}"
    )
    return find_servers(call).call(call.arguments[0], arguments)


MCP = OwnCommand(
    "mcp",
    "the tools of configured MCP servers: list them, show one, call one",
    reads=lambda arguments: arguments[:1] == ("call",) and len(arguments) == 2,
    subcommands={
        "list": OwnCommand(
            "mcp list", "the tools of every server, or of one", "[SERVER]", run=list_tools
        ),
        "show": OwnCommand(
            "mcp show", "what a tool takes", "SERVER.TOOL", run=show_tool, needs=1
        ),
        "call": OwnCommand(
            "mcp call",
            "call a tool (JSON may come on standard input)",
            "SERVER.TOOL [JSON]",
            run=call_tool,
            needs=1,
        ),
    },
)
