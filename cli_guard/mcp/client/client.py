"""The client: servers start when they are first needed and end with the run; every call is a plain call."""

import json
import re
import threading
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.mcp.client import schemas
from cli_guard.mcp.client.connection import Connection
from cli_guard.mcp.client.result import Hide, McpResult, clip_text, one_line
from cli_guard.policy.globs import nearest
from cli_guard.policy.mcp import PREFIX, Hints, McpTool, ServerConfig
from cli_guard.runtime import missing_extra
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal
    from mcp import types

ARGUMENT_CHARS = 1_000_000
DESCRIPTION_CHARS = 1_000
REASON_CHARS = 300
# What the specification recommends for names; others look like one another, or cannot be typed.
TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")


class Running:
    """A server that was started: its tools as they are shown, and the schemas by which arguments are judged."""

    def __init__(self, connection: Connection, listed: "list[types.Tool]") -> None:
        self.connection = connection
        self.tools = list_tools(connection.name, listed, connection.hide)
        self.schemas = {each.name: each.input_schema for each in listed}


class McpClient:
    """Calls tools of MCP servers; a context manager that leaves no process behind.

    >>> with McpClient(policy.servers, cwd=root, env=env) as client:
    ...     client.call("mcp:git.git_status", {"repo_path": "."}).text
    """

    def __init__(
        self, servers: Mapping[str, ServerConfig], *, cwd: Path, env: Mapping[str, str]
    ) -> None:
        self._servers = dict(servers)
        self._cwd = cwd
        self._env = env
        self._running: dict[str, Running] = {}
        # The servers that failed in this run, and why in one line; they are not started again.
        self.problems: dict[str, str] = {}
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._closed = False
        # One request at a time: a budget of bytes is of one request.
        self._lock = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def tools(self, server: str | None = None) -> tuple[McpTool, ...]:
        """The tools of a server, or of all that start (`problems` names the others), in the order of their names.

        Raises UsageError for a server that is not configured, CliGuardError for one that fails.
        """
        with self._lock:
            if server is not None:
                return self._start_server(server).tools
            found: list[McpTool] = []
            for name in sorted(self._servers):
                try:
                    found += self._start_server(name).tools
                except UsageError:
                    raise
                except CliGuardError:
                    continue
            return tuple(found)

    def call(self, name: str, arguments: Mapping[str, object]) -> McpResult:
        """Calls `mcp:<server>.<tool>`, if its arguments hold by its schema.

        Raises UsageError for a tool that is not there or arguments that do not hold; nothing was called then. Raises
        CliGuardError if the server fails; it is ended then and stays so.
        """
        with self._lock:
            server, dot, _ = name.removeprefix(PREFIX).partition(".")
            if not (name.startswith(PREFIX) and dot):
                raise UsageError(
                    f"{name!r} is not an MCP tool: write {PREFIX}<server>.<tool>"
                )
            running = self._start_server(server)
            known = {tool.name: tool for tool in running.tools}
            if name not in known:
                raise UsageError(
                    f"the MCP server {server} has no tool {name!r}{nearest(name, known)}"
                )
            tool = known[name]
            if tool.unusable:
                raise UsageError(f"{name} cannot be called: {tool.unusable}")
            check(tool, running, arguments)
            try:
                return self._open_portal().call(
                    running.connection.call, tool.own_name, arguments
                )
            except CliGuardError as error:
                if running.connection.lost:
                    self.problems[server] = str(error)
                raise

    def close(self) -> None:
        """Ends every server with its children. May be called twice."""
        # Without the lock: whoever interrupts a call closes while it is held.
        self._closed = True
        portal = self._portal
        self._portal = None
        if not portal:
            return
        try:
            # Whatever still runs is cancelled, which ends its server.
            portal.call(portal.stop, True)
        finally:
            self._stack.close()

    def _start_server(self, name: str) -> Running:
        if name not in self._servers:
            known = (
                "; no server is configured"
                if not self._servers
                else nearest(name, self._servers)
            )
            raise UsageError(
                f"there is no MCP server {name!r}{known}: the user's own file names them, [mcp.NAME]"
            )
        if self._closed:
            raise CliGuardError("the MCP client is closed")
        if name in self.problems:
            raise CliGuardError(self.problems[name])
        if name not in self._running:
            portal = self._open_portal()
            connection = Connection(name, self._servers[name], self._cwd, self._env)
            try:
                _, listed = portal.start_task(connection.serve)
            except CliGuardError as error:
                self.problems[name] = str(error)
                raise
            self._running[name] = Running(connection, listed)
        return self._running[name]

    def _open_portal(self) -> "BlockingPortal":
        if not self._portal:
            try:
                import mcp  # noqa: F401 - asked for once, where the answer can still be given
                from anyio.from_thread import start_blocking_portal
            except ModuleNotFoundError as error:
                raise UsageError(missing_extra("MCP", "mcp")) from error
            self._portal = self._stack.enter_context(start_blocking_portal("asyncio"))
        return self._portal


def check(tool: McpTool, running: Running, arguments: Mapping[str, object]) -> None:
    """Do the arguments hold by the schema of the tool? Raises UsageError."""
    try:
        size = len(
            json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode("utf-8")
        )
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the arguments of {tool.name} are not JSON in UTF-8") from error
    if size > ARGUMENT_CHARS:
        raise UsageError(
            f"the arguments of {tool.name} are longer than {ARGUMENT_CHARS:,} bytes"
        )
    problem = schemas.problem_with(running.schemas[tool.own_name], arguments)
    if problem:
        raise UsageError(
            f"{tool.name}: {one_line(problem, REASON_CHARS, running.connection.hide)}"
        )


def list_tools(server: str, listed: "list[types.Tool]", hide: Hide) -> tuple[McpTool, ...]:
    """The tools of a server, sorted by name; of several with one name there is one, which cannot be used."""
    count = Counter(tool.name for tool in listed)
    tools = {}
    for tool in listed:
        wrong = schemas.check_bounds(tool.input_schema)
        if (
            not TOOL_NAME.fullmatch(tool.name)
            or one_line(tool.name, 128, hide) != tool.name
        ):
            wrong = "its name is not 1 to 128 letters, digits and _ - . /"
        elif count[tool.name] > 1:
            wrong = f"{count[tool.name]} tools have this name"
        made = make_tool(server, tool, wrong, hide)
        tools[made.name] = made
    return tuple(tools[name] for name in sorted(tools))


def make_tool(server: str, tool: "types.Tool", unusable: str | None, hide: Hide) -> McpTool:
    """One tool; the schema of one that cannot be used is left out."""
    hints = tool.annotations
    return McpTool(
        name=f"{PREFIX}{server}.{one_line(tool.name, 128, hide)}",
        server=server,
        description=clip_text(
            tool.description or tool.title or "", DESCRIPTION_CHARS, hide
        )[0],
        schema={} if unusable else mask_schema(tool.input_schema, hide),
        hints=Hints(hints.read_only_hint, hints.destructive_hint) if hints else Hints(),
        unusable=unusable,
    )


def mask_schema(schema: dict[str, object], hide: Hide) -> dict[str, object]:
    """Return a schema without secrets, {} where a mask leaves no schema. Arguments are judged by the true one."""
    try:
        safe = json.loads(redact(hide(json.dumps(schema)), "schema.json"))
    except ValueError:
        return {}
    return safe if isinstance(safe, dict) else {}
