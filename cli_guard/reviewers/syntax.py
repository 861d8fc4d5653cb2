"""The one seam to ast-grep: which language a path is, and its syntax tree, parsed once a review.

An unknown language makes ast-grep raise a BaseException, so only the names listed here ever reach it.
"""

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

LANGUAGES = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".go": "go",
    ".java": "java",
    ".sh": "bash",
    ".bash": "bash",
    ".yml": "yaml",
    ".yaml": "yaml",
}


def language_of(path: str) -> str | None:
    """The ast-grep name of the language that a path's ending tells, None for one that is not parsed."""
    return LANGUAGES.get(PurePosixPath(path).suffix.lower())


class Trees:
    """Syntax trees by content, so that three reviewers of one file parse it once."""

    def __init__(self) -> None:
        self._roots: dict[tuple[str, str], SgNode] = {}

    def root(self, language: str, text: str) -> "SgNode":
        """The root node of `text`; broken text gives a tree with ERROR nodes, never an error."""
        if language not in LANGUAGES.values():
            raise ValueError(f"no grammar for {language}")
        key = (language, text)
        if key not in self._roots:
            from ast_grep_py import SgRoot

            self._roots[key] = SgRoot(text, language).root()
        return self._roots[key]
