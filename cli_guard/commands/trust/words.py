"""Words handed to the project's own tools: which bring code, take work away, or name what leaves the tree."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from cli_guard.commands.effects.places import GLOBS
from cli_guard.commands.effects.settings import PART, NamedValue, settings_of
from cli_guard.commands.invocations import NODE, ProgramInvocation
from cli_guard.commands.model import EffectKind
from cli_guard.commands.programs import sub_command, table
from cli_guard.commands.trust.place import Place, is_loopback

# `CC='touch x;'`, `X="'"`: a word that a shell would not take as one plain word.
EXPRESSION = re.compile(r"""[;|&<>`"'\\\n]""")
NUMBER = re.compile(r"[vV]?\d[\w.+-]*|true|false|yes|no|on|off", re.IGNORECASE)
# The name of a setting, or option, whose value is a folder that a build fills, and often empties first.
OUTPUT_FOLDER = re.compile(
    r"o|d|(?:.*[-_.])?(?:out|output|dist|dest|destination|target|build|te?mp|reports?|artifacts?|site|public|html|coverage"
    r"|results?|cache)(?:[-_.]?(?:dir|directory|folder|path|root))?|prefix",
    re.IGNORECASE,
)
FOLDERS = ("dir", "directory", "folder")
HOSTS = frozenset(
    "api host server registry proxy endpoint remote url uri mirror addr address".split()
)
HOST_NAME = re.compile(r"(?:[\w-]+\.)+[A-Za-z]{2,}(?::\d+)?(?:/.*)?")
# Kinds of the operands that a program changes whatever they are.
HARM = frozenset((EffectKind.WRITE, EffectKind.DELETE, "move", "empty"))
INTERPRETERS = frozenset("python node ruby perl php bash sh zsh dash".split())
NODE_RUNNERS = frozenset("npx npm bunx bun pnpm yarn".split())
# An option of a compiler or linker that names no program, plug-in or folder of somebody's, and what Go's `-X` sets.
FLAG = re.compile(
    r"(?!-(?:wrapper|specs|W\w,.*plugin|[IL]/(?!(?:usr|opt)/)))"
    r"(?:-[IlLDUWOgmvswXN][\w./:=+,-]*|-f(?!plugin)[\w=-]+|-std=[\w+]+|-pthread|-static|-shared|-race|all"
    r"|[\w./-]+=[\w.+-]*)"
)
# Between the parts of a task's name: `db:migrate`, `docs/publish`.
SEGMENTS = re.compile(r"[:/.\s]+")
BEFORE = re.compile(r"(?:re|pre|post|un|auto)(?=[a-z])")


def brings_more(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a word brings what is not the project's, or loses data: `--with`, `CC=rm`, `-o src`."""
    given = caller.arguments
    words = [word.start for word in caller.fields[1 : len(caller.fields) - len(given.rest)]]
    asks = list_asks(place, given.spec.name)
    # What other programs are told is judged where it is written.
    runs = place.is_own_tool(given.spec)
    settings = list(settings_of(given, list(caller.fields))) if runs else []
    matched = any(
        fnmatchcase(word, ask) or word.startswith(f"{ask}=")
        for word in words
        for ask in asks
    )
    return (
        matched
        or given.has(*asks)
        or any(leaves(place, word.start) for word in given.unknown if word.start[:1] == "-")
        or not all(is_plain(place, each, caller.folder) for each in settings)
        or any(fills_work(place, *each, caller) for each in list_valued(caller))
    )


def list_asks(place: Place, name: str) -> frozenset[str]:
    """Return the words that make a program or one of its sub-commands ask."""
    pairs = (ask.rpartition(" ") for ask in place.lists.asks)
    return frozenset(word for program, _, word in pairs if name.startswith(program))


def is_plain(place: Place, setting: NamedValue, folder: str | None) -> bool:
    """Return whether a setting is a plain word, a number, options or a path, and no program that its name runs."""
    value = setting.value.strip()
    if setting.is_option:
        return has_plain_options(place, setting)
    if setting.name and EXPRESSION.search(value):
        return False
    if names_host(setting) or changes_files(value):
        return False
    if not setting.names_code or NUMBER.fullmatch(value) or not value:
        return True
    words = value.split()
    if "/" in words[0]:
        return place.exists(place.resolve(words[0], folder))
    return runs_code(place, words)


def runs_code(place: Place, words: list[str]) -> bool:
    """Return whether words begin with an interpreter, or with a program that runs the project's own code.

    What stands behind them is not known: `PYTHON="git clean"` may become `git clean -f`.
    """
    spec = table(words[0])
    if spec is None:
        return False
    below = sub_command(spec, words[1]) if len(words) > 1 else None
    own = place.is_own_tool(spec) or (below is not None and place.is_own_tool(below))
    return own or spec.name in INTERPRETERS


def changes_files(value: str) -> bool:
    """Return whether a word is the name of a program that changes the files it is given: `rm`, `tee`."""
    spec = table(value) if value.isidentifier() else None
    return spec is not None and any(
        kind.removesuffix("...") in HARM for kind in spec.operands
    )


def names_host(setting: NamedValue) -> bool:
    """Return whether a setting is the name of another machine."""
    parts = {part.lower() for part in PART.findall(setting.name)}
    return (
        not HOSTS.isdisjoint(parts)
        and HOST_NAME.fullmatch(setting.value) is not None
        and not is_loopback(setting.value)
    )


def has_plain_options(place: Place, setting: NamedValue) -> bool:
    """Return whether options for a compiler are known ones, and those for another program bring no code."""
    if setting.name.lower().endswith("flags"):
        return place.lists.files["flags"].fullmatch(setting.value) is not None or all(
            FLAG.fullmatch(word) for word in setting.value.split()
        )
    words = setting.value.split()
    return not setting.names_code and not any(
        fnmatchcase(word, ask) for word in words for ask in list_asks(place, "")
    )


def list_valued(caller: ProgramInvocation) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield the names of each option or setting that has a value, what it takes, and the value."""
    given = caller.arguments
    for option, value in given.values:
        yield option.names, option.takes or "text", value.start
    for each in settings_of(given, list(caller.fields)):
        yield (each.name,), "text", each.value


def fills_work(
    place: Place, names: tuple[str, ...], takes: str, value: str, caller: ProgramInvocation
) -> bool:
    """Return whether an option gives a tool a folder to fill that holds files which are not made by a build.

    Most tools empty such a folder first. A folder that others only write to may be the one that the command runs in.
    """
    filled = [name for name in names if OUTPUT_FOLDER.fullmatch(name.lstrip("-") or name)]
    program = table(caller.program)
    if "--prefix" in names and program is not None and program.tasks:
        # The folder of the package whose script runs is not filled.
        return False
    named = filled and takes in ("text", "setting")
    if not value or not (named or takes == EffectKind.WRITE):
        return False
    # `--cov-report=html:src`
    path = place.resolve(value.rpartition(":")[2], caller.folder)
    is_above = f"{caller.folder}/".startswith(f"{path}/")
    if place.relative(path) is None or (is_above and takes == EffectKind.WRITE):
        return False
    is_folder = bool(filled) and all(name.lower().endswith(FOLDERS) for name in filled)
    return (is_folder or place.is_folder(path)) and place.tree.holds_work(path)


def may_do_anything(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a program of a package that no table describes is given files, or is named after what leaves.

    It may delete what it is given (`npx del-cli src`). A program of the project's own is code that was reviewed.
    """
    if table(caller.program) is not None:
        return False
    words = [word.start for word in caller.fields[1:]]
    if any(leaves(place, word) for word in (caller.program, *words[:2]) if word[:1] != "-"):
        return True
    runner = caller.parent.arguments.spec.program if caller.parent else ""
    values = [word.rpartition("=")[2] for word in words]
    return (runner in NODE_RUNNERS or f"{NODE}/" in caller.name) and any(
        GLOBS.search(value) or place.exists(place.resolve(value, caller.folder))
        for value in values
        if value and value[:1] != "-"
    )


def leaves_by_task(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a task or a sub-command of a tool is named after something that leaves the tree or loses data."""
    given = caller.arguments
    verbs = [word.start for word in given.list_words(("verb",))]
    tasks = [*verbs, *(word.start for word in given.list_words(("task",)))]
    if given.sub_command is not None:
        tasks += given.spec.name.split()[1:]
    named = (each for each in tasks if "=" not in each and not place.is_file(each))
    return any(leaves(place, each) for each in named) or not place.lists.brings.isdisjoint(
        verbs
    )


def leaves(place: Place, task: str) -> bool:
    """Return whether a task is named so: `release`, `redeploy`, `db:reset`, `migrate-prod`; not `release-notes`."""
    if GLOBS.search(task):
        # `npm-run-all 'dep*'`
        return any(
            fnmatchcase(each, task.lower())
            for each in (*place.lists.leaves, *place.lists.alone)
        )
    segments = [name_parts(place, each) for each in SEGMENTS.split(task)]
    parts = {part for each in segments for part in each}
    if not place.lists.leaves.isdisjoint(parts):
        return True
    if not place.lists.builds.isdisjoint(parts):
        return False
    return any(ends_with_leaving(place, each) for each in segments) or (
        len(parts) > 1 and not place.lists.production.isdisjoint(parts)
    )


def name_parts(place: Place, name: str) -> list[str]:
    """Return the parts of a name in lower case, `redeploy` as `deploy`."""
    parts = [part.lower() for part in PART.findall(name)]
    plain = [BEFORE.sub("", part, count=1) for part in parts]
    known = place.lists.leaves | place.lists.alone
    return [
        short if short in known else part for part, short in zip(parts, plain, strict=True)
    ]


def ends_with_leaving(place: Place, parts: list[str]) -> bool:
    """Return whether the last part of a name, but for its affixes, leaves the tree: `release-patch`, `cut-release`."""
    while parts and parts[-1] in place.lists.affixes:
        parts = parts[:-1]
    return parts[-1:] != [] and parts[-1] in place.lists.alone
