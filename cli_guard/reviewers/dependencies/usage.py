"""Compare manifests with the code: imports that no manifest names, entries that nothing uses, users of a new major."""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from posixpath import dirname, join

from cli_guard.code.classify import is_vendored
from cli_guard.code.languages import FAMILY, language_for
from cli_guard.code.test_files import is_test_or_example
from cli_guard.model import FileChange, Finding, Skipped
from cli_guard.repository.entries import name_some
from cli_guard.repository.protocol import Searchable
from cli_guard.reviewers.dependencies.changes import DependencyChange
from cli_guard.reviewers.dependencies.judging import DependencyWorld, findings_of
from cli_guard.reviewers.dependencies.locks import listing_of
from cli_guard.reviewers.dependencies.names import is_popular
from cli_guard.reviewers.dependencies.reading import Dependency, formats_of, normalise
from cli_guard.reviewers.review_input import folders_above
from cli_guard.rules.catalog import one, read_table

# An import at the left margin; deeper ones are often optional.
IMPORTS = {
    "python": re.compile(
        r"(?:from\s+([A-Za-z_]\w*)[\w.]*\s+import|import\s+([A-Za-z_]\w*))"
    ),
    "javascript": re.compile(
        r"""(?:import\b[^"'\n]*|export\b[^"'\n]*\bfrom\s*|[}\w\s]*\bfrom\s*|\b(?:const|let|var)\b.*\brequire\(\s*)"""
        r"""["'](@[\w.-]+/[\w.-]+|[a-z][\w.-]*)(?:/[^"']*)?["']"""
    ),
    "rust": re.compile(r"(?:pub\s+)?(?:use|extern\s+crate)\s+([a-z]\w*)\s*(?:::|;|as\b)"),
    "go": re.compile(
        r"""\s*(?:import\s+)?(?:[\w.]+\s+)?"([\w-]+(?:\.[\w-]+)+(?:/[^"\s]*)?)"\s*(?://.*)?$"""
    ),
}
MODULE = re.compile(r"(?m)^module\s+(\S+)")
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
EVERYWHERE = ("*",)
MOST_IMPORTS = 20
MOST_ENTRIES = 20
MOST_SHOWN = 3
LONGEST_IMPORT = 300
# A changed file and the line of an import.
Place = tuple[FileChange, int]


class ImportTree:
    """The places of some words in the tree after the change, found in one search."""

    def __init__(self, world: DependencyWorld, words: set[str]) -> None:
        self.found: Counter[tuple[str, str]] = Counter()
        contents = world.subject.contents
        self.is_complete = isinstance(contents, Searchable)
        if words and isinstance(contents, Searchable):
            hits = contents.search(sorted(words), EVERYWHERE, alone=True)
            self.found.update((hit.path, hit.text.lower()) for hit in hits.found)
            if hits.cut:
                self.is_complete = False
                world.skipped.append(
                    Skipped("advice on dependencies", f"search of the tree: {hits.cut}")
                )

    def paths(self, words: set[str]) -> set[str]:
        lower = {word.lower() for word in words}
        found = {path for path, word in self.found if word in lower}
        return {path for path in found if formats_of(path) or not DOCUMENTS.search(path)}

    def users(self, words: set[str]) -> set[str]:
        """Return the files with one of some words that are no manifest and no document."""
        return {
            path
            for path in self.paths(words)
            if ecosystems_of(path) <= {"docker", "actions"}
        }


def ecosystems_of(path: str) -> set[str]:
    return {table["ecosystem"] for _, table in formats_of(path) if "ecosystem" in table}


def review_majors(world: DependencyWorld, tree: ImportTree) -> Iterator[Finding]:
    """Yield the moves to another major version of what code uses, a few for each file."""
    moves: dict[str, list[tuple[DependencyChange, Dependency, str]]] = defaultdict(list)
    for each, was, entry in world.majors[:MOST_ENTRIES]:
        users = sorted(
            path for path in tree.users(words_of(entry)) if language_for(path, "")
        )
        if users:
            move = (
                f"{entry.name} moves to another major version: {was.spec} to {entry.spec}"
            )
            text = f"{move}; used by {name_some(users, MOST_SHOWN)}"
            moves[each.path].append((each, entry, text))
    for found in moves.values():
        for number, (each, entry, text) in enumerate(found[:MOST_SHOWN], 1):
            others = len(found) - MOST_SHOWN if number == MOST_SHOWN else 0
            rest = f"; {others} more in this file do so" if others > 0 else ""
            yield from findings_of(each, "deps-major", entry, text + rest)
    if len(world.majors) > MOST_ENTRIES:
        left = f"dependencies: {len(world.majors) - MOST_ENTRIES:,} more moves to another major version"
        world.skipped.append(Skipped(world.majors[MOST_ENTRIES][0].path, left))


def review_usage(world: DependencyWorld) -> Iterator[Finding]:
    """Yield what the code says of the manifests, and the manifests of the code."""
    imports = find_imports(world)
    modules = {
        name: at
        for name, at in imports["python"].items()
        if may_be_missing(world, name, at)
    }
    new = [
        (each, entry)
        for each in world.differences
        for was, entry in each.pairs
        if may_be_unused(each, was, entry)
    ]
    others = [e for each, _ in new[:1] for e in each.old.entries if not e.is_setting][
        :MOST_ENTRIES
    ]
    majors = [entry for _, _, entry in world.majors[:MOST_ENTRIES]]
    new = new[:MOST_ENTRIES]
    words = {word for name in modules for word in projects_of(name)}
    words |= {
        word
        for entry in (*majors, *(e for _, e in new), *others)
        for word in words_of(entry)
    }
    tree = ImportTree(world, words)
    yield from review_majors(world, tree)
    # Unless the others in the file are found in the code, it is used in a way that is not seen here.
    if tree.is_complete and any(tree.users(words_of(other)) for other in others):
        yield from find_unused(new, tree)
    if tree.is_complete:
        yield from find_missing(world, modules, tree)
    for module, at in imports["javascript"].items():
        yield from review_import(world, module, at, "javascript", "package.json", "npm")
    for module, at in imports["rust"].items():
        yield from review_import(world, module, at, "rust", "Cargo.toml", "cargo")
    for module, at in imports["go"].items():
        yield from review_go_import(world, module, at)


def find_unused(
    new: Iterable[tuple[DependencyChange, Dependency]], tree: "ImportTree"
) -> Iterator[Finding]:
    """Yield the new entries that no file of the repository uses, nor their own a second time."""
    for each, entry in new:
        words = words_of(entry)
        in_manifest = max(tree.found[each.path, word.lower()] for word in words)
        if in_manifest < 2 and not tree.users(words):
            message = f"{entry.name} is named here, but nothing uses it"
            yield from findings_of(each, "deps-unused", entry, message)


def find_missing(
    world: DependencyWorld, modules: Mapping[str, Place], tree: "ImportTree"
) -> Iterator[Finding]:
    """Yield the new imports of Python that no manifest names, and no file that stays imports."""
    files = world.subject.changes if modules else ()
    changed = {change.path for change in files if not formats_of(change.path)}
    for name, at in modules.items():
        paths = tree.paths(projects_of(name))
        if not any(formats_of(path) or path not in changed for path in paths):
            yield missing(at, name, "no manifest names it")


def review_import(
    world: DependencyWorld,
    module: str,
    at: Place,
    language: str,
    manifest: str,
    ecosystem: str,
) -> Iterator[Finding]:
    """Yield a finding on an import of a popular package that no manifest above the file names."""
    manifests = above(world, at, manifest)
    name = normalise(module, ecosystem)
    known = {entry.name for _, entries in manifests for entry in entries}
    if (
        not known
        or not known.isdisjoint((name, f"@types/{name}"))
        or not is_popular(ecosystem, name)
    ):
        return
    text_at = world.subject.text_at
    own_name = rf"""(?m)["\s{{,]name"?\s*[=:]\s*"{re.escape(name)}\""""
    is_own = module in read_table("dependencies/import-names.toml")[language].split()
    if language == "rust":
        is_own |= f"mod {module}" in (text_at(at[0].path) or "")
        is_own |= _is_renamed_crate(world, module, [path for path, _ in manifests])
    if not is_own and not any(
        re.search(own_name, text_at(path) or "") for path, _ in manifests
    ):
        yield missing(at, module, f"no {manifest} above names it")


def _is_renamed_crate(
    world: DependencyWorld, module: str, manifests: Iterable[str]
) -> bool:
    """Return whether the root of a crate gives another crate this name: `extern crate tokio_core as tokio`."""
    form = rf"\bextern\s+crate\s+\w+\s+as\s+{re.escape(module)}\s*;"
    roots = (
        join(dirname(path), "src", name)
        for path in manifests
        for name in ("lib.rs", "main.rs")
    )
    return any(re.search(form, world.subject.text_at(root) or "") for root in roots)


def review_go_import(world: DependencyWorld, module: str, at: Place) -> Iterator[Finding]:
    """Yield a finding on an import that is of no module in the nearest go.mod."""
    for path, entries in above(world, at, "go.mod")[:1]:
        roots = [
            *MODULE.findall(world.subject.text_at(path) or ""),
            *(entry.name for entry in entries),
        ]
        if not any(f"{module}/".startswith(f"{root}/") for root in roots):
            yield missing(at, module, f"{path} does not name it")


def missing(at: Place, name: str, where: str) -> Finding:
    rule = "deps-import-missing"
    change, line = at
    message = f"{name} is imported, but {where}"
    return one("dependencies", rule).finding(
        path=change.path, line=line, message=message, content=name
    )


def modules_of(entry: Dependency) -> set[str]:
    """Return the Python modules of a project whose names differ from its own."""
    table = read_table("dependencies/import-names.toml")["python"]
    return {module for module, names in table.items() if entry.name in names.split()}


def words_of(entry: Dependency) -> set[str]:
    """Return the words that show that a dependency is used: its name, and the names to import it by."""
    if entry.ecosystem == "maven":
        return {entry.name.partition(":")[0]}
    name = entry.name
    found = {name}
    if entry.ecosystem in ("cargo", "pypi"):
        found.add(name.replace("-", "_"))
    if entry.ecosystem == "pypi":
        namespace = name.replace("-", ".")
        found |= {namespace, name.removeprefix("python-"), *modules_of(entry)}
    return found


def projects_of(module: str) -> set[str]:
    """Return the words that name a Python module in manifests: its own, and the projects that it may come from."""
    projects = (
        read_table("dependencies/import-names.toml")["python"].get(module, "").split()
    )
    return {module, normalise(module, "pypi"), *projects}


def may_be_unused(
    each: DependencyChange, was: Dependency | None, entry: Dependency
) -> bool:
    """Return whether an entry is new and for code to import: tools, plugins and types are not."""
    if each.is_lock or each.is_aside or each.is_new or was or entry.source or entry.kind:
        return False
    tools = re.compile(read_table("dependencies/import-names.toml")["tools"])
    added = each.change.added
    # Tools that write all packages say which one wants each: in go.mod, and below a line that pip-compile wrote.
    is_transitive = "// indirect" in added.get(entry.line, "")
    if is_transitive or "# via" in added.get(entry.line + 1, ""):
        return False
    return entry.ecosystem in ("pypi", "npm", "cargo", "go") and not tools.search(
        f"{each.path}:{entry.name}"
    )


def find_imports(world: DependencyWorld) -> dict[str, dict[str, Place]]:
    """Return the modules that added lines import by language, each with its first place."""
    found: dict[str, dict[str, Place]] = {language: {} for language in IMPORTS}
    for change in world.subject.changes:
        own = language_for(change.path) or ""
        modules = found.get(FAMILY.get(own, own))
        if not change.is_text or modules is None or is_test_or_example(change.path):
            continue
        if is_vendored(change.path) or change.path.endswith(".d.ts"):
            continue
        pattern = IMPORTS[FAMILY.get(own, own)]
        before = {imported_by(pattern, line) for line in change.removed.values()}
        for number, line in change.added.items():
            module = imported_by(pattern, line)
            if module and module not in before and len(modules) < MOST_IMPORTS:
                modules.setdefault(module, (change, number))
    return found


def imported_by(pattern: re.Pattern[str], line: str) -> str:
    """Return the module that a line imports, "" for none."""
    match = pattern.match(line) if len(line) < LONGEST_IMPORT else None
    return next(filter(None, match.groups())) if match else ""


def may_be_missing(world: DependencyWorld, name: str, at: Place) -> bool:
    """Return whether a module is one of a known project, none of Python's own and no file of the repository."""
    is_known = name in read_table("dependencies/import-names.toml")["python"]
    if name in sys.stdlib_module_names or not (
        is_known or is_popular("pypi", normalise(name, "pypi"))
    ):
        return False
    ends = (f"{name}.py", f"{name}/__init__.py")
    if any(
        f"/{name}/" in f"/{c.path}" or f"/{c.path}".endswith(f"/{name}.py")
        for c in world.subject.changes
    ):
        return False
    folders = [*folders_above(at[0].path), "src"]
    if any(
        world.subject.text_at(join(folder, end)) is not None
        for folder in folders
        for end in ends
    ):
        return False
    return any(
        world.subject.text_at(join(folder, each))
        for folder in folders
        for each in PYTHON_MANIFESTS
    )


def above(
    world: DependencyWorld, at: Place, name: str
) -> list[tuple[str, tuple[Dependency, ...]]]:
    """Return the manifests of a name in the folder of a file and above it, nearest first."""
    paths = [join(folder, name) for folder in folders_above(at[0].path)]
    return [
        (each, entries) for each in paths if (entries := listing_of(world, each).entries)
    ]
