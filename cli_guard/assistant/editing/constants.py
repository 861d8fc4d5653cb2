"""Plans "set MAX_RETRIES to 5": a literal that one assignment gives a name, in any language that writes it so."""

import re
from collections.abc import Iterator
from dataclasses import replace

from cli_guard.assistant.editing.edits import Edit, applied
from cli_guard.assistant.editing.intents import Intent
from cli_guard.assistant.editing.mentions import usages_of
from cli_guard.assistant.editing.model import Plan, UsageGroup
from cli_guard.assistant.editing.open_ended import plan_open
from cli_guard.assistant.editing.paths import find_path
from cli_guard.assistant.editing.plans import refused
from cli_guard.assistant.editing.sources import Sources, is_documentation
from cli_guard.assistant.editing.text_changes import edited, no_file, plan_change_text
from cli_guard.code.classify import is_test

NUMBER = r"-?\d[\d_]*(?:\.\d+)?[A-Za-z]?"
WORDS = r"True|False|true|false|None|null|nil"
TEXT = r"\"[^\"\\\n]*\"|'[^'\\\n]*'"
LITERAL = re.compile(rf"(?P<number>{NUMBER})|(?P<word>{WORDS})|(?P<text>{TEXT})")
# Where a value ends: the rest of its line is a comment or what closes a statement.
END = r"(?=[ \t]*(?:[;,)]*[ \t]*(?:(?:#|//|--|/\*)[^\n]*)?\r?$))"


def plan_set(sources: Sources, intent: Intent) -> Plan:
    """The plan for "set NAME to VALUE": the literal is changed where one assignment gives it, nothing is guessed."""
    name, value, place = intent.get("old"), intent.get("value").strip("`"), intent.get("place")
    only = ""
    if place:
        named = find_path(sources, place)
        if not named.path:
            return no_file(sources, intent, named.missing)
        only = named.path
    found = list(assignments(sources, name, only))
    if not found:
        return (
            plan_change_text(sources, replace(intent, words=intent.words | {"new": value}))
            if place
            else plan_open(sources, intent)
        )
    title = f"Set {name} to {value}"
    places = tuple((p, sources.line(p, m.start()), f"sets {name}") for p, m in found)
    if len(found) > 1:
        return refused(
            sources, "edit", title, "", f"{name} is set in {len(found)} places: name the file", places
        )
    path, match = found[0]
    new = written(match["value"], value)
    if new is None:
        return refused(
            sources, "edit", title, "", f"{value} is another kind of value than {match['value']}", places
        )
    edit = Edit(path, match.start("value"), match.end("value"), new)
    users = tuple(
        group for group in usages_of(sources, name) if group.kind in ("call", "use", "configuration")
    )
    return edited(
        sources,
        f"Set {name} to {new} in {path}",
        name,
        applied(sources, [edit]) if new != match["value"] else {},
        usages=tuple(UsageGroup(group.kind, group.places) for group in users),
    )


def assignments(sources: Sources, name: str, only: str) -> Iterator[tuple[str, re.Match[str]]]:
    """The lines that give a name a literal; those of tests and documents only where they are named."""
    pattern = re.compile(
        rf"^[ \t]*(?:[A-Za-z]+[ \t]+){{0,5}}{re.escape(name)}(?:[ \t]*:[ \t]*[\w.\[\], |]{{1,60}}|[ \t]+\w{{1,30}})?"
        rf"[ \t]*:?=[ \t]*(?P<value>{NUMBER}|{WORDS}|{TEXT}){END}",
        re.MULTILINE,
    )
    for path in sources.mentioning(name):
        if path == only or (not only and not is_test(path) and not is_documentation(path)):
            yield from ((path, match) for match in pattern.finditer(sources.texts[path]))


def written(old: str, value: str) -> str | None:
    """The new value in the form of the old one; None if it is of another kind."""
    before, after = LITERAL.fullmatch(old), LITERAL.fullmatch(value)
    if before is None:
        return None
    if before["text"]:
        plain = value[1:-1] if after is not None and after["text"] else value
        quote = old[0]
        return None if quote in plain or "\\" in plain or "\n" in plain else f"{quote}{plain}{quote}"
    if after is None or after["text"] or bool(after["number"]) != bool(before["number"]):
        return None
    return value
