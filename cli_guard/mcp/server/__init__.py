"""The MCP server: what a coding agent may ask of cli-guard over stdio. It reads and judges; it never approves."""
