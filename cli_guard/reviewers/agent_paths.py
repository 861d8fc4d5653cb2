"""Which paths of a change coding agents and editors obey or start: the first question about every file.

Loaded for every change and every write of an agent, so it reads no table and imports nothing.
A test holds it against the paths of all tables.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cli_guard.lazy import regex

if TYPE_CHECKING:
    from cli_guard.model import FileChange

# Folders that belong to a tool, wherever they are.
FOLDERS = (
    r"\.(?:claude|claude-plugin|codex|agents?|gemini|qwen|cursor|copilot|vscode|devcontainer|zed|opencode)",
    r"\.(?:kiro|amazonq|windsurf|roo|amp|junie|cline|clinerules|specstory|mise|config/mise)",
    r"\.aider\.tags\.cache[^/]*",
    r"\.(?:continue|goose|kilocode|trae|augment|factory)",
    r"\.github/(?:hooks|copilot|instructions|prompts|agents|chatmodes|skills)",
)
# Names of files, with the folder that makes some of them so.
NAMES = (
    r"\.mcp\.json",
    r"\.github/(?:(?:mcp|lsp)\.json|copilot-instructions\.md)",
    r"\.(?:cursorrules|windsurfrules|clinerules[^/]*|roorules[^/]*|roomodes|envrc)",
    r"\.aider\.[^/]+",
    r"(?:claude(?:\.local)?|agents?(?:\.override)?|gemini|qwen|conventions)\.md",
    r"skills/.*\.md",
    r"hooks/hooks\.json",
    r"\.(?:goosehints|continuerules|kilocoderules|augment-guidelines)",
    r"recipes/[^/]+\.ya?ml",
    r"opencode\.jsonc?",
    r"\.(?:ai|aider|augment|claude|cline|codeium|codex|continue|copilot|cursor|gemini|goose|junie|kilocode)ignore",
    r"\.(?:aiexclude|(?:kiro|opencode|qwen|roo|trae|windsurf)ignore)",
    r"cline_mcp_settings\.json",
    r"[^/]+\.(?:code-workspace|traj)",
    r"\.?devcontainer\.json",
    r"\.?mise(?:\.[\w-]+)?\.toml",
    r"mise/config[^/]*\.toml",
)
MAYBE = regex(rf"(?i)(?:^|/)(?:(?:{'|'.join(FOLDERS)})/|(?:{'|'.join(NAMES)})$)")


def may_be_obeyed(change: "FileChange") -> bool:
    """Return whether a changed file, under its name before or after, may be one that agents obey or start."""
    if MAYBE.search(change.path):
        return True
    return change.old_path is not None and MAYBE.search(change.old_path) is not None


# Where settings stand that start scripts, from the folder that a tool opens.
STARTERS = (
    ".claude/settings.json .claude/settings.local.json .codex/hooks.json .codex/config.toml .cursor/hooks.json "
    ".cursor/environment.json .gemini/settings.json .vscode/tasks.json .devcontainer/devcontainer.json "
    ".devcontainer.json .windsurf/hooks.json .envrc mise.toml .mise.toml hooks/hooks.json .claude-plugin/plugin.json "
    ".aider.conf.yml opencode.json"
).split()
FIRST_NAMES = tuple(dict.fromkeys(path.partition("/")[0] for path in STARTERS))
SCRIPT = re.compile(
    r"\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php)$|(?:^|/)(?:[^./]+|package\.json|deno\.jsonc?|taskfile\.ya?ml)$",
    re.IGNORECASE,
)
MOST_FOLDERS = 4


def folders_of_scripts(changes: "Iterable[FileChange]") -> list[str]:
    """Return the folders that a tool may open above the changed scripts: the top ("") and the nearest to it."""
    scripts = [change.path for change in changes if SCRIPT.search(change.path)]
    if not scripts:
        return []
    above = {path[:at] for path in scripts for at in slashes_in(path)}
    nearest_top = sorted(above, key=lambda folder: (folder.count("/"), folder))
    return ["", *nearest_top[:MOST_FOLDERS]]


def starters_at(place: str) -> Iterator[str]:
    """Yield the settings that may stand at a place which has one of the first names."""
    folder, _, name = place.rpartition("/")
    for path in STARTERS:
        if path.partition("/")[0] == name:
            yield f"{folder}/{path}".removeprefix("/")


def slashes_in(path: str) -> Iterator[int]:
    return (at for at, character in enumerate(path) if character == "/")
