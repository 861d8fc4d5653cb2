"""Classify a path: device, system folder, credential, part of the guard, or ordinary."""

import posixpath
import re
from enum import StrEnum
from fnmatch import fnmatchcase

from cli_guard.commands.effects.credentials import holds_secrets, list_hidden
from cli_guard.commands.model import Context
from cli_guard.lazy import regex
from cli_guard.rules.tables import words

PROCESS_ROOT = regex(r"^/proc/[^/]+/root(?=/|\Z)")
PROCESS_FOLDER = regex(r"^/proc/(?:thread-)?self/cwd(?:/|\Z)")
ABOVE = regex(r"^(?:\.\./)+")
GLOBS = regex(r"[*?\[]")
ONLY_GLOB = regex(r"[*?.\[\]!^]+\Z")


class PathClass(StrEnum):
    """The classes of path that matter to a verdict."""

    ROOT = "root"
    HOME = "home"
    SYSTEM = "system"
    SYSTEM_FILE = "system-file"
    DISK = "disk"
    SINK = "sink"
    SOCKET = "socket"
    KERNEL = "kernel"
    REPOSITORY = "repository"
    HOOKS = "hooks"
    GIT_CONFIG = "git-config"
    GUARD = "guard"
    SETTINGS = "settings"
    STARTUP = "startup"
    ACCESS = "access"
    ORDINARY = "ordinary"


SYSTEM_FOLDERS = frozenset(
    "/bin /boot /dev /etc /home /lib /lib32 /lib64 /opt /proc /root /run /sbin /srv /sys /usr /var /Users /System "
    "/Library /Applications /Volumes /private /nix /snap /usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share "
    "/usr/local/bin /usr/local/lib /usr/include /var/lib /var/log /var/mail /var/spool /var/www /etc/ssh /etc/ssl "
    "/etc/systemd /private/etc /private/var /System/Library /Library/LaunchDaemons".split()
)
# Folders that are not secrets themselves; what goes through all files in them finds some.
SECRET_FOLDERS = frozenset(
    "/etc /etc/ssl /home /Users /run /var/run ~/.config ~/.local ~/.local/share".split()
)
VITAL = SYSTEM_FOLDERS.union(
    "/etc/passwd /etc/group /etc/fstab /etc/hosts /etc/ssh/sshd_config /etc/resolv.conf".split()
)
SYSTEM_TREES = tuple(
    "/bin/ /boot/ /etc/ /lib/ /lib64/ /sbin/ /sys/ /usr/ /System/ /Library/ /proc/".split()
)
HOMES = regex(r"~[\w.+-]*|/(?:home|Users)/[^/]+|/root")


def resolve_path(path: str, folder: str | None, context: Context) -> str:
    """Normalise a path: expand `~`, remove `..`, make it absolute if the folder is known."""
    path = re.sub(r"/{2,}", "/", path.removeprefix("file://"))
    if PROCESS_ROOT.match(path):
        path = PROCESS_ROOT.sub("", path, count=1) or "/"
    if folder is not None and PROCESS_FOLDER.match(path):
        path = PROCESS_FOLDER.sub("", path, count=1)
    if not path.startswith(("/", "~")) and folder is not None:
        path = f"{folder.rstrip('/') or ''}/{path}" if path else folder
    trailing = path.startswith("~")
    path = posixpath.normpath(path) if path else path
    if trailing and not path.startswith("~"):
        # `~/..` contains every home; `~/../..` is the root.
        path = "/home" if path in (".", "") else "/"
    if context.home and (path == context.home or path.startswith(f"{context.home}/")):
        path = "~" + path[len(context.home) :]
    return path


def unfold_home(path: str, context: Context) -> str:
    """Return a resolved path with the home folder written out."""
    if context.home and (path == "~" or path.startswith("~/")):
        return context.home + path[1:]
    return path


def is_below(path: str, folder: str, context: Context) -> bool:
    """Return whether a path is a folder or lies below it; both absolute."""
    folder = resolve_path(folder, None, context)
    return f"{resolve_path(path, None, context)}/".startswith(f"{folder.rstrip('/')}/")


def strip_pattern(path: str) -> str:
    """Return the folder of a path that ends in nothing but a pattern: `/*` -> `/`."""
    while (
        "/" in path
        and (last := path.rpartition("/")[2])
        and ONLY_GLOB.match(last)
        and last != ".."
    ):
        path = path.rpartition("/")[0] or "/"
    return path


def classify_whole(path: str) -> PathClass:
    """Classify a path that is the root, a home or a whole system folder, or a pattern that matches one."""
    path = strip_pattern(path)
    if path == "/" or re.fullmatch(r"[A-Za-z]:[\\/]*\**", path):
        return PathClass.ROOT
    if HOMES.fullmatch(path):
        return PathClass.HOME
    is_glob = path.startswith("/") and GLOBS.search(path)
    if path in VITAL or (
        is_glob and any(matches_whole(known, path) for known in SYSTEM_FOLDERS)
    ):
        return PathClass.SYSTEM
    return PathClass.ORDINARY


def matches_whole(known: str, pattern: str) -> bool:
    """Return whether a pattern matches a path; a star stops at a slash."""
    return known.count("/") == pattern.count("/") and fnmatchcase(known, pattern)


def classify_path(path: str) -> PathClass:
    """Classify a resolved path; a pattern counts as the worst it could match."""
    for place, pattern in PATTERNS:
        if pattern.search(path):
            return place
    if GLOBS.search(path):
        for name, place in GLOBBED:
            if could_find(path, name):
                return place
    if f"{path}/".startswith(SYSTEM_TREES):
        return PathClass.SYSTEM_FILE
    return PathClass.ORDINARY


def is_credential(path: str) -> bool:
    """Return whether a resolved path holds secrets, or, for a pattern, could."""
    # From an unknown folder, `../../etc/shadow` may be that of the system.
    path = ABOVE.sub("/", path)
    if holds_secrets(path):
        return True
    if not GLOBS.search(path):
        return False
    hidden = list_hidden() if "/." in f"/{path}" else ()
    return any(could_find(path, name) for name in (*VISIBLE, *hidden))


def holds_credentials(folder: str) -> bool:
    """Return whether there are secrets in some folder below: a home, or what programs keep their settings in."""
    folder = strip_pattern(folder)
    is_process = re.match(r"/proc/(?:\d+|self|thread-self)\Z", folder) is not None
    return (
        is_process
        or classify_whole(folder) in (PathClass.ROOT, PathClass.HOME)
        or folder in SECRET_FOLDERS
    )


def could_find(pattern: str, name: str) -> bool:
    """Return whether a glob may match this name (`.env`, `.ssh/id_rsa`) at the end of its path.

    No wildcard matches the dot of a hidden name. A pattern of one letter and stars is too broad to mean the name.
    """
    wanted = name.split("/")
    if (
        len(wanted) == 1
        and name[0] != "."
        and len(GLOBS.sub("", pattern.rpartition("/")[2])) < 2
    ):
        return False
    parts = pattern.split("/")[-len(wanted) :]
    return len(parts) == len(wanted) and all(
        fnmatchcase(one, part)
        and bool(one) == bool(part)
        and (one[:1] != "." or part[:1] == ".")
        for one, part in zip(wanted, parts, strict=True)
    )


# The first that fits is the class of a path.
PATTERNS = tuple(
    (PathClass(kind), regex("|".join(given))) for kind, given in words("places").items()
)
# Credentials that a pattern may match without naming them, beside the hidden ones. A bare `*` matches no hidden file.
VISIBLE = ("id_rsa", ".ssh/id_rsa", ".ssh/id_ed25519", "/etc/shadow", "/etc/sudoers")
GLOBBED = (
    (".git/hooks", PathClass.HOOKS),
    (".git/config", PathClass.GIT_CONFIG),
    (".git", PathClass.REPOSITORY),
)
