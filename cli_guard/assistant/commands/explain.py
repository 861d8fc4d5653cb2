"""What `cli-guard explain` says of what is no rule: a path, a name of the code, a commit or a command."""

from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches

from cli_guard.assistant.commands.ask import from_the_top
from cli_guard.assistant.editing.sources import list_near, name_near_paths
from cli_guard.assistant.explaining import explain
from cli_guard.assistant.history import answer_history
from cli_guard.assistant.history_request import HistoryRequest
from cli_guard.assistant.projects.advising import explain_command, explain_options
from cli_guard.assistant.request_command import find_command, word_list
from cli_guard.assistant.request_names import NO_NAMES
from cli_guard.cli.io import Io
from cli_guard.commands import judge
from cli_guard.commands.programs import table
from cli_guard.errors import NotARepository, UsageError
from cli_guard.execution.context import command_context
from cli_guard.execution.verdicts import render
from cli_guard.rules.catalog import load_all, read_table
from cli_guard.secrets.redact import redact

MOST_LINES = 40


def explain_subject(
    io: Io, subject: str, revision: str | None, *, worktree: bool
) -> list[str]:
    """Return the explanation of a path, a name, a commit or a command. Raises UsageError if it is none of them."""
    if " " in subject and is_command(subject):
        return explain_shell_command(io, subject)
    texts: Mapping[str, str] = {}
    with suppress(NotARepository):  # without one there are only rules and commands
        repository = io.find_repository()
        texts = repository.snapshot(revision, worktree=worktree)
        paths = [subject]
        with suppress(UsageError):
            paths += from_the_top(io, (subject,))
        lines = next(filter(None, (explain(texts, name) for name in paths[::-1])), ())
        with suppress(UsageError):  # no revision
            if not lines and repository.head:
                asked = HistoryRequest("changed", NO_NAMES, revision=subject)
                lines = answer_history(asked, repository, texts)
        if lines:
            return list(map(redact, lines))
    if is_command(f"{subject} "):
        return explain_shell_command(io, subject)
    raise UsageError(nothing_named(subject, texts))


def is_command(text: str) -> bool:
    """Return whether a text begins with a program that is known."""
    first = text.partition(" ")[0]
    names = word_list("known")
    if table(first):
        names |= {first}
    return find_command(f"explain {text}", names) is not None


def explain_shell_command(io: Io, text: str) -> list[str]:
    """Return the verdict about a command, what each part does, and what its options mean."""
    verdict = judge(text, command_context(io.cwd, io.env))
    parts = (*explain_command(text, {}), *explain_options(text))
    kinds = dict.fromkeys(
        f"{each.kind} {each.target or ''}".strip() for each in verdict.effects
    )
    effects = [f"  effects: {', '.join(kinds)}"] if kinds else []
    said = [f"  {each.text}: {each.meaning}" for each in parts]
    return list(map(redact, (text, *render(verdict).split("\n"), *effects, *said)))[
        :MOST_LINES
    ]


def nothing_named(subject: str, texts: Mapping[str, str]) -> str:
    """Say that nothing has a name, with the nearest rule and path."""
    known = {rule: f"rule {rule}" for rule in load_all()}
    known |= {old: f"rule {new}" for old, new in read_table("renamed.toml").items()}
    close = get_close_matches(subject[:100], known, n=1)
    said = (
        list_near([known[each] for each in close])
        or name_near_paths(subject[:100], texts)
        or "; list the rules with `cli-guard rules`"
    )
    return f"there is no rule {subject!r}, and no path, name of code, commit or command of that name{said}"
