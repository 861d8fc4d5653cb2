"""Plans a move from one library to another: where it is imported, called and named, the tests, the order to go in."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.impact import add_prose, add_tests, find_prose
from cli_guard.assistant.editing.plan import (
    EditPlan,
    Place,
    PlanDraft,
    show_line,
    usages_of,
    word,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    is_configuration,
    list_first,
)
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change

MOST_LINES = 5
MOST_USES = 18
LOCKS = frozenset(
    "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock Pipfile.lock pdm.lock go.sum Cargo.lock "
    "gradle.lockfile".split()
)
IMPORT_LINE = re.compile(
    r"^[ \t]*(?:import|from|use|pub use|export)\b.*|^.*\brequire\(.*|^[ \t]*\"[\w./-]+\"$",
    re.MULTILINE,
)
MANIFEST = re.compile(
    r"(?:^|/)(?:setup\.py|Pipfile|[^/]*requirements[^/]*\.(?:txt|in)|requirements/[^/]+\.txt)$"
)
SYNTAX = frozenset(
    "import from export const var let require use static as type pub crate self default".split()
)


def plan_migrate(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "from A to B", without a patch: what one library does in another is for a person to know."""
    old = intent.get("old")
    new = intent.get("new")
    package = package_of(old)
    found = find_imports(sources, package)
    uses = [use for path in found for use in find_bound_uses(sources, path, found[path])]
    listed = list(find_manifests(sources, package))
    usages = usages_of(sources, package)
    draft = PlanDraft(
        sources, "migrate", f"Migrate from {old} to {new}", old, usages=usages
    )
    manifests = [path for path, _, _ in listed]
    draft.add_step(
        f"Add {new} next to {old} in the manifests",
        manifests,
        places=list_first(show_places(listed), MOST_LINES, "line"),
    )
    if found:
        draft.usages = ()
        add_tests(draft, list(found))
        imports = [
            show_line(sources, path, sources.line(path, match.start()))
            for path, matches in found.items()
            for match in matches
        ]
        draft.add_step(
            f"Change the imports of {old}, then its {count_of(len(uses), 'use')}",
            list(found),
            places=list_first(show_places([*imports, *uses]), MOST_USES, "place"),
        )
    prose = find_prose(sources, [package], with_history=False)
    prose = [each for each in prose if each.partition(":")[0] not in manifests]
    add_prose(draft, prose)
    draft.add_step(f"Take {old} out of the manifests", manifests)
    locked = [p for p in sources.mentioning(package) if PurePosixPath(p).name in LOCKS]
    draft.add_step("Write the lock files again with the tool of the project", locked)
    draft.risks.append(
        f"no patch: a move from {old} to {new} is planned here and not computed"
    )
    return draft.propose()


def package_of(name: str) -> str:
    """Return what an import says of a library: `log4j` of `org/apache/log4j`, `core` of `@scope/core`."""
    return re.split(r"[/:]", name)[-1]


def show_places(places: list[Place]) -> list[str]:
    return [f"{path}:{line}: {text}" for path, line, text in places]


def find_imports(sources: Sources, package: str) -> dict[str, list[re.Match[str]]]:
    """Find the lines of code that import a package, by file."""
    found = {}
    for path in sources.mentioning(package):
        lines = IMPORT_LINE.finditer(sources.texts[path]) if sources.language(path) else ()
        matches = [match for match in lines if word(package).search(match[0])]
        if matches and not is_configuration(path):
            found[path] = matches
    return found


def is_library(sources: Sources, name: str) -> bool:
    """Return whether code imports, or a manifest lists, something of this name that the repository does not hold."""
    own = {
        part
        for path in sources.texts
        if sources.language(path) is not None and not is_configuration(path)
        for part in PurePosixPath(path).with_suffix("").parts
    }
    is_name = re.fullmatch(r"@?[\w.:/-]+", name) is not None
    if not is_name or name in own:
        return False
    package = package_of(name)
    return bool(find_imports(sources, package)) or any(find_manifests(sources, package))


def find_bound_uses(
    sources: Sources, path: str, imports: list[re.Match[str]]
) -> Iterator[Place]:
    """Yield the lines of a file that use a name which one of its imports binds."""
    # A path of packages (`org.apache.log4j.`) and a quoted one bind nothing themselves.
    said = " ".join(re.sub(r"\b[\w.]+(?:\.|::)|['\"].*?['\"]", " ", m[0]) for m in imports)
    names = {name for name in re.findall(r"[A-Za-z_$][\w$]*", said) if name not in SYNTAX}
    if not names:
        return
    lines = {sources.line(path, match.start()) for match in imports}
    bound = re.compile(
        rf"(?<![\w$.])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w$])"
    )
    for match in bound.finditer(sources.texts[path]):
        line = sources.line(path, match.start())
        if line not in lines:
            lines.add(line)
            yield show_line(sources, path, line)


def find_manifests(sources: Sources, package: str) -> Iterator[Place]:
    """Yield the lines of manifests that name the library."""
    for path in sources.mentioning(package):
        name = PurePosixPath(path).name
        if name in LOCKS or not (is_configuration(path) or MANIFEST.search(path)):
            continue
        named = re.compile(rf"(?<![\w./-]){re.escape(package)}(?![\w./-])")
        matches = named.finditer(sources.texts[path])
        lines = sorted({sources.line(path, match.start()) for match in matches})
        yield from (show_line(sources, path, line) for line in lines[:MOST_LINES])
