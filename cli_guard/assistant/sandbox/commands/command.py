"""A command of ours: its name, its help, how its options are read, and a function from a call to an answer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)
from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from bashkit import ExecResult

TOOL_SECONDS = 5.0
WRONG_USAGE = WrongUsage.exit_code
HELP = ("--help", "-h")

CommandFunction = Callable[[CommandCall], CommandOutput | str]
# Does a command with these arguments take standard input?
Reads = Callable[[tuple[str, ...]], bool]


def reads_dash(arguments: tuple[str, ...]) -> bool:
    return "-" in arguments


@frozen
class OwnCommand:
    """A command beside those of bash, or a part of one: `memory search` is one of the `subcommands` of `memory`.

    `summary` is its line in the list, `usage` what its bare call prints, with `details` below. `run` gets at least
    `needs` words; without it the command is run through its `subcommands`, by name.
    """

    name: str
    summary: str
    parameters: str = ""
    details: str = ""
    run: CommandFunction | None = None
    needs: int = 0
    reads: Reads = reads_dash
    subcommands: Mapping[str, OwnCommand] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """Return how it is called."""
        return f"{self.name} {'|'.join(self.subcommands) or self.parameters}".rstrip()

    @property
    def usage(self) -> str:
        """Return its complete help."""
        rows = [(sub.head, sub.summary) for sub in self.subcommands.values()]
        width = max((len(head) for head, _ in rows), default=0)
        lines = [
            self.summary,
            *(f"{head:{width}}  {summary}" for head, summary in rows),
            self.details,
        ]
        return "\n  ".join((f"usage: {self.head}", *filter(None, lines)))

    def answer(self, call: CommandCall) -> CommandOutput | str:
        """Run the command; a failure becomes a message and an exit code."""
        first, *rest = call.arguments or ("",)
        if first in HELP:
            return self.usage
        if first in self.subcommands:
            return self.subcommands[first].answer(replace(call, arguments=tuple(rest)))
        if self.subcommands and first:
            known = ", ".join(self.subcommands)
            return CommandOutput.error(
                self.name, f"there is no {self.name} {first}: it has {known}", WRONG_USAGE
            )
        if self.run is None or len(call.arguments) < self.needs:
            return CommandOutput.error(self.name, self.usage, WRONG_USAGE)
        try:
            return self.run(call)
        except CommandFailure as failure:
            return CommandOutput.error(self.name, str(failure), failure.exit_code)
        except CliGuardError as error:
            return CommandOutput.error(self.name, str(error))


@frozen
class CommandOptions:
    """`values` by option in the order given ("" for a switch), the bare `words`, and those behind `--` (or None).

    `given` has each option with its value as often as it is there.
    """

    values: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    given: tuple[tuple[str, str], ...] = ()

    def every(self, name: str) -> list[str]:
        """Return all values of an option."""
        return [value for each, value in self.given if each == name]

    def has(self, *names: str) -> bool:
        """Return whether one of the options is given."""
        return any(name in self.values for name in names)


def run_tool(words: Sequence[str], files: Mapping[str, str], stdin: str = "") -> ExecResult:
    """Run a tool of the interpreter, which a command of ours cannot call, over files of its own."""
    from bashkit import Bash

    bash = Bash(files={**files, "/in": stdin}, timeout_seconds=TOOL_SECONDS)
    return bash.execute_sync(f"{shlex.join(words)} < /in")


def read_options(
    words: tuple[str, ...],
    known: Mapping[str, str],
    aliases: Mapping[str, str] | None = None,
) -> CommandOptions:
    """Read options as getopt_long(3) does: letters in bunches, values attached or apart. Raises WrongUsage.

    `known` is name -> what its value is called, "" for a switch, with a `?` where it may be left out; `aliases` is long
    name -> name.
    """
    values: dict[str, str] = {}
    bare: list[str] = []
    mentions: list[tuple[str, str]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return CommandOptions(values, tuple(bare), tuple(rest), tuple(mentions))
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        if word[1:].isdigit() and known.get("-n"):
            word = f"-n{word[1:]}"
        long = word.startswith("--")
        while word:
            name, equals, value = (
                word.partition("=") if long else (word[:2], word[2:], word[2:])
            )
            name = (aliases or {}).get(name, name)
            word = ""
            if name not in known:
                raise WrongUsage(
                    f"no option {name} here: it takes {', '.join(known) or 'none'}"
                )
            kind = known[name]
            if kind and not kind.endswith("?"):
                if not equals and not rest:
                    raise WrongUsage(f"{name} needs {kind}")
                value = value if equals else rest.pop(0)
            elif not kind and equals:
                if name.startswith("--"):
                    raise WrongUsage(f"{name} takes no value")
                word = f"-{value}"
                value = ""
            # The last of two options that exclude each other counts: keep the order of the last mention.
            values.pop(name, None)
            values[name] = value
            mentions.append((name, values[name]))
    return CommandOptions(values, tuple(bare), given=tuple(mentions))
