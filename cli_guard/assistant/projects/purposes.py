"""What a command is for: by its name, and by what it runs."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from cli_guard.assistant.request_command import CommandPurpose, purpose_patterns
from cli_guard.rules.catalog import read_patterns, read_table

WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
FORMS = read_patterns("projects/purposes.toml", "patterns")
SEPARATORS = FORMS["separators"]
MOST_PARTS = 40
# A program by its path (`./scripts/bench.sh`): what its name says is all there is.
SCRIPT_NAME = re.compile(r"(?:\./)?(?:[\w.-]+/)*([\w-]+)\.(?:sh|bash|py|js|mjs|ts|rb)\Z")


@cache
def _names() -> Mapping[str, CommandPurpose]:
    """Return the purpose of each word of a name."""
    names = read("purposes")["names"]
    return {word: purpose for purpose, words in names.items() for word in words.split()}


def read(name: str) -> Mapping[str, Any]:
    """Return one data file of this room."""
    return read_table(f"projects/{name}.toml")


def words_of(name: str) -> tuple[str, ...]:
    """Return the words of a name: `test:unit-all` and `testUnitAll` are three each."""
    return tuple(word.lower() for word in WORD.findall(name[:100]))


def purpose_of(name: str, body: str) -> tuple[CommandPurpose, int]:
    """Return what a task is for, and how exactly its name says so: 0 the name is the word, up to 4 not at all."""
    purpose, fit = _by_name(words_of(name))
    if purpose in ("other", "lint") and fit:
        ran = purpose_of_text(body)
        if ran != "other" and (purpose == "other" or "check" in words_of(name)):
            return ran, 3
    if name == "help":
        return "other", 4
    if name == "all":
        # Everything is a build, unless it is everything that CI would do.
        return ("other", 4) if re.search(r"\b(?:lint|test|check)", body) else ("build", 1)
    if name.lower() in ("check", "checks", "verify", "ci"):
        # Autotools run the tests with `check`, others the linters: what it runs tells.
        ran = purpose_of_text(body)
        return (ran, 1) if ran in ("test", "lint", "typecheck") else ("lint", 2)
    return purpose, fit


def _by_name(words: tuple[str, ...]) -> tuple[CommandPurpose, int]:
    names = _names()
    generic = read("purposes")["generic"]["words"].split()
    if len(words) == 1:
        return (names[words[0]], 0) if words[0] in names else ("other", 4)
    for pair in read("purposes")["pair"]:
        if all(not {*part.split()}.isdisjoint(words) for part in pair["words"]):
            return pair["purpose"], pair["fit"]
    known = [(place, word) for place, word in enumerate(words) if word in names]
    if not known:
        return "other", 4
    place, word = next(((p, w) for p, w in known if w not in generic), known[0])
    if word in generic:
        return names[word], 1 if place == 0 else 3
    introduced = all(before in generic for before in words[:place])
    return names[word], 1 if introduced else 2


def purpose_of_text(body: str) -> CommandPurpose:
    """Return what the programs of a text are for; tests count most, then whatever comes first.

    Installing and cleaning are steps of many tasks, and no task is for them only because it does so.
    """
    found = [
        purpose_of_command(part) for part in SEPARATORS.split(body[:4_000])[:MOST_PARTS]
    ]
    plain = [purpose for purpose in found if purpose not in ("other", "install", "clean")]
    if "test" in plain:
        return "test"
    return plain[0] if plain else "other"


def purpose_of_command(command: str) -> CommandPurpose:
    """Return what one command is for, by its program."""
    bare = bare_command(command)
    task = task_name(bare)
    if task:
        named, fit = _by_name(words_of(task))
        if named != "other" and fit < 3:
            return named
    program = bare.split(" ", 1)[0]
    for purpose, pattern in purpose_patterns("program"):
        found = pattern.match(bare)
        # `pytest.ini` and `black>=25` begin with the name of a program, and are none.
        if found and found.end() >= len(program):
            return purpose
    named, fit = _by_name(words_of(SCRIPT_NAME.sub(r"\1", program)))
    return named if SCRIPT_NAME.match(program) and fit < 2 else "other"


def task_name(command: str) -> str | None:
    """Return the name of the task that a command runs (`check` of `make check`), None if it runs none."""
    task = FORMS["task"].match(command)
    return (task[1] or task[2] or task[3]) if task else None


def bare_command(command: str) -> str:
    """Return the command without what is in front of its program, any Python called `python`."""
    rest = FORMS["python"].sub("python", command.strip()[:1_000], count=1)
    while (found := FORMS["in_front"].match(rest)) and found.end():
        rest = FORMS["python"].sub("python", rest[found.end() :], count=1)
    return rest
