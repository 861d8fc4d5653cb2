"""The scripts of package.json that a command runs: the one that it names, and those before and after it.

A person has reviewed that file, so what a script does in the tree is as good as any code of the project. One that
leaves the tree is told, whatever its name is. npm-scripts(7): `pretest`, `test` and `posttest` are one call.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.commands.effects.places import resolve_path
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import STRICTNESS, Context, Effect, EffectKind, Span, WorkTree
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.scope import OutOfBudget, ShellScope, WorkBudget
from cli_guard.commands.shell import Shell
from cli_guard.commands.walk import new_shell
from cli_guard.model import Decision

RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "npm-run-all", "turbo", "nx", "lerna"))
# These run a script of that name in each package; the others do with one of the options.
SEVERAL = re.compile(r"turbo|nx|lerna|yarn workspace")
PACKAGES = tuple(
    "-w --workspace --workspaces -ws -r --recursive -F --filter --filter-prod".split()
)
# Sub-commands that are the names of scripts themselves (npm(1)).
LIFECYCLE = {name: name for name in ("test", "start", "stop", "restart", "version")}
LIFECYCLE |= {"t": "test", "tst": "test"}
# The kinds of operand that may be the name of a script; bun takes the file of that name otherwise.
NAMING = ("task", "verb", "script")
FOLDERS = ("--prefix", "-C", "--dir", "--cwd")
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
# Of one command, those that the scripts run in turn included.
MOST_SCRIPTS = 40


def judge_scripts(shell: Shell, context: Context) -> dict[Effect, Callers]:
    """Return what the scripts that the commands of a shell run do beyond the work tree."""
    found: dict[Effect, Callers] = {}
    for invocation in shell.invocations:
        for name, reason in find_leaving(invocation, context, shell.budget):
            runner = invocation.arguments.spec.name
            effect = Effect(
                EffectKind.EXEC,
                runner,
                Decision.REVIEW,
                f"{runner} runs the script {name}: {reason}",
                invocation.span,
            )
            found[effect] = [invocation]
    return found


def list_names(invocation: ProgramInvocation) -> list[str]:
    """Return the names, or patterns, of the scripts that a command runs by its words."""
    given = invocation.arguments
    if given.spec.program not in RUNNERS:
        return []
    tasks = [word.start for word in given.list_words(NAMING)]
    if given.spec.program == "nx":
        # `nx run PROJECT:TARGET:CONFIGURATION`, `nx run-many -t build,test`
        tasks = [part for task in tasks for part in re.split("[:,]", task)]
    # `bun test` is its own runner.
    is_own = given.spec.program != "bun"
    own = LIFECYCLE.get(given.spec.name.rpartition(" ")[2]) if is_own else None
    # Alone it prints the version.
    if own and (own != "version" or given.operands):
        tasks.append(own)
    return tasks


def list_folders(
    invocation: ProgramInvocation, context: Context, tree: WorkTree
) -> list[str | None]:
    """Return the folders in which a command looks for package.json, None for one that is not known."""
    given = invocation.arguments
    if SEVERAL.match(given.spec.name) or given.has(*PACKAGES):
        return [*tree.list_packages()]
    for option, value in given.values:
        if set(option.names) & set(FOLDERS):
            named = value.text
            return [resolve_path(named, invocation.folder, context) if named else None]
    return [invocation.folder]


def list_scripts(
    invocation: ProgramInvocation, context: Context, tree: WorkTree
) -> Iterator[tuple[str, str, str]]:
    """Yield the folder, the name and the text of each script that a command runs."""
    names = [
        each
        for name in list_names(invocation)
        for each in (f"pre{name}", name, f"post{name}")
    ]
    for folder in list_folders(invocation, context, tree) if names else ():
        scripts = tree.read_scripts(folder) if folder is not None else {}
        for name in names:
            for script in match_scripts(name, scripts):
                yield folder or "", script, scripts[script]


def find_leaving(
    invocation: ProgramInvocation, context: Context, budget: WorkBudget
) -> Iterator[tuple[str, str]]:
    """Yield each script that a command runs and that leaves the work tree, with the reason, and so on from there."""
    if context.tree is None:
        return
    waiting = [invocation]
    seen: set[tuple[str, str]] = set()
    while waiting:
        for folder, name, text in list_scripts(waiting.pop(), context, context.tree):
            if (folder, name) in seen:
                continue
            seen.add((folder, name))
            if len(seen) > MOST_SCRIPTS:
                yield name, "it is one of more than are judged"
                return
            inner = walk_script(text, folder, context, budget)
            for effect in find_effects_beyond(text, inner)[:1]:
                yield name, effect.reason
            waiting += inner.invocations


def match_scripts(name: str, scripts: Mapping[str, str]) -> list[str]:
    """Return the scripts of a name; `run-p build:*` names several."""
    if "*" not in name:
        return [name] if name in scripts else []
    return [each for each in scripts if fnmatchcase(each, name)]


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
    """Return the effects of a script that are denied, or that leave the work tree and are not allowed there.

    Code of the project that is named after what leaves it (`npm run deploy`) counts.
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
            each for each in callers if each is not None and leaves_by_task(place, each)
        ]
        if effect.decision is Decision.REVIEW and named:
            words = " ".join((named[0].name, *named[0].words))
            beyond.append(replace(effect, reason=f"it runs {words}"))
        elif effect.decision is Decision.DENY or (
            effect.decision is Decision.REVIEW and effect.kind in LEAVING
        ):
            beyond.append(effect)
    return sorted(beyond, key=lambda each: STRICTNESS.index(each.decision), reverse=True)
