"""`mcp`: the tools of the servers that the configuration names (Model Context Protocol)."""

import json

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure, OwnCommand, SubCommand
from cli_guard.assistant.sandbox.model import McpTools


def tools_of(call: Call) -> McpTools:
    """The configured servers. Raises CommandFailure where there are none."""
    if call.world.mcp is None:
        raise CommandFailure(
            "no server is configured: name one in ~/.config/cli-guard/config.toml as [mcp.NAME] with its command"
        )
    return call.world.mcp


def list_tools(call: Call) -> Answer:
    """All tools, or those of one server."""
    found = [t for t in tools_of(call).list() if not call.arguments or t.server == call.arguments[0]]
    if not found:
        raise CommandFailure("no tool is offered; see mcp list for every server")
    return Answer.of("\n".join(f"{t.server}.{t.name}  {' '.join(t.summary.split())[:200]}" for t in found))


def show_tool(call: Call) -> Answer:
    """The parameters of a tool."""
    for tool in tools_of(call).list():
        if f"{tool.server}.{tool.name}" == call.arguments[0]:
            schema = json.dumps(tool.parameters, indent=2, sort_keys=True)
            return Answer.of(f"{call.arguments[0]}\n  {tool.summary}\nparameters (JSON schema):\n{schema}")
    raise CommandFailure(f"no tool {call.arguments[0]}: see mcp list")


def call_tool(call: Call) -> Answer:
    """Calls a tool with arguments in JSON, given or on standard input."""
    arguments = " ".join(call.arguments[1:]) or call.stdin.decode("utf-8", "replace").strip() or "{}"
    return Answer.of(tools_of(call).call(call.arguments[0], arguments))


MCP = OwnCommand(
    "mcp",
    "the tools of configured MCP servers: list them, show one, call one",
    reads=lambda arguments: arguments[:1] == ("call",) and len(arguments) == 2,
    subcommands={
        "list": SubCommand("[SERVER]", "the tools of every server, or of one", list_tools),
        "show": SubCommand("SERVER.TOOL", "what a tool takes", show_tool, 1),
        "call": SubCommand(
            "SERVER.TOOL [JSON]", "call a tool (JSON may come on standard input)", call_tool, 1
        ),
    },
)
