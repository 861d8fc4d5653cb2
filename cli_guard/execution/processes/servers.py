"""Which port a command will listen on, by the command lines of known servers (`rules/processes/servers.toml`).

A command line tells only so much: a tool's own configuration may name another port, and what a script of a
package.json runs is not known. So this is what to expect, not what is.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from cli_guard.commands.effects.arguments import read_arguments
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.programs import table
from cli_guard.execution.processes.server_tables import Launch, Server, names, servers

# What may stand in front of an address (`tcp://`), and behind it.
ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?P<host>\[[0-9a-fA-F:.%]*\]|[^:/\[\]]*)(?::(?P<port>\d{1,6}))?/?\Z"
)
NO_HOST = re.compile(r"(?:unix|fd|uds|pipe)[:@]|/")
HELP = frozenset(("--help", "--version"))
MOST_DIGITS = 6
PUBLISHED = re.compile(
    r"(?:(?:\[[^\]]*\]|[^:\[\]]*):)?(?P<port>\d{1,6})(?:-\d{1,6})?:[\d-]{1,13}(?:/(?P<protocol>\w+))?\Z"
)
PAIR = re.compile(r"(?P<port>\d{1,6})(?::\d{1,6})?\Z")


@dataclass(frozen=True, slots=True)
class Expected:
    """The port of a server. `given`: its command names it. `moves`: in use, the server takes another one."""

    port: int
    given: bool
    moves: bool = False


@dataclass
class Line:
    """The words of a launch, told apart: options with their values, and operands."""

    options: list[tuple[str, Field | None]] = field(default_factory=list)
    operands: list[Field] = field(default_factory=list)


def expected(command: str | Sequence[str]) -> Expected | None:
    """What a command will listen on; None if it starts no server that is known, or does not tell. Never raises.

    Of several servers in one text, the first. A text is read as bash reads it, words are one command.
    """
    text = command if isinstance(command, str) else " ".join(map(str, command))
    # Most commands start no server: these are not parsed.
    if not any(name in text for name in names()):
        return None
    # It loads the grammar of bash.
    from cli_guard.execution.processes.launches import launches

    for launch in launches(command):
        found, known = judge(launch)
        if known:
            return found
    return None


def judge(launch: Launch) -> tuple[Expected | None, bool]:
    """The port of a launch, and whether it is one of a known server at all."""
    for server in servers().get(launch.program, ()):
        if server.published:
            port = _published(server, launch)
            return (Expected(port, given=True) if port else None), port is not None
        line = _read(server, launch.words)
        operands = _behind_command(server, line)
        if operands is not None:
            return _port(server, line, operands, launch.variables), True
    return None, False


def _read(server: Server, words: Sequence[Field]) -> Line:
    line = Line()
    valued = {*server.ports, *server.addresses, *server.values}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word.text == "--":
            # A script of a package manager hands on what stands behind; so do the tools that take no operands there.
            continue
        if not word.start.startswith("-") or word.start == "-":
            line.operands.append(word)
            continue
        name, equals, value = word.start.partition("=")
        if name not in valued and word.start[:2] in valued and len(name) > 2:
            # `-p3000`: the value of a short option may be attached.
            name, equals, value = word.start[:2], "=", word.start[2:].removeprefix("=")
        if equals:
            line.options.append((name, _piece(word, value)))
        elif name in valued:
            line.options.append((name, words[at] if at < len(words) else None))
            at += 1
        else:
            line.options.append((name, None))
    return line


def _piece(word: Field, value: str) -> Field:
    return Field(value if word.text is not None else None, value, word.span)


def _behind_command(server: Server, line: Line) -> list[Field] | None:
    """The operands behind the command; None if this is not what the server is started with."""
    names = {name for name, _ in line.options}
    if names & HELP or not set(server.needs) <= names:
        return None
    first = [word.text or "" for word in line.operands[:2]]
    if set(first) & set(server.excluded):
        return None
    if not server.command:
        if server.addresses and not (server.default or server.ports) and not names & set(server.addresses):
            return None
        return line.operands
    if not first or not any(fnmatchcase(first[0], pattern) for pattern in server.command):
        return None
    return line.operands[1:]


def _port(
    server: Server, line: Line, operands: list[Field], variables: Mapping[str, str | None]
) -> Expected | None:
    """The port by options, operand, environment and default, in this order."""
    given = list(_given(server, line))
    if server.position and len(operands) > server.at:
        given.append(_by_kind(server.position, operands[server.at].text))
    given += [_address(variables[name]) for name in server.variables if name in variables][:1]
    for port in given:
        if port != NOTHING_SAID:
            return Expected(port, given=True) if port else None
    names = {name for name, _ in line.options}
    if server.default is None or names & set(server.unless) or (server.bare and operands):
        return None
    return Expected(server.default, given=False, moves=server.moves)


# An address without a port: what is not named is the default. Next to it, 0 stands for a port that is not known.
NOTHING_SAID = -1


def _given(server: Server, line: Line) -> Iterator[int]:
    ports = [_number(value.text if value else None) for name, value in line.options if name in server.ports]
    yield from ports[-1:]
    found = [
        _address(value.text if value else None) for name, value in line.options if name in server.addresses
    ]
    # A server may listen on a socket file as well.
    yield from sorted(found, key=lambda port: port <= 0)[:1]


def _by_kind(kind: str, text: str | None) -> int:
    if kind == "pair":
        pair = PAIR.match(text or "")
        return _number(pair["port"]) if pair else 0
    return _address(text) if kind == "address" else _number(text)


def _number(text: str | None) -> int:
    if text is None or len(text) > MOST_DIGITS or not (text.isascii() and text.isdigit()):
        return 0
    number = int(text)
    return number if number <= 65535 else 0


def _address(text: str | None) -> int:
    if text is None or NO_HOST.match(text):
        return 0
    if text.isascii() and text.isdigit():
        return _number(text)
    found = ADDRESS.match(text)
    if found is None:
        return 0
    return NOTHING_SAID if found["port"] is None else _number(found["port"])


def _published(server: Server, launch: Launch) -> int | None:
    """The first port of this machine that a container gets; the command engine's table knows the options."""
    spec = table(launch.program)
    if spec is None:
        return None
    arguments = read_arguments(spec, list(launch.words))
    if arguments.spec.name.split()[-1] not in server.command:
        return None
    options: Iterable[tuple[str, str | None]] = (
        (name, value.text) for option, value in arguments.values for name in option.names
    )
    for name, text in options:
        found = PUBLISHED.match(text or "") if name in server.published else None
        if found and (found["protocol"] or "tcp") == "tcp":
            return _number(found["port"]) or None
    return None
