"""One server, from its start to its end: the SDK's session over our wire, every step of it with a time limit."""

import logging
import shutil
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cli_guard import __version__
from cli_guard.errors import CliGuardError
from cli_guard.mcp.client.result import McpResult, one_line, result_of
from cli_guard.mcp.client.wire import DRAIN, Wire
from cli_guard.policy.mcp import ServerConfig

if TYPE_CHECKING:
    from anyio.abc import TaskStatus
    from mcp import types
    from mcp.client.session import ClientSession

T = TypeVar("T")

# What every program needs to run. Everything else, and so every secret, is passed only if it is named.
ALWAYS_PASSED = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
)
PAGES = 20
TOOLS = 500
WORDS = 200
SHORTEST_SECRET = 6


class Connection:
    """A server that is started once: what ends it, a fault of its own included, ends it for the whole run."""

    def __init__(
        self, name: str, config: ServerConfig, cwd: Path, env: Mapping[str, str]
    ) -> None:
        self.name = name
        self._config = config
        self._cwd = cwd
        self._env = {key: env[key] for key in (*ALWAYS_PASSED, *config.env) if key in env}
        self._passed = tuple(
            sorted({env[key] for key in config.env if key in env}, key=len, reverse=True)
        )
        self._wire: Wire | None = None
        self._session: ClientSession | None = None

    @property
    def ended(self) -> bool:
        """Is the server of no use any more?"""
        return self._wire is None or self._wire.lost is not None

    def hide(self, text: str) -> str:
        """Masks the values that were passed by name: the server knows them and may say them."""
        for value in self._passed:
            if len(value) >= SHORTEST_SECRET:
                text = text.replace(value, "****")
        return text

    async def serve(self, *, task_status: "TaskStatus[list[types.Tool]]") -> None:
        """Starts the server, hands its tools to whoever waits, and keeps it until this task is cancelled.

        Raises CliGuardError if it does not start.
        """
        import anyio
        from mcp import types
        from mcp.client.session import ClientSession

        # They log what a server does wrong; without a handler logging prints it on the terminal.
        for logger in ("mcp", "client", "asyncio"):
            logging.getLogger(logger).addHandler(logging.NullHandler())
        problem: CliGuardError | None = None
        with anyio.CancelScope(shield=True):
            self._wire = wire = await self._open_wire()
        try:
            info = types.Implementation(name="cli-guard", version=__version__)
            async with ClientSession(
                wire.incoming, wire.outgoing, client_info=info
            ) as session:
                try:
                    tools = await self._within(
                        wire, self._config.start_seconds, open_session(session), "start"
                    )
                except CliGuardError as error:
                    problem = error
                else:
                    self._session = session
                    task_status.started(tools)
                    await anyio.sleep_forever()
        finally:
            # Also where this task is cancelled: a process would be left behind.
            with anyio.CancelScope(shield=True):
                await wire.close()
        if problem is not None:
            raise problem

    async def call(self, tool: str, arguments: Mapping[str, object]) -> McpResult:
        """Calls a tool. Raises CliGuardError if the server does not answer, or not as it should."""
        from mcp import types

        if self._session is None or self._wire is None:
            raise CliGuardError(f"the MCP server {self.name} is not running")
        self._wire.new_budget()
        params = types.CallToolRequestParams(name=tool, arguments=dict(arguments))
        # Not `call_tool`: it checks answers by a schema of the server's, which may take for ever.
        request = self._session.send_request(
            types.CallToolRequest(params=params), types.CallToolResult
        )
        answer = await self._within(
            self._wire, self._config.timeout_seconds, request, f"answer {tool}"
        )
        return result_of(answer, self.hide)

    async def _open_wire(self) -> Wire:
        command = self._config.command
        # A relative entry of PATH would name a program of the repository.
        folders = [
            each for each in self._env.get("PATH", "").split(":") if each.startswith("/")
        ]
        program = shutil.which(command[0], path=":".join(folders))
        if program is None:
            where = "is not a program" if command[0].startswith("/") else "is not on PATH"
            raise CliGuardError(
                f"the MCP server {self.name} cannot be started: {one_line(command[0], WORDS, self.hide)} {where};"
                " install it or fix its command"
            )
        # `python -m server` would else look for the server in the repository first.
        env = self._env | {"PATH": ":".join(folders), "PYTHONSAFEPATH": "1"}
        try:
            return await Wire.open((program, *command[1:]), self._cwd, env)
        except OSError as error:
            raise CliGuardError(
                f"the MCP server {self.name} cannot be started: {error.strerror}; fix its command"
            ) from error

    async def _within(self, wire: Wire, seconds: float, step: Awaitable[T], what: str) -> T:
        """The result of a step. Raises CliGuardError: its time is over, or the server failed; then it is ended."""
        import anyio
        from mcp import MCPError, types

        try:
            with anyio.fail_after(seconds):
                return await step
        except TimeoutError as error:
            wire.lose(f"did not {what} within {seconds:g} seconds")
            raise self._failure(wire) from error
        except MCPError as error:
            if wire.lost is None and error.code == types.CONNECTION_CLOSED:
                # Its end is the better reason, and is about to be told.
                await anyio.sleep(2 * DRAIN)
            if wire.lost is None:
                raise CliGuardError(
                    f"the MCP server {self.name} refused: {one_line(error.message, WORDS, self.hide)}"
                ) from error
            raise self._failure(wire) from error
        except CliGuardError as error:
            wire.lose(str(error))
            raise self._failure(wire) from error
        except Exception as error:
            wire.lose(f"sent what does not follow the protocol ({type(error).__name__})")
            raise self._failure(wire) from error

    def _failure(self, wire: Wire) -> CliGuardError:
        said = one_line(wire.last_words, WORDS, self.hide)
        return CliGuardError(
            f"the MCP server {self.name} {wire.lost}"
            + (f"; it said: {said}" if said else "")
        )


async def open_session(session: "ClientSession") -> "list[types.Tool]":
    """Opens the session; the tools of the server. Raises CliGuardError for a list without an end."""
    from mcp import types

    # The handshake that all servers know: some close on any other first message.
    await session.initialize()
    tools: list[types.Tool] = []
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
