"""Compare manifests with the code: imports that no manifest names, entries that nothing uses, users of a new major."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from posixpath import dirname, join
from typing import Protocol, runtime_checkable

from cli_guard.code.classify import is_vendored
from cli_guard.code.languages import language_of
from cli_guard.code.test_files import is_test_or_example
from cli_guard.errors import GitError
from cli_guard.model import FileChange, Finding, Kind, Skipped, fingerprint
from cli_guard.reviewers.dependencies.changes import Difference
from cli_guard.reviewers.dependencies.judging import World, findings_of
from cli_guard.reviewers.dependencies.locks import listing_of, text_of
from cli_guard.reviewers.dependencies.names import read_names
from cli_guard.reviewers.dependencies.reading import Entry, formats_of, normalise
from cli_guard.rules.catalog import one, read_table

PYTHON = re.compile(r"(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import|import\s+([A-Za-z_]\w*))")
SCRIPT = re.compile(
    r"""(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\(\s*)["'](@[\w.-]+/[\w.-]+|[a-z][\w.-]*)(?:/[^"']*)?["']"""
)
GO = re.compile(r"""\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w-]+(?:\.[\w-]+)+(?:/[^"\s]*)?)"\s*(?://.*)?$""")
DOCUMENTS = re.compile(
    r"(?i)\.(?:md|rst|txt|adoc|ipynb|html)$|(?:^|/)(?:licen[cs]e|notice|changelog|authors)[^/]*$"
)
PYTHON_MANIFESTS = (
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "Pipfile",
    "environment.yml",
)
SEARCH_SECONDS = 0.5
MOST_IMPORTS, MOST_ENTRIES, SHOWN = 20, 20, 3
Place = tuple[FileChange, int, str]


@runtime_checkable
class Searchable(Protocol):
    """Contents in which words can be found."""

    def search(self, words: list[str], seconds: float) -> list[tuple[str, str]]:
        """Return path and word of each place that holds one of some words."""


def review_usage(world: World) -> Iterator[Finding]:
    """Yield what the code says of the manifests, in one search of the tree."""
    table = read_table("dependencies/import-names.toml")
    modules = dict(list(imported(world, "python", PYTHON))[:MOST_IMPORTS])
    modules = {name: at for name, at in modules.items() if may_be_missing(world, name, at, table["python"])}
    new = [
        (each, entry)
        for each in world.differences
        for was, entry in each.pairs
        if may_be_unused(each, was, entry)
    ]
    others = [e for each, _ in new[:1] for e in each.old.entries if not e.is_setting][:MOST_ENTRIES]
    majors = [entry for _, _, entry in world.majors]
    words = {word for name in modules for word in (name, *distributions(name, table["python"]))}
    words |= {
        word
        for entry in (*majors, *(e for _, e in new), *others)
        for word in words_of(entry, table["python"])
    }
    found: Counter[tuple[str, str]] = Counter()
    contents = world.subject.contents
    if not isinstance(contents, Searchable):
        new, modules = [], {}
    elif words:
        try:
            found.update(
                (path, word.lower()) for path, word in contents.search(sorted(words), SEARCH_SECONDS)
            )
        except GitError as error:
            world.skipped.append(Skipped("advice on dependencies", f"search of the tree: {error}"))
            new, modules = [], {}
    for each, was, entry in world.majors:
        users = sorted({path for word in words_of(entry, table["python"]) for path in users_in(found, word)})
        more = f" and {len(users) - SHOWN} more" if len(users) > SHOWN else ""
        used = f"; used by {', '.join(users[:SHOWN])}{more}" if users else ""
        message = f"{entry.name} moves to another major version: {was.spec} to {entry.spec}{used}"
        yield from findings_of(each, "deps-major", entry, message)
    proven = any(users_in(found, word) for other in others for word in words_of(other, table["python"]))
    for each, entry in new if proven else ():
        wanted = {word.lower() for word in words_of(entry, table["python"])}
        again = max(found[each.path, word] for word in wanted)
        if again < 2 and not any(users_in(found, word) for word in wanted):
            yield from findings_of(
                each, "deps-unused", entry, f"{entry.name} is named here, but nothing uses it"
            )
    changed = {change.path for change in world.subject.changes}
    for name, (change, line, text) in modules.items():
        wanted = {word.lower() for word in (name, *distributions(name, table["python"]))}
        paths = {
            path for path, word in found if word in wanted and path not in changed - manifests_in(changed)
        }
        if not any(formats_of(path) or not DOCUMENTS.search(path) for path in paths):
            yield missing(change, line, text, name, "")
    yield from missing_elsewhere(world)


def manifests_in(paths: set[str]) -> set[str]:
    return {path for path in paths if formats_of(path)}


def users_in(found: Counter[tuple[str, str]], word: str) -> set[str]:
    """Return the files that use a word: no manifest, no lock file, no document."""
    images = ("docker", "actions")
    tables = {path: [table for _, table in formats_of(path)] for path, each in found if each == word.lower()}
    return {
        path
        for path, named in tables.items()
        if not DOCUMENTS.search(path) and all(each.get("ecosystem") in images for each in named)
    }


def words_of(entry: Entry, modules: dict[str, str]) -> set[str]:
    """Return the words that show that a dependency is used: its name, and the names to import it by."""
    name = entry.name
    if entry.ecosystem == "npm":
        return {name}
    own = {module for module, names in modules.items() if name in names.split()}
    return {name, name.replace("-", "_"), *own} | (
        {name.removeprefix("python-")} if entry.ecosystem == "pypi" else set()
    )


def distributions(module: str, modules: dict[str, str]) -> list[str]:
    """Return the projects that a Python module may come from."""
    return modules.get(module, "").split() or [normalise(module, "pypi"), module]


def may_be_unused(each: Difference, was: Entry | None, entry: Entry) -> bool:
    """Return whether an entry is new and for code to import: tools, plugins and types are not."""
    tools = re.compile(read_table("dependencies/import-names.toml")["tools"])
    own = entry.kind == "" and entry.ecosystem in ("pypi", "npm", "cargo") and was is None and not each.is_new
    return own and not (
        each.is_lock or each.is_aside or entry.source or tools.search(f"{each.path}:{entry.name}")
    )


def imported(world: World, language: str, pattern: re.Pattern[str]) -> Iterator[tuple[str, Place]]:
    """Yield the modules that added lines import at the left margin, each with a place."""
    for change in world.subject.changes:
        if change.kind is not Kind.TEXT or is_test_or_example(change.path) or is_vendored(change.path):
            continue
        if language_of(change.path) not in (
            (language,) if language != "javascript" else (language, "typescript", "tsx")
        ):
            continue
        before = {line for line in change.removed.values() if pattern.search(line)}
        for number, line in change.added.items():
            if len(line) < 300 and line not in before and (found := match(pattern, line)):
                yield next(filter(None, found.groups())), (change, number, line)


def match(pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    return pattern.search(line) if pattern is SCRIPT else pattern.match(line)


def may_be_missing(world: World, name: str, at: Place, modules: dict[str, str]) -> bool:
    """Return whether a module is one of a known project, none of Python's own and no file of the repository."""
    known = name in modules or normalise(name, "pypi") in read_names("pypi-popular.txt")
    if name in sys.stdlib_module_names or not known:
        return False
    folder, changed = dirname(at[0].path), [change.path for change in world.subject.changes]
    places = [
        join(start, each)
        for start in {folder, dirname(folder), "", "src"}
        for each in (f"{name}.py", f"{name}/__init__.py")
    ]
    if any(f"/{name}/" in f"/{path}" or f"/{path}".endswith(f"/{name}.py") for path in changed):
        return False
    if any(text_of(world, path) is not None for path in places):
        return False
    return any(text_of(world, join(start, each)) for start in {folder, ""} for each in PYTHON_MANIFESTS)


def missing_elsewhere(world: World) -> Iterator[Finding]:
    """Yield the imports of JavaScript and Go that no package.json or go.mod above them names."""
    builtin = frozenset(read_table("dependencies/import-names.toml")["node"].split())
    popular = read_names("npm-popular.txt")
    for name, (change, line, text) in list(dict(imported(world, "javascript", SCRIPT)).items())[
        :MOST_IMPORTS
    ]:
        if name not in builtin and name in popular:
            known = [e.name for _, entries in above(world, change.path, "package.json") for e in entries]
            if known and name not in known and f"@types/{name}" not in known:
                yield missing(change, line, text, name, "package.json")
    for name, (change, line, text) in list(dict(imported(world, "go", GO)).items())[:MOST_IMPORTS]:
        for path, entries in above(world, change.path, "go.mod")[:1]:
            own = re.search(r"(?m)^module\s+(\S+)", text_of(world, path) or "")
            roots = [own[1]] if own else []
            roots += [entry.name for entry in entries]
            if own and not any(name == root or name.startswith(f"{root}/") for root in roots):
                yield missing(change, line, text, name, path)


def above(world: World, path: str, name: str) -> list[tuple[str, tuple[Entry, ...]]]:
    """Return the manifests of a name in the folder of a file and above it, nearest first."""
    found, folder = [], dirname(path)
    while True:
        entries = listing_of(world, join(folder, name)).entries
        if entries:
            found.append((join(folder, name), entries))
        if not folder:
            return found
        folder = dirname(folder)


def missing(change: FileChange, line: int, text: str, name: str, manifest: str) -> Finding:
    where = f"{manifest} does not name it" if manifest else "no manifest names it"
    rule = "deps-import-missing"
    return one("dependencies", rule).finding(
        path=change.path,
        line=line,
        message=f"{name} is imported, but {where}",
        fingerprint=fingerprint(rule, change.path, name),
    )
