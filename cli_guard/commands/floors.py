"""The floors, rules that no configuration lifts, for what a single command does not show by itself."""

from cli_guard.commands.effects.places import unfold_home
from cli_guard.commands.model import GUARD_OFF, EffectKind, Span
from cli_guard.commands.parse.tree import (
    CommandGroup,
    ParsedCommand,
    Pipeline,
    Text,
)
from cli_guard.commands.plain import children_of
from cli_guard.commands.scope import BELOW, HIDDEN, REMOTE, SECRET, TOKEN
from cli_guard.commands.shell import Shell

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
    WIPE: "delete only the folder you mean, by its name",
    REMOTE_CODE: "download the script, read it, and run the file",
    SECRET_SENT: "keep the secret where it is, and pass its name instead",
    GUARD_OFF: "fix what the hook reports, or suppress it with a reason: cli-guard: ignore[rule] reason",
    OPEN_PERMISSIONS: "give only the file that needs it the permission",
    UNVERIFIED: "install the missing certificate",
}


def check_remote_code(shell: Shell, taints: frozenset[str], how: str, span: Span) -> bool:
    """Deny code that came from the network or was hidden by an encoding; return whether it was denied."""
    if not taints & {REMOTE, HIDDEN}:
        return False
    reason = f"runs code downloaded from the network ({how})"
    if REMOTE not in taints:
        reason = f"runs code hidden by an encoding ({how})"
    shell.deny(EffectKind.EXEC, "remote code", reason, span, REMOTE_CODE)
    return True


def find_secret_below(shell: Shell, taints: frozenset[str]) -> str | None:
    """Return a file that may hold secrets among all that was read; None if there is none or nobody can look."""
    tree = shell.context.tree
    if tree is None:
        return None
    folders = (each.removeprefix(BELOW) for each in taints if each.startswith(BELOW))
    paths = (unfold_home(folder, shell.context) for folder in folders)
    found = (tree.find_secret(path) for path in paths if path.startswith("/"))
    return next(filter(None, found), None)


def check_sent(
    shell: Shell,
    taints: frozenset[str],
    where: str | None,
    span: Span,
    *,
    program: bool = False,
    stays: bool = False,
) -> bool:
    """Deny that a secret goes to `where`: a host, an address or, with `program`, what that program connects to.

    A file that a recursive read only may have found counts unless `stays`: nothing leaves the machine. Return whether
    a secret is sent.
    """
    what = "a secret"
    if not taints & SECRETS:
        file = None if stays else find_secret_below(shell, taints)
        if file is None:
            return False
        what = f"what it read below a folder, {file} included,"
    elif SECRET not in taints and shell.in_change:
        # A script or a CI step may send the key it received to the service it is for.
        shell.emit(
            EffectKind.CREDENTIAL, where, f"sends a key from a variable to {where}", span
        )
        return False
    reason = (
        f"{where} sends {what} over the network" if program else f"sends {what} to {where}"
    )
    shell.deny(EffectKind.CREDENTIAL, where, reason, span, SECRET_SENT)
    return True


def deny_guard_off(
    shell: Shell, target: str | None, reason: str, span: Span, alternative: str = ""
) -> None:
    shell.emit(EffectKind.GUARD, target, reason, span, alternative=alternative)


def deny_fork_bomb(shell: Shell, span: Span) -> None:
    """Deny a function that starts itself again and again."""
    reason = "starts itself again and again until the machine stops responding"
    shell.deny(EffectKind.PROCESS, None, reason, span, FORK_BOMB)


def deny_kill_all(shell: Shell, span: Span) -> None:
    reason = "ends every process of the machine"
    shell.deny(EffectKind.PROCESS, "-1", reason, span, KILL_ALL)


def multiplies(node: object, name: str, many: bool = False) -> bool:
    """Return whether this name is called in the background or on both sides of a pipe, where calls multiply."""
    if isinstance(node, ParsedCommand):
        called = node.words[0].parts if node.words else ()
        return (
            many
            and len(called) == 1
            and isinstance(called[0], Text)
            and called[0].text == name
        )
    many = (
        many
        or isinstance(node, Pipeline)
        or (isinstance(node, CommandGroup) and node.kind == "background")
    )
    return any(multiplies(below, name, many) for below in children_of(node))
