"""Plans "split module m": the groups of definitions that use each other, each to a module of its own."""

import ast
import bisect
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from cli_guard.assistant.editing.intent import Intent
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.move import move_names
from cli_guard.assistant.editing.other_languages import plan_uses
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.scopes import MODULE
from cli_guard.assistant.editing.sources import Sources, find_path, join_some
from cli_guard.assistant.editing.usages import Location

# A split into more than this is no plan that a person reads.
MOST_GROUPS = 8
LEAST_LINES = 3


def plan_split(sources: Sources, intent: Intent) -> Plan:
    """The plan for "split module m": the groups of definitions that use each other, each to a module of its own."""
    named = find_path(sources, intent.get("old"))
    if not named.path:
        return plan_uses(sources, "split", intent)
    path = named.path
    draft = Draft(sources, "split", f"Split {path}", PurePosixPath(path).stem, named.assumed)
    if sources.language(path) != "python":
        draft.add_step("List what it defines and which parts use each other", [path], is_mechanical=False)
        draft.risks.append("no patch: only Python modules are split here")
        return draft.propose()
    python = Python(sources)
    groups, pinned = groups_of(python, path)
    sizes = sizes_of(python, path)

    def size(group: set[str]) -> int:
        return sum(sizes[name] for name in group)

    groups.sort(key=lambda group: (-size(group), sorted(group)))
    rest = [group for group in groups[1:] if not group & pinned and size(group) >= LEAST_LINES]
    changes = move_groups(python, path, sorted(rest, key=sorted)[:MOST_GROUPS], sizes, draft)
    if not draft.steps:
        reason = "all that it defines hangs together" if len(groups) < 2 else "no group of it can go"
        return draft.refuse(reason, list(most_used(python, path, groups)))
    draft.title += f" into {len(rest) + 1} modules"
    draft.assume("a group is what uses each other; its module is named after its largest part")
    draft.add_step(f"Keep {join_some(sorted(groups[0]))} in {path}", [path])
    draft.risks.append(f"code outside of this repository that imports from {python.module_name(path)} breaks")
    return draft.finish({p: text for p, text in changes.items() if sources.texts.get(p) != text})


def move_groups(
    python: Python, path: str, groups: list[set[str]], sizes: dict[str, int], draft: Draft
) -> dict[str, str]:
    """Move each group to a module of its own, one after the other; one that cannot go is left to a person."""
    changes: dict[str, str] = {}
    texts = dict(python.texts)
    for group in groups:
        largest = max(sorted(group), key=lambda name: sizes[name])
        stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", largest).lower().strip("_") or "part"
        names = (stem, *(f"{stem}_{number}" for number in range(2, len(texts) + 3)))
        tries = (str(PurePosixPath(path).with_name(f"{name}.py")) for name in names)
        target = next(each for each in tries if each not in texts)
        move = move_names(Python(python.sources.with_texts(texts)), path, sorted(group), target)
        listed = join_some(sorted(group))
        if move.problems:
            draft.by_hand += move.problems
            purpose = f"Move {listed} to {target} by hand: {move.problems[0][2]}"
            draft.add_step(purpose, (path, target), is_mechanical=False)
            continue
        draft.by_hand += move.by_hand
        draft.risks += move.risks
        changes |= move.changes
        texts |= move.changes
        draft.add_step(f"Move {listed} to {target}", (path, target))
    return changes


def groups_of(python: Python, path: str) -> tuple[list[set[str]], set[str]]:
    """The top-level names of a module as groups that use each other, and the names its own statements use."""
    module = python.sources.module(path)
    parts = [(python.span(path, node), name_of(node)) for node in (module.body if module else ())]
    owners = {name: name for _, name in parts if name}
    pinned: set[str] = set()

    def find(name: str) -> str:
        while owners[name] != name:
            name = owners[name]
        return name

    starts = [start for (start, _), _ in parts]
    for name in sorted(owners):
        for each in python.places_of_home(path, name, MODULE):
            number = bisect.bisect_right(starts, each.start) - 1
            user = parts[number][1] if number >= 0 else ""
            if each.role == "listed":
                continue
            if user:
                owners[find(name)] = find(user)
            else:
                pinned.add(name)
    groups: dict[str, set[str]] = {}
    for name in sorted(owners):
        groups.setdefault(find(name), set()).add(name)
    return [groups[key] for key in sorted(groups)], pinned


def name_of(node: ast.stmt) -> str:
    """The name that a top-level statement defines; "" for one that only runs."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return node.name
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    is_plain = isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name)
    return target.id if is_plain and isinstance(target, ast.Name) and not target.id.startswith("__") else ""


def sizes_of(python: Python, path: str) -> dict[str, int]:
    module, sizes = python.sources.module(path), dict[str, int]()
    for node in module.body if module is not None else ():
        name = name_of(node)
        sizes[name] = sizes.get(name, 0) + (node.end_lineno or node.lineno) - node.lineno + 1
    return sizes


def most_used(python: Python, path: str, groups: list[set[str]]) -> Iterator[Location]:
    """The names that most definitions of a module use: what holds it together."""
    counted = []
    for name in sorted(name for group in groups for name in group):
        mine = python.places_of_home(path, name, MODULE)
        counted.append((-len(mine), name, mine[0].start))
    for number, name, start in sorted(counted)[:5]:
        yield path, python.line(path, start), f"{name} is named {-number} times here"
