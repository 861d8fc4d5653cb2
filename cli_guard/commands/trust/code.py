"""Running code: which of it is the project's own, run by the project's own tools."""

import re
from pathlib import PurePosixPath

from cli_guard.commands.effects.places import is_below, is_credential
from cli_guard.commands.inline.model import COMPUTES
from cli_guard.commands.invocations import (
    ENVIRONMENTS,
    INSTALLED,
    NODE,
    ProgramInvocation,
)
from cli_guard.commands.model import Effect
from cli_guard.commands.programs import table
from cli_guard.commands.scope import drop_places
from cli_guard.commands.trust.place import Place, is_loopback
from cli_guard.commands.trust.words import (
    brings_more,
    leaves,
    leaves_by_task,
    may_do_anything,
)

ASSIGNMENT = re.compile(r"[^=/\s.:-][^=/\s]*=")
SQLITE = re.compile(r"sqlite[\w+]*://(?:/([\w./-]+|:memory:))?")
# `npm version 1.2.0`, `pytest -p no:cacheprovider`.
VERSION = re.compile(r"v?\d[\w.+-]*|(?:pre)?(?:major|minor|patch)|no:\w+")
SETTING = re.compile(r"\w[\w.:,+-]*")
# Parts of a variable's name for which a bare word may be code, a program or another machine.
NAMES_CODE = re.compile(
    r"PLUGIN|MODULE|LOAD|REQUIRE|IMPORT|EXTENSION|BACKEND|COMMAND|CMD|EXEC|SHELL|PROGRAM|BINARY|TOOL|WRAPPER|LAUNCHER"
    r"|RUNNER|HOOK|CONTEXT|PROFILE|TOOLCHAIN|CONFIG|ALIAS|PROXY|REGISTRY|INDEX|MIRROR|REMOTE|HOST|SERVER|ENDPOINT|ADDR"
    r"|UR[IL]|DSN|COMPOSE|PYTHON|COMPILER|EDITOR|PAGER",
    re.IGNORECASE,
)
# Own tools that run what they read.
SHELL_LIKE = frozenset(
    "rails flask django-admin sbt mix deno gdb artisan prisma node python-m docker".split()
)
MODULE = re.compile(r"[A-Za-z_][\w.]*\Z")
INTERPRETER = re.compile(r"/bin/(?:python|node|ruby)[\d.]*\Z")
COMPOSE_FILES = ("compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml")
ON_CONTAINERS = frozenset(
    f"docker {each}" for each in "exec stop start restart kill pause unpause".split()
)
CONTAINER_RUNS = ("docker-compose run", "docker-compose exec")
ASKS_FOR_HELP = (["--help"], ["--version"])
RUNNERS = ("npx", "npm exec", "npm x", "bunx", "bun x", "pnpm exec", "yarn exec")
# As effects/code.py, effects/imports.py and effects/call.py word these effects.
IMPORTS = ("python imports ", "python may import ")
LOADS = re.compile(r" loads code or plug-ins of the project \([^()]*\)\Z")


def runs_own_code(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    target = effect.target or ""
    if ASSIGNMENT.match(target):
        return keeps_to_project(
            place, target, caller.folder if caller else place.context.folder
        )
    if caller is None or not place.runs_inside(caller):
        return False
    if "/" in target and target == caller.name and runs_in_container(place, caller):
        return True
    loads = LOADS.search(effect.reason) or (
        caller.program.startswith("python") and effect.reason.startswith(IMPORTS)
    )
    if loads and not effect.reason.startswith("runs the program"):
        return place.stays_inside(caller, texts=True) and not brings_more(place, caller)
    spec = caller.arguments.spec
    if target in (spec.name, spec.program, caller.program):
        if names_own_container(place, caller):
            return True
        return is_trusted_call(place, caller) and has_installed(place, caller)
    if (
        not place.stays_inside(caller, data=spec.name not in place.lists.runs)
        or caller.folder is None
    ):
        return False
    if "/" in target or (target and place.exists(place.resolve(target, caller.folder))):
        return runs_own_file(place, place.resolve(target, caller.folder), caller)
    given = caller.arguments
    if target.startswith("-") and not given.has(target):
        # `cmake --build --preset`: the value that was expected is another option.
        return is_trusted_call(place, caller)
    if place.is_own_tool(spec) and (
        target in place.lists.formats or VERSION.fullmatch(target)
    ):
        return not brings_more(place, caller)
    # `.venv/bin/python -m`: a module of the project's own environment.
    if (
        caller.program.startswith("python")
        and "/" in caller.name
        and is_below(place.resolve(caller.name, caller.folder), place.root, place.context)
    ):
        return MODULE.match(target) is not None
    return MODULE.match(target) is not None and has_module(place, target, caller.folder)


def runs_own_file(place: Place, path: str, caller: ProgramInvocation) -> bool:
    """Return whether a file of the tree or one whose code was judged runs, and not for what leaves the tree."""
    words = [word.start for word in caller.fields]
    at = next(
        (
            at
            for at, word in enumerate(words)
            if at and place.resolve(word, caller.folder) == path
        ),
        0,
    )
    # The script, and its first word: `manage.py flush`.
    names = [path.rpartition("/")[2].partition(".")[0], *words[at + 1 : at + 2]]
    resets = names == ["manage", "migrate"] and "zero" in words[at + 2 :]
    # A here-document is code for a script (`manage.py shell`) more often than data.
    fed = at > 0 and (caller.stdin.text or "").strip() != ""
    return (
        (is_own_program(place, path) or path in place.whole)
        and not fed
        and not resets
        and not (at == 0 and may_do_anything(place, caller))
        and not any(leaves(place, name) for name in names)
        and place.is_known(path)
    )


def runs_in_container(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a program runs in a container of the project, where its name and path are those of an image."""
    runner = caller.parent
    if runner is None:
        return False
    if runner.arguments.spec.name in CONTAINER_RUNS:
        return is_trusted_call(place, runner)
    return names_own_container(place, runner)


def names_own_container(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether docker acts on running containers of the project alone, by the names that compose gives them."""
    given = caller.arguments
    name = given.spec.name.replace("docker container ", "docker ")
    if name not in ON_CONTAINERS or not any(
        place.exists(f"{place.root}/{each}") for each in COMPOSE_FILES
    ):
        return False
    project = re.sub(r"[^a-z0-9_-]", "", place.root.rpartition("/")[2].lower())
    form = re.compile(rf"{re.escape(project)}[-_][\w.-]+[-_]\d+")
    # What follows the name is the command in it.
    named = given.operands[:1] if name == "docker exec" else given.operands
    return (
        bool(named)
        and all(each.text and form.fullmatch(each.text) for each in named)
        and place.stays_inside(caller)
        and not brings_more(place, caller)
    )


def is_trusted_call(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether a command runs the project's own code by one of its tools, and nothing else."""
    given = caller.arguments
    if given.spec.name in ("yarn", "pnpm") and not given.operands:
        # Alone they install.
        return False
    if (caller.stdin.text or "").strip() and given.spec.program in SHELL_LIKE:
        return False
    own = place.is_own_tool(given.spec) and not place.writes_configuration
    own = own and not drop_places(caller.stdin.taints) and place.stays_inside(caller)
    return own and not brings_more(place, caller) and not leaves_by_task(place, caller)


def keeps_to_project(place: Place, assignment: str, folder: str | None) -> bool:
    """Return whether a variable that decides what runs names only code of the tree, or only harmless flags."""
    name, _, value = assignment.partition("=")
    if name in place.lists.paths:
        paths = [each for each in value.split(":") if each]
        return bool(paths) and all(
            place.relative(place.resolve(each, folder)) is not None for each in paths
        )
    return (
        name in place.lists.flags
        and place.lists.files["flags"].fullmatch(value) is not None
    )


def is_own_program(place: Place, path: str) -> bool:
    """Return whether a path names a program or a script of the tree, or the interpreter of its environment."""
    if is_credential(path):
        return False
    if place.relative(path) is not None:
        return True
    real = place.follow(path)
    # Of the system or of a version manager: nothing is written there without a question.
    is_linked = INTERPRETER.search(path) and INTERPRETER.search(real)
    return (
        bool(is_linked)
        and not place.is_temporary(real)
        and is_below(path, place.root, place.context)
    )


def has_installed(place: Place, caller: ProgramInvocation) -> bool:
    """Return whether the program that a runner such as `npx` starts is in the tree; True for any other command."""
    if caller.arguments.spec.name not in RUNNERS:
        return True
    rest = caller.arguments.rest
    return (
        bool(rest)
        and rest[0].text is not None
        and is_installed(place, rest[0].text, caller.folder, (NODE,))
    )


def is_installed(
    place: Place, program: str, folder: str | None, places: tuple[str, ...] = INSTALLED
) -> bool:
    if folder is None or not re.fullmatch(r"[\w.-]+", program):
        return False
    folders = (folder, *map(str, PurePosixPath(folder).parents))
    inside = (each for each in folders if is_below(each, place.root, place.context))
    return any(
        place.exists(f"{each}/{where}/{program}") for each in inside for where in places
    )


def has_module(place: Place, module: str, folder: str) -> bool:
    """Return whether a Python module is in the tree."""
    path = module.replace(".", "/")
    return any(
        place.exists(f"{start}{path}{end}")
        for start in (
            f"{folder}/",
            f"{folder}/src/",
            f"{place.root}/",
            f"{place.root}/src/",
        )
        for end in (".py", "/__main__.py", "/__init__.py")
    )


def is_known_here(place: Place, effect: Effect, caller: ProgramInvocation | None) -> bool:
    """Return whether an unknown program is installed in the tree, an option is of a trusted call, or code computes."""
    if caller and effect.reason.endswith(COMPUTES):
        # With `-i`, its output takes the place of files.
        return not caller.arguments.has("-i")
    if effect.target and ASSIGNMENT.match(effect.target):
        # A setting that nothing is known of: a word of the project's own or a database, not a place or an option.
        name, _, value = effect.target.partition("=")
        if file := SQLITE.fullmatch(value):
            folder = caller.folder if caller else place.context.folder
            path = place.resolve(file[1] or "", folder)
            return file[1] in (None, ":memory:") or place.may_write(path)
        plain = SETTING.fullmatch(value) is not None and NAMES_CODE.search(name) is None
        plain = plain or (
            name.endswith(("HOST", "ADDR")) and value != "" and is_loopback(value)
        )
        return plain or keeps_to_project(place, effect.target, place.context.folder)
    if caller is None or not effect.target:
        return False
    if effect.target == caller.program and table(effect.target) is None:
        return (
            caller.words in ASKS_FOR_HELP
            or runs_in_container(place, caller)
            or (
                place.stays_inside(caller)
                and comes_with_project(place, effect.target, caller)
                and not may_do_anything(place, caller)
            )
        )
    return effect.target.startswith("-") and is_trusted_call(place, caller)


def comes_with_project(place: Place, program: str, caller: ProgramInvocation) -> bool:
    """Return whether a program is one of the project's: made by it, installed in the tree, or locked for its runner."""
    runner = caller.parent
    if runner is not None and is_trusted_call(place, runner):
        if runner.program == "hatch" and ":" in program:
            # A script of one environment, or any program in it.
            return table(program.rpartition(":")[2]) is None and not leaves(place, program)
        if runner.program not in ENVIRONMENTS:
            return is_installed(place, program, caller.folder, (NODE,))
        return place.tree.locks(program) or is_installed(place, program, caller.folder)
    if place.tree.makes_program(program):
        return True
    activated = any(
        each.name in ("source", ".")
        and "".join(each.words[:1]).endswith("venv/bin/activate")
        for each in place.invocations
    )
    return activated and is_installed(place, program, caller.folder)
