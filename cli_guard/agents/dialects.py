"""The requests of coding agents: recognised by their keys whatever our entry is called.

A form is a row of `rules/dialects.toml`.

Some agents read the settings of another one (VS Code those of Claude Code and Copilot CLI), so an entry hears more than
the agent that it was written for. The entry's name decides the profile and the user's own settings; the form of the
request decides how it is read and answered. Who can ask is the stricter of the two. A request of no known form is read
by its shape: a command and a file that is written are judged, and answered by an exit code.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cli_guard.agents import replies
from cli_guard.agents.judging import answer_request
from cli_guard.agents.payload import text_in
from cli_guard.agents.registry import Agent
from cli_guard.agents.replies import reply_by_code
from cli_guard.agents.tool_inputs import (
    CHANGING,
    INPUTS,
    KEYS,
    PATCH_CALL,
    PATCH_START,
    TABLES,
    TOOLS,
    find_shapes,
    find_uses,
    read_patch,
)
from cli_guard.agents.uses import (
    AgentRequest,
    McpCall,
    ShellKind,
    Use,
    as_object,
    read_object,
)
from cli_guard.agents.wording import LATE, HookAnswer
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.runtime import Invocation

Path = tuple[str, ...]


@frozen
class Dialect:
    """One form of request. `marks` are its keys, each with the value that it must have, "" for any.

    `tool` and `given` are the paths of keys to the tool's name and its input (none: the request itself), `folders` the
    keys of the current folder.
    The name of an MCP tool begins with the first part of `mcp`; the second stands between its server and its own name.
    `silent` is why a person cannot be asked, "" if one can. `nothing` is printed where the agent's own rules decide.
    `allows` are the modes in which an allow leaves the user's own deny and ask rules in force.
    """

    name: str
    marks: Mapping[str, str]
    source: str
    reply: Callable[[HookAnswer], str] = reply_by_code
    tool: Path = ("tool_name",)
    given: Path = ("tool_input",)
    folders: tuple[str, ...] = ("cwd",)
    mcp: tuple[str, str] = ("mcp__", "__")
    silent: str = ""
    nothing: str = ""
    allows: tuple[str, ...] = ()
    # Its tools whose `command` is the verb of a list of its own.
    lists: tuple[str, ...] = ()


def read_dialect(row: Mapping[str, Any]) -> Dialect:
    """Return a form of `rules/dialects.toml`."""
    reply = row.get("reply", "reply_by_code")
    return Dialect(**{**row, "reply": getattr(replies, reply)})


# The first that fits counts.
DIALECTS = tuple(map(read_dialect, TABLES["dialect"]))
# The keys with the input of a tool: a request with those of two forms is of none.
INPUT_ROOTS = frozenset(root for each in DIALECTS for root in each.given[:1])
UNKNOWN = Dialect(
    "unknown",
    {},
    "none: the shape of its requests, and exit codes",
    silent="the form of its request is not known",
)
# lefthook calls us for several agents, and passes on a code alone.
LEFTHOOK = Dialect(
    "lefthook",
    {},
    "https://lefthook.dev/configuration/ai and version 2.2.2 as it runs, 2026-11-23",
    silent="lefthook passes on no question",
)
# The form that the agent of an entry is known to read.
ENTRIES = {"lefthook": LEFTHOOK, **{each.name: each for each in DIALECTS}}


def find_entry(name: str) -> Dialect:
    """Return the form that the agent of an entry is known to read."""
    return ENTRIES.get(name, UNKNOWN)


def describe_allow(agent: Agent) -> str:
    """Say what becomes of an allowed command in a trusted work tree."""
    if find_entry(agent.name).allows:
        return f"{agent.title} is told what is allowed and does not ask; your own deny and ask rules there still count"
    return (
        f"{agent.title} is not told what is allowed: its own rules decide whether it asks"
    )


def respond(entry: str, raw: bytes, invocation: Invocation) -> str:
    """Answer one request in its own form; return what to print.

    Raises ToolDenied for a denial by an exit code, ValueError for a request that cannot be read, CliGuardError,
    OSError.
    """
    data = read_object(raw)
    dialect = recognise(data)
    own = find_entry(entry)
    request = read_request(data, dialect)
    request = replace(
        request,
        silent=own.silent or request.silent,
        keeps_rules=own is dialect and request.keeps_rules,
    )
    answer = answer_request(request, invocation, entry)
    speaking = choose_form(own, dialect)
    return speaking.reply(answer) if answer else speaking.nothing


def respond_late(entry: str, raw: bytes) -> str:
    """Answer a request that was not judged in time: a question, or a denial where nobody is asked.

    Raises as `respond` does.
    """
    data = read_object(raw)
    dialect = recognise(data)
    own = find_entry(entry)
    answer = HookAnswer(Decision.REVIEW, LATE)
    if silent := own.silent or find_silence(data, dialect):
        answer = answer.deny_unasked(silent)
    return choose_form(own, dialect).reply(answer)


def choose_form(own: Dialect, dialect: Dialect) -> Dialect:
    """Return the form to answer in: that of the request, unless the entry's caller passes on a code alone."""
    return own if own.reply is reply_by_code else dialect


def recognise(data: Mapping[str, Any]) -> Dialect:
    """Return the form of a request: its keys, and the places of the tool's name and its input, decide."""
    roots = INPUT_ROOTS & data.keys()
    for dialect in DIALECTS:
        if roots != {*dialect.given[:1]}:
            continue
        marked = all(
            key in data and value in ("", data[key]) for key, value in dialect.marks.items()
        )
        is_whole = isinstance(look_up(data, dialect.tool), str)
        if marked and is_whole and look_up(data, dialect.given) is not None:
            return dialect
    return UNKNOWN


def look_up(data: Mapping[str, Any], keys: Path) -> object:
    """Return what is behind some keys, None if it is missing."""
    value: object = data
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def read_request(data: Mapping[str, Any], dialect: Dialect) -> AgentRequest:
    """Read a request of a form. Raises ValueError."""
    silent = find_silence(data, dialect)
    if dialect is UNKNOWN:
        return AgentRequest(read_unknown(data), find_folder(data, ("cwd",)), silent)
    name = str(look_up(data, dialect.tool))
    given = read_input(look_up(data, dialect.given), ".".join(dialect.given))
    folder = find_folder(data, dialect.folders)
    uses = read_uses(data, dialect, name, given)
    is_plain = given.keys() <= {*TABLES["allowable"].get(name, "").split()}
    keeps_rules = is_plain and data.get("permission_mode") in dialect.allows
    return AgentRequest(uses, folder, silent, keeps_rules)


def find_silence(data: Mapping[str, Any], dialect: Dialect) -> str:
    """Return why nobody can be asked about a request, "" if a person can."""
    mode = data.get("permission_mode", "default")
    return dialect.silent or (
        "" if mode in TABLES["asking_modes"] else f"{mode} mode asks nobody"
    )


def read_input(value: object, what: str) -> dict[str, Any]:
    """Return the input of a tool; that of a patch may be its text alone. Raises ValueError."""
    is_patch = isinstance(value, str) and value.lstrip().startswith(PATCH_START)
    return {"patch": value} if is_patch else as_object(value, what)


def read_uses(
    data: Mapping[str, Any], dialect: Dialect, name: str, given: Mapping[str, Any]
) -> tuple[Use, ...]:
    """Return what a tool would do: an MCP tool by the names of its server and its own. Raises ValueError."""
    call = read_mcp_call(data, dialect, name, given)
    if call and dialect.mcp[0]:
        return (call,)
    uses = () if name in dialect.lists else find_uses(name, given)
    if dialect.name == "codex" and uses and isinstance(uses[0], ShellKind):
        # Codex applies such a command itself, without a shell.
        patch = PATCH_CALL.match(uses[0].command)
        return read_patch(patch["patch"]) if patch else uses
    return uses if call is None or name in TOOLS else (*uses, call)


def read_mcp_call(
    data: Mapping[str, Any], dialect: Dialect, name: str, given: Mapping[str, Any]
) -> McpCall | None:
    """Return the call of an MCP tool, None for another tool. Raises ValueError."""
    server = data.get("mcp_context")
    if isinstance(server, Mapping) and dialect.name == "gemini":
        return McpCall(
            ((text_in(server, "server_name"), text_in(server, "tool_name")),), given
        )
    if name in TABLES["wrapped"]:
        return read_wrapped_call(name, given)
    before, between = dialect.mcp
    if not name.startswith(before):
        return None
    name = name.removeprefix(before)
    names = split_name(name, between) if between else (("", name),)
    server = data.get("mcp_server")
    if isinstance(server, Mapping) and "name" in server:
        names = (*names, (text_in(server, "name"), name.rpartition(between)[2]))
    return McpCall(names, given) if names else None


def read_wrapped_call(name: str, given: Mapping[str, Any]) -> McpCall:
    """Read the call of an MCP tool that is the input of another tool. Raises ValueError."""
    server, tool, arguments = TABLES["wrapped"][name]
    inner = as_object(given.get(arguments) or {}, arguments)
    return McpCall(((text_in(given, server), text_in(given, tool)),), inner)


def split_name(name: str, between: str) -> tuple[tuple[str, str], ...]:
    """Return every way to split the name of an MCP tool into that of its server and its own."""
    parts = name.split(between)
    pairs = (
        (between.join(parts[:at]), between.join(parts[at:])) for at in range(1, len(parts))
    )
    return tuple(pair for pair in pairs if all(pair))


def find_folder(data: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return the current folder of a request, "" if it does not say. Raises ValueError."""
    for key in keys:
        value = data.get(key)
        first = next(iter(value), "") if isinstance(value, list) else value
        if first:
            return text_in({key: first}, key)
    return ""


def read_unknown(data: Mapping[str, Any]) -> tuple[Use, ...]:
    """Return the commands and the writes of a request whose form is not known. Raises ValueError."""
    uses = find_shapes(data)
    if uses:
        return uses
    name = next((data[key] for key in KEYS["names"] if isinstance(data.get(key), str)), "")
    given = next((data[key] for key in INPUTS if isinstance(data.get(key), Mapping)), data)
    # A tool that only reads is not blocked for the form of its request.
    return find_uses(name, given) if TOOLS.get(name) in CHANGING else ()
