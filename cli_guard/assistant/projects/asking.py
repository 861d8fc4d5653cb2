"""What a request asks for: a command to explain, something with Git, or a purpose, a path, a test."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.purposes import purpose_asked, read, word_list

LONGEST, LONGEST_OF_GIT = 2_000, 600
QUOTED = re.compile(r"`([^`]{1,1000})`|\"([^\"]{1,1000})\"|(?<!\w)'([^']{1,1000})'(?!\w)")
EXPLAIN = re.compile(
    r"\b(?:explain|meaning of|what (?:does|do|is|would|will|happens)|describe|understand|what's|how does)\b"
    r"|\b(?:is|are|would|can) .{1,300}\b(?:safe|dangerous|harmful|risky|ok|okay|harmless|destructive|reversible)\b",
    re.IGNORECASE,
)
# What is around an unquoted command: "what does make check do?", "explain git rebase -i HEAD~3".
BARE = re.compile(
    r"\b(?:what (?:does|do|would|will)|explain(?: me)?(?: (?:the )?(?:command|shell command))?:?|meaning of|how does)"
    r"\s+(?:the )?(?:command )?(.+?)(?:\s+(?:do|does|mean|means|work|run|actually do)\b.*)?[?.!]*$",
    re.IGNORECASE,
)
PATHLIKE = re.compile(r"(?<![\w/])(?:\./)?((?:[\w.@+-]+/)*\.?[\w@+-][\w.@+-]*)(?:::(\w+(?:::\w+)?))?")
# A path that need not be there: with a folder, a dot file, or with the ending of a file that people write.
UNKNOWN_PATH = re.compile(
    r"(?:[\w.@+-]+/)+[\w.@+-]+|\.[a-z][\w.-]+|[\w-]+\.(?:py|[jt]sx?|go|rs|java|rb|php|[ch]|cs|exs?|kt|md|toml|json"
    r"|ya?ml|txt|cfg|ini|env|sh)"
)
NAMED_TEST = re.compile(r"\b((?:test|should)_\w+|Test[A-Z]\w*)\b")
ONE_TEST = re.compile(
    r"\b(?:one|(?:a |only |just )?(?:single|one)|a particular|a specific|an individual) (?:unit |test )?"
    r"(?:tests?|case|function|spec)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, taken apart: `explain` is the command that it wants explained, `test` the name of a test."""

    text: str
    words: frozenset[str]
    explain: str | None
    purpose: Purpose | None
    paths: tuple[str, ...]
    test: str | None
    one_test: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to do something with Git; what is in < > is for the reader to fill in."""

    asks: tuple[re.Pattern[str], ...]
    command: str
    note: str
    alternatives: tuple[str, ...] = ()


@cache
def recipes() -> tuple[Recipe, ...]:
    """The Git recipes, in their order."""
    return tuple(
        Recipe(**{**each, "asks": tuple(map(re.compile, each["asks"]))})
        for each in read("git-recipes")["recipe"]
    )


def read_request(
    request: str, texts: Collection[str], folders: Collection[str], programs: Collection[str]
) -> Asked:
    """Take a request apart; `texts` and `folders` are the known paths, `programs` the words that begin a command."""
    text = " ".join(request[:LONGEST].split())
    explain = _find_command(text, programs)
    paths = [found[1] for found in PATHLIKE.finditer(text) if _is_path(found[1], texts, folders)]
    pathless = PATHLIKE.sub(
        lambda found: f" {found[2] or ''} " if "/" in found[1] or "." in found[1] else found[0], text
    )
    named = NAMED_TEST.search(pathless)
    plain = QUOTED.sub(" ", text) if explain else text
    # The words of a path are no words of the request: `docs/conf.py` asks for no documentation.
    spoken = PATHLIKE.sub(lambda found: " " if "/" in found[1] or found[1] in paths else found[0], plain)
    return Asked(
        text,
        frozenset(re.findall(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", plain.lower())),
        explain,
        purpose_asked(spoken.lower()),
        tuple(dict.fromkeys(paths)),
        named[1] if named else None,
        bool(ONE_TEST.search(text)),
    )


def _find_command(text: str, programs: Collection[str]) -> str | None:
    """The command that the request wants explained, or that it is; None if it wants something else."""

    def begins_command(words: str) -> bool:
        first, _, rest = words.partition(" ")
        name = first.rsplit("/", 1)[-1] if first.startswith(("./", "/")) else first
        # One word alone is a program only if it is not an English word.
        return name in programs and bool(rest or name not in word_list("english"))

    if not EXPLAIN.search(text):
        first, *rest = text.split(" ")
        prose = text.endswith("?") or not word_list("prose").isdisjoint(QUOTED.sub("", text).split())
        option = first not in word_list("english") or any(word.startswith("-") for word in rest)
        return text if rest and not prose and option and begins_command(text) else None
    for found in QUOTED.finditer(text):
        command = (found[1] or found[2] or found[3]).strip()
        if command and (found[1] or "/" in command.split(" ")[0] or begins_command(f"{command} ")):
            return command
    bare = BARE.search(text)
    return bare[1] if bare and begins_command(bare[1]) else None


def _is_path(word: str, texts: Collection[str], folders: Collection[str]) -> bool:
    plain = word.rstrip("/.")
    if plain in texts:
        return True
    if plain in folders:
        return "/" in word or "." in word
    return bool(UNKNOWN_PATH.fullmatch(plain)) and "http" not in word


def find_git_recipe(request: Asked) -> Recipe | None:
    """The recipe that a request asks for; None if it is not about Git."""
    text = request.text[:LONGEST_OF_GIT].lower()
    of_project = request.purpose in ("test", "lint", "format", "build", "docs")
    words = read("git-recipes")
    if not re.search(words["about"], text) or (of_project and not re.search(words["surely"], text)):
        return None
    return next((each for each in recipes() if any(ask.search(text) for ask in each.asks)), None)
