"""`memory`: what is remembered of this repository from one call to the next."""

import re

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    WrongUsage,
)
from cli_guard.state.memory import Memory, Remembered

MOST_ROWS = 200
NUMBER = re.compile(r"[0-9]{1,18}")


def find_memory(call: CommandCall) -> Memory:
    """Return the memory. Raises CommandFailure in a world without one."""
    if not call.world.memory:
        raise CommandFailure(
            "there is no memory here: this world is held in memory alone, and ends with the call"
        )
    return call.world.memory


def list_rows(found: tuple[Remembered, ...]) -> str:
    return "\n".join(f"#{r.id} {r.at[:10]} {r.kind}: {r.text}" for r in found)


def search(call: CommandCall) -> str:
    wanted = " ".join(call.arguments)
    found = find_memory(call).search(wanted)
    if not found:
        raise CommandFailure(f"nothing about {wanted}: see memory recent")
    return list_rows(found)


def recent(call: CommandCall) -> str:
    (number,) = call.arguments[:1] or ("10",)
    if not NUMBER.fullmatch(number) or not 1 <= int(number) <= MOST_ROWS:
        raise WrongUsage(f"a number of rows is from 1 to {MOST_ROWS}, not {number!r}")
    return list_rows(find_memory(call).recent(int(number)))


def store(call: CommandCall) -> str:
    text = " ".join(call.arguments) or call.stdin.decode("utf-8", "replace")
    if not text.strip():
        raise WrongUsage("what? memory store TEXT..., or text on standard input")
    return f"stored #{find_memory(call).store(text)}"


def forget(call: CommandCall) -> str:
    number = call.arguments[0].removeprefix("#")
    if not NUMBER.fullmatch(number) or not find_memory(call).forget(int(number)):
        raise CommandFailure(f"nothing remembered as #{number}: see memory recent")
    return f"forgot #{number}"


MEMORY = OwnCommand(
    "memory",
    "search or keep what is known of this repository: decisions, reasons, answers, facts",
    details="It stays from call to call, and no secret is kept.",
    reads=lambda arguments: arguments == ("store",),
    subcommands={
        "search": OwnCommand(
            "memory search",
            "rows that hold the words, best first",
            "WORDS...",
            run=search,
            needs=1,
        ),
        "recent": OwnCommand("memory recent", "the newest rows", "[N]", run=recent),
        "store": OwnCommand(
            "memory store",
            "keep a text (or standard input)",
            "TEXT...",
            run=store,
        ),
        "facts": OwnCommand(
            "memory facts",
            "all facts",
            run=lambda call: list_rows(find_memory(call).recent(MOST_ROWS, "fact")),
        ),
        "forget": OwnCommand(
            "memory forget", "take one row out", "ID", run=forget, needs=1
        ),
    },
)
