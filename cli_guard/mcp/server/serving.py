"""The server itself: the SDK's, with our tools over bounded lines. Every failure is one line of a tool's answer."""

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cli_guard import __version__
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import dataclass
from cli_guard.mcp.server.tools import (
    ServedTool,
    Surroundings,
    ToolAnswer,
    served_tools,
)
from cli_guard.policy.globs import nearest
from cli_guard.runtime import missing_extra
from cli_guard.secrets.printable import clip, json_value, printable, printable_text
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from mcp import types
    from mcp.client._transport import ReadStream, WriteStream
    from mcp.server import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

# More than the run tool shows, whose last line says how it went.
TEXT_CHARS = 60_000
# An agent pays for every row.
DATA_CHARS = 200_000
WORDS = 500
# A patch of the longest kind, every character of it written as an escape.
LINE_BYTES = 40_000_000

INSTRUCTIONS = (
    "cli-guard reviews changes before Git records them, judges shell commands before they run, and answers requests"
    " about the repository. Call review before you commit, and check_command before you run what you are not sure of."
    " Nothing here changes anything. What needs review is approved by a person at a terminal, never by you."
)


def serve(
    lines: Iterator[bytes | None], say: Callable[[bytes], None], around: Surroundings
) -> None:
    """Serve until the input ends or the output is closed. Raises UsageError without the extra."""
    try:
        import anyio
        import mcp.server  # noqa: F401 - asked for once, where the answer can still be given
    except ModuleNotFoundError as error:
        raise UsageError(missing_extra("MCP", "mcp")) from error
    # The SDK logs failures with their tracebacks; without a handler logging prints them.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    try:
        anyio.run(converse, lines, say, around)
    except* (OSError, ValueError):
        # Nobody reads any more, or the output is closed.
        pass


async def converse(
    lines: Iterator[bytes | None], say: Callable[[bytes], None], around: Surroundings
) -> None:
    """Hold one connection, from its first line to its last."""
    import anyio
    from mcp.server.stdio import stdio_server
    from mcp.shared.message import SessionMessage

    server = server_of(around)
    streams = AgentStreams(lines, say)
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception]()
    async with (
        stdio_server(streams, streams) as (incoming, outgoing),  # type: ignore[arg-type]
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(answer_garbage, incoming, sender, outgoing)
        await server.run(receiver, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def answer_garbage(
    incoming: "ReadStream[SessionMessage | Exception]",
    sender: "WriteStream[SessionMessage | Exception]",
    outgoing: "WriteStream[SessionMessage]",
) -> None:
    """Hand on every message; answer what is none as JSON-RPC says, which the SDK's server does not."""
    import anyio
    from mcp import types
    from mcp.shared.message import SessionMessage

    problem = types.ErrorData(code=types.PARSE_ERROR, message="not a JSON-RPC message")
    answer = types.JSONRPCError(jsonrpc="2.0", id=None, error=problem)
    # A reader that is gone ends the connection.
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with sender:
            async for item in incoming:
                if isinstance(item, Exception):
                    await outgoing.send(SessionMessage(answer))
                else:
                    await sender.send(item)


def server_of(around: Surroundings) -> "Server[dict[str, object]]":
    """Build the SDK's server with our tools."""
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server

    named = {tool.name: tool for tool in served_tools()}
    without_shell = f" {missing_extra('The tool run, a sandboxed shell,', 'shell')}"
    # A review at a time: several would wait for the same records. What is quick does not wait for it.
    turns = {name: anyio.CapacityLimiter(1) for name in named}

    async def list_tools(
        context: "ServerRequestContext[dict[str, object]]",
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in named.values()])

    async def call_tool(
        context: "ServerRequestContext[dict[str, object]]",
        params: types.CallToolRequestParams,
    ) -> types.CallToolResult:
        tool = named.get(params.name)
        if tool is None:
            return refusal_of(
                f"there is no tool {params.name!r}{nearest(params.name, named)}"
            )
        # A request that is cancelled is left alone: it only reads.
        return await anyio.to_thread.run_sync(
            answer_call,
            tool,
            around,
            params.arguments or {},
            abandon_on_cancel=True,
            limiter=turns[tool.name],
        )

    return Server(
        "cli-guard",
        version=__version__,
        instructions=INSTRUCTIONS + ("" if "run" in named else without_shell),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def describe_tool(tool: ServedTool) -> "types.Tool":
    """Describe a tool in the terms of the protocol."""
    from mcp import types

    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=True,
            destructive_hint=False,
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def answer_call(
    tool: ServedTool, around: Surroundings, arguments: Mapping[str, object]
) -> "types.CallToolResult":
    """Return the answer of a tool, whatever happens in it."""
    from mcp import types

    try:
        answer: ToolAnswer = tool.answer(around, arguments)
    except CliGuardError as error:
        return refusal_of(str(error))
    except Exception as error:
        return refusal_of(around.report_bug(error))
    text = clip(printable_text(answer.text), TEXT_CHARS)
    data = json_value(answer.data) if answer.data is not None else None
    if data is not None and len(json.dumps(data)) > DATA_CHARS:
        data = None
        text += f"\nThe data is longer than {DATA_CHARS:,} characters and omitted: run cli-guard {tool.name} to see it."
    images = [
        types.ImageContent(type="image", data=data, mime_type=kind)
        for kind, data in answer.images
    ]
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text), *images],
        structured_content=data,
    )


def refusal_of(problem: str) -> "types.CallToolResult":
    """Return a failure as the answer of a tool."""
    from mcp import types

    line = clip(printable(redact(problem)), WORDS)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=line)], is_error=True
    )


@dataclass
class AgentStreams:
    """Standard input and output as the SDK's transport uses them (a part of `anyio.AsyncFile`), which may be left."""

    lines: Iterator[bytes | None]
    say: Callable[[bytes], None]

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield the lines of the input; "", which is no message, for one that is too long."""
        end = object()
        while (line := await self._in_thread(next, self.lines, end)) is not end:
            if line != b"":
                yield (line or b"").decode("utf-8", "replace")

    async def write(self, text: str) -> None:
        """Write a message. Raises OSError if nobody reads any more."""
        await self._in_thread(self.say, text.encode())

    async def flush(self) -> None:
        """Do nothing: `write` does."""

    async def _in_thread(self, function: Callable[..., object], *given: object) -> Any:
        """Call what may wait for ever, until this task is cancelled."""
        import anyio

        return await anyio.to_thread.run_sync(function, *given, abandon_on_cancel=True)
