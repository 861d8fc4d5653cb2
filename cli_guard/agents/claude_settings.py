"""Our entry in Claude Code's settings of a repository: put in, taken out, found; all else stays as it is.

Source: https://code.claude.com/docs/en/hooks. `onFailure` blocks the tool when the hook cannot even start; versions
of Claude Code before 2.1.295 do not know it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cli_guard.cli.strict_json import parse
from cli_guard.errors import CliGuardError, UsageError
from cli_guard.git.repository import Repository

FILE = ".claude/settings.json"
EVENT = "PreToolUse"
CALL = "cli-guard hook claude-code"
MATCHER = "Bash|Write|Edit|MultiEdit|NotebookEdit"
ENTRY = {"matcher": MATCHER, "hooks": [{"type": "command", "command": CALL, "onFailure": "block"}]}


def install(repository: Repository) -> str:
    """Puts our entry in, and says so. Raises UsageError for settings that cannot be added to."""
    path = settings_file(repository)
    settings = read(path) if path.exists() else {}
    if ENTRY in entries(settings):
        return f"{FILE}: is there already"
    known = any(calls_us(hook) for entry in entries(settings) for hook in hooks_of(entry))
    take_out(settings)
    settings.setdefault("hooks", {}).setdefault(EVENT, []).append(ENTRY)
    write(path, settings)
    return f"{FILE}: {'brought up to date' if known else 'installed'}"


def uninstall(repository: Repository) -> str | None:
    """Takes our entry out, and says so; None where there is none."""
    path = settings_file(repository)
    if not path.exists():
        return None
    settings = read(path)
    if not take_out(settings):
        return None
    write(path, settings)
    return f"{FILE}: taken out"


def installed(repository: Repository) -> bool | None:
    """Do the settings call us? None where there are none, or none that can be read."""
    try:
        settings = read(settings_file(repository))
    except CliGuardError:
        return None
    return any(calls_us(hook) for entry in entries(settings) for hook in hooks_of(entry))


def settings_file(repository: Repository) -> Path:
    """Where the settings lie. Raises UsageError if a link leads out of the work tree."""
    if repository.bare:
        raise UsageError("this repository is bare: it has no work tree for the settings of an agent")
    path = (repository.root / FILE).resolve()
    if not path.is_relative_to(repository.root.resolve()):
        raise UsageError(f"{FILE} is a link that leads out of the repository, to {path}: nothing was changed")
    return path


def read(path: Path) -> dict[str, Any]:
    """The settings, in the form that we can add to. Raises UsageError."""
    try:
        settings = parse(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{FILE} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{FILE} is {error}: mend it, or write the hook there by hand") from error
    hooks = settings.get("hooks", {}) if isinstance(settings, dict) else None
    if not isinstance(hooks, dict) or not isinstance(hooks.get(EVENT, []), list):
        raise UsageError(f"{FILE} has another form than Claude Code's settings: write the hook there by hand")
    return dict(settings)


def write(path: Path, settings: dict[str, Any]) -> None:
    """Writes the settings, whole or not at all. Raises CliGuardError."""
    from cli_guard.state.records import write_atomically

    try:
        mode = path.stat().st_mode if path.exists() else 0o644
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        path.chmod(mode & 0o777)
    except (OSError, ValueError) as error:
        raise CliGuardError(f"{FILE} cannot be written: {getattr(error, 'strerror', error)}") from error


def take_out(settings: dict[str, Any]) -> bool:
    """Takes every call of ours out, and what is empty without it. True if there was one."""
    before = json.dumps(settings)
    for entry in entries(settings):
        if any(calls_us(hook) for hook in hooks_of(entry)):
            entry["hooks"] = [hook for hook in entry["hooks"] if not calls_us(hook)]
            if not entry["hooks"]:
                settings["hooks"][EVENT].remove(entry)
    if json.dumps(settings) == before:
        return False
    if not settings["hooks"][EVENT]:
        del settings["hooks"][EVENT]
    if not settings["hooks"]:
        del settings["hooks"]
    return True


def entries(settings: dict[str, Any]) -> list[Any]:
    """The entries of the event."""
    return list(settings.get("hooks", {}).get(EVENT, []))


def hooks_of(entry: object) -> Iterator[object]:
    """The hooks of an entry; none of one that has another form."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    yield from hooks if isinstance(hooks, list) else ()


def calls_us(hook: object) -> bool:
    """Is a hook a call of ours, in whatever words around it?"""
    return isinstance(hook, dict) and CALL in str(hook.get("command"))
