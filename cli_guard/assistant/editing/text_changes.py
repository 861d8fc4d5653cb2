"""Plans the changes that need no syntax: a text, a constant or the version changed."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from cli_guard.assistant.editing.migration import LOCKS
from cli_guard.assistant.editing.open_ended import plan_open
from cli_guard.assistant.editing.plan import IN_CODE, EditPlan, PlanDraft, usages_of
from cli_guard.assistant.editing.sources import (
    Sources,
    TextEdit,
    find_path,
    is_configuration,
    is_documentation,
    join_some,
)
from cli_guard.assistant.replies import count_of
from cli_guard.assistant.request_change import Change
from cli_guard.code.test_files import is_test_code
from cli_guard.rules.catalog import read_patterns

MOST_PLACES = 5_000
NUMBER = r"-?\d[\d_]*(?:\.\d+)?[A-Za-z]?"
WORDS = r"True|False|true|false|None|null|nil"
TEXT = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
LITERAL = re.compile(rf"(?P<number>{NUMBER})|(?P<word>{WORDS})|(?P<text>{TEXT})")
# Where a value ends: the rest of its line is a comment or what closes a statement.
END = r"(?=[ \t]*(?:[;,)]*[ \t]*(?:(?:#|//|--|/\*)[^\n]*)?\r?$))"
# Where a project says its own version, the most telling file first.
MANIFESTS = read_patterns("projects/versions.toml", "written")
PARTS = ("major", "minor", "patch")
RANGE = re.compile(r"(?:[~^]|[<>=]=?)(?=\d)")
VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+.]?[A-Za-z][\w.+-]*)?")


def plan_change_text(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "change X to Y in path" and "fix the typo X -> Y"; without a path, in all files."""
    old = intent.get("old")
    new = intent.get("new")
    place = intent.get("place")
    draft = PlanDraft(sources, "edit", f"Change {old!r} to {new!r}", old)
    paths = list(sources.mentioning(old))
    if place:
        named = find_path(sources, place)
        if not named.path:
            return draft.ask_for_file(named)
        paths = [named.path]
        draft.assumed = named.assumed
        draft.title += f" in {named.path}"
    is_name = re.fullmatch(r"\w+", old) is not None
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)" if is_name else re.escape(old))
    edits = [
        TextEdit(p, m.start(), m.end(), new)
        for p in paths
        for m in pattern.finditer(sources.texts[p])
    ]
    edits = edits[:MOST_PLACES]
    where = place or "the repository"
    if not edits:
        draft.title = f"{old!r} is not in {where}"
        draft.usages = ()
        return draft.ask(f"Say what to change: {draft.title}", f"{old!r} in {where}")
    draft.usages = usages_of(sources, old) if "\n" not in old else ()
    code = sorted({e.path for e in edits if sources.language(e.path) not in (None, "yaml")})
    if is_name and code and any(group.kind in IN_CODE for group in draft.usages):
        draft.risks.append(
            f"{old} is also a name in code ({join_some(code)}): code that uses it may break"
        )
    if len(edits) > 1 and place:
        draft.assume(f"all {len(edits)} places in {paths[0]} are meant")
    draft.add_step(
        f"Change {count_of(len(edits), 'place')}", sorted({e.path for e in edits})
    )
    return draft.finish_edits(edits)


def plan_constant(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "set NAME to VALUE": the literal of the one assignment is changed."""
    name = intent.get("old")
    value = intent.get("value").strip("`")
    place = intent.get("place")
    draft = PlanDraft(sources, "edit", f"Set {name} to {value}", name)
    named = find_path(sources, place) if place else None
    if named and not named.path:
        return draft.ask_for_file(named)
    found = list(assignments(sources, name, named.path if named else ""))
    if not found and named:
        return plan_change_text(
            sources, replace(intent, words=intent.words | {"new": value})
        )
    if not found:
        return plan_open(sources, intent)
    places = [
        (path, sources.line(path, match.start()), f"sets {name}") for path, match in found
    ]
    path, match = found[0]
    if len(found) > 1:
        return draft.refuse(f"{name} is set in {len(found)} places: name the file", places)
    new = write_as(match["value"], value)
    if new is None:
        return draft.refuse(
            f"{value} is another kind of value than {match['value']}", places
        )
    draft.title = f"Set {name} to {new} in {path}"
    if PurePosixPath(path).name in MANIFESTS:
        draft.risks += [
            f"{lock} is left as it is"
            for lock in sources.mentioning(name)
            if PurePosixPath(lock).name in LOCKS
        ]
    return draft.finish_edits([TextEdit(path, *match.span("value"), new)])


def assignments(
    sources: Sources, name: str, only: str
) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the lines that give a name a literal; those of tests and documents only where they are named."""
    literal = rf"[ \t]*(?P<value>{NUMBER}|{WORDS}|{TEXT}){END}"
    in_code = re.compile(
        rf"^[ \t]*(?:[A-Za-z]+[ \t]+){{0,5}}{re.escape(name)}(?:[ \t]*:[ \t]*[\w.\[\], |]{{1,60}}|[ \t]+\w{{1,30}})?"
        rf"[ \t]*:?={literal}",
        re.MULTILINE,
    )
    # `"express": "^4.18.0",` of a manifest.
    in_data = re.compile(
        rf"^[ \t]*(?P<quote>[\"']?){re.escape(name)}(?P=quote)[ \t]*[:=]{literal}",
        re.MULTILINE,
    )
    for path in sources.mentioning(name):
        if path == only or (
            not only
            and not is_test_code(path)
            and not is_documentation(path)
            and PurePosixPath(path).name not in LOCKS
        ):
            pattern = in_data if is_configuration(path) else in_code
            yield from ((path, match) for match in pattern.finditer(sources.texts[path]))


def write_as(old: str, value: str) -> str | None:
    """Return the new value in the form of the old one; None if it is of another kind."""
    before = LITERAL.fullmatch(old)
    after = LITERAL.fullmatch(value)
    if before and before["text"]:
        plain = value[1:-1] if after and after["text"] else value
        if plain[:1].isdigit():
            # The range of a dependency stays one: `^4.18.0`.
            found = RANGE.match(old[1:])
            plain = (found[0] if found else "") + plain
        is_unsafe = old[0] in plain or "\\" in plain or "\n" in plain
        return None if is_unsafe else f"{old[0]}{plain}{old[0]}"
    if (
        not before
        or not after
        or after["text"]
        or bool(after["number"]) != bool(before["number"])
    ):
        return None
    return value


def plan_bump(sources: Sources, intent: Change) -> EditPlan:
    """Return the plan for "bump version to 1.2.3": each manifest that gives the current one as its project's own."""
    draft = PlanDraft(sources, "edit", "Change the version", usages=())
    found = sorted(own_versions(sources), key=lambda each: each[:3])
    if not found:
        missing = "a version in pyproject.toml, package.json, Cargo.toml, pom.xml, setup.cfg or VERSION"
        return draft.ask("Say where the version is written", missing)
    old = found[0][3][1]
    new = intent.get("new") or next_version(old, intent.get("part").lower())
    draft.title = f"Change the version from {old} to {new}"
    draft.name = old
    if new in ("", old):
        return draft.refuse(
            "it has that version already" if new else f"{old} has no number for that part"
        )
    edits = [
        TextEdit(path, *match.span(1), new)
        for _, _, path, match in found
        if match[1] == old
    ]
    taken = {(e.path, e.start) for e in edits}
    written = re.compile(rf"(?<![\w.]){re.escape(old)}(?![\w.])")
    locked = [path for path in sources.mentioning(old) if PurePosixPath(path).name in LOCKS]
    others = [
        f"{path}:{sources.line(path, match.start())}"
        for path in sources.mentioning(old)
        for match in written.finditer(sources.texts[path])
        if path not in locked and (path, match.start()) not in taken
    ]
    if others:
        draft.risks.append(
            f"{old} is also written in {join_some(others)}: left, it may be another version"
        )
    if locked:
        draft.risks.append(
            f"lock files are written again by their tool: {join_some(locked)}"
        )
    draft.add_step(
        f"Change the version in {count_of(len(edits), 'place')}",
        sorted({e.path for e in edits}),
    )
    return draft.finish_edits(edits)


def own_versions(sources: Sources) -> Iterator[tuple[int, int, str, re.Match[str]]]:
    """Yield each manifest that holds a version: (depth, rank of the file's name, path, match)."""
    ranks = {name: number for number, name in enumerate(MANIFESTS)}
    for path, text in sources.texts.items():
        name = PurePosixPath(path).name
        match = MANIFESTS[name].search(text) if name in MANIFESTS else None
        if match and VERSION.fullmatch(match[1]):
            yield path.count("/"), ranks[name], path, match


def next_version(old: str, part: str) -> str:
    """Return the version after `old`, by part; "" if it has no such part."""
    numbers = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", old)
    if not numbers or part not in PARTS:
        return ""
    at = PARTS.index(part)
    raised = [int(each or 0) for each in numbers.groups()]
    raised[at:] = [raised[at] + 1, *(0 for _ in PARTS[at + 1 :])]
    return ".".join(map(str, raised))
