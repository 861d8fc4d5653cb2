"""What a path alone tells a code rule: which topic it belongs to, and how seriously it is meant.

A topic names the rule files that apply: a language of `cli_guard.code.syntax`, or a
dialect of one that has its own meaning (`workflow`: a GitHub workflow, which is YAML).
"""

import re
from pathlib import PurePosixPath

TOPICS = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "go": "go",
    "java": "java",
    "bash": "bash",
    "yaml": "yaml",
}

DOCKER_NAME = re.compile(r"(?:^|\.)(?:docker|container)file(?:$|\.)", re.IGNORECASE)
SQL_ENDINGS = frozenset((".sql", ".ddl", ".psql", ".pgsql", ".mysql", ".tsql"))
SOURCE_ENDINGS = re.compile(
    r"\.(?:[cm]?[jt]sx?|pyi?|vue|svelte|go|java|kts?|scala|groovy|gradle|rs|[chm]|cc|cpp|cxx|hpp|mm|cs|fs|vb|swift"
    r"|rb|erb|rake|php|p[lm]|lua|exs?|erl|hs|clj|dart|r|jl|sh|bash|zsh|ps1|sql|tf|hcl|ya?ml|toml|s?css)$",
    re.IGNORECASE,
)

WORKFLOW = re.compile(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$|(?:^|/)action\.ya?ml$")
CUT_LINES_OVER = 100_000


def topic_of(path: str, language: str | None) -> str | None:
    """The topic of a path whose language is known, None where there are no tree rules for it."""
    if language == "yaml" and WORKFLOW.search(path):
        return "workflow"
    return TOPICS.get(language) if language else None


def line_topics(path: str) -> tuple[str, ...]:
    """The topics of the line rules that can apply to a path."""
    pure = PurePosixPath(path)
    ending = pure.suffix.lower()
    asked = {
        "docker": bool(DOCKER_NAME.search(pure.name)),
        "powershell": ending == ".ps1",
        "source": bool(SOURCE_ENDINGS.search(pure.name)),
        "sql": ending in SQL_ENDINGS,
    }
    return tuple(topic for topic, applies in asked.items() if applies)


def without_long_lines(text: str) -> str:
    """The text with lines that no parser should be given left blank; all others keep their numbers."""
    if len(text) <= CUT_LINES_OVER:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= CUT_LINES_OVER:
        return text
    return "\n".join(line if len(line) <= CUT_LINES_OVER else "" for line in lines)
