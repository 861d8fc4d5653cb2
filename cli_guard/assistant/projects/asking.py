"""What a request asks for: a command to explain, something with Git, or a purpose, a path, a test."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from cli_guard.assistant.projects.model import Purpose
from cli_guard.assistant.projects.purposes import listed, purpose_asked, read

LONGEST, LONGEST_OF_GIT = 2_000, 600
QUOTED = re.compile(r"`([^`]{1,1000})`|\"([^\"]{1,1000})\"|(?<!\w)'([^']{1,1000})'(?!\w)")
EXPLAIN = re.compile(
    r"\b(?:explain|meaning of|what (?:does|do|is|would|will|happens)|describe|understand|what's|how does)\b"
    r"|\b(?:is|are|would|can) .{1,300}\b(?:safe|dangerous|harmful|risky|ok|okay|harmless|destructive|reversible)\b",
    re.IGNORECASE,
)
# What stands around an unquoted command: "what does make check do?", "explain git rebase -i HEAD~3".
BARE = re.compile(
    r"\b(?:what (?:does|do|would|will)|explain(?: me)?(?: (?:the )?(?:command|shell command))?:?|meaning of|how does)"
    r"\s+(.+?)"
    r"(?:\s+(?:do|does|mean|means|work|run|actually do)\b.*)?[?.!]*$",
    re.IGNORECASE,
)
ABOUT_GIT = re.compile(
    r"\b(?:git|commit(?:s|ted)?|branch(?:es)?|stash(?:ed)?|rebase|merge|unstage|reflog|bisect|blame|uncommit|cherry-?pick|staged|"
    r"staging|index|history|diff|who (?:changed|wrote|edited|last)|discard|broke|revert|hard reset|"
    r"(?:un)?track(?:ing|ed)?)\b"
    r"|\b(?:deleted|removed) (?:a |the |my )?file",
    re.IGNORECASE,
)
PATHLIKE = re.compile(r"(?<![\w/])(?:\./)?((?:[\w.@+-]+/)*\.?[\w@+-][\w.@+-]*)(?:::(\w+(?:::\w+)?))?")
NAMED_TEST = re.compile(r"\b((?:test|should)_\w+|Test[A-Z]\w*)\b")
ONE_TEST = re.compile(
    r"\b(?:one|a single|single|only one|just one|a particular|a specific|an individual) (?:unit |test )?"
    r"(?:tests?|case|function|spec)\b",
    re.IGNORECASE,
)
NUMBER = re.compile(
    r"\b(?:last |latest )?(\d{1,3}|two|three|four|five|six)\b.{0,20}\bcommits?\b", re.IGNORECASE
)
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
LINES = re.compile(
    r"\blines? (\d{1,7})(?:\s*(?:-|to|,|and)\s*(\d{1,7}))?|[\w/]\.\w{1,5}:(\d{1,7})\b", re.IGNORECASE
)
BRANCHES = (
    re.compile(r"\bbranch (?:called |named |to )?[`'\"]?([\w][\w./-]*)"),
    re.compile(r"[`'\"]([\w][\w./-]*)[`'\"]"),
    re.compile(r"\b([\w][\w./-]*) branch\b"),
)
SHA = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|\bHEAD(?:~\d+|\^+)?")
NO_BRANCH = frozenset(
    "the my deleted lost new old this another same other your removed current remote local git feature to one "
    "that which was is from and on in of a an it i we by back without but with after before name called".split()
)
# What no command has outside of quotes: "git command to undo the last commit".
PROSE = frozenset(
    "for to of the a an with one only how command commands script target all my this and or that file".split()
)
COMMON = frozenset(
    "how do does i we you to the a an of in for on this that is it can run running execute start use which what "
    "command commands my our project repository repo please me with and or all should here tests test build docs "
    "lint check code style".split()
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request, taken apart."""

    text: str
    words: frozenset[str]
    explain: str | None
    purpose: Purpose | None
    paths: tuple[str, ...]
    test: str | None
    one_test: bool


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to do something with Git."""

    id: str
    asks: tuple[re.Pattern[str], ...]
    command: str
    note: str
    example: str
    alternatives: tuple[str, ...]


@cache
def recipes() -> tuple[Recipe, ...]:
    """The recipes, in their order."""
    return tuple(
        Recipe(
            each["id"],
            tuple(re.compile(pattern) for pattern in each["asks"]),
            each["command"],
            each["note"],
            each.get("example", ""),
            tuple(each.get("alternatives", ())),
        )
        for each in read("git-recipes")["recipe"]
    )


def asked(request: str, texts: Collection[str], folders: Collection[str], programs: Collection[str]) -> Asked:
    """Takes a request apart. `texts` and `folders` are the paths that there are, `programs` what starts a command."""
    text = " ".join(request[:LONGEST].split())
    explain = _to_explain(text, programs)
    plain = QUOTED.sub(" ", text) if explain else text
    pathless = PATHLIKE.sub(
        lambda found: f" {found[2] or ''} " if "/" in found[1] or "." in found[1] else found[0], text
    )
    named = NAMED_TEST.search(pathless)
    paths = [found[1] for found in PATHLIKE.finditer(text) if _is_path(found[1], texts, folders)]
    words = frozenset(re.findall(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", plain.lower()))
    # The words of a path are no words of the request: `docs/conf.py` asks for no documentation.
    spoken = PATHLIKE.sub(lambda found: " " if "/" in found[1] or found[1] in paths else found[0], plain)
    return Asked(
        text,
        words,
        explain,
        purpose_asked(spoken.lower()),
        tuple(dict.fromkeys(paths)),
        named[1] if named else None,
        bool(ONE_TEST.search(text)),
    )


def _to_explain(text: str, programs: Collection[str]) -> str | None:
    """The command that the request wants explained, None if it wants something else."""
    if not EXPLAIN.search(text):
        return text if _is_command(text, programs) else None
    for found in QUOTED.finditer(text):
        command = (found[1] or found[2] or found[3]).strip()
        if command and (found[1] or _first(command) in programs or "/" in _first(command)):
            return command
    bare = BARE.search(text)
    if bare:
        command = re.sub(r"^(?:the )?(?:command )?", "", bare[1]).strip()
        # One word alone is a program only if nobody would say it otherwise.
        if _first(command) in programs and (" " in command or _first(command) not in listed("english")):
            return command
    return None


def _is_command(text: str, programs: Collection[str]) -> bool:
    """Is the whole request a command, `git commit -am wip`? A word of English that is a program too needs an option."""
    first, *rest = text.split(" ")
    if first not in programs or not rest or text.endswith("?") or PROSE & set(QUOTED.sub("", text).split()):
        return False
    return first not in listed("english") or any(word.startswith("-") for word in rest)


def _first(command: str) -> str:
    first = command.split(" ", 1)[0]
    return first.rsplit("/", 1)[-1] if first.startswith(("./", "/")) else first


def _is_path(word: str, texts: Collection[str], folders: Collection[str]) -> bool:
    plain = word.rstrip("/.")
    if plain in texts:
        return True
    if plain in folders:
        return "/" in word or "." in word
    return (
        bool(
            re.fullmatch(
                r"(?:[\w.@+-]+/)+[\w.@+-]+|\.[a-z][\w.-]+|[\w-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|rb|php|c|h|cs|ex|exs|kt|md|toml|json|ya?ml|txt|cfg|ini|env|sh)",
                plain,
            )
        )
        and "http" not in word
    )


def git_recipe(request: Asked) -> tuple[Recipe, Mapping[str, str]] | None:
    """The recipe that a request asks for, and the words to fill in; None if it is not about Git."""
    text = request.text[:LONGEST_OF_GIT].lower()
    if not ABOUT_GIT.search(text):
        return None
    if request.purpose in ("test", "lint", "format", "build", "docs") and not re.search(
        r"\bgit\b|\bcommit|\bbranch|\bbroke", text
    ):
        return None
    for recipe in recipes():
        if any(pattern.search(text) for pattern in recipe.asks):
            return recipe, _filled(request, recipe)
    return None


def _filled(request: Asked, recipe: Recipe) -> Mapping[str, str]:
    line = LINES.search(request.text)
    first = (line[1] or line[3]) if line else ""
    last = (line[2] or first) if line else ""
    count = NUMBER.search(request.text)
    return {
        "path": request.paths[0] if request.paths else recipe.example or "<file>",
        "name": _name(request.text, recipe) or recipe.example or "<name>",
        "lines": f"-L {first},{last} " if line else "",
        "count": str(NUMBERS.get(count[1].lower(), count[1])) if count else "3",
    }


def _name(text: str, recipe: Recipe) -> str:
    if recipe.id in ("undo-pushed-commit", "cherry-pick"):
        found = SHA.search(text)
        return found[0] if found else ""
    for pattern in BRANCHES:
        for branch in pattern.finditer(text):
            # "branch feature" has a name, "a feature branch" has none.
            others = NO_BRANCH - {"feature"} if pattern is BRANCHES[0] else NO_BRANCH
            if branch[1].lower().rstrip(".") not in others:
                return branch[1].rstrip(".")
    return ""
