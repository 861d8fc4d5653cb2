"""What a command of ours is: a name, its help, and a function from a call to an answer."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cli_guard.errors import CliGuardError

if TYPE_CHECKING:
    from bashkit import FileSystem

    from cli_guard.assistant.sandbox.model import Image, Shell

FAILED, WRONG_USAGE = 1, 2
HELP = ("--help", "-h")


class CommandFailure(Exception):
    """A command that cannot do what it was asked: one line with the next step."""

    exit_code = FAILED


class WrongUsage(CommandFailure):
    """Arguments that do not hold."""

    exit_code = WRONG_USAGE


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its words, standard input, the folder it was called in, and the world.

    `began` is the time (seconds since the epoch) from which on a file counts as written by the call.
    """

    arguments: tuple[str, ...]
    stdin: bytes
    folder: str
    files: FileSystem = field(repr=False)
    world: Shell = field(repr=False)
    began: float = 0.0

    def with_arguments(self, arguments: tuple[str, ...]) -> Call:
        """The same call with other words."""
        return replace(self, arguments=arguments)

    def absolute(self, path: str) -> str:
        """The path in the sandbox that a word names."""
        return posixpath.normpath(posixpath.join(self.folder, path))

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises CommandFailure."""
        try:
            return self.files.read_file(self.absolute(path))
        except (RuntimeError, OSError):
            raise CommandFailure(f"no file {path} here: see what is there with ls or find") from None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command gives back."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0
    images: tuple[Image, ...] = ()

    @classmethod
    def of(cls, text: str) -> Answer:
        """Some lines, with a line end if they have none."""
        ended = text if not text or text.endswith("\n") else text + "\n"
        return cls(ended.encode("utf-8", "surrogateescape"))


Run = Callable[[Call], Answer]


def never(arguments: tuple[str, ...]) -> bool:
    """A command that leaves standard input to whoever reads next."""
    return False


@dataclass(frozen=True, slots=True)
class SubCommand:
    """A part of a command: what is written behind its name, what it does, and how many words it needs."""

    parameters: str
    summary: str
    run: Run
    needs: int = 0


@dataclass(frozen=True, slots=True)
class OwnCommand:
    """A command beside those of bash.

    `summary` is its line in the list, `usage` what its bare call prints, with `details` below. One with
    `subcommands` is run through them; another by `run`, and `bare` says that it needs no argument.
    `reads` tells for its words whether it takes standard input.
    """

    name: str
    summary: str
    parameters: str = ""
    details: tuple[str, ...] = ()
    run: Run | None = None
    bare: bool = True
    reads: Callable[[tuple[str, ...]], bool] = never
    subcommands: Mapping[str, SubCommand] = field(default_factory=dict)

    @property
    def usage(self) -> str:
        """Its help, complete."""
        lines = [f"usage: {self.name} {self.parameters}".rstrip(), f"  {self.summary}"]
        if self.subcommands:
            lines[0] = f"usage: {self.name} {'|'.join(self.subcommands)}"
            rows = [
                (f"{self.name} {n} {s.parameters}".rstrip(), s.summary) for n, s in self.subcommands.items()
            ]
            width = max(len(left) for left, _ in rows)
            lines += (f"  {left:{width}}  {right}" for left, right in rows)
        return "\n".join((*lines, *(f"  {line}" for line in self.details)))

    def answer(self, call: Call) -> Answer:
        """Runs it; what fails becomes words and an exit code."""
        try:
            return self._answer(call)
        except CommandFailure as failure:
            return refused(self.name, str(failure), failure.exit_code)
        except CliGuardError as error:
            return refused(self.name, str(error), FAILED)

    def _answer(self, call: Call) -> Answer:
        if call.arguments[:1] and call.arguments[0] in HELP:
            return Answer.of(self.usage)
        if self.subcommands:
            return self._sub(call)
        if not call.arguments and not self.bare:
            return refused(self.name, self.usage, WRONG_USAGE)
        assert self.run  # noqa: S101 - without sub-commands there is one
        return self.run(call)

    def _sub(self, call: Call) -> Answer:
        if not call.arguments:
            return refused(self.name, self.usage, WRONG_USAGE)
        name, *rest = call.arguments
        sub = self.subcommands.get(name)
        if sub is None:
            known = ", ".join(self.subcommands)
            return refused(self.name, f"there is no {self.name} {name}: it has {known}", WRONG_USAGE)
        usage = f"usage: {self.name} {name} {sub.parameters}".rstrip() + f"\n  {sub.summary}"
        if rest[:1] and rest[0] in HELP:
            return Answer.of(usage)
        if len(rest) < sub.needs:
            return refused(self.name, usage, WRONG_USAGE)
        return sub.run(call.with_arguments(tuple(rest)))


def refused(name: str, words: str, exit_code: int) -> Answer:
    """An error, in the form that every command has."""
    return Answer(stderr=f"[error] {name}: {words}\n".encode("utf-8", "surrogateescape"), exit_code=exit_code)
