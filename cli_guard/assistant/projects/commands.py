"""The commands of a repository: from every source, each classified, masked, once, and the likeliest of a purpose first.

People come first: a command that a document for contributors names, then a task that is written down, then what
a tool is set up for, then what everybody does with such a project.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from cli_guard.assistant.projects.documents import find_documented, find_in_ci
from cli_guard.assistant.projects.environments import find_conventions, find_environments
from cli_guard.assistant.projects.files import (
    ORIGINS,
    FoundCommand,
    ProjectCommand,
    ProjectFiles,
    clip_line,
)
from cli_guard.assistant.projects.purposes import FORMS, purpose_of
from cli_guard.assistant.projects.tasks import find_tasks
from cli_guard.assistant.request_command import PURPOSES
from cli_guard.secrets.redact import redact

SOURCES = (
    find_documented,
    find_tasks,
    find_environments,
    find_in_ci,
    find_conventions,
)
MOST_COMMANDS = 500
LONGEST_COMMAND = 300
# Documents in these folders speak of the whole repository.
FOR_ALL = ".github .gitlab docs doc documentation tests test".split()
OF_DOCS = re.compile(r"(?:cd|make -C) docs?\b")


def commands_of(texts: Mapping[str, str] | ProjectFiles) -> tuple[ProjectCommand, ...]:
    """Return every command that the files of a repository offer, by purpose, the one to try first in front.

    `texts` is path -> text, or the `ProjectFiles` of a caller that wants to know which were read. At most 500: the
    unlikeliest are left out. Never raises for what a file holds.
    """
    files = texts if isinstance(texts, ProjectFiles) else ProjectFiles(texts)
    ranked: dict[str, tuple[tuple[int, ...], ProjectCommand]] = {}
    said: dict[str, tuple[int, str, int]] = {}
    for found in (each for source in SOURCES for each in source(files)):
        if found.origin == "docs" and not _depth(found):
            said.setdefault(_plain(found.command), (found.rank, found.path, found.line))
        result = _rank(found)
        if result is None:
            continue
        key = _plain(result[1].command)
        known = ranked.get(key)
        # Where a document names a task, the task is the better source: it shows what is run.
        if known is None or (
            known[1].origin != "task" and (found.origin == "task" or result[0] < known[0])
        ):
            ranked[key] = result
    results = [
        _put_documented_first(order, command, said.get(key))
        for key, (order, command) in ranked.items()
    ]
    results.sort(key=lambda each: (each[0], each[1].path, each[1].line, each[1].command))
    return tuple(command for _, command in results[:MOST_COMMANDS])


def _plain(command: str) -> str:
    """Return the command in the form in which the same one said in two ways is one."""
    plain = FORMS["another_way"].sub(
        lambda found: found[1] or f"{found[2]} -s", " ".join(command.split())
    )
    return plain.removesuffix(" --")


def _rank(found: FoundCommand) -> tuple[tuple[int, ...], ProjectCommand] | None:
    """Return the command, and its place among the others as a tuple to sort by."""
    purpose, fit = (
        (found.purpose, 0) if found.purpose else purpose_of(found.name, found.body)
    )
    command = redact(found.command, found.path)
    if len(command) > LONGEST_COMMAND or "\n" in command or not command.strip():
        return None
    depth = _depth(found)
    if purpose != "docs" and OF_DOCS.match(command):
        depth = max(
            depth, 1
        )  # what checks or cleans the documentation does so for it alone
    # A name that only hints at the purpose is no better than what is usual.
    origin = ORIGINS.index(
        "convention" if found.origin == "task" and fit > 1 else found.origin
    )
    first = (found.rank, fit) if found.origin == "docs" else (fit, found.rank)
    order = (PURPOSES.index(purpose), min(depth, 1), origin, *first, depth)
    detail = clip_line(found.body, found.path)
    return order, ProjectCommand(
        purpose, command, found.path, found.line, detail, found.name, found.origin
    )


def _depth(found: FoundCommand) -> int:
    """Return how far from the whole repository a command is: one for a part of it comes after those for the whole."""
    if found.origin == "docs":
        return int(found.path.split("/")[0] not in FOR_ALL and "/" in found.path)
    return found.path.count("/")


def _put_documented_first(
    order: tuple[int, ...], command: ProjectCommand, said: tuple[int, str, int] | None
) -> tuple[tuple[int, ...], ProjectCommand]:
    """Return a command that a guide names comes first, unless its name only hints at the purpose (`tox -e stress`)."""
    if said is None:
        return order, command
    purpose, depth, origin, *rest = order
    command = replace(command, documented=said[1:])
    if command.origin == "task" and origin == ORIGINS.index("convention"):
        return order, command
    return (purpose, depth, ORIGINS.index("docs"), said[0], *rest), command
