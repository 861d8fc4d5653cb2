"""Judge the code of other languages that a command carries, as read by `inline`."""

from cli_guard.commands import floors
from cli_guard.commands.effects.call import Call
from cli_guard.commands.effects.paths import EMPTIES, delete_path, read_path
from cli_guard.commands.expand.fields import Field, literal
from cli_guard.commands.inline.model import EVERY_FILE, Act
from cli_guard.commands.model import HARMLESS, EffectKind, Profile, Span
from cli_guard.commands.scope import REMOTE, SECRET, TOKEN, Stream, taints_of
from cli_guard.lazy import regex
from cli_guard.model import Decision

RUNS = (EffectKind.EXEC, EffectKind.PROCESS, EffectKind.UNKNOWN)
FORKS = regex(
    r"\bfork\b(?:\(\))?\s*(?:while|until)\b|(?:while|until|loop|for)\b[^\n]*[:{\n)]\s*(?:os\.)?fork\b"
)
KILLS_ALL = regex(r"\bkill\w*\b[\s(,]*(?:['\"]?\w+['\"]?\s*,\s*)?-1\b")
NETWORK = (EffectKind.NETWORK_IN, EffectKind.NETWORK_OUT)


def run_code(call: Call, language: str, code: Stream, span: Span) -> None:
    """Judge code in one of the languages of `inline`."""
    call.took_input = True
    if code.text is None:
        if not floors.check_remote_code(call.shell, code.taints, call.title, span):
            call.effect(EffectKind.EXEC, None, "runs code known only at run time", span)
        return
    from cli_guard.commands.inline import acts

    call.shell.budget.read(code.text)
    with call.shell.nest(span):
        found = acts(language, code.text)
        for act in found:
            call.shell.budget.step()
            one_act(call, act, span)
    runs = any(act.kind in RUNS for act in found)
    if runs and FORKS.search(code.text):
        floors.deny_fork_bomb(call.shell, span)
    if runs and KILLS_ALL.search(code.text):
        floors.deny_kill_all(call.shell, span)
    if any(act.kind in NETWORK for act in found):
        taints = taints_of((call.stdin, *call.reads)) - {TOKEN}
        if any(act.kind is EffectKind.CREDENTIAL for act in found):
            taints |= {SECRET}
        floors.check_sent(call.shell, taints, call.title, span, program=True)


def keep_denials(call: Call, text: str, span: Span) -> None:
    """Judge text that the code may pass to a shell. Keep only denials: the text may not be a command at all."""
    shell = call.shell
    outer = shell.effects
    partial = shell.partial
    shell.effects = {}
    try:
        shell.run_child(text, span)
    finally:
        for effect, callers in shell.effects.items():
            if effect.decision is Decision.DENY:
                outer.setdefault(effect, []).extend(callers)
        shell.effects = outer
        shell.partial = partial


def one_act(call: Call, act: Act, span: Span) -> None:
    shell = call.shell
    field = Field(None, "", span) if act.target is None else literal(act.target, span)
    if act.suspect is not None:
        keep_denials(call, act.suspect, span)
    elif act.variable:
        shell.environment(act.variable, act.target, span)
    elif act.shell is not None:
        if act.reason:
            call.effect(EffectKind.EXEC, act.shell[:60], act.reason, span)
        call.reads.append(shell.run_child(act.shell, span))
    elif act.remote:
        floors.check_remote_code(
            shell, frozenset((REMOTE,)), act.reason or call.title, span
        )
    elif act.kind is EffectKind.READ:
        call.reads.append(read_path(shell, field, span))
        if act.reason == EVERY_FILE and shell.context.profile is Profile.STRICT:
            call.effect(EffectKind.CREDENTIAL, act.target, act.reason, span)
    elif act.kind is EffectKind.DELETE and act.target is not None:
        delete_path(shell, field, span)
    elif act.kind is EffectKind.WRITE and act.target is not None:
        call.written.append((field, EMPTIES if act.reason == EMPTIES else "writes"))
    elif act.kind not in HARMLESS:
        call.effect(act.kind, act.target, act.reason, span)
