"""Choose the pattern that a person may save so that a command is not asked about again."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence

from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.lifting import NEVER_LIFTED
from cli_guard.commands.model import Effect, EffectKind
from cli_guard.commands.programs import MODULES, table
from cli_guard.commands.scope import NOTHING
from cli_guard.rules import data

PROGRAM = re.compile(r"[A-Za-z][\w.+-]*")
MOST_WORDS = 8
LONGEST = 120
# What a service loses or gets is another matter each time.
KINDS = NEVER_LIFTED | {
    EffectKind.UNKNOWN,
    EffectKind.PERSISTENCE,
    EffectKind.SERVICE_WRITE,
}
RULES = data.read("never_saved.toml")
NEVER = frozenset((*RULES["programs"].split(), *RULES["sub_commands"]))
GIT = frozenset(("git add", "git fetch", "git mv", "git pull"))


def pattern_to_save(
    decisive: Iterable[Effect], found: Mapping[Effect, Sequence[ProgramInvocation | None]]
) -> str | None:
    """Return the pattern that allows the reviewed effects, None unless all come from one plain command.

    `found` maps each effect to the commands that it comes from.
    """
    effects = list(decisive)
    if program := find_unknown_program(effects, found):
        return f"{program} *"
    if any(effect not in found or effect.kind in KINDS for effect in effects):
        return None
    callers = {caller for effect in effects for caller in found[effect]}
    plain = [
        each
        for each in callers
        if each is not None and each.plain and each.stdin == NOTHING
    ]
    outer = [
        each for each in plain if all(other is each or runs(each, other) for other in plain)
    ]
    if len(plain) < len(callers) or len(outer) != 1:
        return None
    # A request that only fetches, and a push that rewrites nothing, may be kept as they are.
    kinds = {effect.kind for effect in effects}
    sends = kinds == {EffectKind.NETWORK_OUT} and [
        word.text for word in outer[0].spelled[0][1:2]
    ] == ["push"]
    fetches = kinds == {EffectKind.NETWORK_IN} and outer[0].name in ("curl", "wget")
    if not (sends or fetches) and any(is_refused(each) for each in plain):
        return None
    return write_pattern(outer[0])


def find_unknown_program(
    effects: Iterable[Effect], found: Mapping[Effect, Sequence[ProgramInvocation | None]]
) -> str | None:
    """Return the one program without a table that all reviewed effects come from; None if there is more."""
    names = {
        effect.target
        for effect in effects
        if effect.reason.endswith("is not a known program")
    }
    callers = [caller for effect in effects for caller in found.get(effect, [None])]
    name = names.pop() if len(names) == 1 else None
    known = all(
        caller is not None and caller.plain and caller.name == name for caller in callers
    )
    if name and known and PROGRAM.fullmatch(name) and table(name) is None:
        return name
    return None


def runs(outer: ProgramInvocation, inner: ProgramInvocation) -> bool:
    """Return whether a command names another one in its words and runs it."""
    parent = inner.parent
    while parent is not None and parent is not outer:
        parent = parent.parent
    return parent is outer and inner.fields[0].span in {
        word.span for word in outer.fields[1:]
    }


def is_refused(invocation: ProgramInvocation) -> bool:
    """Return whether the command must be reviewed each time."""
    name = invocation.name
    base = invocation.program
    # A path from elsewhere may hold another program tomorrow.
    if name.startswith(("/", "~")) or ".." in name.split("/") or "=" in name:
        return True
    spec = table(base)
    words = [word.text or "" for word in invocation.spelled[0][1:3]]
    for program in {base, spec.name if spec else base}:
        names = {" ".join((program, *words[:length])) for length in range(3)}
        if names & NEVER and not names & GIT:
            return True
    return False


def write_pattern(invocation: ProgramInvocation) -> str | None:
    """Write the command as a pattern that matches exactly this command; return None if it is too long to match."""
    words = [word.text or "" for word in invocation.fields]
    text = shlex.join(words)
    if invocation.name == MODULES:
        text = text.replace(MODULES, "python -m", 1)
    if len(words) <= MOST_WORDS and len(text) <= LONGEST and text.isprintable():
        return text
    return None
