"""Judge the commands that a write puts into a file which runs them: package.json, a Makefile, a workflow, a script.

They count as soon as they are written: nobody is asked about the next `npm test`.
"""

from pathlib import Path

from cli_guard.agents.surface import read_inside
from cli_guard.agents.uses import Write
from cli_guard.agents.wording import HookAnswer
from cli_guard.commands.model import Context, Effect, Profile
from cli_guard.commands.tasks import find_effects_beyond, walk_script
from cli_guard.commands.trust.place import DEFAULTS
from cli_guard.execution.context import SHELL_ENDINGS
from cli_guard.model import Decision

# Commands of one file, and characters of it.
MOST_TEXTS = 100
LONGEST = 200_000


def judge_commands(
    use: Write, inside: str, root: Path, context: Context
) -> HookAnswer | None:
    """Return the decision about the worst that a write adds to the commands of a file, by its path in the tree."""
    old = read_inside(root, inside) or ""
    new = use.apply(old)
    before = set(list_texts(inside, old, context))
    added = [each for each in list_texts(inside, new, context) if each not in before]
    if len(new) > LONGEST or not added:
        return None
    found = find_beyond(added, context)
    # A script is one text: what it did already is no news.
    known = {each.reason for each in find_beyond(sorted(before), context)} if found else {}
    for effect in found:
        decision = decide(effect, inside, context.profile)
        if decision is not Decision.ALLOW and effect.reason not in known:
            said = f"cli-guard: writes a command into {inside}: {effect.reason}"
            return HookAnswer(decision, said)
    return None


def list_texts(path: str, text: str, context: Context) -> tuple[str, ...]:
    """Return the shell commands in the text of a file."""
    if path.endswith(SHELL_ENDINGS):
        return (text,)
    return (context.read_commands and context.read_commands(path, text)) or ()


def find_beyond(texts: list[str], context: Context) -> list[Effect]:
    """Return what some commands do beyond the work tree, denials first."""
    found = [
        effect
        for text in texts[:MOST_TEXTS]
        for effect in find_effects_beyond(text, walk_script(text, context.root, context))
    ]
    return sorted(found, key=lambda each: each.decision is not Decision.DENY)


def decide(effect: Effect, path: str, profile: Profile) -> Decision:
    """Return what is decided about an effect of a command in a file.

    A task of the project runs here without a question; what is for another machine or a container is none for this one.
    """
    is_task = DEFAULTS.search(f"/{path}") is not None
    if effect.decision is Decision.DENY:
        runs_here = is_task or path.endswith(SHELL_ENDINGS)
        return Decision.DENY if runs_here else Decision.REVIEW
    asks = is_task and profile is Profile.WORKSPACE
    return Decision.REVIEW if asks else Decision.ALLOW
