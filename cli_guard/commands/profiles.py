"""What the profile of a work tree lifts from the effects of a command.

`strict` lifts nothing. `floors` lifts all that is not denied. `workspace` lifts what stays in a work tree that a person
trusts: its files, its own code, local Git, loopback (`trust/`, with the lists of `rules/workspace.toml`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import Context, Effect, EffectKind, Profile, Setting
from cli_guard.model import Decision

if TYPE_CHECKING:
    from cli_guard.commands.trust.place import Place

# An agent waits for the verdict; in a very large tree the number of changes is left out.
# Some 4,000 files, whose state Git tells in about 50 ms: a note is worth no more.
NAMED_FOR_A_NOTE = 200_000
Callers = list[ProgramInvocation | None]


def apply_profile(
    command: str,
    found: Mapping[Effect, Callers],
    invocations: Iterable[ProgramInvocation],
    context: Context,
    unread: frozenset[str] = frozenset(),
    whole: frozenset[str] = frozenset(),
) -> dict[Effect, Callers]:
    """Return the effects of a script, each with its commands, as the profile of the work tree decides them.

    `unread` are the files that the script writes without the judge knowing their code, `whole` those that it has
    written from beginning to end, whose code was judged.
    """
    if context.setting is Setting.CHANGE or context.profile is Profile.STRICT:
        return dict(found)
    if context.profile is Profile.FLOORS:
        return {
            allow(effect, "left to the agent's own rules"): callers
            for effect, callers in found.items()
        }
    # A partial verdict already needs review.
    out_of_bounds = any(
        effect.kind is EffectKind.UNKNOWN and effect.target is None and None in each
        for effect, each in found.items()
    )
    if context.tree is None or context.root is None or out_of_bounds:
        return dict(found)
    from cli_guard.commands.trust.place import Place

    place = Place(
        context,
        context.root,
        context.tree,
        command,
        tuple(invocations),
        unread,
        whole,
        found,
    )
    return {
        allow(effect, explain(place, effect))
        if covers(place, effect, callers)
        else effect: callers
        for effect, callers in found.items()
    }


def allow(effect: Effect, why: str) -> Effect:
    """Return a reviewed effect as an allowed one; any other as it is."""
    if effect.decision is not Decision.REVIEW:
        return effect
    return replace(effect, decision=Decision.ALLOW, reason=f"{effect.reason} ({why})")


def covers(place: "Place", effect: Effect, callers: Callers) -> bool:
    """Return whether an effect stays in a trusted work tree, for every command that has it."""
    from cli_guard.commands.trust import code, files, installs, services

    if (
        effect.decision is not Decision.REVIEW
        or effect.rule
        or not callers
        or place.loses_way
    ):
        return False
    checks: Mapping[
        EffectKind, Callable[[Place, Effect, ProgramInvocation | None], bool]
    ] = {
        EffectKind.WRITE: files.writes_inside,
        EffectKind.DELETE: files.deletes_what_comes_back,
        EffectKind.EXEC: code.runs_own_code,
        EffectKind.SERVICE_WRITE: code.runs_own_code,
        EffectKind.GIT_WRITE: services.is_reversible,
        EffectKind.NETWORK_IN: services.stays_on_machine,
        EffectKind.NETWORK_OUT: services.stays_on_machine,
        EffectKind.PROCESS: services.stays_with_user,
        EffectKind.UNKNOWN: code.is_known_here,
    }
    if effect.kind in (EffectKind.EXEC, EffectKind.NETWORK_IN):
        locked = all(installs.installs_what_is_locked(place, each) for each in callers)
        if locked:
            return True
    check = checks.get(effect.kind)
    return check is not None and all(check(place, effect, each) for each in callers)


def explain(place: "Place", effect: Effect) -> str:
    """Say why an effect is allowed, and how much of the code that runs nobody has reviewed yet."""
    if effect.kind is not EffectKind.EXEC:
        return "trusted work tree"
    changes = place.tree.list_uncommitted(NAMED_FOR_A_NOTE)
    if ("*", False) in changes:
        return "trusted work tree; too big to list its changes"
    changed = sum(not ignored for _, ignored in changes)
    files = (
        f"{changed} changed {'file is' if changed == 1 else 'files are'} not reviewed yet"
    )
    return f"trusted work tree; {files}" if changed else "trusted work tree"
