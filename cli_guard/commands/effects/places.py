"""Classify a path: device, system folder, credential, part of the guard, or ordinary."""

import posixpath
import re
from enum import StrEnum
from fnmatch import fnmatchcase

from cli_guard.commands.effects.credentials import holds_secrets, list_hidden
from cli_guard.commands.model import Context
from cli_guard.lazy import regex

PROCESS_ROOT = regex(r"^/proc/[^/]+/root(?=/|\Z)")
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
PATTERNS = (
    (
        PathClass.SINK,
        regex(r"^/dev/(?:null|zero|full|random|urandom|tty|stdout|stderr|fd/[12]|ptmx)\Z"),
    ),
    (PathClass.SOCKET, regex(r"^/dev/(?:tcp|udp)/")),
    (
        PathClass.DISK,
        regex(
            r"^/dev/(?:r?disk\d|[hsv]d[a-z*?\[]|xvd[a-z]|nvme|mmcblk|mapper/|dm-\d|md\d|loop\d|sr\d|nbd\d|mem\b|kmem\b|port\b|block/"
            r"|disk/|vg|zd\d|bcache|\*|[a-z]+\*)"
        ),
    ),
    (
        PathClass.KERNEL,
        regex(
            r"^/proc/(?:sysrq-trigger|sys/|kcore|kmem|mem\b)|/sys/(?:kernel|power|firmware|class/block)"
        ),
    ),
    (
        PathClass.HOOKS,
        regex(
            r"(?i)(?:^|/)(?:\.git(?:/modules/[^/]+|/worktrees/[^/]+)?/hooks|\.git/h[^/]*[*?\[][^/]*|\.git/cli-guard"
            r"|\.local/state/cli-guard|cli-guard/trusted\.json)(?:/.*)?\Z"
        ),
    ),
    (
        PathClass.GIT_CONFIG,
        regex(
            r"(?i)(?:^|/)\.git/config(?:\.worktree)?\Z|(?:^|/)\.gitconfig\Z|(?:^|/)\.config/git/config\Z|^/etc/gitconfig\Z"
        ),
    ),
    (
        PathClass.REPOSITORY,
        regex(
            r"(?i)(?:^|/)\.git(?:/(?:\*|objects|refs|HEAD|index|info|logs|packed-refs|modules).*)?\Z"
        ),
    ),
    # The user's own configuration of cli-guard, and the files that grant an agent its permissions.
    (
        PathClass.SETTINGS,
        regex(
            r"(?:^|/)(?:cli-guard/config\.toml|\.claude/(?:settings[^/]*\.json|hooks(?:/.*)?)|\.claude\.json|\.mcp\.json"
            r"|\.codex/(?:config\.toml|hooks\.json|rules(?:/.*)?)|\.cursor/(?:hooks|mcp|permissions|cli|cli-config)\.json"
            r"|\.gemini/(?:settings|trustedFolders|trusted_hooks)\.json|\.copilot/(?:(?:mcp-)?config\.json|settings\.json|hooks/.*)"
            r"|\.github/(?:hooks/.*|copilot/settings[^/]*\.json)|\.(?:opencode|config/opencode)/plugins?/.*|opencode\.jsonc?)\Z"
        ),
    ),
    (
        PathClass.GUARD,
        regex(
            r"(?:^|/)(?:cli-guard(?:-baseline)?\.(?:toml|json)|\.cli-guard(?:/.*)?|\.pre-commit-config\.ya?ml"
            r"|\.husky(?:/.*)?|\.githooks(?:/.*)?|\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)|\.overcommit\.yml|\.gitleaks\.toml"
            r"|\.secrets\.baseline|bin/cli-guard|site-packages/cli_guard(?:/.*)?)\Z"
        ),
    ),
    (
        PathClass.ACCESS,
        regex(
            r"^/etc/(?:sudoers(?:\.d/.*)?|passwd|shadow|group|gshadow|doas\.conf|hosts\.allow|ssh/sshd_config.*|pam\.d/.*)\Z"
            r"|(?:^|/)\.ssh/(?:authorized_keys2?|config|rc|environment)\Z"
        ),
    ),
    (
        PathClass.STARTUP,
        regex(
            r"(?:^|/)\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|kshrc|cshrc|tcshrc|xinitrc"
            r"|xprofile|xsession|inputrc|vimrc|exrc|emacs|pythonrc|pam_environment|config/fish/config\.fish"
            r"|config/(?:autostart|systemd|fish|nvim)/.*|local/share/applications/.*|vim/.*|gdbinit|envrc|vscode/tasks\.json|screenrc|tmux\.conf)\Z"
            r"|^/etc/(?:profile|bash\.bashrc|environment|zshrc|zshenv|rc\.local|crontab|ld\.so\.(?:preload|conf)|inittab|anacrontab)\Z"
            r"|^/etc/(?:profile|cron|init|systemd|ld\.so\.conf|xdg/autostart|udev/rules|apt/apt\.conf|pam|modprobe|update-motd)"
            r"(?:\.\w+)?(?:/.*)?\Z"
            r"|^/(?:usr/)?lib/systemd/.*|^/var/spool/cron(?:/.*)?\Z|Library/Launch(?:Agents|Daemons)/.*\Z|\.pth\Z|(?:site|user)customize\.py\Z"
        ),
    ),
)
# Credentials that a pattern may match without naming them, beside the hidden ones. A bare `*` matches no hidden file.
VISIBLE = ("id_rsa", ".ssh/id_rsa", ".ssh/id_ed25519", "/etc/shadow", "/etc/sudoers")
GLOBBED = (
    (".git/hooks", PathClass.HOOKS),
    (".git/config", PathClass.GIT_CONFIG),
    (".git", PathClass.REPOSITORY),
)
