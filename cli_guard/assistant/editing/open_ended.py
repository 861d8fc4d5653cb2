"""Plans what no rule can compute ("add retries to the client"): what is there, what it reaches, the order of work."""

import re
from collections.abc import Sequence

from cli_guard.assistant.editing.impact import (
    add_tests,
    find_prose,
    group_uses,
    list_breaks,
    uses_of_subject,
)
from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.plan import Draft, Plan
from cli_guard.assistant.editing.sources import (
    Sources,
    count,
    find_path,
    join_some,
    list_first,
)
from cli_guard.assistant.editing.split import Groups, propose_split
from cli_guard.assistant.editing.subjects import (
    Found,
    Subject,
    find_subjects,
    is_source,
    list_public,
    show_signature,
)
from cli_guard.assistant.editing.usages import word
from cli_guard.assistant.request_change import Change
from cli_guard.assistant.request_names import Names
from cli_guard.code.test_files import is_test_code

MOST_NAMES = 20
MOST_SHOWN = 6
MOST_IN_MODULE = 20
MOST_EDGES = 10


def plan_open(sources: Sources, intent: Change) -> Plan:
    """A plan without a patch: the code that a request names or that its words fit, and what a change of it reaches."""
    named, missing = find_files(sources, intent.names)
    code = [path for path in named if is_source(sources, path)]
    draft = Draft(
        sources, "edit", f"Plan, without a patch: {intent.request[:100]}", usages=()
    )
    if len(code) == 1 and intent.opens_as("split"):
        return plan_split(draft, code[0])
    only_prose = named and not code and not intent.names.symbols
    found = Found() if only_prose else find_subjects(sources, intent, code)
    if not found.subjects and not named:
        lost = join_some([*missing, *found.lost])
        said = (
            f"Nothing in the repository is named like {lost}"
            if lost
            else "The request names nothing"
        )
        draft.kind = "unknown"
        draft.title = f"{said}: name a file, a function or a class"
        return draft.propose()
    subjects = list(found.subjects) or [
        each for path in code[:2] for each in list_public(sources, path)
    ]
    by = f"chosen by the words {', '.join(found.words)}" if found.words and subjects else ""
    draft.assume(by, f"not in it: {', '.join(found.lost)}" if found.lost else "")
    if subjects:
        plan_subjects(draft, intent, subjects, is_whole=found.whole or not found.subjects)
    others = [path for path in named if path not in code or not subjects]
    draft.add_step(f"Change {join_some(others)}", others)
    return draft.propose(missing)


def plan_subjects(
    draft: Draft, intent: Change, subjects: Sequence[Subject], *, is_whole: bool
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
    what = f"Change {'what is there' if is_whole else join_some(names)}"
    if intent.opens_as("extract"):
        what = f"Move into a new module beside {paths[0]}, and import from there"
    elif intent.only_tests or (is_whole and intent.opens_as("delete")):
        what = (
            f"Cover {join_some(names)}"
            if intent.only_tests
            else f"Delete {join_some(paths)}"
        )
    lines = list_first(
        [show_signature(sources, each) for each in subjects], MOST_SHOWN, "definition"
    )
    helpers = [] if is_whole else find_helpers(sources, subjects)
    lines += (
        [f"beside it, used by nothing else there: {join_some(helpers)}"] if helpers else []
    )
    draft.add_step(what, paths, places=lines)
    if intent.only_tests:
        return
    files = list(dict.fromkeys(each.path for each in callers))
    is_value = subjects[0].definition.kind in ("constant", "variable")
    head = f"Follow in {count(len(callers), 'use')} in {count(len(files), 'file')}"
    draft.add_step(head, files, places=group_uses(sources, callers, with_text=is_value))
    if is_whole:
        return
    others = sorted(
        {use for some in unsure.values() for use in some if not is_test_code(use.path)}
    )
    head = f"Check {count(len(others), 'place')} that may mean another's: types are not inferred"
    draft.add_step(head, [each.path for each in others], places=group_uses(sources, others))
    prose, signatures = find_prose(sources, list(map(written_name, subjects)))
    draft.add_step(
        "Bring up to date what names it",
        [each.partition(":")[0] for each in prose],
        places=prose,
    )
    for each in shown:
        draft.risks += list_breaks(sources, each, uses[each])
    if signatures:
        draft.risks.append(f"documents show how it is called: {join_some(signatures)}")
    draft.risks = draft.risks[: MOST_SHOWN + 2]


def written_name(subject: Subject) -> str:
    """The name that documents have for a definition: a method of a plain word is named with its class."""
    owner, _, name = subject.definition.qualname.rpartition(".")
    return (
        f"{owner.rpartition('.')[2]}.{name}"
        if owner and name.isalpha() and name.islower()
        else name
    )


def find_helpers(sources: Sources, subjects: Sequence[Subject]) -> list[str]:
    """What the files of some definitions define beside them and only they use: `_parse`."""
    names = {each.definition.qualname for each in subjects}
    found = []
    for path in dict.fromkeys(each.path for each in subjects):
        uses = Groups(sources, path).uses
        users = {name: {user for user in uses if name in uses[user]} for name in uses}
        found += [
            name
            for name, some in users.items()
            if some and some <= names and name not in names
        ]
    return found


def find_files(sources: Sources, names: Names) -> tuple[list[str], list[str]]:
    """The files that a request names, whole folders too, and the paths that are not there."""
    others = (*names.missing, *names.created, *(name for name, _ in names.ambiguous))
    found = [find_path(sources, name) for name in others[:MOST_NAMES]]
    named = (*names.paths, *(each.path for each in found if each.path))
    return list(dict.fromkeys(named)), [each.missing for each in found if not each.path]


def plan_split(draft: Draft, path: str) -> Plan:
    """The plan to split a file: the modules, the imports between them, what the old file keeps, who imports it."""
    sources = draft.sources
    split = propose_split(draft.sources, path)
    draft.risks += [
        f"kept together, for they use each other: {join_some(names)}"
        for names in split.cycles
    ]
    if len(split.modules) < 2:
        held = join_some(
            [*split.stays, *(name for names in split.modules.values() for name in names)]
        )
        draft.title = f"No split of {path} was found: {held or 'it defines nothing'}"
        return draft.propose()
    add_tests(draft, [path])
    sizes = split.lines
    modules = [
        f"{m} ({sizes[m]} lines): {join_some(n, MOST_IN_MODULE)}"
        for m, n in split.modules.items()
    ]
    draft.add_step(f"Move into {len(modules)} modules", [path], places=modules)
    edges = [
        f"{a} imports from {b}: {join_some(names)}" for (a, b), names in split.edges.items()
    ]
    head = "Imports, without a cycle" if edges else "No module imports another"
    draft.add_step(head, [path], places=edges[:MOST_EDGES])
    again = (
        "no import changes"
        if sources.language(path) == "go"
        else "it imports the rest back (re-exports)"
    )
    stays = f"{join_some(split.stays, MOST_IN_MODULE) or 'nothing'} stays; {again}"
    draft.add_step(f"Keep {path}", [path], places=[stays])
    moved = sorted({name for names in split.modules.values() for name in names})
    stem = path.rpartition("/")[2].partition(".")[0]
    imported = re.compile(
        rf"^[ \t]*(?:(?:from|import|use)\b|.*require\().{{0,200}}?\b{re.escape(stem)}\b",
        re.MULTILINE,
    )
    users = [
        each for each in sources.mentioning(stem, sources.language(path)) if each != path
    ]
    users = [each for each in users if imported.search(sources.texts[each])]
    taken = {
        u: [name for name in moved if word(name).search(sources.texts[u])] for u in users
    }
    takers = [f"{user}: {join_some(names)}" for user, names in taken.items() if names]
    lines = list_first(takers, MOST_SHOWN, "file")
    draft.add_step("These take moved names from it", users if takers else [], places=lines)
    replaced = re.compile(
        rf"\b{re.escape(stem)}\.(?:{'|'.join(map(re.escape, moved))})(?:['\"]| = )"
    )
    places = [
        f"{p}:{sources.line(p, m.start())}"
        for p in users
        for m in replaced.finditer(sources.texts[p])
    ]
    if places:
        draft.risks.append(
            f"what replaces a moved name in {path} misses the moved code: {join_some(places)}"
        )
    return draft.propose()
