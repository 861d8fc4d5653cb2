"""Plans how to split a file: the definitions that use each other move together, what several of them use stays."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cli_guard.assistant.editing.plan import PlanDraft
from cli_guard.assistant.editing.subjects import (
    CodeSubject,
    definitions_of,
    show_signatures,
)
from cli_guard.assistant.replies import count_of

MOST_DEFINITIONS = 400
MOST_GROUPS = 8
MOST_SHOWN = 8
IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*")


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
            head, (path,), places=show_signatures(draft.sources, shared, MOST_SHOWN)
        )


def add_move(draft: PlanDraft, path: str, group: Sequence[CodeSubject], why: str) -> None:
    """Add the step that moves some definitions, if there are any."""
    if group:
        spans = [each.definition.end_line - each.definition.line + 1 for each in group]
        size = f"{count_of(len(group), 'definition')}, {count_of(sum(spans), 'line')}"
        head = f"Move into a module of its own and import from there: {size}, {why}"
        draft.add_step(
            head, (path,), places=show_signatures(draft.sources, group, MOST_SHOWN)
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
    names = {each.name for each in subjects}
    users: dict[str, set[str]] = {each.name: set() for each in subjects}
    lines = text.split("\n")
    for each in subjects:
        body = "\n".join(lines[each.definition.line - 1 : each.definition.end_line])
        for used in words_in(body, names):
            if used != each.name:
                users[used].add(each.name)
    return users


def words_in(body: str, names: set[str]) -> Iterator[str]:
    """Yield each of some names that stands in a text, once."""
    yield from dict.fromkeys(word for word in IDENTIFIER.findall(body) if word in names)
