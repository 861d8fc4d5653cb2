"""Plans what no rule can compute ("add retries to the client"): what is there, what it reaches, the order of work.

A file is split by what uses what: definitions that use each other move together, what several of them use stays.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cli_guard.assistant.editing.impact import (
    CodeSubject,
    add_prose,
    add_tests,
    definitions_of,
    find_exact,
    find_prose,
    group_uses,
    is_source,
    list_breaks,
    list_public,
    show_near,
    show_signatures,
    uses_of_subject,
)
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.plan import (
    EditPlan,
    PlanDraft,
    draft_unknown,
)
from cli_guard.assistant.editing.sources import (
    Sources,
    find_path,
    join_some,
)
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.request_names import NO_NAMES, Names
from cli_guard.code.file_imports import ImportGraph
from cli_guard.code.test_files import is_test_code

MOST_NAMES = 20
MOST_SHOWN = 6
VERBS = {"rename": "Rename", "move": "Move", "delete": "Delete"}
MOST_DEFINITIONS = 400
MOST_GROUPS = 8
MOST_IN_GROUP = 8
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


def plan_open(sources: Sources, intent: Change) -> EditPlan:
    """Return a plan without a patch: the code that a request names, and what a change of it reaches."""
    named, missing = find_files(sources, intent.names)
    code = [path for path in named if is_source(sources, path)]
    draft = PlanDraft(
        sources, "edit", f"Plan, without a patch: {intent.request[:100]}", usages=()
    )
    # A package may hand on a name that another file defines.
    found = find_exact(sources, intent, code) or find_exact(sources, intent, ())
    lost = [] if found else [show_near(sources, each) for each in intent.names.symbols[:3]]
    if not found and not named:
        library = intent.get("old") if intent.kind == "migrate" else ""
        what = join_some([*missing, *lost]) or library
        said = f"Nothing in the repository is named like {what}"
        draft.kind = "unknown"
        asks = "name a file, a function or a class (a plan from words alone needs a model)"
        draft.title = f"{said if what else 'The request names nothing'}: {asks}"
        return draft.propose()
    subjects = found or [each for path in code[:2] for each in list_public(sources, path)]
    draft.assume(f"not in it: {', '.join(lost)}" if lost else "")
    if subjects:
        plan_subjects(draft, intent, subjects, is_whole=not found)
    others = [path for path in named if path not in code or not subjects]
    draft.add_step(f"Change {join_some(others)}", others)
    return draft.propose(missing)


def plan_uses(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan to rename, move or delete a name of any language, without a patch: its definition and uses."""
    name = re.split(r"[/#]+", intent.get("old"))[-1]
    place = find_path(sources, intent.get("place")).path if intent.get("place") else ""
    names = replace(NO_NAMES, symbols=(name,), paths=(place,) if place else ())
    named = replace(intent, names=names, classes=())
    if intent.kind != "rename" and find_path(sources, intent.get("old")).path:
        return plan_file_rename(sources, intent)
    if not find_exact(sources, named, names.paths):
        return draft_unknown(sources, intent.kind, intent)
    plan = plan_open(sources, named)
    risk = "no patch: only a rename in Python is computed here"
    return replace(plan, kind=intent.kind, risks=(risk, *plan.risks))


def plan_file_rename(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan to rename or move a file: what imports it, the documents and settings that name it, its tests."""
    named = find_path(sources, intent.get("old"))
    if not named.path:
        return draft_unknown(sources, "rename", intent)
    path = named.path
    title = f"Rename {path} to {intent.get('new')}"
    draft = PlanDraft(sources, "rename", title, assumed=named.assumed, usages=())
    importers = ImportGraph(sources.texts).importers_of(path)
    draft.add_step(f"Move {path} to {intent.get('new')}", [path])
    draft.add_step("Change what imports it", sorted(importers))
    add_prose(draft, find_prose(sources, [path]))
    add_tests(draft, [path])
    return draft.propose()


def plan_subjects(
    draft: PlanDraft, intent: Change, subjects: Sequence[CodeSubject], *, is_whole: bool
) -> None:
    """Add the steps for some definitions: their tests, themselves, their callers, what is written about them."""
    sources = draft.sources
    python = Python(draft.sources)
    shown = subjects[:MOST_SHOWN]
    paths = list(dict.fromkeys(each.path for each in subjects))
    names = list(dict.fromkeys(each.definition.qualname for each in subjects))
    found = {each: uses_of_subject(sources, python, each) for each in shown}
    uses, unsure = ({each: found[each][at] for each in found} for at in (0, 1))
    ours = {
        (each.path, n)
        for each in subjects
        for n in range(each.definition.line, each.definition.end_line + 1)
    }
    outside = sorted(
        {use for some in uses.values() for use in some if (use.path, use.line) not in ours}
    )
    callers = [
        each for each in outside if each.kind != "listed" and not is_test_code(each.path)
    ]
    tested = [each for each in outside if is_test_code(each.path)]
    add_tests(draft, paths, () if is_whole else [each.name for each in subjects], tested)
    verb = VERBS.get(intent.kind, "Change")
    what = f"{verb} {'what is there' if is_whole else join_some(names)}"
    if intent.kind == "move":
        target = find_path(sources, intent.get("new"))
        what += f" to {target.path or intent.get('new')}"
        paths += [target.path] if target.path else []
        draft.assume(target.assumed)
    elif intent.opens_as("extract"):
        what = f"Move into a new module beside {paths[0]}, and import from there"
    elif intent.only_tests or (is_whole and intent.opens_as("delete")):
        what = (
            f"Cover {join_some(names)}"
            if intent.only_tests
            else f"Delete {join_some(paths)}"
        )
    lines = show_signatures(sources, subjects, MOST_SHOWN)
    if is_whole and intent.opens_as("split"):
        for path in paths:
            add_split(draft, path)
    else:
        draft.add_step(what, paths, places=lines)
    if intent.only_tests:
        return
    files = list(dict.fromkeys(each.path for each in callers))
    is_value = subjects[0].definition.kind in ("constant", "variable")
    head = f"Follow in {count_of(len(callers), 'use')} in {count_of(len(files), 'file')}"
    draft.add_step(head, files, places=group_uses(sources, callers, with_text=is_value))
    if is_whole:
        return
    others = sorted(
        {use for some in unsure.values() for use in some if not is_test_code(use.path)}
    )
    head = f"Check {count_of(len(others), 'place')} that may mean another's: types are not inferred"
    draft.add_step(head, [each.path for each in others], places=group_uses(sources, others))
    add_prose(draft, find_prose(sources, list(map(written_name, subjects))))
    for each in shown:
        draft.risks += list_breaks(sources, each, uses[each])
    draft.risks = draft.risks[: MOST_SHOWN + 2]


def written_name(subject: CodeSubject) -> str:
    """Return the name that documents have for a definition: a method of a plain word is named with its class."""
    owner, _, name = subject.definition.qualname.rpartition(".")
    return (
        f"{owner.rpartition('.')[2]}.{name}"
        if owner and name.isalpha() and name.islower()
        else name
    )


def find_files(sources: Sources, names: Names) -> tuple[list[str], list[str]]:
    """Return the files that a request names, whole folders too, and the paths that are not there."""
    others = (*names.missing, *names.created, *(name for name, _ in names.ambiguous))
    found = [find_path(sources, name) for name in others[:MOST_NAMES]]
    named = (*names.paths, *(each.path for each in found if each.path))
    return list(dict.fromkeys(named)), [each.missing for each in found if not each.path]


def add_split(draft: PlanDraft, path: str) -> None:
    """Add a step for each group of definitions that can leave a file, and one for those that stay."""
    text = draft.sources.texts[path]
    top = [each for each in definitions_of(path, text) if "." not in each.qualname]
    subjects = [CodeSubject(path, each) for each in top[:MOST_DEFINITIONS]]
    groups, alone, shared = group_definitions(subjects, text)
    if len(groups) + len(alone) < 2:
        draft.add_step("Cut uses first: all definitions there use each other", (path,))
        return
    for group in groups[:MOST_GROUPS]:
        add_move(draft, path, group, "they use each other")
    if rest := [each for group in groups[MOST_GROUPS:] for each in group]:
        add_move(draft, path, rest, "further groups")
    add_move(draft, path, alone, "each on its own: move it where it belongs")
    if shared:
        head = f"Keep {count_of(len(shared), 'definition')} that several of these use"
        draft.add_step(
            head, (path,), places=show_signatures(draft.sources, shared, MOST_IN_GROUP)
        )


def add_move(draft: PlanDraft, path: str, group: Sequence[CodeSubject], why: str) -> None:
    """Add the step that moves some definitions, if there are any."""
    if group:
        spans = [each.definition.end_line - each.definition.line + 1 for each in group]
        size = f"{count_of(len(group), 'definition')}, {count_of(sum(spans), 'line')}"
        head = f"Move into a module of its own and import from there: {size}, {why}"
        draft.add_step(
            head, (path,), places=show_signatures(draft.sources, group, MOST_IN_GROUP)
        )


def group_definitions(
    subjects: Sequence[CodeSubject], text: str
) -> tuple[list[list[CodeSubject]], list[CodeSubject], list[CodeSubject]]:
    """Return the groups that use each other, the definitions on their own, and those that several groups use.

    A definition that one other uses belongs to that one's group; what more use joins a group only if it has all users.
    """
    users = find_users(subjects, text)
    group = {name: name for name in users}
    waiting = dict(users)
    while joining := {
        name: owners.pop()
        for name, used_by in waiting.items()
        if len(owners := {group[each] for each in used_by}) == 1
    }:
        for name, owner in joining.items():
            del waiting[name]
            merged = {group[name], group[owner]}
            group = {each: owner if own in merged else own for each, own in group.items()}
    members: dict[str, list[CodeSubject]] = {}
    staying = {group[name] for name, used_by in waiting.items() if used_by}
    shared = [each for each in subjects if group[each.name] in staying]
    for each in subjects:
        if group[each.name] not in staying:
            members.setdefault(group[each.name], []).append(each)
    groups = [found for found in members.values() if len(found) > 1]
    alone = [found[0] for found in members.values() if len(found) == 1]
    return groups, alone, shared


def find_users(subjects: Sequence[CodeSubject], text: str) -> Mapping[str, set[str]]:
    """Return which other definitions of a file use each of them, by name."""
    users: dict[str, set[str]] = {each.name: set() for each in subjects}
    lines = text.split("\n")
    for each in subjects:
        body = "\n".join(lines[each.definition.line - 1 : each.definition.end_line])
        for used in {*IDENTIFIER.findall(body)} & users.keys() - {each.name}:
            users[used].add(each.name)
    return users
