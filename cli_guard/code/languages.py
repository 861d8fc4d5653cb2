"""In which language a file is written, by the names that ast-grep has for languages."""

import re
from functools import lru_cache
from pathlib import PurePosixPath

# The languages that reviewers read.
REVIEWED = {
    **dict.fromkeys((".py", ".pyi"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".go": "go",
    ".java": "java",
    **dict.fromkeys((".sh", ".bash"), "bash"),
    **dict.fromkeys((".yml", ".yaml"), "yaml"),
}
ENDINGS = {
    **REVIEWED,
    ".pyx": "python",
    ".rs": "rust",
    ".c": "c",
    **dict.fromkeys((".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"), "cpp"),
    ".cs": "csharp",
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
    ".php": "php",
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    ".swift": "swift",
    **dict.fromkeys((".scala", ".sbt"), "scala"),
    ".lua": "lua",
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    ".hs": "haskell",
    **dict.fromkeys((".tf", ".hcl"), "hcl"),
    ".dart": "dart",
    ".sol": "solidity",
    ".css": "css",
    **dict.fromkeys((".html", ".htm"), "html"),
    ".json": "json",
}
GRAMMARS = frozenset(ENDINGS.values())
INTERPRETERS = {
    **dict.fromkeys(("sh", "bash", "dash", "ksh"), "bash"),
    "python": "python",
    "node": "javascript",
}
SHEBANG = re.compile(r"#! ?(?:\S{0,80}/)?(?:env (?:-S )?)?([a-z]{1,20})[0-9.]{0,10}(?:\s|$)")


@lru_cache(maxsize=10_000)
def suffix_of(path: str) -> str:
    """The ending of a path with its dot, in lower case, "" if it has none: every reviewer asks it of every file."""
    return PurePosixPath(path).suffix.lower()


def language_of(path: str, first_line: str = "") -> str | None:
    """The language of a file that reviewers read, None for any other.

    The ending of its path tells, or, where it has none, the interpreter that `first_line` names.
    """
    suffix = suffix_of(path)
    if suffix or not first_line.startswith("#!"):
        return REVIEWED.get(suffix)
    named = SHEBANG.match(first_line)
    return INTERPRETERS.get(named[1]) if named else None


def language_for(path: str, text: str = "") -> str | None:
    """The language of any file, None for one that has no grammar; `text` counts where the path has no ending."""
    return ENDINGS.get(suffix_of(path)) or language_of(path, text[:200].split("\n", 1)[0])
