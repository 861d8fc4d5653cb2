"""Which Python modules import which when they are loaded, and whether a new import would close a circle."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.python_rename import Python

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_MODULES = 3_000


def top_imports(python: Python, path: str) -> Iterator[str]:
    """The files of the repository that a file imports when it is loaded itself; not those for types only."""
    root = python.sources.root(path)
    if root is None or python.sources.language(path) != "python":
        return
    for statement in root.find_all(any=[{"kind": "import_statement"}, {"kind": "import_from_statement"}]):
        if not runs_at_load(statement):
            continue
        module = statement.field("module_name")
        for child in statement.named_children():
            name = child.field("name") if child.kind() == "aliased_import" else child
            if name is None or name.kind() not in ("dotted_name", "relative_import", "wildcard_import"):
                continue
            if module is None:
                found = python.modules.find(path, name.text())
            elif child.range().start.index == module.range().start.index:
                found = python.modules.find(path, module.text())
            else:
                dots = module.text()
                found = python.modules.find(path, dots + ("" if dots.endswith(".") else ".") + name.text())
            if found is not None and found != path:
                yield found


def runs_at_load(statement: "SgNode") -> bool:
    """Is a statement outside of every function and of `if TYPE_CHECKING`?"""
    around = statement.parent()
    while around is not None:
        if around.kind() in ("function_definition", "lambda"):
            return False
        if around.kind() == "if_statement" and "TYPE_CHECKING" in around.text()[:60]:
            return False
        around = around.parent()
    return True


def leads_to(python: Python, start: str, end: str, *, also: Collection[str] = ()) -> list[str]:
    """The modules on a way of imports from `start` to `end`, [] if there is none; `also` will import `end`."""
    before: dict[str, str | None] = {start: None}
    waiting = [start]
    while waiting and len(before) < MOST_MODULES:
        path = waiting.pop(0)
        if path == end or path in also:
            way = [end] if path in also and path != end else []
            at: str | None = path
            while at is not None:
                way.insert(0, at)
                at = before[at]
            return way
        if not python.sources.in_time(path):
            return []
        for found in sorted(set(top_imports(python, path))):
            # The package of `end` is loaded before it in any case.
            package = (
                found.endswith("__init__.py")
                and end.startswith(found.rpartition("/")[0] + "/")
                and found != end
            )
            if found not in before and not package:
                before[found] = path
                waiting.append(found)
    return []
