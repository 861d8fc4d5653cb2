"""One server, from its start to its end: the SDK's session over its transport, every step of it with a time limit."""

import json
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cli_guard import __version__
from cli_guard.errors import CliGuardError
from cli_guard.mcp.client.result import McpResult, one_line, result_of
from cli_guard.policy.mcp import ServerConfig

if TYPE_CHECKING:
    import anyio
    from anyio.abc import TaskStatus
    from mcp import StdioServerParameters, types
    from mcp.client.session import ClientSession

T = TypeVar("T")

# What every program needs to run. Everything else, and so every secret, is passed only if it is named.
ALWAYS_PASSED = "PATH HOME USER LOGNAME TMPDIR LANG LC_ALL LC_CTYPE TZ".split()
PAGES = 20
TOOLS = 500
WORDS = 200
SHORTEST_SECRET = 6
RELAY = Path(__file__).with_name("relay.py")
REPORT_BYTES = 20_000
# Lines that are no message, such as a greeting, until it is clear that this is no server.
STRAY_LINES = 20


class Connection:
    """A server that is started once: what ends it, a fault of its own included, ends it for the whole run.

    `lost` is why it is of no use any more, None while it is.
    """

    def __init__(
        self, name: str, config: ServerConfig, cwd: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self.lost: str | None = None
        self._config = config
        self._cwd = cwd
        self._env = {key: env[key] for key in (*ALWAYS_PASSED, *config.env) if key in env}
        self._passed = tuple(
            sorted({env[key] for key in config.env if key in env}, key=len, reverse=True)
        )
        self._session: ClientSession | None = None
        self._end: anyio.Event | None = None
        self._step: anyio.CancelScope | None = None
        self._strays = 0
        self._said = ""

    def hide(self, text: str) -> str:
        """Mask the values that were passed by name: the server knows them and may say them."""
        for value in self._passed:
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, "****")
        return text

    async def serve(self, *, task_status: "TaskStatus[list[types.Tool]]") -> None:
        """Start the server, hand its tools to whoever waits, and keep it until it is lost or this task is cancelled.

        Raises CliGuardError if it does not start.
        """
        import anyio
        from mcp import types
        from mcp.client.session import ClientSession
        from mcp.client.stdio import stdio_client

        # They log what a server does wrong; without a handler logging prints it on the terminal.
        for logger in ("mcp", "client", "asyncio"):
            logging.getLogger(logger).addHandler(logging.NullHandler())
        problem: CliGuardError | None = None
        self._end = anyio.Event()
        info = types.Implementation(name="cli-guard", version=__version__)
        parameters = self._relayed()
        with tempfile.TemporaryFile("w+") as report:
            async with (
                stdio_client(parameters, report) as streams,
                ClientSession(
                    *streams, client_info=info, message_handler=self._judge_message
                ) as session,
            ):
                self._report = report
                try:
                    tools = await self._within(
                        self._config.start_seconds, open_session(session), "start"
                    )
                except CliGuardError as error:
                    problem = error
                else:
                    self._session = session
                    task_status.started(tools)
                    await self._end.wait()
        if problem is not None:
            raise problem

    async def call(self, tool: str, arguments: Mapping[str, object]) -> McpResult:
        """Call a tool. Raises CliGuardError if the server does not answer, or not as it should."""
        from mcp import types

        if self._session is None or self.lost:
            raise CliGuardError(f"the MCP server {self.name} is not running")
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        # Not `call_tool`: it checks answers by a schema of the server's, which may take for ever.
        request = self._session.send_request(
            types.CallToolRequest(params=params), types.CallToolResult
        )
        answer = await self._within(self._config.timeout_seconds, request, f"answer {tool}")
        return result_of(answer, self.hide)

    def _relayed(self) -> "StdioServerParameters":
        """Return the command of the server, behind the relay. Raises CliGuardError if there is no such program."""
        from mcp import StdioServerParameters

        command = self._config.command
        # A relative entry of PATH would name a program of the repository.
        folders = [
            each for each in self._env.get("PATH", "").split(":") if each.startswith("/")
        ]
        program = shutil.which(command[0], path=":".join(folders))
        problem = ""
        if not hasattr(os, "killpg"):
            problem = "this system has no process groups, by which a server is ended with its children"
        elif program is None:
            where = "is not a program" if command[0].startswith("/") else "is not on PATH"
            shown = one_line(command[0], WORDS, self.hide)
            problem = f"{shown} {where}; install it or fix its command"
        if problem:
            raise CliGuardError(f"the MCP server {self.name} cannot be started: {problem}")
        # `python -m server` would else look for the server in the repository first.
        env = self._env | {"PATH": ":".join(folders), "PYTHONSAFEPATH": "1"}
        return StdioServerParameters(
            command=sys.executable,
            args=["-I", "-S", str(RELAY), ",".join(env), str(program), *command[1:]],
            env=env,
            cwd=self._cwd,
            encoding_error_handler="replace",
        )

    async def _judge_message(self, message: object) -> None:
        """Lose a server that sends lines which are no messages; the SDK goes on without them."""
        # Notifications come here too; a line that is no message is pydantic's error.
        if not isinstance(message, ValueError):
            return
        wrong = message.errors()[0]  # type: ignore[attr-defined]
        line = wrong["input"] if wrong["type"] == "json_invalid" else "{"
        self._strays += bool(line.strip())
        if line.lstrip().startswith("{"):
            self._lose("sent a message that cannot be read")
        elif self._strays > STRAY_LINES:
            self._lose("writes lines that are not MCP messages: is it a server over stdio?")

    async def _within(self, seconds: float, step: Awaitable[T], what: str) -> T:
        """Return the result of a step. Raises CliGuardError if its time is over or the server fails, which ends it."""
        import anyio
        from mcp import MCPError

        reason = f"did not {what} within {seconds:g} seconds"
        try:
            with anyio.move_on_after(seconds) as self._step:
                return await step
        except MCPError as error:
            # By its report, as a server may use the code of a closed connection too.
            reason = self._read_report()
            if not (reason or self.lost):
                raise CliGuardError(
                    f"the MCP server {self.name} refused: {one_line(error.message, WORDS, self.hide)}"
                ) from error
        except CliGuardError as error:
            reason = str(error)
        except Exception as error:
            reason = f"sent what does not follow the protocol ({type(error).__name__})"
        self._lose(reason)
        said = one_line(self._said, WORDS, self.hide)
        raise CliGuardError(
            f"the MCP server {self.name} {self.lost}"
            + (f"; it said: {said}" if said else "")
        )

    def _lose(self, reason: str) -> None:
        """End the server; the first reason counts, and before it what the relay reports."""
        if self.lost is None:
            self.lost = self._read_report() or reason
        if self._end:
            self._end.set()
        if self._step:
            self._step.cancel()

    def _read_report(self) -> str:
        """Return why the relay has ended, "" while it runs; keep the last words of the server."""
        # Not by `seek`: the relay writes at the same offset.
        report = os.pread(self._report.fileno(), REPORT_BYTES, 0)
        if not report:
            return ""
        found = json.loads(report)
        self._said = found.get("said", "")
        return str(found["lost"])


async def open_session(session: "ClientSession") -> "list[types.Tool]":
    """Opens the session; the tools of the server. Raises CliGuardError for a list without an end."""
    from mcp import types

    # The handshake that all servers know: some close on any other first message.
    await session.initialize()
    tools = []
    cursor: str | None = None
    for _ in range(PAGES):
        request = types.ListToolsRequest(params=types.PaginatedRequestParams(cursor=cursor))
        page = await session.send_request(request, types.ListToolsResult)
        tools += page.tools
        cursor = page.next_cursor
        if len(tools) > TOOLS:
            break
        if cursor is None:
            return tools
    raise CliGuardError(f"lists more than {TOOLS} tools, or on more than {PAGES} pages")
