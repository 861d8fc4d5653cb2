"""`memory`: what is remembered of this repository from one call to the next."""

import re
from contextlib import suppress

from cli_guard.assistant.sandbox.commands.model import (
    Answer,
    Call,
    CommandFailure,
    OwnCommand,
    SubCommand,
    WrongUsage,
)
from cli_guard.assistant.sandbox.commands.options import read_options
from cli_guard.state.memory import KINDS, Memory, Remembered

DEFAULT_ROWS = 10
NUMBER = re.compile(r"[0-9]{1,18}")


def memory_of(call: Call) -> Memory:
    """The memory. Raises CommandFailure in a world without one."""
    if call.world.memory is None:
        raise CommandFailure(
            "there is no memory here: this world is held in memory alone, and ends with the call"
        )
    return call.world.memory


def rows(found: tuple[Remembered, ...]) -> Answer:
    """What is remembered, one a line."""
    return Answer.of("\n".join(f"#{r.id} {r.at[:10]} {r.kind}: {r.text}" for r in found))


def count_of(value: str) -> int:
    """A number of rows. Raises WrongUsage."""
    if not NUMBER.fullmatch(value) or not 1 <= int(value) <= 200:
        raise WrongUsage(f"-n needs a number from 1 to 200, not {value!r}")
    return int(value)


def search(call: Call) -> Answer:
    """Rows that hold the words, the best first."""
    options = read_options(call.arguments, {"-n": "a number", "-k": "a kind"})
    wanted = " ".join(options.words)
    if not wanted:
        raise WrongUsage("which words? memory search WORDS... [-k KIND] [-n N]")
    kind = kind_of(options.values.get("-k", ""))
    found = memory_of(call).search(
        wanted, kind=kind, count=count_of(options.values.get("-n", str(DEFAULT_ROWS)))
    )
    if not found:
        return Answer(
            stderr=f"[error] memory: nothing about {wanted}: see memory recent\n".encode(), exit_code=1
        )
    return rows(found)


def kind_of(name: str) -> str:
    """A kind, or "" for any. Raises WrongUsage."""
    if name and name not in KINDS:
        raise WrongUsage(f"no kind {name}: there are {', '.join(KINDS)}")
    return name


def recent(call: Call) -> Answer:
    """The newest rows."""
    options = read_options(call.arguments, {"-n": "a number", "-k": "a kind"})
    count = count_of(options.words[0] if options.words else options.values.get("-n", str(DEFAULT_ROWS)))
    return rows(memory_of(call).recent(count, kind_of(options.values.get("-k", ""))))


def store(call: Call) -> Answer:
    """Keeps a text; of standard input, if none is given."""
    options = read_options(call.arguments, {"-k": "a kind"})
    text = " ".join(options.words) or call.stdin.decode("utf-8", "replace")
    if not text.strip():
        raise WrongUsage("what? memory store TEXT... [-k KIND], or text on standard input")
    kept = memory_of(call).store(text, kind_of(options.values.get("-k", "")) or "fact")
    return Answer.of(f"stored #{kept}")


def stores_input(arguments: tuple[str, ...]) -> bool:
    """Is what is to be kept on standard input?"""
    with suppress(WrongUsage):
        return arguments[:1] == ("store",) and not read_options(arguments[1:], {"-k": "a kind"}).words
    return False


def facts(call: Call) -> Answer:
    """The facts alone."""
    return rows(memory_of(call).recent(200, "fact"))


def forget(call: Call) -> Answer:
    """Takes a row out."""
    number = call.arguments[0].removeprefix("#")
    if not NUMBER.fullmatch(number) or not memory_of(call).forget(int(number)):
        raise CommandFailure(f"nothing remembered as #{number}: see memory recent")
    return Answer.of(f"forgot #{number}")


MEMORY = OwnCommand(
    "memory",
    "search or keep what is known of this repository: decisions, reasons, answers, facts",
    details=(f"Kinds: {', '.join(KINDS)}. It stays from call to call, and no secret is kept.",),
    reads=stores_input,
    subcommands={
        "search": SubCommand(
            "WORDS... [-k KIND] [-n N]", "rows that hold the words, the best first", search, 1
        ),
        "recent": SubCommand("[N] [-k KIND]", "the newest rows", recent),
        "store": SubCommand("TEXT... [-k KIND]", "keep a text (or standard input)", store),
        "facts": SubCommand("", "all facts", facts),
        "forget": SubCommand("ID", "take one row out", forget, 1),
    },
)
