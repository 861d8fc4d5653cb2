"""`memory`: what is remembered of this repository from one call to the next."""

import re
from contextlib import suppress

from cli_guard.assistant.sandbox.commands.command import (
    CommandOptions,
    OwnCommand,
    read_options,
)
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    WrongUsage,
)
from cli_guard.state.memory import KINDS, Memory, Remembered

DEFAULT_ROWS = 10
MOST_ROWS = 200
NUMBER = re.compile(r"[0-9]{1,18}")
KIND = {"-k": "a kind"}
KIND_AND_COUNT = {"-n": "a number", **KIND}


def find_memory(call: CommandCall) -> Memory:
    """Return the memory. Raises CommandFailure in a world without one."""
    if call.world.memory is None:
        raise CommandFailure(
            "there is no memory here: this world is held in memory alone, and ends with the call"
        )
    return call.world.memory


def list_rows(found: tuple[Remembered, ...]) -> CommandOutput:
    return CommandOutput.from_text(
        "\n".join(f"#{r.id} {r.at[:10]} {r.kind}: {r.text}" for r in found)
    )


def read_count(value: str) -> int:
    """Return a number of rows. Raises WrongUsage."""
    if not NUMBER.fullmatch(value) or not 1 <= int(value) <= MOST_ROWS:
        raise WrongUsage(f"-n needs a number from 1 to {MOST_ROWS}, not {value!r}")
    return int(value)


def read_kind(options: CommandOptions) -> str:
    """Return the kind that was asked for, or "" for any. Raises WrongUsage."""
    name = options.values.get("-k", "")
    if name and name not in KINDS:
        raise WrongUsage(f"no kind {name}: there are {', '.join(KINDS)}")
    return name


def search(call: CommandCall) -> CommandOutput:
    options = read_options(call.arguments, KIND_AND_COUNT)
    wanted = " ".join(options.words)
    if not wanted:
        raise WrongUsage("which words? memory search WORDS... [-k KIND] [-n N]")
    count = read_count(options.values.get("-n", str(DEFAULT_ROWS)))
    found = find_memory(call).search(wanted, kind=read_kind(options), count=count)
    if not found:
        raise CommandFailure(f"nothing about {wanted}: see memory recent")
    return list_rows(found)


def recent(call: CommandCall) -> CommandOutput:
    options = read_options(call.arguments, KIND_AND_COUNT)
    count = read_count(
        options.words[0] if options.words else options.values.get("-n", str(DEFAULT_ROWS))
    )
    return list_rows(find_memory(call).recent(count, read_kind(options)))


def store(call: CommandCall) -> CommandOutput:
    options = read_options(call.arguments, KIND)
    text = " ".join(options.words) or call.stdin.decode("utf-8", "replace")
    if not text.strip():
        raise WrongUsage("what? memory store TEXT... [-k KIND], or text on standard input")
    return CommandOutput.from_text(
        f"stored #{find_memory(call).store(text, read_kind(options) or 'fact')}"
    )


def reads_text(arguments: tuple[str, ...]) -> bool:
    with suppress(WrongUsage):
        return arguments[:1] == ("store",) and not read_options(arguments[1:], KIND).words
    return False


def list_facts(call: CommandCall) -> CommandOutput:
    return list_rows(find_memory(call).recent(MOST_ROWS, "fact"))


def forget(call: CommandCall) -> CommandOutput:
    number = call.arguments[0].removeprefix("#")
    if not NUMBER.fullmatch(number) or not find_memory(call).forget(int(number)):
        raise CommandFailure(f"nothing remembered as #{number}: see memory recent")
    return CommandOutput.from_text(f"forgot #{number}")


MEMORY = OwnCommand(
    "memory",
    "search or keep what is known of this repository: decisions, reasons, answers, facts",
    details=f"Kinds: {', '.join(KINDS)}. It stays from call to call, and no secret is kept.",
    reads=reads_text,
    subcommands={
        "search": OwnCommand(
            "memory search",
            "rows that hold the words, best first",
            "WORDS... [-k KIND] [-n N]",
            run=search,
            needs=1,
        ),
        "recent": OwnCommand(
            "memory recent", "the newest rows", "[N] [-k KIND]", run=recent
        ),
        "store": OwnCommand(
            "memory store",
            "keep a text (or standard input)",
            "TEXT... [-k KIND]",
            run=store,
        ),
        "facts": OwnCommand("memory facts", "all facts", run=list_facts),
        "forget": OwnCommand(
            "memory forget", "take one row out", "ID", run=forget, needs=1
        ),
    },
)
