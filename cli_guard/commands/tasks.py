"""The tasks of the project that a command runs: the one that it names, and those that run with it.

A person has reviewed the file that defines them (package.json, a Makefile), so what a task does in the tree is as good
as any code of the project. One that leaves the tree is told, whatever its name is. npm-scripts(7): `pretest`, `test`
and `posttest` are one call.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cli_guard.commands.effects.places import resolve_path
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import STRICTNESS, Context, Effect, EffectKind, Span, WorkTree
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.programs import table
from cli_guard.commands.scope import OutOfBudget, ShellScope, Stream, WorkBudget
from cli_guard.commands.shell import Shell
from cli_guard.commands.walk import new_shell
from cli_guard.model import Decision

if TYPE_CHECKING:
    from cli_guard.commands.trust.place import Place

# Sub-commands that are the names of scripts themselves (npm(1)).
LIFECYCLE = {name: name for name in ("test", "start", "stop", "restart", "version")}
LIFECYCLE |= {"t": "test", "tst": "test"}
# The kinds of operand that may be the name of a task; bun takes the file of that name otherwise.
NAMING = ("task", "verb", "script")
# Options with the folder in which the tasks run, and with the file that defines them.
FOLDERS = frozenset("--prefix -C --dir --cwd --directory -d --working-directory".split())
FILES = frozenset("-f --file --makefile --justfile -t --taskfile".split())
LEAVING = frozenset(
    (
        EffectKind.GUARD,
        EffectKind.SYSTEM,
        EffectKind.PERSISTENCE,
        EffectKind.SERVICE_WRITE,
        EffectKind.PRIVILEGE,
        EffectKind.NETWORK_OUT,
    )
)
CONTAINERS = ("docker", "docker-compose")
# With Git, these lose work (`git clean`).
LOSING = (EffectKind.GIT_WRITE, EffectKind.DELETE)
NOT_READ = "it was not read"
# As effects/ words a program, a sub-command or a text for a shell that is not known.
AT_RUN_TIME = re.compile(
    r"the program is known only|the sub-command of \S+ is known only|runs commands known only"
)
# Of the tasks of one command, those that they run in turn included.
MOST_COMMANDS = 120


def judge_tasks(shell: Shell, context: Context) -> dict[Effect, Callers]:
    """Return what the tasks that the commands of a shell run do beyond the work tree."""
    found: dict[Effect, Callers] = {}
    for invocation in shell.invocations:
        for name, reason in find_leaving(invocation, context, shell.budget):
            runner = invocation.arguments.spec.name
            effect = Effect(
                EffectKind.EXEC,
                runner,
                Decision.REVIEW,
                f"{runner} runs the {name}: {reason}",
                invocation.span,
            )
            found[effect] = [invocation]
    return found


def find_files(invocation: ProgramInvocation) -> tuple[str, ...]:
    """Return the names of the files that define the tasks of a program, none if it runs none."""
    program = table(invocation.program)
    return tuple(program.tasks.split()) if program else ()


def list_names(invocation: ProgramInvocation, files: tuple[str, ...]) -> list[str]:
    """Return the names, or patterns, of the tasks that a command runs by its words."""
    given = invocation.arguments
    tasks = [word.start for word in given.list_words(NAMING)]
    if given.spec.program == "nx":
        # `nx run PROJECT:TARGET:CONFIGURATION`, `nx run-many -t build,test`
        tasks = [part for task in tasks for part in re.split("[:,]", task)]
    if files != ("package.json",):
        # `just module::recipe`
        return [task.rpartition("::")[2] for task in tasks if "=" not in task] or [""]
    # `bun test` is its own runner.
    is_own = given.spec.program != "bun"
    own = LIFECYCLE.get(given.spec.name.rpartition(" ")[2]) if is_own else None
    # Alone it prints the version.
    if own and (own != "version" or given.operands):
        tasks.append(own)
    return [each for name in tasks for each in (f"pre{name}", name, f"post{name}")]


def list_places(
    invocation: ProgramInvocation, context: Context, tree: WorkTree
) -> tuple[list[str | None], str | None]:
    """Return the folders or files in which a command looks for its tasks, None for one that is not known.

    The other value is the folder that it names to run them in, None if the file decides.
    """
    given = invocation.arguments
    program = table(invocation.program) or given.spec
    everywhere = f"{program.packages} {given.spec.packages}".split()
    if "any" in everywhere or given.has(*everywhere):
        return [*tree.list_packages()], None
    folder = invocation.folder
    files: list[str | None] = []
    valued = [(option, word) for option, word in given.values if option.takes != "task"]
    named = [word.text for option, word in valued if FOLDERS.intersection(option.names)]
    for each in named:
        folder = resolve_path(each, folder, context) if each and folder else None
    for option, word in valued:
        if FILES.intersection(option.names):
            # What comes first, the folder or the file, differs.
            starts = {folder, invocation.folder} if word.text else {None}
            files += [
                resolve_path(word.start, start, context) if start else None
                for start in starts
            ]
    runs_there = named or (files and given.spec.program == "make")
    if len(set(files)) > 1 and given.spec.program == "make":
        # Several files are one.
        files.append(None)
    return files or [folder], folder if runs_there else None


def list_tasks(
    invocation: ProgramInvocation,
    context: Context,
    tree: WorkTree,
    written: Collection[str] = (),
) -> Iterator[tuple[str | None, str, tuple[str, ...]]]:
    """Yield the folder, the name and the commands of each task that a command runs.

    The folder is None for what is not known, which the name says then; `written` are files that earlier tasks write.
    """
    files = find_files(invocation)
    given = invocation.arguments
    program = table(invocation.program)
    is_script = files == ("package.json",)
    if program is None or not files or (not is_script and given.has("--help", "--version")):
        return
    for option, word in given.values:
        # `--eval=TEXT`, `-I FOLDER`
        if option.takes == EffectKind.EXEC and FILES.isdisjoint(option.names):
            yield None, f"with {option.names[0]} {word.start}", ()
    dry = given.has(*program.dry.split())
    settings = dict(
        word.start.split("=", 1) for word in given.list_words(NAMING) if "=" in word.start
    )
    names = list_names(invocation, files)
    places, runs_in = list_places(invocation, context, tree)
    for place in places:
        if place is None:
            yield None, "in a folder that is only known as it runs", ()
            continue
        # `just sub/test`
        below = [] if is_script else [name.rpartition("/") for name in names]
        for path, chosen in (
            (place, names),
            *((f"{place}/{sub}", [last]) for sub, _, last in below if sub),
        ):
            if path in written:
                yield None, "in a file that a task writes", ()
            found = tree.read_tasks(files, path, settings, dry=dry)
            if found is None:
                continue
            yield from ((None, each, ()) for each in found.unread)
            folder = runs_in or found.folder
            if found.always:
                yield folder, "", found.always
            for name in chosen:
                for each in match_tasks(name, found.tasks):
                    yield folder, each, found.tasks[each]


def find_leaving(
    invocation: ProgramInvocation, context: Context, budget: WorkBudget
) -> Iterator[tuple[str, str]]:
    """Yield each task that a command runs and that leaves the work tree, with the reason, and so on from there."""
    if context.tree is None:
        return
    waiting = [invocation]
    files: dict[str, Stream] = {}
    seen: set[tuple[str | None, str]] = set()
    while waiting:
        runner = waiting.pop()
        kind = "script" if "package.json" in find_files(runner) else "task"
        for folder, name, commands in list_tasks(runner, context, context.tree, files):
            title = f"{kind} {name}".rstrip()
            if folder is None:
                yield title, NOT_READ
            for text in commands:
                if (folder, text) in seen:
                    continue
                seen.add((folder, text))
                if len(seen) > MOST_COMMANDS:
                    yield title, "it is one of more than are judged"
                    return
                inner = walk_script(text, folder, context, budget, files)
                for effect in find_effects_beyond(text, inner)[:1]:
                    yield title, effect.reason
                waiting += inner.invocations


def match_tasks(name: str, tasks: Mapping[str, object]) -> list[str]:
    """Return the tasks of a name; `run-p build:*` names several, the rule `%.o` is for many names."""
    return [
        each
        for each in tasks
        if each == name
        or ("*" in name and fnmatchcase(each, name))
        or (name and fnmatchcase(name, each.replace("%", "*")))
    ]


def walk_script(
    text: str,
    folder: str | None,
    context: Context,
    budget: WorkBudget | None = None,
    files: dict[str, Stream] | None = None,
) -> Shell:
    """Walk through a script in a shell of its own; what exceeds the bounds is an effect.

    `files` are those that earlier scripts wrote, and gets what this one writes.
    """
    inner = new_shell(
        ShellScope(context, folder=folder, files={} if files is None else files)
    )
    inner.budget = budget or inner.budget
    try:
        inner.run_text(text)
    except (OutOfBudget, RecursionError):
        inner.emit(EffectKind.SYSTEM, None, "it is more than is judged", Span(0, 0))
    return inner


def find_effects_beyond(text: str, inner: Shell) -> list[Effect]:
    """Return the effects of a script that are denied, or not allowed in the tree and leave it or lose work.

    Code of the project that is named after what leaves it (`npm run deploy`) counts, unless its commands are read.
    """
    from cli_guard.commands.trust.place import Place
    from cli_guard.commands.trust.words import leaves_by_task

    context = inner.context
    if context.tree is None or context.root is None:
        return []
    place = Place(context, context.root, context.tree)
    # Where the others stay is not looked at: a build has hundreds.
    suspect = {
        effect: callers
        for effect, callers in inner.effects.items()
        if effect.decision is not Decision.ALLOW
        and (
            effect.decision is Decision.DENY
            or may_leave(effect, callers)
            # What is not understood keeps the rest from being allowed.
            or (effect.kind is EffectKind.UNKNOWN and effect.target is None)
            or any(each and leaves_by_task(place, each) for each in callers)
        )
    }
    beyond = []
    for effect, callers in apply_profile(text, suspect, inner.invocations, context).items():
        named = [
            each
            for each in callers
            if each is not None
            and leaves_by_task(place, each)
            and (effect.kind in LEAVING or is_named_only(place, each, context.tree))
        ]
        if effect.decision is Decision.REVIEW and named:
            words = " ".join((named[0].name, *named[0].words))
            beyond.append(replace(effect, reason=f"it runs {words}"))
        elif effect.decision is Decision.DENY or (
            effect.decision is Decision.REVIEW and may_leave(effect, callers)
        ):
            beyond.append(effect)
    return sorted(beyond, key=lambda each: STRICTNESS.index(each.decision), reverse=True)


def may_leave(effect: Effect, callers: Callers) -> bool:
    """Return whether an effect is of a kind that leaves the tree or loses work, or is not known."""
    programs = {each.arguments.spec.program for each in callers if each}
    return (
        effect.kind in LEAVING
        or (effect.kind in LOSING and "git" in programs)
        # In a container it stays there.
        or (
            AT_RUN_TIME.search(effect.reason) is not None
            and programs.isdisjoint(CONTAINERS)
        )
    )


def is_named_only(place: "Place", invocation: ProgramInvocation, tree: WorkTree) -> bool:
    """Return whether a command runs code of the project of which nothing but the name is known."""
    if not place.is_own_tool(invocation.arguments.spec):
        return table(invocation.program) is None
    return next(list_tasks(invocation, place.context, tree), None) is None
