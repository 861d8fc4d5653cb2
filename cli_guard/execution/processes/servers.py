"""Finds the port that a command will listen on, by the options of common servers.

Only the words of the command are read: a port that is computed (`$PORT`) or in a file is unknown.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# A longer text is no command line that anybody starts a server with.
LONGEST = 20_000
SEPARATORS = frozenset((";", "&&", "||", "|", "&", "(", ")", "{", "}", "\n"))
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
HOST = re.compile(r"[A-Za-z0-9.-]+\Z")
# Here-documents, substitutions and functions hold text that is not run as it is written.
SCRIPT = re.compile(r"<<|\$\(|`|\)\s*\{")
DEEPEST = 8
HELP = frozenset(("--help", "--version"))
VARIABLES = frozenset(
    ("PORT", "FLASK_RUN_PORT", "UVICORN_PORT", "NUXT_PORT", "STREAMLIT_SERVER_PORT")
)


@dataclass(frozen=True, slots=True)
class Server:
    """How a server takes its port.

    `options` take a port or an address, `command` is the sub-command that starts it, `positional`: an operand may be
    the port or an address, `default` is the documented port, `moves`: it takes another one if that is in use. With a
    word of `unless` it has no default; `values` are options whose value is not an operand.
    """

    options: tuple[str, ...] = ("--port", "-p")
    command: tuple[str, ...] = ()
    positional: bool = False
    default: int | None = None
    moves: bool = False
    unless: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """The port of a server. `moves`: if it is in use, the server takes another one."""

    port: int
    moves: bool = False


LONG = ("--port",)
BIND = ("-b", "--bind")
NO_LAB = ("list", "stop", "build", "workspaces")
# The defaults are those of each project's own documentation.
SERVERS = {
    "(script)": Server(("--port", "-p", "--listen")),
    "http.server": Server((), positional=True, default=8000),
    "manage.py": Server((), ("runserver",), positional=True, default=8000),
    "flask": Server(command=("run",), default=5000, values=("--app", "-A", "-h", "--host")),
    "uvicorn": Server(LONG, default=8000, unless=("--uds", "--fd")),
    "gunicorn": Server(BIND, default=8000, unless=("-c", "--config")),
    "hypercorn": Server(BIND, default=8000, unless=("-c", "--config")),
    "fastapi": Server(LONG, ("dev", "run"), default=8000),
    "streamlit": Server(("--server.port",), ("run",), default=8501, moves=True),
    "jupyter": Server(
        ("--port", "--ServerApp.port"),
        ("lab", "notebook"),
        default=8888,
        moves=True,
        unless=NO_LAB,
    ),
    "mkdocs": Server(("-a", "--dev-addr"), ("serve",), default=8000),
    "vite": Server(LONG, ("dev", "serve", ""), default=5173, moves=True),
    "next": Server(command=("dev", "start"), default=3000),
    "ng": Server(LONG, ("serve",), default=4200),
    "webpack-dev-server": Server(LONG, default=8080, moves=True),
    "http-server": Server(default=8080, moves=True),
    "serve": Server(("-l", "--listen", "-p"), default=3000, moves=True),
    "json-server": Server(default=3000),
    "php": Server(("-S",)),
    "rails": Server(command=("server", "s"), default=3000),
    "jekyll": Server(("--port", "-P"), ("serve", "s"), default=4000),
    "hugo": Server(command=("server", "serve"), default=1313),
    "redis-server": Server(LONG),
}
NAMES = (*(name for name in SERVERS if name != "(script)"), *MANAGERS)


def find_expected_port(command: str | Sequence[str]) -> Expected | None:
    """Return the port of the first server that a command starts, None if unknown. Raises nothing.

    A text is split as a shell splits it, words are one command.
    """
    text = command if isinstance(command, str) else " ".join(map(str, command))
    if (
        len(text) > LONGEST
        or SCRIPT.search(text)
        or not any(name in text for name in NAMES)
    ):
        return None
    for words in (
        split(text) if isinstance(command, str) else [[str(word) for word in command]]
    ):
        port_variable, words = strip_runners(words)
        server = SERVERS.get(words[0].partition("@")[0]) if words else None
        if server and (operands := find_operands(server, words[1:])) is not None:
            return port_of(server, words[1:], operands, port_variable)
    return None


def split(text: str) -> Iterator[list[str]]:
    """Split a text into its simple commands; none for text with a syntax error."""
    reader = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=";&|()\n")
    reader.whitespace = " \t"
    reader.whitespace_split = True
    words: list[str] = []
    depth = 0
    try:
        for word in reader:
            if word in SEPARATORS or not word.strip(";&|()\n"):
                depth += word.count("(") - word.count(")")
                if depth < 0:
                    return
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:
        return
    yield words


def strip_runners(words: list[str]) -> tuple[str | None, list[str]]:
    """Return the value of PORT in front of a command, and its words without `env`, `npx` and the like."""
    port = None
    for _ in range(DEEPEST):
        if not words:
            break
        name = words[0].rpartition("/")[2]
        if ASSIGNMENT.match(words[0]):
            variable, _, value = words[0].partition("=")
            port = value if variable in VARIABLES else port
            words = words[1:]
        elif name in RUNNERS or words[0] == "-y":
            words = words[1:]
        elif PYTHON.match(name) and "-m" in words[1:3]:
            words = words[words.index("-m") + 1 :]
        elif PYTHON.match(name) and len(words) > 1:
            return port, [words[1].rpartition("/")[2], *words[2:]]
        elif name in MANAGERS:
            return port, script_words(name, words[1:])
        else:
            return port, [name, *words[1:]]
    return port, []


def script_words(manager: str, words: list[str]) -> list[str]:
    """Return the words of a package.json script, or of the program that a package manager runs."""
    if words[:1] in (["exec"], ["x"], ["dlx"]):
        return [word for word in words[1:] if word not in ("--", "-y")]
    words = words[1:] if words[:1] == ["run"] else words
    if not words or words[0].partition(":")[0] not in SCRIPTS:
        return words if words and words[0] in SERVERS and manager != "npm" else []
    # npm hands on only what stands behind `--`.
    options = (
        words[words.index("--") + 1 :]
        if "--" in words
        else ([] if manager == "npm" else words[1:])
    )
    return ["(script)", *options]


def find_operands(server: Server, words: list[str]) -> list[str] | None:
    """Return the operands behind the sub-command, None if these words do not start the server."""
    operands = []
    before = ""
    for word in words:
        if not word.startswith("-") and before not in (*server.options, *server.values):
            operands.append(word)
        before = word
    if HELP & set(words) or (
        server.command and (operands[0] if operands else "") not in server.command
    ):
        return None
    return operands[1:] if server.command else operands


def port_of(
    server: Server, words: list[str], operands: list[str], variable: str | None
) -> Expected | None:
    given = variable
    for word, following in zip(words, [*words, ""][1:], strict=True):
        name, equals, value = word.partition("=")
        if name in server.options:
            given = value if equals else following
        elif word[:2] in server.options and word[2:].isdigit():
            given = word[2:]
    if server.positional and operands:
        given = operands[-1]
    default = None if set(server.unless) & set(words) else server.default
    if given is None:
        return Expected(default, server.moves) if default else None
    port = parse_port(given)
    if port is None and server.options == BIND and HOST.match(given):
        return Expected(default, server.moves) if default else None
    return Expected(port) if port else None


def parse_port(text: str) -> int | None:
    """Return the number of `8000` or `host:8000`, None for anything else."""
    found = ADDRESS.match(text)
    digits = found[1] if found else text
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 6):
        return None
    return int(digits) if 0 < int(digits) <= 65535 else None
