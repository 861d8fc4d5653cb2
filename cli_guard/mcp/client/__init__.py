"""The MCP client: tools of servers that the user's own file names, called with nothing of theirs trusted.

    policy's servers -> client -> connection (one server) -> the SDK's transport -> relay (its process) -> result

What a server sends is data of a stranger all the way: bounded where it is read, made harmless where it is kept.
"""

from cli_guard.mcp.client.client import McpClient
from cli_guard.policy.mcp import McpTool, ServerConfig, decision

__all__ = ["McpClient", "McpTool", "ServerConfig", "decision"]
