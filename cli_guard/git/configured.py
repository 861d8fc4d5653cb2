"""Hooks in Git's configuration, `hook.NAME.command` and `hook.NAME.event` (git-hook(1), from Git 2.54 on).

Git does not tell a command the event, so each has a section, and a script of ours where Git itself looks for none.
Git runs them before the hook script of that event, and whatever core.hooksPath says.
"""

import re
from collections.abc import Iterable, Iterator

from cli_guard.errors import UsageError
from cli_guard.git.hooks import take_out, write_script
from cli_guard.git.managers import MENTION
from cli_guard.hooks import WORK_TREE_HOOKS, event_of
from cli_guard.repository.protocol import Repository

OFF = ("false", "no", "off", "0")
SECTION = "hook.cli-guard-{}"
COMMAND = '"$(git rev-parse --git-common-dir)/hooks/cli-guard/{}"'


def runs_configured(version: str) -> bool:
    """Return whether a Git of this version runs configured hooks."""
    return [int(word) for word in re.findall(r"\d+", version)[:2]] >= [2, 54]


def configure(
    repository: Repository, names: Iterable[str], python: str, *, force: bool
) -> Iterator[str]:
    """Configure hooks in place of our scripts; yield a line for each. Raises UsageError, OSError, GitError."""
    known = runs_configured(version := repository.git.text("version"))
    if not known and not force:
        words = "runs no configured hook (2.54 and newer do): omit --config, or add --force to write it"
        raise UsageError(f"{version} {words}")
    folder = repository.common_dir / "hooks" / "cli-guard"
    for name in dict.fromkeys(names):
        folder.mkdir(parents=True, exist_ok=True)
        write_script(folder / name, event_of(name), python)
        section = SECTION.format(name)
        for key, value in (("command", COMMAND.format(name)), ("event", name)):
            repository.git.run(
                "config", "--local", "--replace-all", f"{section}.{key}", value
            )
        # An older Git still needs the script, and ignores the configuration.
        removed = (
            [f"; our script: {what}" for what in take_out(folder.parent, name)]
            if known
            else []
        )
        yield f"{name}: configured as {section}{''.join(removed)}"


def remove_configured(repository: Repository, names: Iterable[str]) -> Iterator[str]:
    """Remove what `configure` has written; yield a line for each. Raises OSError, GitError."""
    folder = repository.common_dir / "hooks" / "cli-guard"
    for name in names:
        section = SECTION.format(name)
        for key in ("command", "event"):
            if (
                repository.git.optional(
                    "config", "--local", "--get-all", f"{section}.{key}"
                )
                is not None
            ):
                repository.git.run("config", "--local", "--unset-all", f"{section}.{key}")
                yield f"{name}: {section}.{key} removed"
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def configured_events(repository: Repository) -> dict[str, str]:
    """Return the events for which the configuration names cli-guard -> the name of that hook."""
    events: dict[str, list[str]] = {}
    values: dict[tuple[str, str], str] = {}
    for entry in (
        repository.git.optional("config", "-z", "--get-regexp", r"^hook\.") or ""
    ).split("\0"):
        key, _, value = entry.partition("\n")
        name, _, last = key.removeprefix("hook.").rpartition(".")
        values[name, last] = value
        if last == "event":
            # An empty one takes back the earlier ones.
            events[name] = [*events.get(name, ()), value] if value else []
    off = {
        name
        for (name, key), value in values.items()
        if key == "enabled" and value.lower() in OFF
    }
    ours = (
        name
        for name in events
        if MENTION.search(values.get((name, "command"), "").encode())
    )
    known = (
        (event, name) for name in ours for event in events[name] if not off & {name, event}
    )
    texts = {f"cli-guard-{e.name}": COMMAND.format(e.name) for e in WORK_TREE_HOOKS}
    return {
        e: name
        for e, name in known
        if values[name, "command"] == texts.get(name, values[name, "command"])
    }
