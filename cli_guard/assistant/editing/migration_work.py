"""What the move to another library does in one file of code: imports and calls with a counterpart, and what is left."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cli_guard.assistant.editing.calls import calls_in, read_pattern
from cli_guard.assistant.editing.edits import Edit, Ranges
from cli_guard.assistant.editing.mentions import kinds_for
from cli_guard.assistant.editing.migrations import CallChange, Migration
from cli_guard.assistant.editing.model import Place
from cli_guard.assistant.editing.python_names import span
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.replace_call import bare_references, matching, replaced_name, rewritten
from cli_guard.assistant.editing.sources import SCRIPT_LANGUAGES, Sources

IMPORT_LINES = {
    "java": re.compile(
        r"^[ \t]*import\s+(?P<static>static\s+)?(?P<name>[\w.]+?)(?P<star>\.\*)?\s*;[ \t]*\n?", re.MULTILINE
    ),
    "python": re.compile(
        r"^[ \t]*(?:from\s+(?P<name>[\w.]+)\s+import\b|import\s+(?P<plain>[\w.]+))", re.MULTILINE
    ),
    "javascript": re.compile(
        r"(?:\bfrom\s+|\brequire\(\s*|^[ \t]*import\s+|\bimport\(\s*)(?P<quote>['\"])(?P<name>[^'\"\n]+)(?P=quote)",
        re.MULTILINE,
    ),
}


UNKNOWN = ": no exact counterpart is known"


@dataclass(slots=True)
class Work:
    """The edits of all files, the import statements each then needs, and what is left to a person."""

    edits: list[Edit] = field(default_factory=list)
    needed: dict[str, set[str]] = field(default_factory=dict)
    left: list[Place] = field(default_factory=list)


def imports_of(sources: Sources, path: str, prefixes: tuple[str, ...]) -> Iterator[tuple[re.Match[str], str]]:
    """The import lines of a file that name the old library, each with the name imported."""
    language = sources.language(path) or ""
    pattern = IMPORT_LINES.get("javascript" if language in SCRIPT_LANGUAGES else language)
    if pattern is None or not any(p.split(".")[0] in sources.texts[path] for p in prefixes):
        return
    for match in pattern.finditer(sources.texts[path]):
        name = match["name"] or match.groupdict().get("plain") or ""
        if any(name == p or name.startswith((f"{p}.", f"{p}/")) for p in prefixes):
            yield match, name


def told_once(left: list[Place]) -> list[Place]:
    """The places without the general reason where a line has one of its own."""
    special = {(path, line) for path, line, why in left if not why.endswith(UNKNOWN)}
    return [each for each in left if not (each[2].endswith(UNKNOWN) and each[:2] in special)]


def code_work(python: Python, path: str, migration: Migration, work: Work) -> None:
    """Adds what is to do in one file that uses the old library."""
    sources = python.sources
    taken = Ranges()
    for change in migration.calls:
        if not all(part in sources.texts[path] for part in re.findall(r"\w+$", change.old.partition("(")[0])):
            continue
        for edit in call_edits(python, path, change, work):
            if taken.add(edit.start, edit.end):
                work.edits.append(edit)
                if change.needs:
                    work.needed.setdefault(path, set()).add(statement_of(sources, path, change.needs))
            elif not taken.has(edit.start, edit.end):
                work.left.append(
                    (path, sources.line(path, edit.start), "stands inside of another call that is changed")
                )
    if sources.language(path) == "python" and not migration.partial:
        work.left += unchanged_uses(python, path, migration, taken)
    elif sources.language(path) != "python":
        import_work(sources, path, migration, work, taken)
    rules = {h.call: h for h in migration.by_hand}
    for call in calls_in(sources, path):
        owner, _, name = call.callee.rpartition(".")
        rule = rules.get(name)
        fits = rule is not None and (not rule.owner or re.fullmatch(rule.owner, owner))
        if rule is not None and fits and not taken.hold(call.start):
            work.left.append((path, sources.line(path, call.start), rule.why))
    for pattern, why in migration.look:
        work.left += [
            (path, sources.line(path, m.start()), why) for m in pattern.finditer(sources.texts[path])
        ]


def statement_of(sources: Sources, path: str, name: str) -> str:
    """The statement that imports a name; one that is written out is taken as it is."""
    return f"import {name};" if sources.language(path) == "java" else name


def call_edits(python: Python, path: str, change: CallChange, work: Work) -> Iterator[Edit]:
    """The edits of one kind of call in one file."""
    sources = python.sources
    if change.old.startswith("."):
        for call in calls_in(sources, path):
            if call.callee.endswith(change.old):
                yield Edit(path, call.callee_end - len(change.old), call.callee_end, change.new)
        return
    pattern = read_pattern(change.old, change.new)
    if pattern is None:
        return
    for call, owner in matching(python, pattern, (path,)):
        parent = call.node.parent()
        if change.new.startswith("assert ") and (parent is None or parent.kind() != "expression_statement"):
            continue
        edit = rewritten(sources, call, pattern, change.new, owner)
        if edit is not None:
            yield edit
    if pattern.arguments is None and sources.language(path) == "python":
        for _, start, end, text in bare_references(python, pattern, (path,)):
            yield Edit(path, start, end, replaced_name(text, pattern, change.new))


def unchanged_uses(python: Python, path: str, migration: Migration, taken: Ranges) -> Iterator[Place]:
    """The uses of what a Python file imports from the old library that have no counterpart."""
    for match, name in imports_of(python.sources, path, migration.prefixes):
        line_end = python.sources.texts[path].find("\n", match.end())
        tail = python.sources.texts[path][match.start() : line_end if line_end >= 0 else None]
        for head in dict.fromkeys(re.findall(r"[^\W\d]\w*", tail)):
            homes = python.names.homes(path, head)
            mine = [
                o for o in python.names.of(path, head) if match.start() <= o.start < match.start() + len(tail)
            ]
            bound = [o for o in mine if o.role in ("import", "binding")]
            for occurrence in python.names.of(path, head) if bound else ():
                same = homes.home(occurrence) == homes.home(bound[0]) and occurrence not in mine
                if same and not taken.hold(occurrence.start):
                    parent = occurrence.node.parent()
                    text = parent.text() if parent is not None and parent.kind() == "attribute" else head
                    yield python.place(occurrence, f"{text[:60]} of {name}{UNKNOWN}")


def import_work(sources: Sources, path: str, migration: Migration, work: Work, taken: Ranges) -> None:
    """Adds the edits of import lines, and of the names that they bind."""
    text = sources.texts[path]
    written = {("", name) for name in re.findall(r"^import\s+([\w.]+);", text, re.MULTILINE)}
    for match, name in imports_of(sources, path, migration.prefixes):
        line = sources.line(path, match.start("name"))
        target = counterpart(migration, name)
        starred = match.groupdict().get("star") and not match.groupdict().get("static")
        if starred or target is None:
            what = f"{name}.*" if starred else name
            work.left.append((path, line, f"{what} has no single counterpart: import what is used"))
            continue
        last, new_last = name.rpartition(".")[2], target.rpartition(".")[2]
        form = (match.groupdict().get("static") or "", target)
        if target == "" or form in written:
            work.edits.append(Edit(path, match.start(), match.end(), ""))
        else:
            written.add(form)
            start = match.start("name")
            work.edits.append(Edit(path, start, start + len(name), target))
        if new_last and last != new_last and sources.language(path) == "java":
            work.edits += renamed(sources, path, last, new_last, taken)


def counterpart(migration: Migration, name: str) -> str | None:
    """What stands for an imported name: its own entry, or that of the class or folder it is in; None for nothing."""
    if name in migration.imports:
        return migration.imports[name]
    heads = [old for old in migration.imports if name.startswith((f"{old}.", f"{old}/"))]
    if not heads:
        return None
    longest = max(heads, key=len)
    return migration.imports[longest] + name[len(longest) :] if migration.imports[longest] else None


def renamed(sources: Sources, path: str, old: str, new: str, taken: Ranges) -> Iterator[Edit]:
    """The uses of an imported class by its own name, in a file that imports it so."""
    root = sources.root(path)
    for node in (
        root.find_all(any=[{"kind": kind, "regex": f"^{old}$"} for kind in kinds_for("java")]) if root else ()
    ):
        start, end = span(node)
        parent = node.parent()
        in_import = parent is not None and parent.kind() == "scoped_identifier"
        if not in_import and not taken.hold(start):
            yield Edit(path, start, end, new)
