"""OpenCode: a plugin of our own, which sends us each use of a tool and throws where it is denied.

Source: https://opencode.ai/docs/plugins, and version 1.18.33 as it runs. An error thrown in `tool.execute.before` is
the tool's result; there is no way to ask. The request is our own: `event`, `tool`, `args`, `cwd`.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cli_guard.agents.settings import Protocol, write_text
from cli_guard.errors import UsageError
from cli_guard.repository.protocol import Repository

NAME = "opencode"
EVENT = "tool.execute.before"
COMMENT = b"// Written by `cli-guard install --agent opencode`"
PLUGIN = Path(__file__).with_suffix(".js")
COMMAND = re.compile(r'(?m)^const command = (".*")$')


def install(repository: Repository, where: str = "project") -> str:
    """Write the plugin; return what was done. Raises UsageError for a file that is not ours, CliGuardError."""
    from cli_guard.agents.restoring import keep_original
    from cli_guard.state.files import explain_write_errors

    path = protocol.find(repository, where)
    name = protocol.places.get(where, "")
    command = protocol.command(where, repository.git.env.get("PATH", ""))
    text = PLUGIN.read_text("utf-8").replace('"@COMMAND@"', json.dumps(command))
    known = is_ours(path, name)
    protocol.check(command, repository)
    if known and path.read_text("utf-8") == text:
        return f"{name}: is there already"
    with explain_write_errors(name):
        keep_original(repository, path, text)
    write_text(path, name, text)
    return f"{name}: {'brought up to date' if known else 'installed'}"


def uninstall(repository: Repository, where: str | None = None) -> str | None:
    """Remove the plugin; return what was done, None if there is none."""
    from cli_guard.agents.restoring import restore_original

    done = []
    for path, name in protocol.to_clear(repository, where):
        if is_ours(path, name):
            if not restore_original(repository, path):
                path.unlink()
            done.append(f"{name}: removed")
    return ", ".join(done) or None


def is_installed(repository: Repository) -> bool | None:
    return True if any(protocol.all_found(repository)) else None


def find_call(repository: Repository) -> tuple[str, Mapping[str, Any]] | None:
    """Find the command of the plugin, None if there is none. Raises UsageError for a file that is not ours."""
    for path, name in protocol.all_found(repository):
        if is_ours(path, name) and (found := COMMAND.search(path.read_text("utf-8"))):
            return str(json.loads(found[1])), {}
    return None


def is_ours(path: Path, name: str) -> bool:
    """Return whether there is a plugin of ours. Raises UsageError if the file is not ours."""
    if path.exists() and COMMENT not in path.read_bytes():
        raise UsageError(f"{name} is not a plugin of cli-guard: move it elsewhere")
    return path.exists()


protocol = Protocol(
    NAME,
    {
        "project": ".opencode/plugins/cli-guard.js",
        "user": "~/.config/opencode/plugins/cli-guard.js",
    },
    {"event": EVENT, "tool": "bash", "args": {"command": "<command>"}, "cwd": "<folder>"},
    home=("XDG_CONFIG_HOME", "~/.config"),
    passing=(0,),
)
