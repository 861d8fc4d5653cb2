"""Plans what is not computed here: changes of JavaScript, Go, Java and Rust, and moves from one library to another.

They say where the uses are, the steps in their order and the risks, and hold no patch.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from cli_guard.assistant.editing.impact import add_tests, find_prose
from cli_guard.assistant.editing.library import Uses, find_library_uses, show_library_use
from cli_guard.assistant.editing.plan import (
    Draft,
    Kind,
    Plan,
    covering_tests,
    draft_unknown,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    count,
    is_configuration,
    join_some,
    list_first,
)
from cli_guard.assistant.editing.usages import (
    IN_CODE,
    SHOWN_PLACES,
    Location,
    paths_of,
    show_line,
    usages_of,
    word,
)
from cli_guard.assistant.request_change import Change
from cli_guard.rules import data as rule_files

PLANNED_ONLY = frozenset({"javascript", "typescript", "tsx", "go", "java", "rust"})
JAVASCRIPT = "a property of that name (`.{name}`) may be another object's: each use is for a person to decide"
RISKS = {
    **dict.fromkeys(("javascript", "typescript", "tsx"), JAVASCRIPT),
    "go": "a method or field of that name may be another type's, and an exported name is used from outside",
    "java": "overriding methods must follow, and a public class has the name of its file",
    "rust": "macros and traits may name it, and a `pub` name is used from outside",
}
MOST_LINES = 5
MOST_USES = 18
LOCKS = frozenset(
    "package-lock.json yarn.lock pnpm-lock.yaml poetry.lock uv.lock Pipfile.lock pdm.lock go.sum Cargo.lock "
    "gradle.lockfile".split()
)
IMPORT_LINE = re.compile(
    r"^[ \t]*(?:import|from|use|export)\b.*|^.*\brequire\(.*", re.MULTILINE
)
MANIFEST = re.compile(
    r"(?:^|/)(?:setup\.py|Pipfile|[^/]*requirements[^/]*\.(?:txt|in)|requirements/[^/]+\.txt)$"
)


def plan_uses(sources: Sources, kind: Kind, intent: Change, name: str = "") -> Plan:
    """The plan for a name that no Python file defines: its uses by kind, what to do with them, and no patch."""
    name = name or intent.get("old")
    new = intent.get("new")
    last = re.split(r"[.:/#]+", name.strip("()"))[-1] or name
    usages = usages_of(sources, last)
    used = paths_of(usages, *IN_CODE)
    languages = sorted({sources.language(path) or "" for path in used} & PLANNED_ONLY)
    defined = [
        place for group in usages if group.kind == "definition" for place in group.places
    ]
    if not languages or not (defined or kind == "replace call"):
        return draft_unknown(sources, kind, name, intent)
    title = (
        f"{kind.capitalize()} {name} to {new}"
        if kind in ("rename", "move")
        else intent.request[:100]
    )
    draft = Draft(sources, kind, title, last, usages=usages)
    draft.add_step("Change the definition", paths_of(usages, "definition"))
    draft.add_step("Change the imports", paths_of(usages, "import"))
    draft.add_step("Change the calls and other uses", paths_of(usages, "call", "use"))
    spoken = paths_of(usages, "mention", "configuration", "documentation")
    draft.add_step("Look at the comments, strings and documents that name it", spoken)
    draft.add_step(
        "Compile, and run the tests that cover it",
        covering_tests(sources, used, last) or used,
    )
    draft.risks.append(
        f"no patch: a change of {', '.join(languages)} is planned here and not computed"
    )
    if len(defined) > 1:
        places = join_some([f"{path}:{line}" for path, line, _ in defined])
        draft.risks.append(
            f"{last} is defined in {len(defined)} places, decide which is meant: {places}"
        )
    new_last = re.split(r"[.:/#(]+", new)[-1]
    in_use = [
        path
        for path in sources.mentioning(new_last)
        if word(new_last).search(sources.texts[path])
    ]
    if kind == "rename" and new_last and in_use:
        draft.risks.append(f"{new_last} is in use already: {join_some(in_use)}")
    draft.risks += [RISKS[each].format(name=last) for each in languages]
    return draft.propose()


def plan_file_uses(draft: Draft, source: str, target: str) -> Plan:
    sources = draft.sources
    stem = PurePosixPath(source).stem
    named = re.compile(rf"['\"/\\]{re.escape(stem)}\b")
    draft.add_step(f"Move {source} to {target}", [source])
    naming = [
        path for path in sources.mentioning(stem) if named.search(sources.texts[path])
    ]
    draft.add_step("Change what imports or names it", naming)
    draft.add_step(
        "Compile, and run the tests", covering_tests(sources, [source], stem) or [source]
    )
    draft.risks.append(
        f"no patch: a change of {sources.language(source)} is planned here and not computed"
    )
    draft.risks.append(
        "links and builds outside of this repository that name the old path break"
    )
    return draft.propose()


@dataclass(frozen=True, slots=True)
class Migration:
    """One pair of libraries, of `rules/editing`: how the old one is imported, and what becomes of its parts.

    `imports`, `calls` and `dependencies` are old -> new ("" for what goes), `notes` a pattern of a line -> why.
    """

    name: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    languages: tuple[str, ...]
    packages: tuple[str, ...]
    # Is it a part of the language, which no file imports?
    builtin: bool = False
    configuration: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    risks: tuple[str, ...] = ()
    imports: Mapping[str, str] = field(default_factory=dict)
    calls: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    dependencies: Mapping[str, str] = field(default_factory=dict)


@cache
def migrations() -> tuple[Migration, ...]:
    found = []
    for file in rule_files.names("editing"):
        read = rule_files.read(f"editing/{file}")
        data: dict[str, Any] = {
            k: tuple(v) if isinstance(v, list) else v for k, v in read.items()
        }
        found.append(
            Migration(
                name=file.removesuffix(".toml"),
                old=data.pop("from"),
                new=data.pop("to"),
                **data,
            )
        )
    return tuple(found)


def find_migration(old: str, new: str) -> Migration | None:
    """The migration between two libraries, by any of their names."""

    def plain(name: str) -> str:
        return re.sub(r"[\s_]+", "-", name.strip().strip("`'\"").lower())

    fits = (
        m
        for m in migrations()
        if plain(old) in map(plain, m.old) and plain(new) in map(plain, m.new)
    )
    return next(fits, None)


def plan_migrate(sources: Sources, intent: Change) -> Plan:
    """The plan for "from A to B": where A is imported, called and named, and the order to go in."""
    old = intent.get("old")
    new = intent.get("new")
    last = re.split(r"[/:]", old)[-1]
    known = find_migration(old, new)
    migration = known or Migration("", (old,), (new,), (), (old, last))
    languages = migration.languages or PLANNED_ONLY | {"python"}
    code = [
        p for p in sources.texts if sources.language(p) in languages and sources.has_time(p)
    ]
    in_code = [place for path in code for place in code_places(sources, path, migration)]
    manifests = list(manifest_places(sources, migration))
    configuration = [
        path
        for path in sources.texts
        if PurePosixPath(path).name in migration.configuration
    ]
    usages = usages_of(sources, re.split(r"[/.:]", migration.packages[0].rstrip(".("))[-1])
    users = list(dict.fromkeys(path for path, _, _ in in_code)) or list(
        paths_of(usages, "import", "call")
    )
    if not (users or manifests or configuration or usages):
        return draft_unknown(sources, "migrate", old, intent)
    draft = Draft(sources, "migrate", f"Migrate from {old} to {new}", old, usages=usages)
    listed = list(
        dict.fromkeys(
            path for path, _, _ in manifests if PurePosixPath(path).name not in LOCKS
        )
    )
    locked = [
        path for path in sources.mentioning(last) if PurePosixPath(path).name in LOCKS
    ]
    named = [
        show_line(sources, path, line) for path, line, _ in manifests if path in listed
    ]
    lines = [f"{path}:{line}: {text}" for path, line, text in named]
    draft.add_step(
        f"Add {new} next to {old} in the manifests", listed, places=lines[:MOST_LINES]
    )
    uses, imports = find_library_uses(
        sources, [each.rstrip("./(:") for each in migration.packages]
    )
    if uses or imports:
        draft.usages = ()
        add_tests(draft, users)
        shown = list_first(
            [show_use(each, uses, migration) for each in uses], MOST_USES, "name"
        )
        total = count(
            sum(len(places) for some in uses.values() for places in some.values()), "use"
        )
        purpose = (
            f"Change the imports of {old}, then its {total} by {count(len(uses), 'name')}"
        )
        draft.add_step(purpose, users, places=[f"imported at {join_some(imports)}", *shown])
        if known is None:
            draft.risks.append(
                f"the tables do not know {old} -> {new}: look up each counterpart"
            )
    else:
        draft.add_step(f"Change file by file: the imports of {old}, then its calls", users)
        draft.add_step("Run the tests that cover it", covering_tests(sources, users, last))
    prose, _ = find_prose(sources, [last], with_history=False)
    prose = [
        each for each in prose if each.partition(":")[0] not in (*listed, *configuration)
    ]
    documents = [each.partition(":")[0] for each in prose if not each.startswith("...")]
    draft.add_step("Bring up to date what names it", documents, places=prose)
    for step in migration.steps:
        draft.add_step(step, configuration or users)
    draft.add_step(f"Take {old} out of the manifests", listed)
    draft.add_step("Write the lock files again with the tool of the project", locked)
    draft.risks.insert(
        0, f"no patch: a move from {old} to {new} is planned here and not computed"
    )
    draft.risks += migration.risks
    draft.by_hand = [*in_code, *manifests][:SHOWN_PLACES] if known is not None else []
    return draft.propose()


def code_places(sources: Sources, path: str, migration: Migration) -> Iterator[Location]:
    """The imports and calls of the old library in one file, each with what becomes of it."""
    text = sources.texts[path]
    package = re.compile(
        rf"(?<![\w.-])(?:{'|'.join(map(re.escape, migration.packages))})(?![\w-])"
    )
    lines = [match for match in IMPORT_LINE.finditer(text) if package.search(match[0])]
    if not lines and not (
        migration.builtin and any(each in text for each in migration.packages)
    ):
        return
    found: dict[int, str] = {}
    imported = "\n".join(match[0] for match in lines)
    for match in lines:
        says = [
            f"{a} becomes {b or 'nothing'}"
            for a, b in migration.imports.items()
            if word(a).search(match[0])
        ]
        found[sources.line(path, match.start())] = (
            "; ".join(says) or f"an import of {migration.old[0]}"
        )
    for call, new in migration.calls.items():
        # Written from the package on, or from a name that the file imports.
        parts = call.partition("(")[0].split(".")
        starts = [n for n in range(len(parts)) if n == 0 or word(parts[n]).search(imported)]
        ways = "|".join(re.escape(".".join(parts[n:])) for n in starts)
        for match in re.finditer(rf"(?<![\w.])(?:{ways})(?!\w)", text):
            found.setdefault(sources.line(path, match.start()), f"{call} becomes {new}")
    for pattern, why in migration.notes.items():
        for match in re.finditer(pattern, text, re.MULTILINE):
            found[sources.line(path, match.start())] = why
    yield from ((path, line, why) for line, why in sorted(found.items()))


def manifest_places(sources: Sources, migration: Migration) -> Iterator[Location]:
    """The lines of manifests that name the old library, each with what becomes of it."""
    for old, new in (migration.dependencies or dict.fromkeys(migration.old, "")).items():
        group, _, last = old.rpartition(":")
        pattern = re.compile(rf"(?<![\w./-]){re.escape(last)}(?![\w./-])")
        for path in sources.mentioning(last):
            is_manifest = is_configuration(path) or MANIFEST.search(path)
            text = (
                sources.texts[path] if is_manifest and group in sources.texts[path] else ""
            )
            for line in sorted(
                {sources.line(path, match.start()) for match in pattern.finditer(text)}
            )[:20]:
                yield path, line, f"{old} becomes {new}" if new else f"{old} goes"


def show_use(name: str, uses: Uses, migration: Migration) -> str:
    """A use, and what becomes of it where the tables know the pair of libraries."""
    shown = show_library_use(name, uses[name])
    for old, new in (*migration.calls.items(), *migration.imports.items()):
        if f".{name}".endswith(f".{old.partition('(')[0]}"):
            return f"{shown} -> {new or 'goes'}"
    return f"{shown} -> not in the tables" if migration.name else shown
