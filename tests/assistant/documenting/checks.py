"""What every proposal has to hold, whatever it documents: Git takes the patch, and the code is the same."""

import ast
import subprocess
from collections.abc import Mapping
from pathlib import Path

from cli_guard.assistant.documenting import Documentation, document


def without_docstrings(text: str) -> str:
    """The syntax tree of Python text, its docstrings taken out."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if (
            isinstance(
                node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
            )
            and node.body
        ):
            first = node.body[0]
            constant = first.value if isinstance(first, ast.Expr) else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                del node.body[0]
    return ast.dump(tree)


def git_applies(
    patch: str, old: Mapping[str, str], new: Mapping[str, str], folder: Path
) -> None:
    """Let git apply the patch to the old files, and compare what comes out with the new ones."""
    for path, text in old.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    for options in (["--check"], []):
        done = subprocess.run(
            ["git", "apply", *options, "-"],
            input=patch.encode("utf-8", "surrogateescape"),
            cwd=folder,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()
    for path, text in new.items():
        assert (folder / path).read_bytes() == text.encode("utf-8", "surrogateescape")


def whole(request: str, texts: Mapping[str, str], folder: Path) -> Documentation:
    """The answer to a request, its patch tried with git."""
    answer = document(request, texts)
    if answer.changes:
        git_applies(
            answer.patch,
            {p: texts[p] for p in answer.changes if p in texts},
            answer.changes,
            folder,
        )
    return answer
