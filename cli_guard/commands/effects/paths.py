"""Reading, writing and deleting a path: the effect, and whether a floor denies it."""

import re

from cli_guard.commands import floors
from cli_guard.commands.effects.places import (
    PathClass,
    classify_path,
    classify_whole,
    holds_credentials,
    is_credential,
    resolve_path,
    strip_pattern,
    unfold_home,
)
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.expand.words import TEMPORARY
from cli_guard.commands.model import EffectKind, Span
from cli_guard.commands.scope import (
    ANYTHING,
    EVERYTHING,
    HOOKS,
    NOTHING,
    REMOTE_DATA,
    SECRET,
    SECRET_DATA,
    Stream,
)
from cli_guard.commands.shell import Shell
from cli_guard.lazy import regex
from cli_guard.model import Decision

REFS = regex(r"\.git/(?:refs|HEAD|packed-refs)", re.IGNORECASE)
# What these lead to is another thing in each process. `/dev/shm` holds ordinary files.
OF_PROCESS = regex(r"/dev/(?!shm/)|/proc/(?:thread-)?self/")
LOCAL_SOCKETS = regex(r"/dev/(?:tcp|udp)/(?:localhost|127\.|::1)")
# What they give is nothing to keep.
EMPTY = ("/dev/null", "/dev/zero")
MEMORY = ("/proc/kcore", "/proc/kmem", "/proc/mem")
# For these a dash is the name of a file, not the output.
NAMING_DASH = ("tee", "sort", "shuf", "xxd", "uniq")
# How the reason begins if a file is left empty, or all files that a pattern or a search finds get one text.
EMPTIES = "empties"
OVERWRITES = "overwrites"
GUARDED = (PathClass.HOOKS, PathClass.GIT_CONFIG)
EMPTY_HOOKS = ("", "exit 0", "#!/bin/sh")
SWITCHING_TEXT = regex(r"hook|include|template", re.IGNORECASE)
# Files whose write is reviewed: the kind, what they are, and the rule.
NOTABLE = {
    PathClass.GUARD: (EffectKind.GUARD, "which configures Git hooks or cli-guard", ""),
    PathClass.SETTINGS: (EffectKind.GUARD, "which configures Git hooks or cli-guard", ""),
    PathClass.STARTUP: (
        EffectKind.PERSISTENCE,
        "which runs automatically",
        floors.PRIVILEGE_FILE,
    ),
    PathClass.ACCESS: (
        EffectKind.PERSISTENCE,
        "which controls access",
        floors.PRIVILEGE_FILE,
    ),
    PathClass.SYSTEM_FILE: (EffectKind.SYSTEM, "a file of the system", ""),
}


WHOLE = {
    PathClass.ROOT: "the whole file system",
    PathClass.HOME: "a whole home folder",
}


def path_of(shell: Shell, given: Field) -> str:
    """Return the normalised path of a field, as far as it is known."""
    known = given.start if given.text is None else given.text
    return resolve_path(known, shell.scope.folder, shell.context)


def shape_of(shell: Shell, given: Field) -> str:
    """Return the path of a field with a letter in place of each unknown part, "" if it has none."""
    folder = shell.scope.folder
    return resolve_path(given.shape, folder, shell.context) if given.shape else ""


def is_from_root(given: Field) -> bool:
    """Return whether a path does not depend on the current folder."""
    return given.start.startswith(("/", "~"))


def emit_unknown(shell: Shell, given: Field, what: str, span: Span) -> None:
    reason = f"{what} known only at run time ({name_unset(given)})"
    shell.emit(EffectKind.UNKNOWN, given.shown, reason, span)


def name_unset(given: Field) -> str:
    """Return how an unknown path is shown, and what it is if it begins with a variable that is empty: `$X/`."""
    rest = given.shape.removeprefix("x") if not given.start else ""
    if rest and classify_whole(rest) is not PathClass.ORDINARY:
        return f"(...){rest}, which is {rest} if the variable is empty"
    return given.shown


def physical_path(shell: Shell, given: Field) -> str:
    """Return the path of a known field with its links followed: `link/..` is above where the link leads."""
    path = path_of(shell, given)
    folder = shell.scope.folder
    if shell.context.follow is None or given.text is None:
        return path
    whole = unfold_home(path, shell.context)
    if ".." in given.text and folder and not given.text.startswith(("/", "~")):
        whole = f"{unfold_home(folder, shell.context)}/{given.text}"
    return resolve_path(shell.context.follow(whole), None, shell.context)


def find_target(shell: Shell, given: Field) -> str:
    """Return the path of a field, or where its links lead if that is more than an ordinary file."""
    path = path_of(shell, given)
    if not OF_PROCESS.match(path):
        target = physical_path(shell, given)
        if (
            is_credential(target)
            or holds_credentials(target)
            or classify_path(target) not in (classify_path(path), PathClass.SYSTEM_FILE)
        ):
            return target
    return path


def find_secret_link(shell: Shell, pattern: str | None = None) -> str | None:
    """Return what leads to a secret: a path that a pattern finds, or any link in the work tree."""
    tree = shell.context.tree
    follow = shell.context.follow
    if tree is None or follow is None:
        return None
    links = tree.list_links()
    if pattern is not None:
        links = tree.expand(unfold_home(pattern, shell.context))
        if not is_hidden(pattern):
            # No pattern finds a hidden name without saying so.
            links = tuple(link for link in links if not is_hidden(link))
    for link in links:
        target = resolve_path(follow(link), None, shell.context)
        if is_credential(target) or holds_credentials(target):
            return link
    return None


def is_hidden(path: str) -> bool:
    return path.rpartition("/")[2].startswith(".")


def read_path(shell: Shell, given: Field, span: Span) -> Stream:
    """Emit the read of a file; return what is known of its contents."""
    path = find_target(shell, given)
    may_be_secret = given.dynamic and (SECRET in given.taints or is_credential(path))
    shape = shape_of(shell, given)
    if may_be_secret or (shape and is_credential(shape)):
        shell.emit(EffectKind.CREDENTIAL, given.shown, "reads what may be a secret", span)
        return SECRET_DATA
    is_lost = shell.scope.folder is None and shell.context.folder is not None
    if given.dynamic or (is_lost and not is_from_root(given)):
        emit_unknown(shell, given, "reads a file", span)
        return ANYTHING
    link = find_secret_link(shell, path) if given.pattern else None
    secret = ""
    if link:
        secret = f"reads {link}, which leads to a secret"
    elif is_credential(path):
        secret = f"reads {path}, which may hold a secret"
    elif holds_credentials(path):
        secret = f"reads everything under {path}, secrets included"
    if secret:
        shell.emit(EffectKind.CREDENTIAL, link or path, secret, span)
        return SECRET_DATA
    place = classify_path(path)
    if place is PathClass.DISK or path in MEMORY:
        shell.emit(EffectKind.SYSTEM, path, f"reads the device {path}", span)
        return SECRET_DATA
    if place is PathClass.SOCKET:
        shell.emit(EffectKind.NETWORK_IN, path, f"opens a connection through {path}", span)
        return REMOTE_DATA
    if given.assumed and not path.startswith(TEMPORARY):
        reason = "depends on a variable that is set elsewhere"
        shell.emit(EffectKind.UNKNOWN, given.shown, reason, span)
    if path in EMPTY:
        return NOTHING
    shell.emit(EffectKind.READ, path, f"reads {path}", span)
    return shell.scope.files.get(path) or ANYTHING


def check_folder(shell: Shell, given: Field, span: Span) -> None:
    """Reject a relative path where it is not certain which folder a `cd` has reached."""
    if shell.scope.unsure_folder and not is_from_root(given):
        shell.reject("a path in a folder that cd may not have reached", span)


def write_path(
    shell: Shell,
    given: Field,
    carried: Stream = NOTHING,
    *,
    verb: str = "writes",
    appends: bool = False,
) -> None:
    """Emit the write of a file; `carried` is what goes into it, or is added to it."""
    span = given.span
    path = find_target(shell, given)
    place = classify_path(path)
    is_named = shell.caller is not None and shell.caller.program in NAMING_DASH
    if given.text is not None and (
        place is PathClass.SINK or (given.text == "-" and not is_named)
    ):
        return
    check_folder(shell, given, span)
    if place is PathClass.SOCKET:
        shell.emit(EffectKind.NETWORK_OUT, path, f"sends its output through {path}", span)
        stays = LOCAL_SOCKETS.match(path) is not None
        floors.check_sent(shell, carried.taints, path, span, stays=stays)
        return
    if place in (PathClass.DISK, PathClass.KERNEL):
        write_device(shell, place, path, f"{verb} the device {path}", span)
        return
    if given.dynamic:
        emit_unknown(shell, given, f"{verb} a file", span)
    text = carried.text or "" if verb == "writes" else ""
    shape = shape_of(shell, given) or path
    if place is PathClass.GIT_CONFIG and text and not SWITCHING_TEXT.search(text):
        shell.emit(EffectKind.GIT_WRITE, path, f"writes {path}, Git's configuration", span)
    elif place in GUARDED or (
        place is PathClass.GUARD and text and text.strip() in EMPTY_HOOKS
    ):
        reason = f"{verb} {path}, which can switch Git's hooks off"
        floors.deny_guard_off(shell, path, reason, span)
    elif place is PathClass.REPOSITORY and REFS.search(path):
        reason = f"{verb} {path}, which moves a branch past the hooks"
        floors.deny_guard_off(shell, path, reason, span)
    elif classify_path(shape) is PathClass.SETTINGS and not shell.in_change:
        # The user's own configuration or an agent's, even below an unknown folder.
        reason = f"{verb} {given.shown}, which decides what cli-guard or an agent may do"
        floors.deny_guard_off(shell, path, reason, span, "let your user change it")
    elif place in NOTABLE:
        kind, what, rule = NOTABLE[place]
        reason = f"{verb} {path}, {what}"
        shell.emit(kind, path, reason, span, rule=rule, decision=Decision.REVIEW)
    elif is_credential(path):
        shell.emit(
            EffectKind.CREDENTIAL, path, f"{verb} {path}, which may hold a secret", span
        )
    else:
        is_known = verb == "writes" and carried.text is not None and not appends
        if is_known and not carried.text:
            verb = EMPTIES
        elif is_known and (given.pattern or given.text is None):
            verb = OVERWRITES
        shell.emit(EffectKind.WRITE, path, f"{verb} {path}", span)
    if verb in ("writes", EMPTIES, OVERWRITES):
        remember(shell, path, carried)
    elif verb == "changes":
        shell.extended.add(path)
        shell.written.setdefault(path, []).append(carried.text)


def write_device(
    shell: Shell, place: PathClass, path: str, reason: str, span: Span
) -> None:
    """Emit the write of a disk, which is denied, or of a file of the kernel."""
    if place is PathClass.DISK:
        shell.deny(EffectKind.SYSTEM, path, reason, span, floors.DISK)
    elif "sysrq" in path:
        shell.deny(EffectKind.SYSTEM, path, reason, span, floors.KILL_ALL)
    else:
        shell.emit(EffectKind.SYSTEM, path, reason, span)


def remember(shell: Shell, path: str, carried: Stream) -> None:
    """Record the contents of a file; a second write adds to it."""
    certain = None if carried.assumed else carried.text
    shell.written.setdefault(path, []).append(certain)
    before = shell.scope.files.get(path)
    taints = carried.taints | (before.taints if before else frozenset())
    shell.scope.files[path] = Stream(carried.text if before is None else None, taints)


def delete_path(shell: Shell, given: Field, span: Span, *, verb: str = "deletes") -> None:
    """Emit that a file or folder is deleted, moved away or emptied."""
    path = path_of(shell, given)
    if HOOKS in given.taints and not shell.in_change:
        floors.deny_guard_off(shell, given.shown, f"{verb} what was found in .git", span)
        return
    if EVERYTHING in given.taints:
        reason = f"{verb} everything that was found"
        shell.deny(EffectKind.DELETE, given.shown, reason, span, floors.WIPE)
        return
    extent = classify_whole(path)
    if given.assumed and path.startswith(f"{TEMPORARY}/"):
        # Where the variable is not set, `$TMPDIR/*` is everything.
        unset = classify_whole(path.removeprefix(TEMPORARY))
        if unset is not PathClass.ORDINARY:
            emit_unknown(shell, given, f"{verb} a path", span)
    if extent is not PathClass.ORDINARY and given.text is not None:
        what = WHOLE.get(extent, f"{strip_pattern(path)}, a folder of the system")
        shell.deny(EffectKind.DELETE, path, f"{verb} {what}", span, floors.WIPE)
        return
    check_folder(shell, given, span)
    place = classify_path(path)
    if place is PathClass.SINK:
        return
    if place is PathClass.DISK:
        reason = f"{verb} the device {path}"
        shell.deny(EffectKind.SYSTEM, path, reason, span, floors.DISK)
        return
    shown = path if given.text is not None else given.shown
    if given.dynamic:
        emit_unknown(shell, given, f"{verb} a path", span)
        shown = f"a path known only at run time ({name_unset(given)})"
    needed = [*GUARDED, PathClass.REPOSITORY]
    if not shell.in_change:
        needed += (PathClass.GUARD, PathClass.SETTINGS)
    # A script may remove a repository that it created or cloned below the current folder.
    if place in needed and (not shell.in_change or path.startswith(".git")):
        what = "which Git's hooks or cli-guard need"
        if place is PathClass.REPOSITORY:
            what = "the repository itself"
        floors.deny_guard_off(shell, path, f"{verb} {path}, {what}", span)
    else:
        shell.emit(EffectKind.DELETE, path, f"{verb} {shown}", span)
