"""The programs that a command starts, in order: also behind `cd x &&`, `sudo`, `npx`, `npm run` and `python -m`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cli_guard.commands.effects.arguments import read_arguments
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.model import Span
from cli_guard.commands.parse.syntax import parse
from cli_guard.commands.parse.tree import (
    Assignment,
    Block,
    Command,
    For,
    Node,
    Parameter,
    Pipeline,
    Text,
    Word,
)
from cli_guard.commands.programs import table
from cli_guard.execution.processes.server_tables import Launch, data

# A longer text is no command line that anybody starts a server with, and a deeper one neither.
MOST_CHARS = 20_000
DEEPEST = 8
SHELLS = frozenset("sh bash dash zsh ksh ash".split())
SETS_ENVIRONMENT = frozenset(("export", "declare", "typeset"))
NOWHERE = Span(0, 0)
SCRIPT = "(script)"

Variables = dict[str, str | None]


def launches(command: str | Sequence[str]) -> Iterator[Launch]:
    """What is started; a text is read as bash reads it, words are one command."""
    if isinstance(command, str):
        if len(command) <= MOST_CHARS:
            yield from Walk().text(command)
        return
    words = [str(word) for word in command]
    if sum(map(len, words)) <= MOST_CHARS:
        yield from Walk().words([literal(word, NOWHERE) for word in words])


@dataclass
class Walk:
    """Goes through the commands of a script in the order in which they stand, whatever the branch.

    `variables` are those of the shell, `exported` the names of those that a program gets.
    """

    variables: Variables = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    depth: int = 0

    def text(self, text: str) -> Iterator[Launch]:
        """A script. One that bash would not read starts nothing."""
        script = parse(text) if self.depth < DEEPEST else None
        if script is None or script.errors:
            return
        self.depth += 1
        for node in script.items:
            yield from self.node(node)
        self.depth -= 1

    def node(self, node: Node) -> Iterator[Launch]:
        """A command, or those in a block. A function is not run by being defined."""
        if isinstance(node, Command):
            yield from self.command(node)
            return
        below: Sequence[Node] = ()
        if isinstance(node, Block):
            below = node.items
        elif isinstance(node, Pipeline):
            below = node.stages
        elif isinstance(node, For):
            below = (node.body,)
        for each in below:
            yield from self.node(each)

    def command(self, command: Command) -> Iterator[Launch]:
        """A simple command; what it sets without a program is set for the rest of the script."""
        given = {each.name: self.value(each) for each in command.assignments}
        words = [self.word(word) for word in command.words]
        if not words:
            self.variables.update(given)
        elif words[0].text in SETS_ENVIRONMENT:
            self.export(words[1:])
        else:
            exported = {name: self.variables.get(name) for name in self.exported}
            yield from self.words(words, {**exported, **given})

    def export(self, words: list[Field]) -> None:
        """`export NAME=VALUE`, `export NAME`."""
        for word in words:
            name, equals, value = word.start.partition("=")
            if name.isidentifier():
                self.exported.add(name)
                if equals:
                    self.variables[name] = value if word.text is not None else None

    def value(self, assignment: Assignment) -> str | None:
        """What a variable is set to, None if that is not known."""
        if assignment.array or assignment.append or len(assignment.values) != 1:
            return None
        return self.word(assignment.values[0]).text

    def word(self, word: Word) -> Field:
        """A word as far as it is known before it runs."""
        known = ""
        for part in word.parts:
            text: str | None = None
            if isinstance(part, Text):
                text = part.text
            elif isinstance(part, Parameter):
                text = self.parameter(part)
            if text is None:
                return Field(None, known, word.span)
            known += text
        return Field(known, known, word.span)

    def parameter(self, part: Parameter) -> str | None:
        """`$name`, or what `${name:-word}` falls back to: the environment of a command is empty of such names."""
        if part.operator == "" and part.name in self.variables:
            return self.variables[part.name]
        if part.operator in (":-", "-", ":=", "=") and part.argument is not None:
            return self.variables.get(part.name) or self.word(part.argument).text
        return None

    def words(self, words: list[Field], env: Mapping[str, str | None] | None = None) -> Iterator[Launch]:
        """One command: what it is, and what it runs in turn."""
        env = dict(env or {})
        for _ in range(DEEPEST):
            while words and (pair := _assigned(words[0])):
                env[pair[0]] = pair[1]
                words = words[1:]
            if not words or not words[0].text:
                return
            name = _name(words[0].text)
            if name in SHELLS:
                yield from self.shell(words[1:])
                return
            if name in _by_name("runner"):
                script, words = _run(_by_name("runner")[name], words[1:])
                if script:
                    yield Launch(SCRIPT, script, env)
                continue
            yield Launch(name, words[1:], env)
            words = _inner(name, words[1:])

    def shell(self, words: list[Field]) -> Iterator[Launch]:
        """`bash -c TEXT`."""
        for at, word in enumerate(words[:-1]):
            if word.start.startswith("-") and not word.start.startswith("--") and word.start.endswith("c"):
                text = words[at + 1].text
                if text is not None:
                    yield from Walk(dict(self.variables), set(self.exported), self.depth).text(text)
                return


@cache
def _by_name(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The tables of one kind by each of their programs."""
    return {name: each for each in data()[kind] for name in each["program"].split()}


@cache
def _wrappers(key: str) -> frozenset[str]:
    return frozenset(data()["wrappers"][key].split())


def _name(word: str) -> str:
    """The program that a word calls: `./node_modules/.bin/vite`, `vite@5`, `@11ty/eleventy`."""
    name = word.rstrip("/")
    scoped = name.startswith("@") and name.count("/") == 1
    if not scoped:
        name = name.rpartition("/")[2]
    cut = name.rfind("@")
    return name[:cut] if cut > 0 else name


def _assigned(word: Field) -> tuple[str, str | None] | None:
    """`NAME=VALUE` in front of a command, behind `env` or `cross-env`."""
    name, equals, value = word.start.partition("=")
    if not equals or not name.isidentifier():
        return None
    return name, value if word.text is not None else None


def _inner(name: str, words: list[Field]) -> list[Field]:
    """The command that a program runs in the rest of its words; none if it runs none."""
    if name in _wrappers("plain"):
        at = next((at for at, word in enumerate(words) if not word.start.startswith("-")), len(words))
        skipped = words[at:]
        return skipped[1:] if skipped and skipped[0].text == "run" else skipped
    if name in _wrappers("programs"):
        spec = table(name)
        return read_arguments(spec, words).rest if spec else []
    plain = name.rstrip("0123456789.")
    interpreter = _by_name("interpreter").get(plain) or _by_name("interpreter").get(name)
    return _script(interpreter, words) if interpreter else []


def _script(interpreter: Mapping[str, Any], words: list[Field]) -> list[Field]:
    """The script or module that an interpreter runs, with its words."""
    values, code = interpreter["values"].split(), interpreter["code"].split()
    module = interpreter.get("module", "\0")
    at = 0
    while at < len(words) and words[at].start.startswith("-"):
        word = words[at].start
        if word in code:
            return []
        if word == module:
            return words[at + 1 :]
        if word.startswith(module):
            return [literal(word.removeprefix(module), words[at].span), *words[at + 1 :]]
        at += 2 if word in values else 1
    return words[at:]


def _run(runner: Mapping[str, Any], words: list[Field]) -> tuple[list[Field], list[Field]]:
    """The name and words of a script of package.json, or of a command that a package manager runs; both may be none."""
    values = runner["values"].split()
    at = 0
    while at < len(words) and words[at].start.startswith("-"):
        at += 2 if words[at].text in values else 1
    rest = words[at:]
    if not rest:
        return [], []
    first = rest[0].text or ""
    if first in runner["wraps"].split():
        return [], _wrapped(rest[1:])
    direct = bool(runner.get("direct"))
    if first in runner["run"].split():
        rest = rest[1:]
        direct = True
    elif first in runner["starts"].split():
        direct = True
    if not rest or not direct:
        return [], []
    if runner.get("dashes"):
        dashes = next((at for at, word in enumerate(rest) if word.text == "--"), len(rest))
        return [rest[0], *rest[dashes + 1 :]], []
    return rest, rest


def _wrapped(words: list[Field]) -> list[Field]:
    """`npm exec [options] [--] command`."""
    at = next((at for at, word in enumerate(words) if not word.start.startswith("-")), len(words))
    return words[at:]
