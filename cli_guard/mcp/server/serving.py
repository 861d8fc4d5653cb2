"""The server itself: the SDK's, with our tools and our streams. Every failure is one line of a tool's answer.

The streams are lines of JSON in and lines of JSON out, both bounded.
"""

import contextlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from cli_guard import __version__
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.mcp import BorrowedStream
from cli_guard.mcp.server.tools import TOOLS, ServedTool, Surroundings, ToolAnswer
from cli_guard.policy.globs import nearest
from cli_guard.runtime import missing_extra
from cli_guard.secrets.printable import clip, json_value, printable
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    import anyio
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp import types
    from mcp.server import ServerRequestContext
    from mcp.server.lowlevel import Server
    from mcp.shared.message import SessionMessage

TEXT_CHARS = 50_000
DATA_CHARS = 1_000_000
WORDS = 500
# A patch of the longest kind, every character of it written as an escape.
LINE_BYTES = 40_000_000
PARSE_ERROR = -32700
WAITING = 64

INSTRUCTIONS = (
    "cli-guard reviews changes before Git records them, judges shell commands before they run, and answers requests"
    " about the repository. Call review before you commit, and check_command before you run what you are not sure of."
    " Nothing here changes anything. What needs review is approved by a person at a terminal, never by you."
)


def serve(
    lines: Iterator[bytes | None], say: Callable[[str], None], around: Surroundings
) -> None:
    """Serve until the input ends or the output is closed. Raises UsageError without the extra."""
    try:
        import anyio
        import mcp.server  # noqa: F401 - asked for once, where the answer can still be given
    except ModuleNotFoundError as error:
        raise UsageError(missing_extra("MCP", "mcp")) from error
    # The SDK logs failures with their tracebacks; without a handler logging prints them.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    anyio.run(conversation, lines, say, around)


async def conversation(
    lines: Iterator[bytes | None], say: Callable[[str], None], around: Surroundings
) -> None:
    """Serve one connection, from its first line to its last."""
    import anyio
    from mcp.shared.message import SessionMessage

    server = server_of(around)
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](
        WAITING
    )
    async with anyio.create_task_group() as tasks:
        outgoing = OutgoingMessages(say, tasks.cancel_scope)
        tasks.start_soon(read, lines, sender, outgoing)
        await server.run(receiver, outgoing, server.create_initialization_options())
        tasks.cancel_scope.cancel()


def server_of(around: Surroundings) -> "Server[dict[str, object]]":
    """Build the SDK's server with our tools."""
    import anyio
    from mcp import types
    from mcp.server.lowlevel import Server

    named = {tool.name: tool for tool in TOOLS}
    # A review at a time: several would wait for the same records. What is quick does not wait for it.
    turns = {name: anyio.CapacityLimiter(1) for name in named}

    async def list_tools(
        context: "ServerRequestContext[dict[str, object]]",
        params: types.PaginatedRequestParams | None,
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[describe_tool(tool) for tool in TOOLS])

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
        instructions=INSTRUCTIONS,
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
        input_schema=dict(tool.schema),
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
        answer: ToolAnswer = tool.answer(around, tool.check(arguments))
    except CliGuardError as error:
        return refusal_of(str(error))
    except Exception as error:
        return refusal_of(around.report_bug(error))
    text = clip(printable(answer.text, keep_newlines=True), TEXT_CHARS)
    data = json_value(answer.data) if answer.data is not None else None
    if data is not None and len(json.dumps(data)) > DATA_CHARS:
        data = None
        text += f"\nThe data is longer than {DATA_CHARS:,} characters and omitted: run cli-guard {tool.name} to see it."
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=data
    )


def refusal_of(problem: str) -> "types.CallToolResult":
    """Return a failure as the answer of a tool."""
    from mcp import types

    line = clip(printable(redact(problem)), WORDS)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=line)], is_error=True
    )


class OutgoingMessages(BorrowedStream):
    """The stream that the SDK's server writes its messages to (`WriteStream`): a line for each."""

    def __init__(self, say: Callable[[str], None], gone: "anyio.CancelScope") -> None:
        import anyio

        self._say = say
        self._gone = gone
        # One line at a time; another thread, since whoever reads them may be slow.
        self._turn = anyio.CapacityLimiter(1)

    async def send(self, item: "SessionMessage", /) -> None:
        """Write one message. Raises anyio.ClosedResourceError if the reader is gone."""
        await self.line(
            item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
        )

    async def line(self, message: object) -> None:
        """Write one line in ASCII: what a stream's encoding cannot show would be no JSON."""
        import anyio

        text = json.dumps(message, allow_nan=False)
        try:
            await anyio.to_thread.run_sync(
                self._say, text, abandon_on_cancel=True, limiter=self._turn
            )
        except (OSError, ValueError) as error:
            self._gone.cancel()
            raise anyio.ClosedResourceError from error


async def read(
    lines: Iterator[bytes | None],
    sender: "MemoryObjectSendStream[SessionMessage | Exception]",
    outgoing: OutgoingMessages,
) -> None:
    """Hand on every message until the lines end; answer what is no message as JSON-RPC says."""
    import anyio
    from mcp import types
    from mcp.shared.message import SessionMessage

    turn = anyio.CapacityLimiter(1)
    end = object()
    async with sender:
        while True:
            line = await anyio.to_thread.run_sync(
                next, lines, end, abandon_on_cancel=True, limiter=turn
            )
            if line is end:
                return
            if isinstance(line, bytes) and not line.strip():
                continue
            try:
                if not isinstance(line, bytes):
                    raise ValueError
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                wrong = (
                    "not a JSON-RPC message"
                    if line is not None
                    else f"longer than {LINE_BYTES:,} bytes"
                )
                # Nobody may read any more; then all of this is being ended.
                with contextlib.suppress(anyio.ClosedResourceError):
                    await outgoing.line(
                        {
                            "jsonrpc": "2.0",
                            "id": None,
                            "error": {"code": PARSE_ERROR, "message": wrong},
                        }
                    )
                continue
            await sender.send(SessionMessage(message))
