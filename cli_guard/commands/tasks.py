"""The tasks of the project that a command runs: the one that it names, and those that run with it.

A person has reviewed the file that defines them (package.json, a Makefile), so what a task does in the tree is as good
as any code of the project. One that leaves the tree is told, whatever its name is. npm-scripts(7): `pretest`, `test`
and `posttest` are one call.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from cli_guard.commands.effects.places import resolve_path
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import STRICTNESS, Context, Effect, EffectKind, Span, WorkTree
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.programs import table
from cli_guard.commands.scope import OutOfBudget, ShellScope, WorkBudget
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
# Options with the folder or the file that defines the tasks.
PLACES = frozenset(
    "--prefix -C --dir --cwd --directory -d --working-directory -f --file --makefile --justfile -t --taskfile".split()
)
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
# With Git, these lose work (`git clean`).
LOSING = (EffectKind.GIT_WRITE, EffectKind.DELETE)
# Of one command, those that the tasks run in turn included.
MOST_TASKS = 40


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
    """Return the names of the files that define the tasks of a program, none if it runs none now."""
    program = table(invocation.program)
    if program is None or invocation.arguments.has(*program.dry.split()):
        return ()
    return tuple(program.tasks.split())


def list_names(invocation: ProgramInvocation, files: tuple[str, ...]) -> list[str]:
    """Return the names, or patterns, of the tasks that a command runs by its words."""
    given = invocation.arguments
    tasks = [word.start for word in given.list_words(NAMING)]
    if given.spec.program == "nx":
        # `nx run PROJECT:TARGET:CONFIGURATION`, `nx run-many -t build,test`
        tasks = [part for task in tasks for part in re.split("[:,]", task)]
    if files != ("package.json",):
        return [task for task in tasks if "=" not in task] or [""]
    # `bun test` is its own runner.
    is_own = given.spec.program != "bun"
    own = LIFECYCLE.get(given.spec.name.rpartition(" ")[2]) if is_own else None
    # Alone it prints the version.
    if own and (own != "version" or given.operands):
        tasks.append(own)
    return [each for name in tasks for each in (f"pre{name}", name, f"post{name}")]


def list_places(
    invocation: ProgramInvocation, context: Context, tree: WorkTree
) -> list[str | None]:
    """Return the folders or files in which a command looks for its tasks, None for one that is not known."""
    given = invocation.arguments
    program = table(invocation.program) or given.spec
    everywhere = f"{program.packages} {given.spec.packages}".split()
    if "any" in everywhere or given.has(*everywhere):
        return [*tree.list_packages()]
    for option, value in given.values:
        if PLACES.intersection(option.names) and option.takes != "task":
            named = value.text
            return [resolve_path(named, invocation.folder, context) if named else None]
    return [invocation.folder]


def list_tasks(
    invocation: ProgramInvocation, context: Context, tree: WorkTree
) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the place, the name and the commands of each task that a command runs."""
    files = find_files(invocation)
    names = list_names(invocation, files) if files else []
    for place in list_places(invocation, context, tree) if names else ():
        if place is None:
            continue
        tasks = tree.read_tasks(files, place)
        for name in names:
            yield from ((place, each, tasks[each]) for each in match_tasks(name, tasks))
            # `just sub/test`
            folder, _, last = name.rpartition("/")
            if folder and files != ("package.json",):
                below = tree.read_tasks(files, f"{place}/{folder}")
                yield from (
                    (f"{place}/{folder}", each, below[each])
                    for each in match_tasks(last, below)
                )


def find_leaving(
    invocation: ProgramInvocation, context: Context, budget: WorkBudget
) -> Iterator[tuple[str, str]]:
    """Yield each task that a command runs and that leaves the work tree, with the reason, and so on from there."""
    if context.tree is None:
        return
    waiting = [invocation]
    seen: set[tuple[str, ...]] = set()
    while waiting:
        runner = waiting.pop()
        kind = "script" if "package.json" in find_files(runner) else "task"
        for place, name, commands in list_tasks(runner, context, context.tree):
            if (kind, place, name) in seen:
                continue
            seen.add((kind, place, name))
            title = f"{kind} {name}".rstrip()
            if len(seen) > MOST_TASKS:
                yield title, "it is one of more than are judged"
                return
            for text in commands:
                inner = walk_script(text, place, context, budget)
                for effect in find_effects_beyond(text, inner)[:1]:
                    yield title, effect.reason
                waiting += inner.invocations


def match_tasks(name: str, tasks: Mapping[str, object]) -> list[str]:
    """Return the tasks of a name; `run-p build:*` names several."""
    if "*" not in name:
        return [name] if name in tasks else []
    return [each for each in tasks if fnmatchcase(each, name)]


def walk_script(
    text: str, folder: str | None, context: Context, budget: WorkBudget | None = None
) -> Shell:
    """Walk through a script in a shell of its own; what exceeds the bounds is an effect."""
    inner = new_shell(ShellScope(context, folder=folder))
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
    found = apply_profile(text, inner.effects, inner.invocations, context)
    beyond = []
    for effect, callers in found.items():
        named = [
            each
            for each in callers
            if each is not None
            and (effect.kind in LEAVING or is_named_only(place, each, context.tree))
            and leaves_by_task(place, each)
        ]
        if effect.decision is Decision.REVIEW and named:
            words = " ".join((named[0].name, *named[0].words))
            beyond.append(replace(effect, reason=f"it runs {words}"))
        elif effect.decision is Decision.DENY or (
            effect.decision is Decision.REVIEW
            and (
                effect.kind in LEAVING
                or (effect.kind in LOSING and any(map(is_git, callers)))
            )
        ):
            beyond.append(effect)
    return sorted(beyond, key=lambda each: STRICTNESS.index(each.decision), reverse=True)


def is_git(caller: ProgramInvocation | None) -> bool:
    return caller is not None and caller.program == "git"


def is_named_only(place: "Place", invocation: ProgramInvocation, tree: WorkTree) -> bool:
    """Return whether a command runs code of the project of which nothing but the name is known."""
    if not place.is_own_tool(invocation.arguments.spec):
        return table(invocation.program) is None
    return next(list_tasks(invocation, place.context, tree), None) is None
