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
# Where settings and rules stand that name texts which are obeyed as well.
NAMERS = (
    "CLAUDE.md .claude/CLAUDE.md GEMINI.md QWEN.md .gemini/settings.json .qwen/settings.json opencode.json "
    "opencode.jsonc .opencode/opencode.json .aider.conf.yml .codex/config.toml .vscode/settings.json"
).split()
TEXT = re.compile(r"\.(?:mdc?|markdown|txt|prompt|rst|adoc)$", re.IGNORECASE)
SCRIPT = re.compile(
    r"\.(?:sh|bash|zsh|py|[cm]?[jt]s|rb|pl|php)$|(?:^|/)(?:[^./]+|package\.json|deno\.jsonc?|taskfile\.ya?ml)$",
    re.IGNORECASE,
)
MOST_FOLDERS = 4


def settings_above(changes: "Iterable[FileChange]") -> tuple[list[str], list[str]]:
    """Return the settings that may start or name what changes, and the folders that a tool may open above it.

    These are the top ("") and the nearest to it; there are none if no script and no text changes.
    """
    paths = [change.path for change in changes]
    scripts = [path for path in paths if SCRIPT.search(path)]
    texts = [path for path in paths if TEXT.search(path)]
    settings = STARTERS if scripts else []
    settings = [*settings, *(NAMERS if texts else ())]
    if not settings:
        return [], []
    above = {path[:at] for path in (*scripts, *texts) for at in slashes_in(path)}
    nearest_top = sorted(above, key=lambda folder: (folder.count("/"), folder))
    return settings, ["", *nearest_top[:MOST_FOLDERS]]


def settings_at(place: str, settings: "Iterable[str]") -> Iterator[str]:
    """Yield the settings that may stand at a place which has one of their first names."""
    folder, _, name = place.rpartition("/")
    for path in settings:
        if path.partition("/")[0] == name:
            yield f"{folder}/{path}".removeprefix("/")


def slashes_in(path: str) -> Iterator[int]:
    return (at for at, character in enumerate(path) if character == "/")
