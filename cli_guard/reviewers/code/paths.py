"""What a path alone tells a code rule: which topic it belongs to, and how seriously it is meant.

A topic names the rule files that apply: a language of `cli_guard.reviewers.syntax`, or a
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
SCRIPT_NAME = re.compile(
    r"^(?:gnu)?makefile|\.mk$|^justfile$|^package\.json$|\.ps1$|^taskfile\.ya?ml$", re.IGNORECASE
)
SOURCE_ENDINGS = re.compile(
    r"\.(?:[cm]?[jt]sx?|pyi?|vue|svelte|go|java|kts?|scala|groovy|gradle|rs|[chm]|cc|cpp|cxx|hpp|mm|cs|fs|vb|swift"
    r"|rb|erb|rake|php|p[lm]|lua|exs?|erl|hs|clj|dart|r|jl|sh|bash|zsh|ps1|sql|tf|hcl|ya?ml|toml|s?css)$",
    re.IGNORECASE,
)

TEST_FOLDERS = re.compile(
    r"(?:^|/)(?:__(?:tests|mocks)__|tests?|testing|test_?data|test_?utils?|fixtures?|specs?|e2e|docs?|examples?"
    r"|samples?|demos?|bench(?:mark)?s?)/",
    re.IGNORECASE,
)
TEST_NAME = re.compile(
    r"(?:^test_|^conftest\.py$|_test\.|_tests\.|_spec\.|\.test\.|\.spec\.|\.stories\.|Tests?\.java$|IT\.java$)"
)
WORKFLOW = re.compile(r"(?:^|/)\.github/workflows/[^/]+\.ya?ml$|(?:^|/)action\.ya?ml$")
VENDORED_FOLDERS = re.compile(
    r"(?:^|/)(?:_?vendor|vendored|third[_-]party|node_modules|bower_components|site-packages|dist)/"
)
GENERATED_NAME = re.compile(
    r"[.-]min\.\w+$|\.bundle\.\w+$|_pb2(?:_grpc)?\.pyi?$|\.pb\.go$|\.g\.\w+$|(?:^|\.)generated\.\w+$|[.-]lock\.\w+$",
    re.IGNORECASE,
)
GENERATED_MARK = re.compile(
    r"@generated|code generated .{0,80}do not edit|(?:auto|automatically)[- ]?generated", re.IGNORECASE
)
HEAD_CHARS = 1_000
LONG_LINE_MEAN = 500
LONGEST_LINE = 100_000


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
        "scripts": bool(SCRIPT_NAME.search(pure.name)),
        "source": bool(SOURCE_ENDINGS.search(pure.name)),
        "sql": ending in SQL_ENDINGS,
    }
    return tuple(topic for topic, applies in asked.items() if applies)


def is_test(path: str) -> bool:
    """Is it code that only tests, shows or documents? Most rules weigh one step less there."""
    return bool(TEST_FOLDERS.search(path) or TEST_NAME.search(PurePosixPath(path).name))


def is_generated(path: str, text: str) -> bool:
    """Is it the work of a program, or of somebody else, so that nobody here would correct it by hand?"""
    if VENDORED_FOLDERS.search(path) or GENERATED_NAME.search(PurePosixPath(path).name):
        return True
    if GENERATED_MARK.search(text[:HEAD_CHARS]):
        return True
    if len(text) > LONG_LINE_MEAN * (text.count("\n") + 1):
        return True
    return len(text) > LONGEST_LINE and max(map(len, text.split("\n"))) > LONGEST_LINE
