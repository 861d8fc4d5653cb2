"""The two streams of the protocol: lines of JSON in, lines of JSON out, both bounded, neither in anybody's way."""

import contextlib
import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

    import anyio
    from anyio.streams.memory import MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

# A patch of the longest kind, every character of it written as an escape.
LINE_BYTES = 40_000_000
PARSE_ERROR = -32700
WAITING = 64


class Outgoing:
    """The stream that the SDK's server writes its messages to (`WriteStream`): a line for each."""

    def __init__(self, say: Callable[[str], None], gone: "anyio.CancelScope") -> None:
        import anyio

        self._say = say
        self._gone = gone
        # One line at a time; another thread, since whoever reads them may be slow.
        self._turn = anyio.CapacityLimiter(1)

    async def send(self, item: "SessionMessage", /) -> None:
        """Writes one message. Raises anyio.ClosedResourceError if nobody reads any more."""
        await self.line(item.message.model_dump(mode="json", by_alias=True, exclude_unset=True))

    async def line(self, message: object) -> None:
        """Writes one line, in ASCII: what a stream's encoding cannot show would be no JSON."""
        import anyio

        text = json.dumps(message, allow_nan=False)
        try:
            await anyio.to_thread.run_sync(self._say, text, abandon_on_cancel=True, limiter=self._turn)
        except (OSError, ValueError) as error:
            self._gone.cancel()
            raise anyio.ClosedResourceError from error

    async def aclose(self) -> None:
        """Nothing: the stream is its owner's."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        return None


async def read(
    lines: Iterator[bytes | None],
    sender: "MemoryObjectSendStream[SessionMessage | Exception]",
    outgoing: Outgoing,
) -> None:
    """Hands on every message until the lines end; what is no message is answered as JSON-RPC says."""
    import anyio
    from mcp import types
    from mcp.shared.message import SessionMessage

    turn = anyio.CapacityLimiter(1)
    end = object()
    async with sender:
        while True:
            line = await anyio.to_thread.run_sync(next, lines, end, abandon_on_cancel=True, limiter=turn)
            if line is end:
                return
            if isinstance(line, bytes) and not line.strip():
                continue
            try:
                if not isinstance(line, bytes):
                    raise ValueError
                message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                wrong = "not a JSON-RPC message" if line is not None else f"longer than {LINE_BYTES:,} bytes"
                # Nobody may read any more; then all of this is being ended.
                with contextlib.suppress(anyio.ClosedResourceError):
                    await outgoing.line(
                        {"jsonrpc": "2.0", "id": None, "error": {"code": PARSE_ERROR, "message": wrong}}
                    )
                continue
            await sender.send(SessionMessage(message))
