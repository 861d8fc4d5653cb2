"""Plans the move from one library to another: by the known pairs, or, for any other, from the uses that are there."""

import re
from pathlib import PurePosixPath

from cli_guard.assistant.editing.calls import calls_in
from cli_guard.assistant.editing.edits import applied, result
from cli_guard.assistant.editing.imports import add_imports, drop_new_unused
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.manifests import dependency_edits, locks
from cli_guard.assistant.editing.mentions import SHOWN_PLACES, shown_place, usages_of, word
from cli_guard.assistant.editing.migration_work import Work, code_work, imports_of, told_once
from cli_guard.assistant.editing.migrations import Migration, find
from cli_guard.assistant.editing.model import USAGE_KINDS, Place, Plan, Step, UsageGroup, UsageKind
from cli_guard.assistant.editing.plans import listed, patched, unknown_subject
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import Sources
from cli_guard.code.classify import is_test


def plan_migrate(sources: Sources, intent: Intent) -> Plan:
    """The plan for "from A to B"."""
    old, new = intent.get("old"), intent.get("new")
    known = find(old, new)
    return (
        known_migration(sources, known, old, new)
        if known is not None
        else open_migration(sources, intent, old, new)
    )


def users(sources: Sources, migration: Migration) -> list[str]:
    """The files of its languages that import the old library."""
    return [
        path
        for path in sources.texts
        if sources.language(path) in migration.languages
        and (
            (migration.builtin and uses_builtin(sources, path, migration))
            or any(imports_of(sources, path, migration.prefixes))
        )
    ]


def uses_builtin(sources: Sources, path: str, migration: Migration) -> bool:
    """Does a file name a part of the language that goes?"""
    return any(prefix in sources.texts[path] for prefix in migration.prefixes) and (
        migration.tests or not is_test(path)
    )


def known_migration(sources: Sources, migration: Migration, old: str, new: str) -> Plan:
    """The plan of a known pair: imports, calls, manifests; what needs a hand is named place by place."""
    title = f"Migrate from {old} to {new}"
    python = Python.of(sources)
    paths = users(sources, migration)
    work = Work()
    for path in paths:
        if sources.in_time(path):
            code_work(python, path, migration, work)
    in_code = tuple(sorted({e.path for e in work.edits}))
    manifest_edits = [e for d in migration.dependencies for e in dependency_edits(sources, d)]
    changes = applied(sources, [*work.edits, *manifest_edits])
    for path in sorted(changes):
        changes[path] = add_imports(sources, path, changes[path], sorted(work.needed.get(path, ())))
    # What is not whole is not offered: no need to finish it.
    changes = {} if sources.cut else drop_new_unused(sources, changes)
    manifests = tuple(sorted({e.path for e in manifest_edits}))
    configuration = tuple(p for p in sources.texts if PurePosixPath(p).name in migration.configuration)
    if not (paths or manifests or configuration):
        return unknown_subject(sources, "migrate", old, Intent("migrate", ""))
    steps = []
    if manifests:
        steps.append(Step(f"Change the dependency from {old} to {new}", manifests, True))
    locked = locks(sources, [d.old for d in migration.dependencies])
    if locked:
        steps.append(Step("Write the lock files anew with the tool of the project", tuple(locked)))
    if in_code:
        steps.append(
            Step(f"Replace the imports and calls of {old} that have an exact counterpart", in_code, True)
        )
    steps += [Step(each, tuple(paths)) for each in migration.steps if paths]
    if configuration:
        steps.append(
            Step(migration.configuration_step or f"Replace the configuration of {old}", configuration)
        )
    risks = list(migration.risks)
    if work.left and manifests:
        risks.append(f"until the places by hand are done, what still says {old} has no dependency")
    usages = usages_by_place(sources, migration, old, work, paths)
    return patched(
        sources,
        "migrate",
        title,
        old,
        result(sources, changes),
        usages,
        steps,
        risks,
        by_hand=told_once(work.left),
    )


def usages_by_place(
    sources: Sources, migration: Migration, old: str, work: Work, paths: list[str]
) -> tuple[UsageGroup, ...]:
    """The uses of the old library under each of the names it is imported by, and each call that is changed."""
    names = dict.fromkeys([re.split(r"[/:]", old)[-1], *(p.rpartition(".")[2] for p in migration.prefixes)])
    merged: dict[UsageKind, set[Place]] = {}
    for name in names:
        for group in usages_of(sources, name):
            inside = [
                p for p in group.places if p[0] in paths or group.kind in ("configuration", "documentation")
            ]
            merged.setdefault(group.kind, set()).update(inside)
    lines = {(p, n) for places in merged.values() for p, n, _ in places}
    for edit in work.edits:
        line = sources.line(edit.path, edit.start)
        if (edit.path, line) not in lines and len(merged.setdefault("call", set())) < SHOWN_PLACES:
            merged["call"].add(shown_place(sources, edit.path, line))
    return tuple(UsageGroup(kind, tuple(sorted(merged[kind]))) for kind in USAGE_KINDS if merged.get(kind))


def open_migration(sources: Sources, intent: Intent, old: str, new: str) -> Plan:
    """The plan of a pair that nobody wrote down: where the old one is used, and the order to go in."""
    name = re.split(r"[/:]", old)[-1]
    usages = usages_of(sources, name)
    if not usages:
        return unknown_subject(sources, "migrate", old, intent)
    paths = {kind: tuple(dict.fromkeys(p for p, _, _ in g.places)) for g in usages for kind in [g.kind]}
    called = called_members(sources, name)
    steps = [
        Step(f"Add {new} next to {old}", tuple(p for p in paths.get("configuration", ()) if "lock" not in p)),
        Step(
            f"Write down what of {old} is used, and its counterpart in {new}{': ' + listed(called) if called else ''}"
        ),
        Step(
            f"Change file by file: the imports of {old}, then its uses",
            tuple(dict.fromkeys((*paths.get("import", ()), *paths.get("call", ())))),
        ),
        Step(f"Remove {old} from the manifests and their lock files", paths.get("configuration", ())),
        Step(f"Change what documents say about {old}", paths.get("documentation", ())),
    ]
    return Plan(
        "migrate",
        f"Migrate from {old} to {new}",
        old,
        usages,
        tuple(s for s in steps if s.paths or "Write down" in s.purpose or "Add " in s.purpose),
        (f"no patch: which call of {new} stands for which of {old} is not known here",),
        assumed=None,
        skipped=sources.skipped,
    )


def called_members(sources: Sources, name: str) -> list[str]:
    """What is called on the old library, the most used first."""
    seen: dict[str, int] = {}
    pattern = word(name)
    for path in sources.mentioning(name):
        for call in calls_in(sources, path):
            if pattern.match(call.callee):
                seen[call.callee] = seen.get(call.callee, 0) + 1
    return sorted(seen, key=lambda each: (-seen[each], each))
