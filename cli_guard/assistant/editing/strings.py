"""A renamed Python name in strings, prose and configuration: what surely means it, and what a person must look at."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit
from cli_guard.assistant.editing.mentions import word
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import is_configuration, is_documentation

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DYNAMIC = frozenset(
    {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller", "import_module"}
)
# Calls whose first argument is the name that their value is bound to.
NAMING = frozenset(
    "TypeVar ParamSpec TypeVarTuple NewType namedtuple NamedTuple TypedDict TypeAliasType".split()
)
DOTTED = re.compile(r"[A-Za-z_][\w.]*[.:][\w.]*\w")


def listed_in_all(python: Python, paths: Iterable[str], old: str) -> Iterator[tuple[str, int]]:
    """Where `__all__` of these files lists the name: the place of the name itself."""
    for path in paths:
        root = python.sources.root(path)
        if "__all__" not in python.sources.texts[path] or root is None:
            continue
        for node in root.find_all(kind="string_content", regex=f"^{re.escape(old)}$"):
            if in_all(node):
                yield path, node.range().start.index


def in_all(node: "SgNode") -> bool:
    """Is a string in what is assigned or added to `__all__`?"""
    around = node.parent()
    for _ in range(5):
        if around is None:
            return False
        if around.kind() in ("assignment", "augmented_assignment", "call"):
            return around.text().startswith("__all__")
        around = around.parent()
    return False


def own_strings(python: Python, places: dict[str, set[int]], old: str) -> Iterator[tuple[str, int]]:
    """The string in `NAME = TypeVar("NAME")`, which must say the same name."""
    for path in sorted(places):
        for occurrence in python.names.of(path, old):
            parent = occurrence.node.parent()
            right = parent.field("right") if occurrence.role == "binding" and parent is not None else None
            called = right.field("function") if right is not None and right.kind() == "call" else None
            if occurrence.start not in places[path] or called is None or right is None:
                continue
            arguments = right.field("arguments")
            first = next(iter(arguments.named_children()), None) if arguments is not None else None
            if called.text().rpartition(".")[2] in NAMING and first is not None and first.text()[1:-1] == old:
                yield path, first.range().start.index + 1


def dotted_strings(python: Python, modules: set[str], old: str) -> Iterator[tuple[str, int]]:
    """Where "package.module.name" or "package.module:name" stands whole in a string or in configuration."""
    pattern = word(old)
    for path in python.sources.mentioning(old):
        is_python = python.sources.language(path) == "python"
        if not (is_python or is_configuration(path)):
            continue
        for found in strings_or_text(python, path, old):
            start, text = found
            for match in pattern.finditer(text):
                head = text[: match.start()]
                dotted = DOTTED.search(head + old) if len(head) < 300 else None
                if dotted is None or dotted.end() != len(head) + len(old):
                    continue
                if is_python and dotted.start() != 0:
                    continue
                module = dotted[0][: -len(old)].rstrip(".:")
                target = python.modules.find(path, module) if module else None
                if target is not None and target in modules:
                    yield path, start + match.start()


def strings_or_text(python: Python, path: str, old: str) -> Iterator[tuple[int, str]]:
    """The strings of a Python file, or the lines of a file of another kind, that hold the name."""
    root = python.sources.root(path) if python.sources.language(path) == "python" else None
    if root is not None:
        for node in root.find_all(kind="string_content", regex=re.escape(old)):
            yield node.range().start.index, node.text()
        return
    text = python.sources.texts[path]
    for number in sorted({python.sources.line(path, m.start()) for m in word(old).finditer(text)}):
        yield python.sources.line_start(path, number), python.sources.line_text(path, number)


def dynamic_uses(python: Python, old: str, taken: set[tuple[str, int]]) -> Iterator[Place]:
    """Strings that may reach the name when the program runs: getattr(x, "name") and the like."""
    for path in python.sources.mentioning(old, "python"):
        root = python.sources.root(path)
        if root is None:
            continue
        for node in root.find_all(kind="string_content", regex=f"^{re.escape(old)}$"):
            start = node.range().start.index
            if (path, start) in taken:
                continue
            string = node.parent()
            call = string.parent() if string is not None else None
            holder = call.parent() if call is not None and call.kind() == "argument_list" else None
            callee = holder.field("function") if holder is not None else None
            if callee is not None and callee.text().rpartition(".")[2] in DYNAMIC:
                yield path, python.sources.line(path, start), f"reached by the string {old!r}"


def prose_edits(python: Python, old: str, new: str, *, also: tuple[str, ...] = ()) -> Iterator[Edit]:
    """Where documents and docstrings name it in backticks: `name`, `name()`, `Owner.name`."""
    owners = "|".join(re.escape(each) for each in also)
    head = rf"(?:(?:{owners})\.)?" if owners else ""
    pattern = re.compile(
        rf"(?<!`)(?P<open>`{{1,2}})(?::\w+:)?~?{head}(?P<name>{re.escape(old)})(?P<end>\(\))?(?P=open)(?!`)"
    )
    roles = re.compile(
        rf":(?:func|class|meth|data|attr|obj|exc|const):`~?{head}(?P<name>{re.escape(old)})(?:\(\))?`"
    )
    for path in python.sources.mentioning(old):
        is_python = python.sources.language(path) == "python"
        if not (is_python or is_documentation(path)):
            continue
        for start, text in (
            strings_or_text(python, path, old) if is_python else [(0, python.sources.texts[path])]
        ):
            for each in (pattern, roles):
                for match in each.finditer(text):
                    at = start + match.start("name")
                    yield Edit(path, at, at + len(old), new)


def doctest_edits(python: Python, old: str, new: str) -> Iterator[Edit]:
    """Where an example in a docstring (`>>> name(...)`) uses it as a plain name; only for a name that is unique."""
    pattern = re.compile(r"^[ \t]*(?:>>>|\.\.\.) .*$", re.MULTILINE)
    name = re.compile(rf"(?<![\w.'\"]){re.escape(old)}(?![\w'\"])")
    for path in python.sources.mentioning(old, "python"):
        if ">>>" not in python.sources.texts[path]:
            continue
        for start, text in strings_or_text(python, path, old):
            for line in pattern.finditer(text):
                for match in name.finditer(line[0]):
                    at = start + line.start() + match.start()
                    yield Edit(path, at, at + len(old), new)
