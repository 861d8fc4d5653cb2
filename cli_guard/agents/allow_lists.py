"""The lists of an agent's own settings with what runs there without a question: what is wide in them, and needless.

Told at installation, in the words of the reviewer of agents' files. Nothing is changed: such a list is the user's.
"""

from collections.abc import Iterator
from typing import Any

from cli_guard.commands import Verdict, judge
from cli_guard.commands.model import Profile
from cli_guard.execution.context import command_context
from cli_guard.execution.verdicts import write_allow
from cli_guard.model import Decision
from cli_guard.repository.protocol import Repository
from cli_guard.reviewers.agents.grants import danger_of, grant_of, shorten
from cli_guard.reviewers.agents.permissions import grants_in
from cli_guard.reviewers.agents.statements import SurfaceStatement, read_statements
from cli_guard.reviewers.agents.tables import files_of
from cli_guard.runtime import read_plain
from cli_guard.secrets.redact import redact

# So many are judged, and so many named of each kind.
MOST_JUDGED = 500
MOST_NAMED = 5


def describe_allow_lists(module: Any, repository: Repository) -> Iterator[str]:
    """Yield what to say about each list that an agent's settings have; `module` is a row of `registry.py`."""
    protocol = getattr(module, "protocol", None)
    for path, name in protocol.all_found(repository) if protocol else ():
        inside = name.removeprefix("~/")
        try:
            text = read_plain(path).decode("utf-8")
        except (OSError, ValueError):
            continue
        found = [
            statement
            for file in files_of(inside)
            for statement in grants_in(read_statements(file, inside, text).statements)
        ]
        yield from describe_list(name, found[:MOST_JUDGED], repository)


def describe_list(
    name: str, found: list[SurfaceStatement], repository: Repository
) -> Iterator[str]:
    """Yield the lines about one list: what is wide, what is needless, what can be taken over."""
    wide = {}
    commands = {}
    for statement in found:
        grant = grant_of(statement)
        danger = danger_of(grant)
        if danger:
            wide[statement.value] = danger
        elif grant.sort == "command":
            commands[statement.value] = grant.text
    context = command_context(
        repository.root, repository.git.env, profile=Profile.WORKSPACE
    )
    verdicts = {text: judge(command, context) for text, command in commands.items()}
    needless = [text for text, each in verdicts.items() if each.verdict is Decision.ALLOW]
    if found:
        yield f"{name} lets {len(found)} patterns run without a question"
    for text, danger in list(wide.items())[:MOST_NAMED]:
        yield f"! wide: {redact(shorten(text))}: {redact(danger)}"
    if needless:
        yield (
            f"{len(needless)} of them are needless in a work tree that you trust with"
            f" `cli-guard trust --agents`, and can be removed: {name_some(needless)}"
        )
    ways = list(dict.fromkeys(filter(None, map(find_rule, verdicts.values()))))
    if ways:
        yield f"to take over what cli-guard would ask about: {', '.join(ways[:MOST_NAMED])}"


def find_rule(verdict: Verdict) -> str:
    """Return the command that saves a rule for what needs review, "" for what needs none or gets none."""
    words = write_allow(verdict) if verdict.verdict is Decision.REVIEW else ""
    return f"`{words}`" if words else ""


def name_some(texts: list[str]) -> str:
    """Name the first of some patterns, without secrets, and how many more there are."""
    named = ", ".join(redact(shorten(text)) for text in texts[:MOST_NAMED])
    more = len(texts) - MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named
