"""The native hooks of a repository: where they belong, installing them, taking them out again.

A hook that is there already is kept beside ours and runs first; what it changes in the index is reviewed too.
"""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import Repository

HOOKS = ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push")
MARK = b"# cli-guard hook:"
EARLIER = ".before-cli-guard"
# The two hooks that differ in name alone share one script.
SCRIPTS = {"pre-merge-commit": "pre-commit"}


@dataclass(frozen=True, slots=True)
class HookState:
    """One hook of a repository: "ours", "foreign" or "none", and whether an earlier one is chained."""

    name: str
    path: Path
    owner: str
    chained: bool


def scripts_folder() -> Path:
    """Where the scripts lie: in the installed package, or at the root of a source tree."""
    installed = Path(__file__).parent.parent / "hooks"
    return installed if installed.is_dir() else Path(__file__).parent.parent.parent / "hooks"


def configured_folder(repository: Repository) -> tuple[str, str] | None:
    """The scope and the value of core.hooksPath, None if it is not set in any file."""
    listed = repository.git.optional("config", "--show-scope", "--type=path", "--get-all", "core.hooksPath")
    values = [line.split("\t", 1) for line in (listed or "").splitlines()]
    # Our own calls of git set it on their command line.
    kept = [(scope, value) for scope, value in values if scope != "command"]
    return kept[-1] if kept else None


def hooks_folder(repository: Repository) -> Path:
    """The folder that Git runs hooks from. Raises UsageError, with the fix, if it is not the repository's own."""
    own = repository.common_dir / "hooks"
    configured = configured_folder(repository)
    if configured is None:
        return own
    scope, folder = configured
    root = repository.git_dir if repository.bare else repository.root
    if (root / folder).resolve() == own.resolve():
        return own
    raise UsageError(
        f"core.hooksPath ({scope}) points to {folder}, so Git runs no hook of this repository: either"
        f" `git config --{scope} --unset core.hooksPath` and install again, or call"
        f' `cli-guard hook <name> "$@"` from the hooks in {folder}'
    )


def state_of(folder: Path, name: str) -> HookState:
    """What stands in the place of a hook."""
    path = folder / name
    try:
        text = path.read_bytes()
    except OSError:
        owner = "foreign" if path.is_symlink() or path.exists() else "none"
    else:
        owner = "ours" if MARK in text else "foreign"
    return HookState(name, path, owner, os.path.lexists(path.with_name(name + EARLIER)))


def install(repository: Repository, names: tuple[str, ...], python: str, *, force: bool) -> list[str]:
    """Installs hooks and says for each what was done. Raises UsageError, or CliGuardError if it cannot write."""
    folder = hooks_folder(repository)
    done = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            state = state_of(folder, name)
            earlier = state.path.with_name(name + EARLIER)
            what = "installed"
            if state.owner == "foreign" and force:
                state.path.unlink()
                what = "installed in place of the hook that was there"
            elif state.owner == "foreign":
                if state.chained:
                    raise UsageError(
                        f"both {state.path} and {earlier} are there, and only one can be kept:"
                        f" delete one of them, or use --force to replace the first"
                    )
                state.path.rename(earlier)
                what = f"installed; the hook that was there runs first (kept as {earlier.name})"
            elif state.owner == "ours":
                what = "brought up to date"
            write_script(state.path, SCRIPTS.get(name, name), python)
            done.append(f"{name}: {what}")
    except OSError as error:
        raise CliGuardError(f"the hooks cannot be written to {folder}: {error.strerror}") from error
    return done


def write_script(path: Path, script: str, python: str) -> None:
    """Writes one hook, whole or not at all."""
    text = (scripts_folder() / script).read_text("utf-8").replace('"@PYTHON@"', shlex.quote(python))
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, "utf-8", "surrogateescape")
    fresh.chmod(0o755)
    fresh.replace(path)


def uninstall(repository: Repository) -> list[str]:
    """Takes every hook of ours out, puts back what was there before, and says what was done."""
    folder = repository.common_dir / "hooks"
    done = []
    try:
        for name in HOOKS:
            state = state_of(folder, name)
            earlier = state.path.with_name(name + EARLIER)
            if state.owner != "ours":
                continue
            if state.chained:
                earlier.replace(state.path)
                done.append(f"{name}: taken out; the hook that was there before is back")
            else:
                state.path.unlink()
                done.append(f"{name}: taken out")
    except OSError as error:
        raise CliGuardError(f"the hooks in {folder} cannot be changed: {error.strerror}") from error
    return done
