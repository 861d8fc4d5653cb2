"""What is kept of the tools that a server lists: safe to show, and marked where it cannot be used."""

import json
import re
from collections import Counter
from typing import TYPE_CHECKING

from cli_guard.mcp.client import schemas
from cli_guard.mcp.client.result import Hide, clip_text, harmless, one_line
from cli_guard.policy.mcp import PREFIX, Hints, McpTool
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from mcp import types

DESCRIPTION_CHARS = 1_000
REASON_CHARS = 300
# What the specification recommends for names; others look like one another, or cannot be typed.
TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")


def list_tools(server: str, listed: "list[types.Tool]", hide: Hide) -> tuple[McpTool, ...]:
    """The tools of a server, sorted by name; of several with one name there is one, which cannot be used."""
    count = Counter(tool.name for tool in listed)
    reasons = schemas.unusable([tool.input_schema for tool in listed])
    tools: dict[str, McpTool] = {}
    for tool, reason in zip(listed, reasons, strict=True):
        wrong = reason and one_line(reason, REASON_CHARS, hide)
        if not TOOL_NAME.fullmatch(tool.name) or one_line(tool.name, 128, hide) != tool.name:
            wrong = "its name is not 1 to 128 letters, digits and _ - . /"
        elif count[tool.name] > 1:
            wrong = f"{count[tool.name]} tools have this name"
        made = made_safe(server, tool, wrong, hide)
        tools[made.name] = made
    return tuple(tools[name] for name in sorted(tools))


def made_safe(server: str, tool: "types.Tool", unusable: str | None, hide: Hide) -> McpTool:
    """One tool; the schema of one that cannot be used is left out."""
    hints = tool.annotations
    return McpTool(
        name=f"{PREFIX}{server}.{one_line(tool.name, 128, hide)}",
        server=server,
        description=clip_text(tool.description or tool.title or "", DESCRIPTION_CHARS, hide)[0],
        schema={} if unusable else shown_schema(tool.input_schema, hide),
        hints=Hints(hints.read_only_hint, hints.destructive_hint) if hints else Hints(),
        unusable=unusable,
    )


def shown_schema(schema: dict[str, object], hide: Hide) -> dict[str, object]:
    """A schema as it may be shown: its texts come from the server too. Arguments are judged by the true one."""
    try:
        safe = harmless(json.loads(redact(hide(json.dumps(schema, ensure_ascii=False)), "schema.json")))
    except ValueError:
        return {}
    return safe if isinstance(safe, dict) else {}
