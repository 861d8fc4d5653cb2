"""The process of one server: its pipes, what may come through them, and its end.

Not the SDK's own stdio transport: that one keeps a line of any length, logs to the terminal what is no message, and
leaves alone the children of a server that went by itself.
"""

import asyncio
import contextlib
import math
import os
import signal
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cli_guard.mcp import BorrowedStream

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream
    from mcp.shared.message import SessionMessage

# What a server may send between one request and the next, in bytes; an answer with pictures fits in.
BUDGET = 16_000_000
# Lines that are no message, such as a greeting, until it is clear that this is no server.
STRAY_LINES = 20
STDERR_KEPT = 4_000
GRACE = 0.5
DRAIN = 0.3
REAP = 2.0


class Outgoing(BorrowedStream):
    """The stream that a session writes its messages to (`WriteStream` of the SDK): straight to the pipe."""

    def __init__(self, wire: "Wire") -> None:
        self._wire = wire

    async def send(self, item: "SessionMessage", /) -> None:
        """Writes one message. Raises anyio.ClosedResourceError once the process is gone."""
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._wire.write(text.encode() + b"\n")


class Wire(asyncio.SubprocessProtocol):
    """The pipes of a running server. `lost` is why it is of no use any more, None while it is."""

    def __init__(self) -> None:
        import anyio
        from mcp.shared.message import SessionMessage

        sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](
            math.inf
        )
        self.incoming: MemoryObjectReceiveStream[SessionMessage | Exception] = receiver
        self.outgoing = Outgoing(self)
        self.lost: str | None = None
        self._sender = sender
        self._process: asyncio.SubprocessTransport | None = None
        self._ended = asyncio.Event()
        self._received = 0
        self._strays = 0
        self._line: list[bytes] = []
        self._stderr: deque[int] = deque(maxlen=STDERR_KEPT)

    @classmethod
    async def open(
        cls, command: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> "Wire":
        """Starts the program in a process group of its own. Raises OSError."""
        if not hasattr(os, "killpg"):
            raise OSError(
                "this system has no process groups, by which a server is ended with its children"
            )
        loop = asyncio.get_running_loop()
        _, protocol = await loop.subprocess_exec(
            cls, *command, cwd=str(cwd), env=dict(env), start_new_session=True
        )
        return protocol

    @property
    def last_words(self) -> str:
        """The last line on standard error, as it came."""
        lines = bytes(self._stderr).decode("utf-8", "replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def new_budget(self) -> None:
        """What was sent so far is answered for: a new request may be answered at full length."""
        self._received = 0

    def write(self, data: bytes) -> None:
        """Hands data to the server, however slowly it reads. Raises anyio.ClosedResourceError."""
        import anyio

        pipe = self._process.get_pipe_transport(0) if self._process else None
        if self.lost or pipe is None or pipe.is_closing():
            raise anyio.ClosedResourceError
        cast(asyncio.WriteTransport, pipe).write(data)

    def lose(self, reason: str) -> None:
        """Ends the server at once; the first reason is the one that counts."""
        if self.lost is None:
            self.lost = reason
        self._signal(signal.SIGKILL)
        self._sender.close()

    async def close(self) -> None:
        """Ends the server and its children: by closing its input, by asking, by force. Bounded in time."""
        self.lost = self.lost or "was stopped"
        self._sender.close()
        if self._process is None:
            return
        if (pipe := self._process.get_pipe_transport(0)) is not None:
            pipe.close()
        for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, GRACE)):
            if not await self._ends_within(seconds):
                self._signal(number)
        await self._ends_within(REAP)
        self._process.close()

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    def _signal(self, number: int) -> None:
        # Once it is reaped its id may be another's.
        if self._process is not None and not self._ended.is_set():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.get_pid(), number)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It runs."""
        self._process = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It says something: messages on standard output, anything on standard error."""
        if fd == 2:
            self._stderr.extend(data[-STDERR_KEPT:])
            return
        self._received += len(data)
        if self.lost:
            return
        if self._received > BUDGET:
            self._line = []
            self.lose(f"sent more than {BUDGET // 1_000_000} MB")
            return
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._deliver(b"".join((*self._line, part)))
            self._line = []
        self._line.append(rest)

    def _deliver(self, line: bytes) -> None:
        import anyio
        from mcp import types
        from mcp.shared.message import SessionMessage

        if not line.strip() or self.lost:
            return
        try:
            message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            self._strays += 1
            if line.lstrip().startswith(b"{"):
                self.lose("sent a message that cannot be read")
            elif self._strays > STRAY_LINES:
                self.lose(
                    "writes lines that are not MCP messages: is it a server over stdio?"
                )
            return
        # A session that is being closed reads no more.
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._sender.send_nowait(SessionMessage(message))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """It closed a pipe: without its output it is of no use."""
        if fd == 1 and not self.lost and not self._ended.is_set():
            # Its end is the better reason, and is about to be told.
            asyncio.get_running_loop().call_later(DRAIN, self._silent)

    def _silent(self) -> None:
        if self.lost is None and not self._ended.is_set():
            self.lose("closed its output")

    def process_exited(self) -> None:
        """It ended; children that it left in its group end with it."""
        # At once: as long as the group has members its id is nobody else's.
        self._signal(signal.SIGKILL)
        self._ended.set()
        code = self._process.get_returncode() if self._process else None
        # What it wrote last is still in the pipe.
        asyncio.get_running_loop().call_later(DRAIN, self._end, code)

    def _end(self, code: int | None) -> None:
        if self.lost is None:
            self.lost = (
                f"was ended by signal {-code}"
                if code and code < 0
                else f"ended with exit code {code}"
            )
        self._sender.close()
