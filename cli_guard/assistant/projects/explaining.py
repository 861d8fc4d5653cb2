"""What a command does, part by part: in the judge's own reasons, and by the tasks of the repository that it runs."""

import re
from collections.abc import Mapping

from cli_guard.assistant.projects.model import Part
from cli_guard.assistant.projects.purposes import SEPARATORS, task_name
from cli_guard.commands import Kind, Verdict, judge

PLACEHOLDER = re.compile(r"<([a-z-]{1,30})>")
HARMLESS = (Kind.READ, Kind.SERVICE_READ)
MOST_PARTS, LONGEST = 40, 4_000


def explain_command(command: str, tasks: Mapping[str, str]) -> tuple[Part, ...]:
    """Explain each part of a command that does something, by the judge's reasons.

    `tasks` is what each task of the repository is: `make check` -> "defined in Makefile:12: ...". Where one reason is
    all there is to say, no part repeats what the verdict says. At most 40 parts of the first 4,000 characters.
    """
    text = command[:LONGEST]
    found = {part: {tasks[part]: None} for part in SEPARATORS.split(text) if part in tasks}
    reasons: dict[str, dict[str, None]] = {}
    verdict = judge_with_placeholders(text)
    for effect in sorted(verdict.effects, key=lambda each: each.span.start):
        if effect.kind not in HARMLESS:
            part = text[effect.span.start : effect.span.end].strip() or text
            reasons.setdefault(part, {})[_with_placeholders(effect.reason, text)] = None
    if [reason for each in reasons.values() for reason in each] != [verdict.reason]:
        for part, each in reasons.items():
            found.setdefault(part, {}).update(each)
    return tuple(Part(part, "; ".join(each)) for part, each in found.items())[:MOST_PARTS]


def judge_with_placeholders(command: str) -> Verdict:
    """Judge a command with words to fill in (`<sha>`) as if they were filled in; every span stays where it is."""
    return judge(PLACEHOLDER.sub(lambda found: f"_{found[1]}_", command[:LONGEST]))


def is_understood(command: str) -> bool:
    """Does the judge know what every part of the command does?"""
    return all(effect.kind is not Kind.UNKNOWN for effect in judge_with_placeholders(command).effects)


def undefined_tasks(command: str, tasks: Mapping[str, str]) -> tuple[str, ...]:
    """The tasks that a command names (`make deploy`) and that no file of the repository defines."""
    parts = SEPARATORS.split(command[:LONGEST])
    return tuple(part for part in parts if task_name(part) and part not in tasks)


def _with_placeholders(reason: str, command: str) -> str:
    for name in PLACEHOLDER.findall(command):
        reason = reason.replace(f"_{name}_", f"<{name}>")
    return reason
