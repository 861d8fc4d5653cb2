"""A command of ours: its name, its help, how its options are read, and a function from a call to an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, WrongUsage
from cli_guard.errors import CliGuardError

WRONG_USAGE = WrongUsage.exit_code
HELP = ("--help", "-h")

Run = Callable[[Call], Answer]
# Does a command with these arguments take standard input?
Reads = Callable[[tuple[str, ...]], bool]


def reads_dash(arguments: tuple[str, ...]) -> bool:
    return "-" in arguments


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
    `subcommands` is run through them; another by `run`, which gets at least `needs` words.
    """

    name: str
    summary: str
    parameters: str = ""
    details: str = ""
    run: Run | None = None
    needs: int = 0
    reads: Reads = reads_dash
    subcommands: Mapping[str, SubCommand] = field(default_factory=dict)

    @property
    def usage(self) -> str:
        """Its complete help."""
        parameters = "|".join(self.subcommands) or self.parameters
        lines = [f"usage: {self.name} {parameters}".rstrip(), f"  {self.summary}"]
        if self.subcommands:
            rows = {
                f"{self.name} {name} {sub.parameters}": sub.summary for name, sub in self.subcommands.items()
            }
            width = max(map(len, rows))
            lines += (f"  {left:{width}}  {right}" for left, right in rows.items())
        return "\n".join((*lines, *([f"  {self.details}"] if self.details else [])))

    def answer(self, call: Call) -> Answer:
        """Run the command; a failure becomes a message and an exit code."""
        name, run, needs, usage = "", self.run, self.needs, self.usage
        if self.subcommands and call.arguments and call.arguments[0] not in HELP:
            name, *rest = call.arguments
            if name not in self.subcommands:
                known = ", ".join(self.subcommands)
                return Answer.error(self.name, f"there is no {self.name} {name}: it has {known}", WRONG_USAGE)
            sub = self.subcommands[name]
            run, needs = sub.run, sub.needs
            usage = f"usage: {self.name} {name} {sub.parameters}".rstrip() + f"\n  {sub.summary}"
            call = replace(call, arguments=tuple(rest))
        if call.arguments[:1] and call.arguments[0] in HELP:
            return Answer.from_text(usage)
        if run is None or len(call.arguments) < needs:
            return Answer.error(self.name, usage, WRONG_USAGE)
        try:
            return run(call)
        except CommandFailure as failure:
            return Answer.error(self.name, str(failure), failure.exit_code)
        except CliGuardError as error:
            return Answer.error(self.name, str(error))


@dataclass(frozen=True, slots=True)
class Options:
    """`values` by option in the order given ("" for a switch), the bare `words`, and those behind `--` (or None)."""

    values: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None

    def has(self, *names: str) -> bool:
        """Is one of the options given?"""
        return any(name in self.values for name in names)


def read_options(
    words: tuple[str, ...], known: Mapping[str, str], aliases: Mapping[str, str] | None = None
) -> Options:
    """Read options as getopt_long(3) does: letters in bunches, values attached or apart. Raises WrongUsage.

    `known` is name -> what its value is called, "" for a switch; `aliases` is long name -> name.
    """
    values: dict[str, str] = {}
    bare: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return Options(values, tuple(bare), tuple(rest))
        if not word.startswith("-") or word == "-":
            bare.append(word)
            continue
        if word[1:].isdigit() and known.get("-n"):
            word = f"-n{word[1:]}"
        long = word.startswith("--")
        while word:
            given = word if long else word[:2]
            name, equals, value = word.partition("=") if long else (word[:2], word[2:], word[2:])
            name, word = (aliases or {}).get(name, name), ""
            if name not in known:
                raise WrongUsage(f"no option {given}: it takes {', '.join(known) or 'none'}")
            if known[name]:
                if not equals and not rest:
                    raise WrongUsage(f"{name} needs {known[name]}")
                value = value if equals else rest.pop(0)
            elif long and equals and name.startswith("--"):
                raise WrongUsage(f"{name} takes no value")
            elif not long and equals:
                word = f"-{value}"
            # The last of two options that exclude each other counts: keep the order of the last mention.
            values.pop(name, None)
            values[name] = value if known[name] else ""
    return Options(values, tuple(bare))
