"""Apply the patterns of the configuration: what they deny and ask for, and what one that allows never lifts."""

import re
from collections.abc import Sequence
from dataclasses import replace

from cli_guard.commands.effects.places import is_below, resolve_path
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.invocations import ENVIRONMENTS, NODE, ProgramInvocation
from cli_guard.commands.model import Context, Effect, EffectKind, Pattern, Setting
from cli_guard.commands.patterns import fit_pattern, matches, shape_of
from cli_guard.lazy import frozen, regex
from cli_guard.model import Decision
from cli_guard.rules import tables

# A pattern that allows a command never lifts these: switching off the guard, showing a secret, taking rights.
NEVER_LIFTED = frozenset((EffectKind.GUARD, EffectKind.CREDENTIAL, EffectKind.PRIVILEGE))
# The kinds of option value that decide which code runs.
CODE = frozenset(
    "shell script format command module folder env config config-env exec".split()
)
HOSTS = frozenset(("url", "host", "server", "endpoint", "upload", "send"))
# These do not depend on the folder of a command.
CONNECTIONS = (EffectKind.NETWORK_IN, EffectKind.NETWORK_OUT)
# An option with such an effect must be named by the pattern: `--force`.
GRAVE = (EffectKind.EXEC, EffectKind.SERVICE_WRITE, EffectKind.DELETE)
# An option that forces, deletes or installs for all, and has no effect of its own in its table.
GRAVE_NAME = regex(
    r"--?(?:[\w-]*(?:force|delete|destroy|mirror|prune|volumes|global|registry)[\w-]*|g|R|repo)(?:=|\Z)"
)
GLUED = regex(r"-{1,2}[\w-]+=?((?:/|~|\.\.).*)", re.DOTALL)
ADDRESS = regex(
    r"(?:[a-z]+\+)?[a-z]+://|(?:github|gitlab|bitbucket|git|file|http|https):",
    re.IGNORECASE,
)
# The beginning of a word of a pattern that names one host.
BOUND = regex(r"\w+://[^/*]+/")
PIPE = regex(r"\s*(?:2>&1\s*)?\|&?\s*")
VARIABLE = regex(r"[A-Za-z_]\w*[:+?!]?=")


def apply_patterns(
    command: str,
    found: dict[Effect, list[ProgramInvocation | None]],
    invocations: Sequence[ProgramInvocation],
    context: Context,
) -> tuple[Effect, ...]:
    """Apply the patterns to the effects of a script: deny before review before allow before the engine.

    `found` maps each effect to its commands. The effects of a reviewed change are never allowed.
    """
    if not context.patterns:
        return tuple(found)
    allowing = [each for each in context.patterns if each.decision is Decision.ALLOW]
    if context.setting is Setting.CHANGE:
        allowing = []
    lifting = Lifting(tuple(allowing), tuple(invocations), context, command)
    own = [lifting.lift(effect, callers) for effect, callers in found.items()]
    kinds = {
        caller: effect.kind
        for effect, callers in reversed(found.items())
        for caller in callers
    }
    hits = dict.fromkeys(
        effect_of_pattern(pattern, each, kinds.get(each, EffectKind.READ))
        for pattern in context.patterns
        if pattern.decision is not Decision.ALLOW
        for each in invocations
        if fit_pattern(pattern, each) is not None
    )
    asked = [effect for effect in hits if effect.decision is Decision.REVIEW]
    return (*asked, *own, *(effect for effect in hits if effect.decision is Decision.DENY))


def effect_of_pattern(
    pattern: Pattern, invocation: ProgramInvocation, kind: EffectKind
) -> Effect:
    """Build the effect of a pattern that reviews or denies: of the kind that the command has."""
    reason = f"the pattern {pattern.text!r} {'denies' if pattern.decision is Decision.DENY else 'asks for'} it"
    return Effect(
        kind, pattern.text, pattern.decision, with_reason(reason, pattern), invocation.span
    )


@frozen
class Lifting:
    """The patterns that allow, and the script that they are applied to."""

    allowing: tuple[Pattern, ...]
    invocations: tuple[ProgramInvocation, ...]
    context: Context
    command: str

    def lift(self, effect: Effect, callers: Sequence[ProgramInvocation | None]) -> Effect:
        """Allow an effect if a pattern covers every command that it comes from."""
        if (
            effect.decision is not Decision.REVIEW
            or effect.kind in NEVER_LIFTED
            or not self.allowing
        ):
            return effect
        patterns = [
            self.find_pattern(effect, caller) or self.find_pattern_beside(effect, caller)
            if caller
            else None
            for caller in callers
        ]
        if not patterns or not all(patterns) or patterns[0] is None:
            return effect
        reason = with_reason(
            f"{effect.reason}, which the pattern {patterns[0].text!r} allows", patterns[0]
        )
        return replace(effect, decision=Decision.ALLOW, reason=reason)

    def find_pattern(self, effect: Effect, caller: ProgramInvocation) -> Pattern | None:
        """Return the pattern that allows a command, or its words within the runner's (`uv run pytest *`)."""
        if not caller.plain or not self.runs_in_project(effect, caller):
            return None
        started: ProgramInvocation | None = caller
        while started is not None:
            for pattern in self.allowing:
                words = self.words_covered(pattern, effect, started)
                # A pattern for the runner has to name the command that it starts.
                named = [word.span for word in words[1:]]
                if words and (started is caller or caller.fields[0].span in named):
                    return pattern
            started = started.parent
        return None

    def runs_in_project(self, effect: Effect, caller: ProgramInvocation) -> bool:
        project = self.context.root or self.context.folder
        if effect.kind in CONNECTIONS or not project:
            return True
        folder = caller.folder
        return bool(folder and is_below(folder, project, self.context))

    def words_covered(
        self, pattern: Pattern, effect: Effect, started: ProgramInvocation
    ) -> Sequence[Field]:
        """Return the words of a command that a pattern fits, none if others name or add code."""
        words = fit_pattern(pattern, started)
        if not words or names_code(effect, started, words):
            return ()
        return () if adds_code(pattern, started, self.context, effect.kind) else words

    def find_pattern_beside(
        self, effect: Effect, caller: ProgramInvocation
    ) -> Pattern | None:
        """Return the pattern that allows what a runner starts (`uv run`), or what `tee` keeps the output of."""
        if not caller.plain:
            return None
        if caller.name == "tee" and effect.kind is EffectKind.WRITE:
            others = self.find_source(effect, caller)
        elif (
            effect.kind is EffectKind.EXEC
            and caller.arguments.spec.name in tables.workspace().runners
        ):
            others = [each for each in self.invocations if each.parent is caller]
            others = others if self.stays_with_project(caller, others) else []
        else:
            return None
        for each in others:
            run = Effect(EffectKind.EXEC, each.program, Decision.REVIEW, "", each.span)
            if found := self.find_pattern(run, each) or self.find_pattern_beside(run, each):
                return found
        return None

    def find_source(
        self, effect: Effect, tee: ProgramInvocation
    ) -> list[ProgramInvocation]:
        """Return the command whose output goes through a pipe to `tee`, which keeps it in a file of the project."""
        if lies_outside(effect.target or "/", tee.folder, self.context):
            return []
        ends = [
            each
            for each in self.invocations
            if each.span.end <= tee.span.start and each.parent is None
        ]
        source = max(ends, key=lambda each: each.span.end, default=None)
        between = self.command[source.span.end : tee.span.start] if source else ""
        if source is None or not PIPE.fullmatch(between):
            return []
        return [source, *(each for each in self.invocations if each.parent is source)]

    def stays_with_project(
        self, runner: ProgramInvocation, inner: Sequence[ProgramInvocation]
    ) -> bool:
        """Return whether a runner only starts a program of the project: no `--with`, no package to fetch."""
        before = (
            runner.fields[1 : len(runner.fields) - len(inner[0].fields)] if inner else ()
        )
        if not inner or any(word.start.startswith("-") for word in before):
            return False
        if runner.program in ENVIRONMENTS:
            return True
        tree = self.context.tree
        program = f"{self.context.root}/{NODE}/{inner[0].name}"
        return tree is not None and tree.exists(program)


def names_code(
    effect: Effect, invocation: ProgramInvocation, words: Sequence[Field]
) -> bool:
    """Return whether only words beyond the pattern name code to run (`git fetch --upload-pack=CODE`)."""
    target = effect.target or ""
    if effect.kind is not EffectKind.EXEC or target.partition(" ")[0] == invocation.program:
        return False
    last = target.rpartition("/")[2]
    more = [
        word.start for word in invocation.fields if all(word is not each for each in words)
    ]
    return bool(more) and (target.startswith("-") or any(last in text for text in more))


def adds_code(
    pattern: Pattern, invocation: ProgramInvocation, context: Context, kind: EffectKind
) -> bool:
    """Return whether a command adds code, a folder, a host or a variable to a pattern (`go test -exec X`).

    Code is also what lies outside the project (`pytest ../other`), or what is installed from an address. `kind` is
    that of the effect to lift.
    """
    shape = shape_of(pattern.text)
    given = invocation.arguments
    named = {word[0] for word in shape.words if len(word) == 1}
    if not shape.open and len(named) == len(set(shape.words)):
        return False
    named |= {word.partition("=")[0] for word in named}
    options = [
        each for each in given.present if each.takes in CODE | HOSTS or each.effect in GRAVE
    ]
    if any(not named.intersection(each.names) for each in options):
        return True
    operands = [each.start for each in given.operands]
    if kind is EffectKind.EXEC and any(
        ADDRESS.match(each)
        and not any(BOUND.match(word[0]) and matches(word, each) for word in shape.words)
        for each in operands
    ):
        return True
    words = invocation.words
    paths = {
        each: each for each in (*operands, *(value.start for _, value in given.values))
    }
    paths |= {word: found[1] for word in words if (found := GLUED.match(word))}
    # A report may go to the temporary folder; what code is there asks by its kind.
    added = {
        word
        for word, path in paths.items()
        if "/tmp/" not in word and lies_outside(path, invocation.folder, context)  # noqa: S108
    }
    # A refspec that forces or deletes, another registry or host.
    added |= {
        each for each in operands if VARIABLE.match(each) or each.startswith(("+", ":"))
    }
    added |= {
        word
        for word in words
        if word.startswith("-") and (GRAVE_NAME.match(word) or "://" in word)
    }
    return not named.issuperset(added)


def lies_outside(word: str, folder: str | None, context: Context) -> bool:
    """Return whether a word is a path that leaves the project."""
    if not word.startswith(("/", "~")) and ".." not in word.split("/"):
        return False
    project = context.root or context.folder
    return not project or not is_below(
        resolve_path(word, folder, context), project, context
    )


def with_reason(text: str, pattern: Pattern) -> str:
    """Append the reason of a pattern to a sentence, on one line."""
    return f"{text}: {' '.join(pattern.reason.split())}" if pattern.reason else text
