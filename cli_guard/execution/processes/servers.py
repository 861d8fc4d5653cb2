"""Finds the port that a command will listen on, by the names and the options of common servers.

Only the words of the command are read: a port that is computed (`$PORT`) or in a file is unknown.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from posixpath import basename

from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.plain import find_commands, plain_text
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

# A longer text is no command line that anybody starts a server with.
LONGEST = 20_000
RUNNERS = frozenset(
    "sudo env nohup exec nice command time npx bunx cross-env uv poetry pipenv pdm hatch bundle run".split()
)
MANAGERS = frozenset("npm pnpm yarn bun".split())
# The scripts of a package.json that start a server; the port stands in its options or in PORT.
SCRIPTS = frozenset("start dev develop serve server preview web watch storybook".split())
PYTHON = re.compile(r"(?:python|pypy)[\d.]*\Z")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
ADDRESS = re.compile(r"(?:[a-z]+://)?(?:\[[0-9A-Fa-f:.]*\]|[^:/\[\]]*):(\d{1,5})/?\Z")
# `--bind 0.0.0.0` names a host alone.
HOST = re.compile(r"[A-Za-z][A-Za-z0-9.-]*\Z|\d+(?:\.\d+)+\Z")
# Here-documents, substitutions and functions hold text that is not run as it is written.
SCRIPT = re.compile(r"<<|\$\(|`|\)\s*\{")
DEEPEST = 8
VARIABLES = frozenset(
    "PORT FLASK_RUN_PORT UVICORN_PORT NUXT_PORT STREAMLIT_SERVER_PORT".split()
)


# The options that servers take a port or an address by.
OPTION = re.compile(r"(?:--(?:[A-Za-z]+\.)?port|--listen|--bind|--dev-addr|-[abplPS])\Z")
# With these the port stands elsewhere, or there is none.
ELSEWHERE = frozenset(("--uds", "--fd", "-c", "--config"))
NO_SERVER = frozenset(("--help", "--version", "list", "stop", "workspaces"))


@frozen
class ServerProgram:
    """A program that listens; `rules/processes/servers.toml` says what the fields mean."""

    default: int | None = None
    command: Collection[str] = ()
    moves: bool = False
    positional: bool = False


@frozen
class Expected:
    """The port of a server. `moves`: if it is in use, the server takes another one."""

    port: int
    moves: bool = False


SERVERS = {
    name: ServerProgram(**row) for name, row in read_table("processes/servers.toml").items()
}
CONTAINERS = frozenset("docker podman nerdctl".split())
# The options of `docker run` that take no value; any other takes one.
CONTAINER_FLAGS = frozenset(
    "--detach --disable-content-trust --init --interactive --no-healthcheck --oom-kill-disable --privileged "
    "--publish-all --quiet --read-only --rm --sig-proxy --tty".split()
)
SHORT_FLAGS = re.compile(r"-[dtiPq]+\Z")
KNOWN = frozenset((*SERVERS, *CONTAINERS))
NAMES = (
    *(name for name in SERVERS if name != "(script)"),
    *MANAGERS,
    *CONTAINERS,
    "PORT=",
)


def find_expected_port(command: str | Sequence[str]) -> Expected | None:
    """Return the port of the first server that a command starts, None if unknown. Raises nothing.

    A text is split as a shell splits it, words are one command.
    """
    text = command if isinstance(command, str) else " ".join(command)
    if (
        len(text) > LONGEST
        or SCRIPT.search(text)
        or not any(name in text for name in NAMES)
    ):
        return None
    for words in split(text) if isinstance(command, str) else [list(command)]:
        variable, words = strip_runners(words)
        if not words:
            continue
        server = SERVERS.get(words[0].partition("@")[0])
        if server and starts(server, words[1:]):
            return port_of(server, words[1:], variable)
        if words[0] in CONTAINERS:
            port = published_port(words[1:])
        else:
            port = None if server else port_of_unknown(words, variable)
        if port:
            return Expected(port)
    return None


def split(text: str) -> Iterator[list[str]]:
    """Split a text into the words of its simple commands; none for text with a syntax error."""
    script = parse(text)
    for command in () if script.errors else find_commands(script):
        settings = [f"{each.name}={plain_text(each.value)}" for each in command.assignments]
        yield [*settings, *map(plain_text, command.words)]


def strip_runners(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the value of PORT in front of a command, and its words without `env`, `npx` and the like."""
    port = None
    for _ in range(DEEPEST):
        if not words:
            break
        name = basename(words[0])
        if ASSIGNMENT.match(words[0]):
            variable, _, value = words[0].partition("=")
            port = value if variable in VARIABLES else port
            words = words[1:]
        elif name in RUNNERS or words[0] == "-y":
            words = words[1:]
        elif PYTHON.match(name) and "-m" in words[1:3]:
            words = words[words.index("-m") + 1 :]
        elif PYTHON.match(name) and len(words) > 1:
            return port, [basename(words[1]), *words[2:]]
        elif name in MANAGERS:
            return port, script_words(name, words[1:])
        else:
            return port, [name if name in KNOWN else words[0], *words[1:]]
    return port, []


def script_words(manager: str, words: list[str]) -> list[str]:
    """Return the words of a package.json script, or of the program that a package manager runs."""
    if words[:1] in (["exec"], ["x"], ["dlx"]):
        return [word for word in words[1:] if word not in ("--", "-y")]
    words = words[1:] if words[:1] == ["run"] else words
    if not words or words[0].partition(":")[0] not in SCRIPTS:
        return words if words and words[0] in SERVERS and manager != "npm" else []
    options = words[1:]
    if "--" in words:
        options = words[words.index("--") + 1 :]
    elif manager == "npm":
        # npm hands on only what stands behind `--`.
        options = []
    return ["(script)", *options]


def starts(server: ServerProgram, words: list[str]) -> bool:
    """Check whether a program is called as a server: by its sub-command, the first operand."""
    if NO_SERVER & set(words):
        return False
    if not server.command:
        return True
    # `flask --app NAME run`
    rest = words[2:] if words[:1] == ["--app"] else words
    first = next((word for word in rest if word[0:1].isalpha()), "")
    return first in server.command


def port_of(
    server: ServerProgram, words: list[str], variable: str | None
) -> Expected | None:
    """Return the port that the options name, else the documented one; None if it is named, but not a number."""
    named = [] if variable is None else [variable]
    for word, following in zip(words, [*words, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if OPTION.match(name):
            named.append(value if equals else following)
        elif OPTION.match(word[:2]) and word[2:].isdigit():
            named.append(word[2:])
    if server.positional:
        named += [word for word in words if not word.startswith("-")][-1:]
    named = [each for each in named if not HOST.match(each) or each == variable]
    if named:
        port = parse_port(named[-1])
        return Expected(port) if port else None
    if server.default is None or ELSEWHERE & set(words):
        return None
    return Expected(server.default, server.moves)


def port_of_unknown(words: list[str], variable: str | None) -> int | None:
    """Return the value of PORT before a program that is not in the table.

    A bare word is none: `PORT=4000 make` builds, `PORT=4000 make serve` and `PORT=4000 ./app` may listen.
    """
    is_run = "/" in words[0] or any(not word.startswith("-") for word in words[1:])
    return parse_port(variable) if variable and is_run else None


def published_port(words: list[str]) -> int | None:
    """Return the first TCP port of this machine that `docker run` publishes; the words behind the image are not its."""
    words = words[1:] if words[:1] == ["container"] else words
    if words[:1] != ["run"]:
        return None
    rest = iter(words[1:])
    for word in rest:
        if not word.startswith("-"):
            return None
        name, equals, value = word.partition("=")
        if word.startswith("-p") and word != "-p":
            name = "-p"
            value = word[2:].lstrip("=")
        elif not (equals or name in CONTAINER_FLAGS or SHORT_FLAGS.match(name)):
            value = next(rest, "")
        if name in ("-p", "--publish") and (port := host_port(value)):
            return port
    return None


def host_port(published: str) -> int | None:
    """Return the port of `[ADDRESS:]PORT:CONTAINER_PORT[/PROTOCOL]`; None for a free choice, a range, UDP."""
    ports, _, protocol = published.partition("/")
    host = ports.rpartition(":")[0]
    return parse_port(host) if protocol in ("", "tcp") else None


def parse_port(text: str) -> int | None:
    """Return the number of `8000` or `host:8000`, None for anything else."""
    found = ADDRESS.match(text)
    digits = found[1] if found else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        return None
    return int(digits) if 0 < int(digits) <= 65535 else None
