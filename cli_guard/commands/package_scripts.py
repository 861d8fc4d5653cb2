"""The scripts of package.json that a command runs: the one that it names, and those before and after it.

A person has reviewed that file, so what a script does in the tree is as good as any code of the project. One that
leaves the tree is told, whatever its name is. npm-scripts(7): `pretest`, `test` and `posttest` are one call.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.commands.effects.places import resolve_path
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import STRICTNESS, Context, Effect, EffectKind, Span
from cli_guard.commands.profiles import Callers, apply_profile
from cli_guard.commands.scope import OutOfBudget, ShellScope, WorkBudget
from cli_guard.commands.shell import Shell
from cli_guard.commands.walk import new_shell
from cli_guard.model import Decision

RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "npm-run-all"))
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
        names = list_scripts(invocation)
        folder = find_folder(invocation, context) if names else None
        if folder is None or context.tree is None:
            continue
        scripts = context.tree.read_scripts(folder)
        for name, reason in find_leaving(names, scripts, folder, context, shell.budget):
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


def list_scripts(invocation: ProgramInvocation) -> list[str]:
    """Return the names, or patterns, of the scripts that a command runs by its words."""
    given = invocation.arguments
    if given.spec.program not in RUNNERS:
        return []
    tasks = [word.start for kind, word in given.kinds if kind in NAMING]
    # `bun test` is its own runner.
    is_own = given.spec.program != "bun"
    own = LIFECYCLE.get(given.spec.name.rpartition(" ")[2]) if is_own else None
    # Alone it prints the version.
    if own and (own != "version" or given.operands):
        tasks.append(own)
    return tasks


def find_folder(invocation: ProgramInvocation, context: Context) -> str | None:
    """Return the folder in which a command looks for package.json, None if it is not known."""
    for option, value in invocation.arguments.values:
        if set(option.names) & set(FOLDERS):
            return (
                resolve_path(value.text, invocation.folder, context) if value.text else None
            )
    return invocation.folder


def find_leaving(
    names: list[str],
    scripts: Mapping[str, str],
    folder: str,
    context: Context,
    budget: WorkBudget,
) -> Iterator[tuple[str, str]]:
    """Yield each script that runs and leaves the work tree, with the reason; those that it runs in turn as well."""
    waiting = names
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        for each in (f"pre{name}", name, f"post{name}"):
            for script in match_scripts(each, scripts):
                if script in seen:
                    continue
                seen.add(script)
                if len(seen) > MOST_SCRIPTS:
                    yield script, "it is one of more than are judged"
                    return
                inner = walk_script(scripts[script], folder, context, budget)
                for effect in find_effects_beyond(scripts[script], inner)[:1]:
                    yield script, effect.reason
                waiting += [task for run in inner.invocations for task in list_scripts(run)]


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
