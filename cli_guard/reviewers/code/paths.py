"""What a path alone tells a code rule: which topic it belongs to, and how seriously it is meant.

A topic names the rule files that apply: a language of `cli_guard.code.syntax`, or a
dialect of one that has its own meaning (`workflow`: a GitHub workflow, which is YAML).
"""

import re
from pathlib import PurePosixPath
from statistics import median_low

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
    r"(?:^|/)(?:_?vendor|vendored|third[_-]party|node_modules|bower_components|site-packages)/"
)
GENERATED_NAME = re.compile(r"[.-]min\.(?:[cm]?js|css)$|[.-]lock\.(?:json|ya?ml|toml|hcl)$", re.IGNORECASE)
# A long line among short ones is a comment, a table or an image; where the lines are long, a program wrote them.
LONG_LINE_MEDIAN = 300
LINES_OVER = 5_000
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


def is_test(path: str) -> bool:
    """Is it code that only tests, shows or documents? Most rules weigh one step less there."""
    return bool(TEST_FOLDERS.search(path) or TEST_NAME.search(PurePosixPath(path).name))


def is_generated(path: str, text: str) -> bool:
    """Is it the work of somebody else, by its folder or name, or minified, by the median length of its lines?

    What a file says of itself does not count: a header `@generated` is as easy to write as what it would hide.
    So a folder such as `dist/` or `build/`, which may well be written by hand, is left out only as far as it
    is minified.
    """
    if VENDORED_FOLDERS.search(path) or GENERATED_NAME.search(PurePosixPath(path).name):
        return True
    if len(text) <= max(LINES_OVER, LONG_LINE_MEDIAN * text.count("\n") // 2):
        return False  # short, or fewer than half of the lines can be that long
    return median_low(len(line) for line in text.split("\n") if line.strip()) > LONG_LINE_MEDIAN


def without_long_lines(text: str) -> str:
    """The text with lines that no parser should be given left blank; all others keep their numbers."""
    if len(text) <= CUT_LINES_OVER:
        return text
    lines = text.split("\n")
    if max(map(len, lines)) <= CUT_LINES_OVER:
        return text
    return "\n".join(line if len(line) <= CUT_LINES_OVER else "" for line in lines)
