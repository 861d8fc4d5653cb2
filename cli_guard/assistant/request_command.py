"""What a request for a command asks for: a command to explain, something with Git, or a purpose, a path, a test."""

import re
from collections.abc import Collection, Set
from functools import cache
from typing import Literal, get_args

from cli_guard.assistant.request_words import pattern
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

# fmt: off
CommandPurpose = Literal[
    "test", "lint", "format", "typecheck", "build", "run", "install", "docs", "clean", "release", "coverage",
    "benchmark", "migrate", "deploy", "other",
]
# fmt: on
PURPOSES: tuple[CommandPurpose, ...] = get_args(CommandPurpose)
LONGEST = 2_000
LONGEST_OF_GIT = 600
QUOTED = pattern("quoted_command")
PATHLIKE = pattern("path_like")
WORD = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


@frozen
class Recipe:
    """A way to do something with Git; what is in < > is for the reader to fill in."""

    asks: tuple[re.Pattern[str], ...]
    command: str
    note: str
    alternatives: tuple[str, ...] = ()


@frozen
class CommandWish:
    """What a request for a command says.

    `words` are those that may name a task, `explain` is the command that it wants explained, `recipe` what it wants
    done with Git, `test` the name of a test.
    """

    words: frozenset[str]
    explain: str | None
    recipe: Recipe | None
    purpose: CommandPurpose | None
    paths: tuple[str, ...]
    test: str | None
    one_test: bool


@cache
def word_list(name: str) -> frozenset[str]:
    """Return a list of words of rules/projects/programs.toml."""
    return frozenset(read_table("projects/programs.toml")[name]["words"].split())


@cache
def purpose_patterns(kind: str) -> tuple[tuple[CommandPurpose, re.Pattern[str]], ...]:
    """Return the patterns over a command (`program`) or a request in lower case (`request`), in their order."""
    rows = read_table("projects/purposes.toml")[kind]
    return tuple((each["purpose"], re.compile(each["pattern"])) for each in rows)


@cache
def recipes() -> tuple[Recipe, ...]:
    """Return the Git recipes, in their order."""
    return tuple(
        Recipe(**{**each, "asks": tuple(map(re.compile, each["asks"]))})
        for each in read_table("projects/git-recipes.toml")["recipe"]
    )


def read_command_request(
    request: str,
    texts: Collection[str] = (),
    folders: Collection[str] = (),
    programs: Set[str] = frozenset(),
) -> CommandWish:
    """Read a request; `texts` and `folders` are the known paths, `programs` what begins a command of the project."""
    text = " ".join(request[:LONGEST].split())
    explain = find_command(text, programs | word_list("known"))
    paths = [
        found[1] for found in PATHLIKE.finditer(text) if is_path(found[1], texts, folders)
    ]
    pathless = PATHLIKE.sub(
        lambda found: (
            f" {found[2] or ''} " if "/" in found[1] or "." in found[1] else found[0]
        ),
        text,
    )
    named = pattern("named_test").search(pathless)
    plain = QUOTED.sub(" ", text) if explain else text
    # The words of a path are no words of the request: `docs/conf.py` asks for no documentation.
    spoken = PATHLIKE.sub(
        lambda found: " " if "/" in found[1] or found[1] in paths else found[0], plain
    )
    wanted = (
        purpose
        for purpose, form in purpose_patterns("request")
        if form.search(spoken.lower())
    )
    purpose = next(wanted, None)
    return CommandWish(
        frozenset(WORD.findall(plain.lower())) - word_list("common"),
        explain,
        find_git_recipe(text, purpose),
        purpose,
        tuple(dict.fromkeys(paths)),
        named[1] if named else None,
        bool(pattern("one_test").search(text)),
    )


def find_command(text: str, programs: Collection[str]) -> str | None:
    """Return the command that the request wants explained, or that it is; None if it wants something else."""

    def begins_command(words: str) -> bool:
        first, _, rest = words.partition(" ")
        name = first.rsplit("/", 1)[-1] if first.startswith(("./", "/")) else first
        # One word alone is a program only if it is not an English word.
        return name in programs and bool(rest or name not in word_list("english"))

    if not pattern("explains").search(text):
        first, *rest = text.split(" ")
        prose = text.endswith("?") or not word_list("prose").isdisjoint(
            QUOTED.sub("", text).split()
        )
        option = first not in word_list("english") or any(
            word.startswith("-") for word in rest
        )
        return text if rest and not prose and option and begins_command(text) else None
    for found in QUOTED.finditer(text):
        command = (found[1] or found[2] or found[3]).strip()
        if command and (
            found[1] or "/" in command.split(" ")[0] or begins_command(f"{command} ")
        ):
            return command
    bare = pattern("bare_command").search(text)
    return bare[1] if bare and begins_command(bare[1]) else None


def is_path(word: str, texts: Collection[str], folders: Collection[str]) -> bool:
    """Return whether a word is a path that is known, or one that can be nothing else."""
    plain = word.rstrip("/.")
    if plain in texts:
        return True
    if plain in folders:
        return "/" in word or "." in word
    return bool(pattern("unknown_path").fullmatch(plain)) and "http" not in word


def find_git_recipe(text: str, purpose: CommandPurpose | None) -> Recipe | None:
    """Return the recipe that a request asks for; None if it is not about Git."""
    text = text[:LONGEST_OF_GIT].lower()
    of_project = purpose in ("test", "lint", "format", "build", "docs")
    words = read_table("projects/git-recipes.toml")
    if not re.search(words["about"], text) or (
        of_project and not re.search(words["surely"], text)
    ):
        return None
    return next(
        (each for each in recipes() if any(ask.search(text) for ask in each.asks)), None
    )
