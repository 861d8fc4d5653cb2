"""A sandbox for commands, on Linux with bubblewrap (bwrap(1)).

A command sees the system, the repository and the tool chains of its environment, all read-only; a writable scratch
folder; an empty home and an empty /tmp, which end with it. Other processes, the rest of the disk and the network do not
exist in it. It prevents harm by mistake or by a dependency; it is not a virtual machine.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from shutil import which

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.execution.shell import TEMPORARY
from cli_guard.lazy import frozen
from cli_guard.runtime import Env

PROBE_SECONDS = 20
SYSTEM = ("/usr", "/etc", "/opt", "/nix/store", "/gnu/store", "/run/current-system")
# Folders of /usr under their old names; today most are symbolic links (file-hierarchy(7)).
OLD_NAMES = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# Only root can read these in /etc, and the command may run as root.
HIDDEN_FILES = tuple(
    f"/etc/{name}"
    for name in "shadow shadow- gshadow gshadow- sudoers krb5.keytab master.passwd".split()
)
HIDDEN_FOLDERS = tuple(
    """
    /etc/ssh /etc/ssl/private /etc/pki/tls/private /etc/wireguard /etc/sudoers.d /etc/NetworkManager/system-connections
    /etc/letsencrypt /etc/kubernetes
    """.split()
)
# Folders of tool chains, often below the home. Not CARGO_HOME and the like, which hold logins as well: their folder
# of programs is visible because it is on PATH.
TOOL_CHAINS = tuple(
    """
    VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT NVM_DIR FNM_DIR VOLTA_HOME RUSTUP_HOME GOROOT JAVA_HOME DOTNET_ROOT
    RBENV_ROOT ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX
    """.split()
)
# Sockets of the session, which the sandbox does not have.
UNSET = ("XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "WAYLAND_DISPLAY")
REMEDY = (
    "allow user namespaces (AppArmor's profile of bwrap; sysctl kernel.unprivileged_userns_clone=1 and"
    " user.max_user_namespaces; in a container --security-opt seccomp=unconfined), or run it without a sandbox"
)

DESCRIPTION = "no network, repository read-only, scratch writable"
# Root would keep its capabilities, and make read-only mounts writable again (bubblewrap, issue 287).
BARE = ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
# Bubblewrap ends at SIGINT and SIGTERM, and the command by SIGKILL with it. So that the command can end by itself,
# bubblewrap is started with both ignored, and the command with both as they were (env(1), GNU coreutils 8.31).
ENV = "/usr/bin/env"
IGNORING = (ENV, "--ignore-signal=INT,TERM")
LISTENING = (ENV, "--default-signal=INT,TERM")


@frozen
class Sandbox:
    """What a command may touch: it reads the repository at `root`, and writes the folder `scratch`."""

    root: Path
    scratch: Path


def why_not() -> str | None:
    """Return why there can be no sandbox here and what to do, None if there can. Checked once a process."""
    if sys.platform != "linux":
        return "a sandbox needs Linux and bubblewrap: run the command without it, or in a container"
    return _found_out().problem


def wrap_command(
    words: Sequence[str], sandbox: Sandbox, folder: Path, env: Env
) -> tuple[str, ...]:
    """Return the command line that runs `words` in the sandbox, from `folder`.

    The home of `env` is hidden, its tool chains are visible. The exit code is the command's, 128 + n for signal n. To
    end it, signal the whole process tree: SIGKILL ends everything, SIGINT and SIGTERM reach the command alone.
    Raises CliGuardError if there can be no sandbox, UsageError for folders that do not fit together.
    """
    reason = why_not()
    if reason is not None:
        raise CliGuardError(reason)
    found = _found_out()
    before, behind = (IGNORING, LISTENING) if found.gentle else ((), ())
    return (
        *before,
        found.program,
        *arguments(sandbox, folder, env),
        "--",
        *behind,
        *words,
    )


def arguments(sandbox: Sandbox, folder: Path, env: Env) -> tuple[str, ...]:
    """Return the options for bubblewrap. Raises UsageError for folders that do not fit together."""
    for path in (sandbox.root, sandbox.scratch, folder):
        if not _is_folder(path):
            raise UsageError(
                f"{path} is not a folder that can be read: a sandbox needs one"
            )
    root = sandbox.root.resolve()
    scratch = sandbox.scratch.resolve()
    inside = folder.resolve()
    home = Path(env.get("HOME") or "/").resolve()
    _check(root, scratch, inside, home)
    mounts: dict[Path, tuple[str, ...]] = {Path("/tmp"): ("--tmpfs", "/tmp")}  # noqa: S108 - one of its own
    for place in {home, Path(env.get("HOME") or "/")} - {Path("/")}:
        if place.is_absolute():
            mounts[place] = ("--tmpfs", str(place))
    outside = {*_tool_chains(env, home), *_git_folders(root)}
    for path in outside:
        # What is below another one is visible with it.
        is_inner = not outside.isdisjoint(path.parents)
        if not (is_inner or path.is_relative_to(root) or path.is_relative_to(scratch)):
            mounts.setdefault(path, ("--ro-bind", str(path), str(path)))
    mounts[root] = ("--ro-bind", str(root), str(root))
    mounts[scratch] = ("--bind", str(scratch), str(scratch))
    # A later mount hides what is below an earlier one, so parents come first.
    inner = [
        word
        for path in sorted(mounts, key=lambda path: len(path.parts))
        for word in mounts[path]
    ]
    names = [word for name in UNSET if name in env for word in ("--unsetenv", name)]
    moved = [
        name
        for name in TEMPORARY
        if name in env and not Path(env[name]).is_relative_to(scratch)
    ]
    names += [word for name in moved for word in ("--setenv", name, "/tmp")]  # noqa: S108
    return (
        *BARE,
        *_system(),
        *inner,
        *names,
        "--chdir",
        str(inside),
    )


def _system() -> Iterator[str]:
    yield from (
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--dir",
        "/var",
        "--symlink",
        "/tmp",  # noqa: S108
        "/var/tmp",  # noqa: S108
    )
    for name in SYSTEM:
        yield from ("--ro-bind-try", name, name)
    for name in OLD_NAMES:
        if Path(name).is_symlink():
            yield from ("--symlink", str(Path(name).readlink()), name)
        else:
            yield from ("--ro-bind-try", name, name)
    for name in HIDDEN_FILES:
        if _is_file(Path(name)):
            yield from ("--ro-bind", "/dev/null", name)
    for name in HIDDEN_FOLDERS:
        if _is_folder(Path(name)):
            yield from ("--tmpfs", name)


def _check(root: Path, scratch: Path, folder: Path, home: Path) -> None:
    for path in (root, scratch):
        if home.is_relative_to(path):
            raise UsageError(
                f"{path} holds the home folder, which a sandbox hides: run the command without it"
            )
    if root == scratch:
        raise UsageError(
            f"{root} cannot be both read-only and scratch: name another folder for scratch"
        )
    if not (folder.is_relative_to(root) or folder.is_relative_to(scratch)):
        raise UsageError(
            f"{folder} is not visible in the sandbox: run the command in the repository or in scratch"
        )


def _tool_chains(env: Env, home: Path) -> Iterator[Path]:
    """Yield the folders of programs that are not the system's."""
    named = [env.get(name, "") for name in TOOL_CHAINS]
    for name in (*env.get("PATH", "").split(os.pathsep), *named):
        path = Path(name)
        if (
            not path.is_absolute()
            or not _is_folder(path)
            or home.is_relative_to(path.resolve())
        ):
            continue
        yield from _with_base(path)


def _with_base(path: Path) -> Iterator[Path]:
    """Yield a folder, or a virtual environment and the Python that it was made of (PEP 405)."""
    venv = next(
        (each for each in (path, path.parent) if _is_file(each / "pyvenv.cfg")), None
    )
    if venv is None:
        if not _is_of_system(path):
            yield path
        return
    yield venv
    for line in _start(venv / "pyvenv.cfg").splitlines():
        key, _, value = line.partition("=")
        base = Path(value.strip()).parent
        if key.strip() == "home" and not _is_of_system(base) and _is_python(base):
            yield base


def _is_python(base: Path) -> bool:
    """Check the file layout: pyvenv.cfg may come from the repository, and could name any folder."""
    return (
        base.is_absolute()
        and _is_file(base / "bin" / "python3")
        and _is_folder(base / "lib")
    )


def _is_of_system(path: Path) -> bool:
    return len(path.parts) < 2 or any(
        path.is_relative_to(name) for name in (*SYSTEM, *OLD_NAMES)
    )


def _git_folders(root: Path) -> Iterator[Path]:
    """Yield the Git folders of a linked work tree or a submodule (gitrepository-layout(5))."""
    pointer = root / ".git"
    if not _is_file(pointer):
        return
    named = _start(pointer).removeprefix("gitdir:").strip()
    own = (root / named).resolve()
    if not _is_file(own / "HEAD"):
        return
    yield own
    common = own / "commondir"
    if _is_file(common):
        shared = (own / _start(common)).resolve()
        if _is_folder(shared / "objects"):
            yield shared


def _start(path: Path) -> str:
    with suppress(OSError), path.open("rb") as file:
        return file.read(10_000).decode("utf-8", "surrogateescape").strip()
    return ""


def _is_folder(path: Path) -> bool:
    # Path.is_dir raises PermissionError for what stands in somebody else's home; PATH may well name that.
    return os.path.isdir(path)  # noqa: PTH112


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113


@frozen
class _Found:
    program: str = ""
    problem: str | None = None
    gentle: bool = False


@cache
def _found_out() -> _Found:
    folders = [
        name
        for name in os.environ.get("PATH", os.defpath).split(os.pathsep)
        if name.startswith("/")
    ]
    program = which("bwrap", path=os.pathsep.join(folders))
    if program is None:
        missing = "bubblewrap is not installed: install it (apt install bubblewrap, dnf install bubblewrap)"
        return _Found(problem=missing)
    probe = (program, *BARE, *_system(), "--")
    if (
        _is_file(Path(ENV))
        and _try_command((*IGNORING, *probe, *LISTENING, "true")) is None
    ):
        return _Found(program, gentle=True)
    problem = _try_command((*probe, "true"))
    if problem is None:
        return _Found(program)
    return _Found(program, describe_refusal(problem))


def _try_command(words: tuple[str, ...]) -> str | None:
    """Run a command; return its error output if it fails, else None."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=PROBE_SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"it does not run: {type(error).__name__}"
    return None if done.returncode == 0 else done.stderr.decode("utf-8", "replace")


def describe_refusal(said: str) -> str:
    """Return why bubblewrap cannot create a sandbox, from its error output, and what to do."""
    from cli_guard.secrets.printable import printable

    words = printable((said.strip().splitlines() or ["no reason given"])[-1][:200])
    return f"bubblewrap cannot make a sandbox here ({words}): {REMEDY}"
