"""Plans "split module m": the groups of definitions that use each other, each to a module of its own."""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.edits import result
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Place, Plan, Step
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import listed, patched, refused, unknown_subject
from cli_guard.assistant.editing.python_move import move_names
from cli_guard.assistant.editing.python_names import MODULE, span
from cli_guard.assistant.editing.python_rename import Python
from cli_guard.assistant.editing.sources import Sources

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# A split into more than this is no plan that a person reads.
MOST_GROUPS = 8


def plan_split(sources: Sources, intent: Intent) -> Plan:
    """The plan for "split module m": the groups of definitions that use each other, each to a module of its own."""
    old = intent.get("old")
    named = find_path(sources, old)
    if not named.path:
        return unknown_subject(sources, "split", old, intent)
    path = named.path
    title = f"Split {path}"
    if sources.language(path) != "python":
        first = (Step("List what it defines and which parts use each other", (path,)),)
        reason = ("no patch: only Python modules are taken apart here",)
        return Plan("split", title, old, (), first, reason, assumed=named.assumed, skipped=sources.skipped)
    python = Python.of(sources)
    groups, pinned = groups_of(python, path)
    if len(groups) < 2:
        why = "all that it defines hangs together" if groups else "it defines nothing that could go"
        return refused(
            sources, "split", title, "", why, tuple(shared_places(python, path, groups)), named.assumed
        )
    main = max(groups, key=lambda g: (size_of(python, path, g), sorted(g)))
    rest = sorted((g for g in groups if g is not main and not g & pinned), key=lambda g: sorted(g))[
        :MOST_GROUPS
    ]
    rest = [g for g in rest if size_of(python, path, g) >= 3]
    work = moves(python, path, rest)
    changes = {p: t for p, t in work.changes.items() if sources.texts.get(p) != t}
    if not work.steps:
        places = tuple(shared_places(python, path, groups))
        return refused(sources, "split", title, "", "no group of it can go", places, named.assumed)
    kept = listed(sorted(main))
    steps = [*work.steps, Step(f"Keep {kept} in {path}", (path,), True)]
    risks = [f"who imports what moved from {python.modules.dotted(path)} elsewhere breaks", *work.risks]
    stem = PurePosixPath(path).stem
    return patched(
        sources,
        "split",
        f"{title} into {len(rest) + 1} modules",
        stem,
        result(sources, changes, moved={p: path for p in changes if p not in sources.texts}),
        usages_of(sources, stem),
        steps,
        risks,
        by_hand=work.by_hand,
        assumed="; ".join(
            filter(
                None,
                (
                    named.assumed,
                    "a group is what uses each other; its module is named after its largest part",
                ),
            )
        ),
    )


@dataclass(slots=True)
class Moves:
    """The moves of several groups, one after the other: their steps, new texts, risks, and what is left by hand."""

    steps: list[Step] = field(default_factory=list)
    changes: dict[str, str] = field(default_factory=dict)
    risks: list[str] = field(default_factory=list)
    by_hand: list[Place] = field(default_factory=list)


def moves(python: Python, path: str, groups: list[set[str]]) -> Moves:
    """Moves each group to a module of its own; one that cannot go is left to a person."""
    found, texts = Moves(), dict(python.sources.texts)
    for group in groups:
        target = str(PurePosixPath(path).with_name(f"{module_name(python, path, group, texts)}.py"))
        move = move_names(Python.of(python.sources.over(texts)), path, sorted(group), target)
        names = listed(sorted(group))
        if move.problems:
            found.by_hand += move.problems
            step = Step(f"Move {names} to {target} by hand: {move.problems[0][2]}", (path, target))
            found.steps.append(step)
            continue
        found.steps.append(Step(f"Move {names} to {target}", (path, target), True))
        found.by_hand += move.by_hand
        found.risks += move.risks
        found.changes.update(move.changes)
        texts.update(move.changes)
    return found


def groups_of(python: Python, path: str) -> tuple[list[set[str]], set[str]]:
    """The top-level names of a module as groups that use each other, and the names its own statements use."""
    root = python.sources.root(path)
    owners: dict[str, str] = {}
    pinned: set[str] = set()
    parts: list[tuple[tuple[int, int], list[str]]] = []
    for node in root.named_children() if root is not None else ():
        names = defined_by(node)
        parts.append((span(node), names))
        owners.update({name: name for name in names})

    def find(name: str) -> str:
        while owners[name] != name:
            name = owners[name]
        return name

    starts = [start for (start, _), _ in parts]
    for name in sorted(owners):
        homes = python.names.homes(path, name)
        for occurrence in python.names.of(path, name):
            number = bisect.bisect_right(starts, occurrence.start) - 1
            if number < 0 or homes.home(occurrence) != MODULE:
                continue
            (_, end), names = parts[number]
            if occurrence.start >= end:
                continue
            if names:
                owners[find(name)] = find(names[0])
            else:
                pinned.add(name)
    groups: dict[str, set[str]] = {}
    for name in sorted(owners):
        groups.setdefault(find(name), set()).add(name)
    return [groups[key] for key in sorted(groups)], pinned


def defined_by(node: "SgNode") -> list[str]:
    """The names that a top-level statement defines; none for one that only runs."""
    if node.kind() == "decorated_definition":
        inner = node.field("definition")
        return defined_by(inner) if inner is not None else []
    if node.kind() in ("function_definition", "class_definition"):
        name = node.field("name")
        return [name.text()] if name is not None else []
    first = next(iter(node.named_children()), None) if node.kind() == "expression_statement" else None
    if first is None or first.kind() != "assignment":
        return []
    left = first.field("left")
    plain = left is not None and left.kind() == "identifier" and not left.text().startswith("__")
    return [left.text()] if plain and left is not None else []


def size_of(python: Python, path: str, group: set[str]) -> int:
    """The lines of the definitions of a group."""
    root = python.sources.root(path)
    nodes = [n for n in (root.named_children() if root is not None else ()) if set(defined_by(n)) & group]
    return sum(n.range().end.line - n.range().start.line + 1 for n in nodes)


def module_name(python: Python, path: str, group: set[str], texts: dict[str, str]) -> str:
    """A name for the module of a group: its largest part in small letters, with a number if that is taken."""
    largest = max(sorted(group), key=lambda name: size_of(python, path, {name}))
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", largest).lower().strip("_") or "part"
    folder = PurePosixPath(path).parent
    number = 1
    name = plain
    while str(folder / f"{name}.py") in texts:
        number += 1
        name = f"{plain}_{number}"
    return name


def shared_places(python: Python, path: str, groups: list[set[str]]) -> Iterator[Place]:
    """The names that most definitions of a module use: what holds it together."""
    counted = []
    for name in sorted(name for group in groups for name in group):
        homes = python.names.homes(path, name)
        mine = [o for o in python.names.of(path, name) if homes.home(o) == MODULE]
        counted.append((len(mine), name, mine[0].start if mine else 0))
    for count, name, start in sorted(counted, key=lambda c: (-c[0], c[1]))[:5]:
        yield path, python.sources.line(path, start), f"{name} is named {count} times here"
