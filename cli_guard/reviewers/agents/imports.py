"""The files of the tree that a script imports: modules of Python, and relative ones of Node.

What a shell runs or sources is known from the judgement of its commands. An import that leads out of the tree, to the
language's own library or to an installed package, yields nothing.
"""

import posixpath
import re
from collections.abc import Callable, Iterator

from cli_guard.code.file_imports import PATTERNS
from cli_guard.code.languages import FAMILY, language_for
from cli_guard.code.python_imports import PythonImports
from cli_guard.reviewers.review_input import folders_above

# As Python looks for a module, with or without its source.
PYTHON_ENDINGS = (".py", "/__init__.py", ".so", ".pyd", ".pyc")
NODE_ENDINGS = ("", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".node")
JS_ENDING = re.compile(r"\.[cm]?js$")
MOST_IMPORTS = 200
# Stands for a dot in the name of a folder, which is none between modules.
DOT = "\0"


def find_imports(path: str, text: str, is_file: Callable[[str], bool]) -> Iterator[str]:
    """Yield the files that a script may import, and relative modules that are not there, under their names.

    A last name, which is no file either, stands for all above `MOST_IMPORTS`.
    """
    language = language_for(path, text)
    finder = FINDERS.get(FAMILY.get(language or "", language or ""))
    for number, (name, files) in enumerate(finder(path, text) if finder else ()):
        if number >= MOST_IMPORTS:
            yield f"more than {MOST_IMPORTS} modules"
            return
        found = [each for each in files if is_file(each)]
        yield from found or ([name] if name else [])


def imports_of_python(path: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the files that each import may be, beside the script or in a folder above it."""
    masked = path.replace(".", DOT)
    statements = PythonImports({masked: text}).statements_of(masked)
    for statement in statements:
        own = [statement.module] if statement.module else []
        names = [".".join((*own, name)) for name, _ in statement.names or ()]
        for name in dict.fromkeys((*own, *names)):
            yield "", files_of_module(posixpath.dirname(path), name)


def files_of_module(folder: str, name: str) -> list[str]:
    """Return the files that a module may be, in a folder or one above it, and those of the packages that hold it."""
    steps = [step.replace(DOT, ".") for step in name.split(".")]
    modules = ["/".join(steps[:size]) for size in range(1, len(steps) + 1)]
    return [
        posixpath.join(place, f"{module}{ending}")
        for place in folders_above(posixpath.join(folder, "file"))
        for module in modules
        for ending in PYTHON_ENDINGS
    ]


def imports_of_node(path: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the files that each relative module may be."""
    for found in PATTERNS["javascript"].finditer(text):
        # Data is no code.
        if found[1].startswith(".") and not found[1].endswith(".json"):
            name = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1]))
            stems = (name, JS_ENDING.sub("", name), f"{name}/index")
            yield name, [f"{stem}{end}" for stem in stems for end in NODE_ENDINGS]


FINDERS = {"python": imports_of_python, "javascript": imports_of_node}
