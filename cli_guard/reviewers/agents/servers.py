"""Servers that an agent starts or calls, and plugins: new or changed, each with its reasons."""

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from posixpath import basename

from cli_guard.commands import Context, EffectKind, Setting, Verdict, judge_or_raise
from cli_guard.commands.engine import walk
from cli_guard.lazy import frozen
from cli_guard.model import Decision
from cli_guard.reviewers.agents.change_tree import HOME, ROOT
from cli_guard.reviewers.agents.reading import text_of
from cli_guard.reviewers.agents.started import write_words
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.traffic import LOOPBACK, meanings
from cli_guard.reviewers.commands.extract.documents import plain_words
from cli_guard.reviewers.commands.extract.nodes import (
    Items,
    Node,
    Scalar,
    Table,
    every,
    scalars,
)
from cli_guard.rules.catalog import read_table
from cli_guard.rules.near_names import find_near

CONTEXT = Context(setting=Setting.CHANGE, home=HOME, folder=ROOT, root=ROOT)
ADDRESS_KEYS = ("url", "httpUrl", "serverUrl", "server_url", "uri")
ENVIRONMENTS = ("env", "environment", "envs")
SECRET_TABLES = (*ENVIRONMENTS, "headers", "http_headers", "requestInit")
PACKAGE_OPTIONS = frozenset(("-p", "--package", "--from", "--spec"))
CONTAINERS = frozenset(("docker", "podman", "nerdctl"))
MOUNTS = re.compile(
    r"(?:.*[=,])?(?:/var/run/docker\.sock|/run/docker\.sock|~|\$HOME|\$\{(?:env:)?HOME\}|/|/home(?:/[^/:,]+)?|/Users(?:/[^/:,]+)?|/root|/etc)"
    r"(?:/?|/\.(?:ssh|aws|config|kube|docker|gnupg)/?)(?:[:,].*)?"
)
VERSION = re.compile(r"(?:==|@)\s*v?\d[\w.+-]*|@[0-9a-f]{7,40}")
MOVING = re.compile(
    r"@(?:latest|next|canary|beta|alpha|main|master|dev|nightly|\*|x)$|[:](?:latest|main|edge|nightly)$"
)
# A shorter package is one letter away from many words.
SHORTEST = 7
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "cmd", "cmd.exe", "powershell", "pwsh"))
FILLED = re.compile(r"\$\{?[A-Za-z_]|<[A-Za-z_ -]+>|%[A-Z_]+%|\{\{")
SECRET_NAME = re.compile(
    r"(?i)(?:token|secret|passw|api[_-]?key|authorization|private[_-]?key|credential)"
)
PLACEHOLDER = re.compile(
    r"(?i)(?:bearer\s+)?(?:x{3,}|your|changeme|placeholder|example|dummy|todo|test|none|null|.{0,7}$)"
)
# The tree, and the places of installed programs.
HERE = re.compile(rf"{ROOT}/|/(?:usr/(?:local/)?)?s?bin/|/opt/homebrew/bin/|/nix/store/")
REPOSITORY = re.compile(r"(?:git\+|github:|https?://|git@)")


@frozen
class Launch:
    """How a server is started or called: its words, its address, the package that a runner fetches."""

    words: tuple[str, ...] = ()
    address: str = ""
    package: str = ""
    is_image: bool = False

    @property
    def target(self) -> tuple[str, str]:
        return " ".join(self.words), self.address


def launch_of(node: Node) -> Launch:
    """Return how a server is started, by the words of its command or by its address."""
    if not isinstance(node, Table):
        return Launch(tuple(text_of(node).split()))
    command = node.get("command") or node.get("cmd")
    arguments = node.get("args")
    if isinstance(command, Table):
        arguments = command.get("args") or command.get("arguments")
        command = command.get("path")
    words = [
        each.text
        for each in chain(scalars(command), plain_words(arguments).nodes)
        if isinstance(each, Scalar)
    ]
    if len(words) == 1 and " " in words[0]:
        words = words[0].split()
    address = next((node.text(key) for key in ADDRESS_KEYS if node.text(key)), "")
    while (
        words
        and words[0].lower() in ("cmd", "cmd.exe", "env")
        and words[1:2]
        and words[1] in ("/c", "/C", "-S")
    ):
        words = words[2:]
    package, is_image = package_of(words)
    return Launch(tuple(words), address, package, is_image)


def package_of(words: Sequence[str]) -> tuple[str, bool]:
    """Return the package or image that a command line fetches, and whether it is an image."""
    if not words:
        return "", False
    program = basename(words[0]).removesuffix(".cmd")
    asked = " ".join(words[1:])
    if program in CONTAINERS and "run" in words:
        return fetched_by([program, *words[1:]]), True
    runners = read_table("agents/servers.toml")["runners"]
    is_runner = any(map(asked.startswith, runners.get(program, ())))
    return fetched_by([program, *words[1:]]) if is_runner else "", False


def fetched_by(words: Sequence[str]) -> str:
    """Return what a runner is to fetch: the value of an option, its first operand, or the program that it runs."""
    invocations = walk(shlex.join(words), CONTEXT).invocations
    if not invocations:
        # Too long to be read: the runner stands for what it fetches, without a version.
        return words[0]
    runner, *inner = invocations
    for option, value in runner.arguments.values:
        if not PACKAGE_OPTIONS.isdisjoint(option.names):
            return value.text or ""
    operands = [each.text or "" for each in runner.arguments.operands]
    return next(iter([*operands, *(each.name for each in inner)]), "")


@cache
def popular() -> frozenset[str]:
    """Return the packages of popular servers."""
    return frozenset(read_table("agents/servers.toml")["popular"]["packages"].split())


def bare_name(package: str) -> str:
    """Return a package without its version or extras."""
    start = package[:1]
    return start + re.split(r"@|==|\[|:", package[1:], maxsplit=1)[0].lower()


def reasons_of(statement: SurfaceStatement) -> Iterator[str]:
    """Yield why a person should look at a server."""
    launch = launch_of(statement.node)
    yield from reasons_of_package(launch)
    yield from reasons_of_command(launch)
    if launch.address.startswith("http://") and not LOOPBACK.fullmatch(launch.address):
        yield "plain http: whoever is in between reads and changes what is said"
    if isinstance(statement.node, Table):
        yield from reasons_of_tables(statement.node)


def reasons_of_package(launch: Launch) -> Iterator[str]:
    package = launch.package
    if not package or package.startswith(("./", "/", "$")):
        return
    near = find_near(bare_name(package), popular(), SHORTEST)
    if near:
        yield f"{package} is nearly the name of {near}"
    if FILLED.search(package):
        return
    if launch.is_image:
        if "@sha256:" not in package and (
            MOVING.search(package) or ":" not in basename(package)
        ):
            yield f"the image {package} is not fixed to a version"
    elif MOVING.search(package):
        yield f"{package} is a moving version"
    elif not VERSION.search(package[1:]):
        kind = "commit" if REPOSITORY.match(package) else "version"
        yield f"{package} has no {kind}: what runs is chosen anew at each start"


def reasons_of_command(launch: Launch) -> Iterator[str]:
    words = launch.words
    if not words:
        return
    program = basename(words[0])
    if program in SHELLS and any(
        re.fullmatch(r"-\w*c|/[cC]|-Command", word) for word in words[1:3]
    ):
        yield "a line for a shell"
    verb = "mounted" if program in CONTAINERS else "given to it as a whole"
    yield from (f"{word} is {verb}" for word in words[1:] if MOUNTS.fullmatch(word))
    if program in CONTAINERS:
        if "--privileged" in words or "--network=host" in words:
            yield "the container reaches this machine"
    elif re.match(r"\$HOME|[A-Za-z]:\\", words[0]):
        yield f"{words[0]} is outside the repository"
    text = write_words(Items([Scalar(((1, word),)) for word in words]))
    verdict = judge_or_raise(text, CONTEXT)
    yield from outside_programs(verdict)
    if verdict.verdict is Decision.DENY:
        yield verdict.reason
    elif program in SHELLS and len(words) > 2:
        inner = judge_or_raise(words[-1], CONTEXT)
        if inner.verdict is Decision.DENY:
            yield inner.reason


def outside_programs(verdict: Verdict) -> Iterator[str]:
    """Yield the programs and scripts that a command runs from elsewhere than the repository and the system."""
    for each in verdict.effects:
        target = each.target or ""
        is_path = each.kind is EffectKind.EXEC and target.startswith(("/", "~"))
        if is_path and not HERE.match(target):
            yield f"{each.reason}, outside the repository"


def reasons_of_tables(node: Table) -> Iterator[str]:
    """Yield what the variables and headers of a server reveal or change."""
    for key in ENVIRONMENTS:
        table = node.get(key)
        for name, value in table.items() if isinstance(table, Table) else ():
            yield from meanings(name, text_of(value))
    for key in SECRET_TABLES:
        table = node.get(key)
        for name, value in table.items() if isinstance(table, Table) else ():
            text = text_of(value)
            is_secret = SECRET_NAME.search(name) and not FILLED.search(text)
            if is_secret and not PLACEHOLDER.match(text):
                yield f"{name} holds a secret in clear"


def other_words(launch: Launch) -> list[str]:
    """Return the words that start a server without its package."""
    return [each for each in launch.words if each != launch.package]


def line_of_reasons(statement: SurfaceStatement, reasons: Sequence[str]) -> int:
    """Return the line of the first word of a server that a reason names, 0 if none does."""
    words = [each for each in every([statement.node]) if isinstance(each, Scalar)]
    named = (word.line for reason in reasons for word in words if is_named(word, reason))
    return next(named, 0)


def is_named(word: Scalar, reason: str) -> bool:
    return len(word.text) >= SHORTEST and word.text in reason


def change_of(statement: SurfaceStatement, same: Sequence[SurfaceStatement]) -> str:
    """Return what changed of a server that was there under the same name; "" if it is new, or starts as before."""
    if not same:
        return ""
    now = launch_of(statement.node)
    if any(launch_of(each.node).target == now.target for each in same):
        return ""
    was = launch_of(same[0].node)
    if was.address != now.address:
        return "its address changed under the same name"
    if (
        was.package
        and bare_name(was.package) == bare_name(now.package)
        and other_words(was) == other_words(now)
        and VERSION.search(now.package[1:])
    ):
        return "its version changed"
    return "its command changed under the same name"
