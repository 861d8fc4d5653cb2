"""Renames what a JavaScript or TypeScript file declares: by scope, and through its ES exports in every importer."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import Edit, applied, result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.javascript_modules import SCRIPTS, resolve
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, Step
from cli_guard.assistant.editing.plans import mention_risks, patched, refused
from cli_guard.assistant.editing.python_names import BINDS, MODULE, Occurrence, Scope
from cli_guard.assistant.editing.python_rename import Found, collisions
from cli_guard.assistant.editing.script_names import NAME, SHORTHAND, ScriptNames
from cli_guard.assistant.editing.sources import Sources
from cli_guard.code.classify import is_test

if TYPE_CHECKING:
    from ast_grep_py import SgNode

REQUIRED = re.compile(r"require\(\s*['\"]\.[^'\"\n]*['\"]\s*\)(?:\.([\w$]+))?")
RESERVED = frozenset(
    "await break case catch class const continue debugger default delete do else enum export extends false finally "
    "for function if import in instanceof let new null return static super switch this throw true try typeof var "
    "void while with yield".split()
)


def plan_script_rename(sources: Sources, intent: Intent) -> Plan | None:
    """The plan for a name that a script declares; None if none does."""
    old, new = intent.get("old").rpartition(".")[2], intent.get("new").rpartition(".")[2]
    names = ScriptNames(sources)
    found = declared(names, old, intent.get("place"))
    if not found:
        return plan_exports(names, old, new)
    subject, home = found[0]
    title = f"Rename {old} in {subject.path} to {new}"
    if not NAME.fullmatch(new) or new in RESERVED or new == old:
        return refused(sources, "rename", title, old, f"{new} cannot be a new name here", ())
    assumed = None
    if len(found) > 1:
        others = ", ".join(f"{o.path}:{sources.line(o.path, o.start)}" for o, _ in found[1:6])
        assumed = f"{old} is the one of {subject.path}:{sources.line(subject.path, subject.start)}; not taken: {others}"
    places = exported(names, subject.path, old) if home == MODULE else local(names, subject.path, old, home)
    edits = rename_all(names, places, old, new)
    if edits.collisions:
        return refused(
            sources, "rename", title, old, f"{new} cannot be used here", tuple(edits.collisions), assumed
        )
    outcome = result(sources, applied(sources, edits.edits))
    others_paths = tuple(sorted(set(outcome.changes) - {subject.path}))
    steps = [Step(f"Rename {old} where it is declared", (subject.path,), True)]
    if others_paths:
        steps.append(Step("Rename its imports and uses", others_paths, True))
    risks = [*edits.risks, *mention_risks(sources, old, {(e.path, e.start) for e in edits.edits})]
    if home == MODULE and is_exported(names, subject):
        risks.append(f"{old} is exported: who imports it from outside of this repository breaks")
    usages = usages_of(sources, old, only=edits.places)
    return patched(
        sources, "rename", title, old, outcome, usages, steps, risks, by_hand=edits.by_hand, assumed=assumed
    )


def plan_exports(names: ScriptNames, old: str, new: str) -> Plan | None:
    """The plan for a name that files only hand each other by `exports.f` and `require`: every place, by hand."""
    sources = names.sources
    paths = [path for path in sources.mentioning(old) if path.endswith(SCRIPTS)]
    found = [occurrence for path in paths for occurrence in names.of(path, old)]
    if not any(occurrence.role in BINDS and required(occurrence, old) for occurrence in found):
        return None
    reason = "what is handed on by exports and require() may be reached by any name: change these together"
    lines = dict.fromkeys((each.path, sources.line(each.path, each.start)) for each in found)
    places = tuple((path, line, f"names {old}") for path, line in lines)
    return refused(sources, "rename", f"Rename {old} to {new}", old, reason, places)


def declared(names: ScriptNames, old: str, place: str) -> list[tuple[Occurrence, Scope]]:
    """The declarations of a name, those of a whole file first, one a scope."""
    found: dict[tuple[str, Scope], Occurrence] = {}
    for path in names.sources.mentioning(old):
        if not path.endswith(SCRIPTS):
            continue
        homes = names.homes(path, old)
        for occurrence in names.of(path, old):
            parent = occurrence.node.parent()
            alias = parent is not None and parent.kind() == "import_specifier"
            home = homes.home(occurrence)
            if occurrence.role in BINDS and occurrence.role != "import" and not alias and home is not None:
                if required(occurrence, old):
                    continue
                found.setdefault((path, home), occurrence)
    clean = place.removeprefix("./")
    fits = [
        (o, home)
        for (path, home), o in found.items()
        if not clean or path == clean or path.endswith(f"/{clean}") or any(s.name == clean for s in o.scopes)
    ]
    return sorted(fits, key=lambda f: (f[1] != MODULE, is_test(f[0].path), f[0].path, f[0].start))


def required(occurrence: Occurrence, old: str) -> bool:
    """Is it what another file exports under that name: `var f = require('./utils').f`, `const { f } = require(...)`?"""
    node: SgNode | None = occurrence.node
    while node is not None and node.kind() != "variable_declarator":
        if node.kind() in ("statement_block", "program"):
            return False
        node = node.parent()
    value = node.field("value") if node is not None else None
    found = REQUIRED.fullmatch(value.text()[:300]) if value is not None else None
    if found is None or node is None:
        return False
    bound = node.field("name")
    whole = bound is not None and bound.kind() == "identifier"
    return found[1] == old if whole else found[1] is None


def local(names: ScriptNames, path: str, old: str, home: Scope) -> dict[str, set[int]]:
    """The places of a name of one scope."""
    homes = names.homes(path, old)
    return {path: {o.start for o in names.of(path, old) if homes.home(o) == home}}


def exported(names: ScriptNames, path: str, old: str) -> dict[str, set[int]]:
    """The places of a file's own name here and wherever an import or a re-export brings it under that name."""
    places: dict[str, set[int]] = {}
    done: set[str] = set()
    waiting = [path]
    while waiting:
        module = waiting.pop()
        if module in done:
            continue
        done.add(module)
        places.setdefault(module, set()).update(local(names, module, old, MODULE)[module])
        for other in names.sources.mentioning(old):
            if other == module or not other.endswith(SCRIPTS):
                continue
            for occurrence in names.of(other, old):
                if source_of(names, occurrence) != module:
                    continue
                places.setdefault(other, set()).add(occurrence.start)
                if occurrence.role == "import":
                    homes = names.homes(other, old)
                    home = homes.home(occurrence)
                    same = {o.start for o in names.of(other, old) if homes.home(o) == home}
                    places[other] |= same
                parent = occurrence.node.parent()
                again = (
                    parent is not None
                    and parent.kind() == "export_specifier"
                    and parent.field("alias") is None
                )
                if again or (occurrence.role == "import" and passed_on(names, other, old)):
                    waiting.append(other)
        waiting += [p for p in star_exporters(names, module) if p not in done]
    return {each: found for each, found in places.items() if found}


def source_of(names: ScriptNames, occurrence: Occurrence) -> str | None:
    """The file whose export a place names: in an import, a re-export, or as a member of `import * as`."""
    parent = occurrence.node.parent()
    if parent is None:
        return None
    if parent.kind() in ("import_specifier", "export_specifier") and occurrence.role in (
        "import",
        "imported",
    ):
        statement: SgNode | None = parent
        while statement is not None and statement.kind() not in ("import_statement", "export_statement"):
            statement = statement.parent()
        return target_of(names, occurrence.path, statement)
    if parent.kind() == "member_expression":
        inner = parent.field("object")
        if inner is not None and inner.kind() == "identifier":
            return namespace_of(names, occurrence.path, inner)
    if parent.kind() == "nested_type_identifier":
        inner = parent.field("module")
        return namespace_of(names, occurrence.path, inner) if inner is not None else None
    return None


def target_of(names: ScriptNames, path: str, statement: "SgNode | None") -> str | None:
    """The file that an import or export statement names."""
    source = statement.field("source") if statement is not None else None
    return resolve(names.sources, path, source.text()[1:-1]) if source is not None else None


def namespace_of(names: ScriptNames, path: str, node: "SgNode") -> str | None:
    """The file that a name stands for, if `import * as name` binds it."""
    homes = names.homes(path, node.text())
    places = names.of(path, node.text())
    here = next((o for o in places if o.start == node.range().start.index), None)
    home = homes.home(here) if here is not None else None
    for bound in places:
        parent = bound.node.parent()
        if (
            home is not None
            and homes.home(bound) == home
            and parent is not None
            and parent.kind() == "namespace_import"
        ):
            above = parent.parent()
            return target_of(names, path, above.parent() if above is not None else None)
    return None


def passed_on(names: ScriptNames, path: str, old: str) -> bool:
    """Does `export { old }` pass on what a file imported?"""
    for occurrence in names.of(path, old):
        parent = occurrence.node.parent()
        if parent is not None and parent.kind() == "export_specifier" and parent.field("alias") is None:
            return True
    return False


def star_exporters(names: ScriptNames, module: str) -> Iterator[str]:
    """The files that say `export * from` a module."""
    star = re.compile(r"export\s*\*\s*from\s*['\"](\.[^'\"\n]*)['\"]")
    for path, text in names.sources.texts.items():
        if path.endswith(SCRIPTS) and "export" in text:
            found = (resolve(names.sources, path, m[1]) for m in star.finditer(text))
            if module in found:
                yield path


def rename_all(names: ScriptNames, places: dict[str, set[int]], old: str, new: str) -> Found:
    """The edits of all places; a shorthand keeps the name of its property."""
    found = Found()
    for path in sorted(places):
        homes = names.homes(path, old)
        chosen = [o for o in names.of(path, old) if o.start in places[path]]
        for occurrence in chosen:
            text = f"{old}: {new}" if occurrence.node.kind() in SHORTHAND else new
            found.edits.append(Edit(path, occurrence.start, occurrence.end, text))
            found.places.add((path, occurrence.start))
            if occurrence.node.kind() in SHORTHAND and in_exports(occurrence.node):
                found.by_hand.append(
                    names.place(
                        occurrence, f"module.exports still says {old}: change it with all that require it"
                    )
                )
        scopes = {home for o in chosen if (home := homes.home(o)) is not None}
        for scope in sorted(scopes, key=lambda s: (s.start, s.end)):
            found.collisions += collisions(
                names, path, [o for o in chosen if homes.home(o) == scope], scope, new
            )
    return found


def in_exports(node: "SgNode") -> bool:
    """Is a shorthand in what `module.exports` is set to?"""
    around = node.parent()
    above = around.parent() if around is not None else None
    left = above.field("left") if above is not None and above.kind() == "assignment_expression" else None
    return left is not None and left.text() in ("module.exports", "exports")


def is_exported(names: ScriptNames, occurrence: Occurrence) -> bool:
    """Does the file export the name?"""
    around: SgNode | None = occurrence.node
    while around is not None:
        if around.kind() == "export_statement":
            return True
        around = around.parent()
    return passed_on(names, occurrence.path, occurrence.name)
