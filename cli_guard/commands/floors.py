"""What no configuration allows: the rules of the floors, and what a single command does not show by itself."""

from cli_guard.commands.machine import Machine
from cli_guard.commands.model import GUARD_OFF, Kind, Setting, Span
from cli_guard.commands.parse.tree import Block, Command, For, Function, Node, Pipeline, Text
from cli_guard.commands.scope import HIDDEN, REMOTE, SECRET, TOKEN
from cli_guard.model import Decision

WIPE = "command-wipe"
DISK = "command-disk"
FORK_BOMB = "command-fork-bomb"
REMOTE_CODE = "command-remote-code"
SECRET_SENT = "command-secret-sent"  # noqa: S105 - the name of a rule
KILL_ALL = "command-kill-all"
OPEN_PERMISSIONS = "command-open-permissions"
PRIVILEGE_FILE = "command-privilege-file"
UNVERIFIED = "command-download-unverified"

SECRETS = frozenset((SECRET, TOKEN))
ALTERNATIVES = {
    WIPE: "name the folder that is meant, and delete that alone",
    REMOTE_CODE: "download the script, read it, and run the file",
    SECRET_SENT: "leave the secret where it is, and pass its name",
    GUARD_OFF: "mend what the hook reports, or write down why not: cli-guard: ignore[rule] reason",
    OPEN_PERMISSIONS: "give the one file the permission it needs",
    UNVERIFIED: "install the certificate that is missing",
}


def remote_code(shell: Machine, taints: frozenset[str], how: str, span: Span) -> bool:
    """Code that came from the network is run unseen. True if that is so."""
    if not taints & {REMOTE, HIDDEN}:
        return False
    reason = f"runs code that came from the network unseen ({how})"
    if REMOTE not in taints:
        reason = f"runs code that an encoding hides ({how})"
    shell.emit(Kind.EXEC, "remote code", reason, span, rule=REMOTE_CODE, decision=Decision.DENY)
    return True


def sent(shell: Machine, taints: frozenset[str], where: str | None, span: Span) -> bool:
    """A secret goes out to the network. True if that is so."""
    if not taints & SECRETS:
        return False
    if SECRET not in taints and shell.context.setting is Setting.CHANGE:
        # A script or a CI step sends the key it was given to the service it is for.
        shell.emit(Kind.CREDENTIAL, where, f"sends a key that a variable holds to {where}", span)
        return False
    reason = f"sends a secret to {where or 'the network'}"
    shell.emit(Kind.CREDENTIAL, where, reason, span, rule=SECRET_SENT, decision=Decision.DENY)
    return True


def guard_off(shell: Machine, target: str | None, reason: str, span: Span) -> None:
    """The hooks or the guard itself are switched off."""
    shell.emit(Kind.GUARD, target, reason, span, rule=GUARD_OFF)


def fork_bomb(shell: Machine, span: Span) -> None:
    """A function that starts itself again and again."""
    reason = "starts itself again and again until nothing else can run"
    shell.emit(Kind.PROCESS, None, reason, span, rule=FORK_BOMB, decision=Decision.DENY)


def kill_all(shell: Machine, span: Span) -> None:
    """A signal goes to every process there is."""
    reason = "ends every process that there is"
    shell.emit(Kind.PROCESS, "-1", reason, span, rule=KILL_ALL, decision=Decision.DENY)


def calls_itself_twice(function: Function) -> bool:
    """Does a function start itself in the background or on both sides of a pipe?"""
    return multiplies(function.body, function.name, False)


def multiplies(node: Node, name: str, many: bool) -> bool:
    """Is this name called where calls multiply?"""
    if isinstance(node, Command):
        return many and any(
            len(word.parts) == 1 and isinstance(word.parts[0], Text) and word.parts[0].text == name
            for word in node.words[:1]
        )
    if isinstance(node, Pipeline):
        return any(multiplies(stage, name, True) for stage in node.stages)
    if isinstance(node, Block):
        return any(multiplies(item, name, many or node.kind == "background") for item in node.items)
    if isinstance(node, For):
        return multiplies(node.body, name, many)
    return False
