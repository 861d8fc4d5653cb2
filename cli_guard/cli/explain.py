"""`cli-guard explain`: a rule in full, or what a file, a folder, a name, a commit or a command is and does."""

import fnmatch
import textwrap
from collections.abc import Mapping
from contextlib import suppress

import click

from cli_guard.cli.app import Command
from cli_guard.cli.io import Io
from cli_guard.cli.rules import default_disposition, every_rule, table_of
from cli_guard.errors import NotARepository, UsageError
from cli_guard.reviewers.code.remarks import effects_of
from cli_guard.rules.catalog import Rule, load_all
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

WIDTH = 78
MOST_LINES = 40


def paragraph(label: str, text: str) -> str:
    words = " ".join(text.split())
    return f"{label}\n" + textwrap.fill(
        words, WIDTH, initial_indent="  ", subsequent_indent="  "
    )


def examples(label: str, texts: tuple[str, ...]) -> str:
    """Format examples, each indented."""
    shown = [
        textwrap.indent(printable(text, keep_newlines=True).strip("\n"), "    ")
        for text in texts[:3]
    ]
    return f"{label}\n" + "\n  --\n".join(shown)


def render_rule(rule: Rule) -> str:
    effects = effects_of(rule.id) if rule.id.startswith("code-") else ()
    parts = [
        f"{rule.id}: {rule.title}",
        f"  {rule.category}, {rule.severity}, confidence {rule.confidence}; by default: {default_disposition(rule)}",
        *(paragraph(f"Why {rule.severity}", effect.means) for effect in effects),
        paragraph("Why it matters", rule.why),
        paragraph("What to do", rule.remedy),
    ]
    if rule.fires:
        parts.append(examples("Reported", rule.fires))
    if rule.silent:
        parts.append(examples("Not reported", rule.silent))
    if rule.source:
        parts.append(paragraph("Source", rule.source))
    answer = f'  in the code: cli-guard: ignore[{rule.id}] reason\n  in cli-guard.toml: [rules] "{rule.id}" = "advise"'
    parts.append(f"To suppress it\n{answer}")
    return "\n\n".join(parts)


def page(rule: str, io: Io | None = None) -> str:
    """Return the page of the rule with this id; `io` says whose repository's own rules count.

    Raises UsageError, ConfigError.
    """
    from cli_guard.policy.globs import USERS_RULE, nearest

    rules = every_rule(io) if io and rule.startswith(USERS_RULE) else load_all()
    if rule not in rules:
        raise UsageError(
            f"there is no rule {rule!r}{nearest(rule, rules)}; list them with `cli-guard rules`"
        )
    return render_rule(rules[rule])


@click.pass_obj
def run(io: Io, /, words: tuple[str, ...], rev: str | None, worktree: bool) -> int:
    from cli_guard.policy.globs import USERS_RULE

    subject = " ".join(words)
    if (
        "*" in subject
        and " " not in subject
        and (found := fnmatch.filter(rules := every_rule(io), subject))
    ):
        text = table_of([rules[each] for each in found])
    elif len(words) == 1 and (subject in load_all() or subject.startswith(USERS_RULE)):
        text = page(subject, io)
    else:
        text = "\n".join(explain_subject(io, subject, rev, worktree=worktree))
    io.say(printable(text, keep_newlines=True))
    return 0


def explain_subject(
    io: Io, subject: str, revision: str | None, *, worktree: bool
) -> list[str]:
    """Return the explanation of a path, a name, a commit or a command. Raises UsageError if it is none of them."""
    if " " in subject and is_command(subject):
        return explain_shell_command(io, subject)
    from cli_guard.assistant.explaining import explain
    from cli_guard.assistant.history import answer_history
    from cli_guard.assistant.history_request import HistoryRequest
    from cli_guard.assistant.request_names import NO_NAMES
    from cli_guard.cli.ask import from_the_top

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
    from cli_guard.assistant.request_command import find_command, word_list
    from cli_guard.commands.handlers import HANDLERS

    return find_command(f"explain {text}", word_list("known") | HANDLERS.keys()) is not None


def explain_shell_command(io: Io, text: str) -> list[str]:
    """Return the verdict about a command, what each part does, and what its options mean."""
    from cli_guard.assistant.projects.advising import explain_command, explain_options
    from cli_guard.commands import judge
    from cli_guard.review.command_context import command_context
    from cli_guard.review.render.command import render

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
    from difflib import get_close_matches

    known = {
        name: f"path {path}"
        for path in list(texts)[:10_000]
        for name in (path.rpartition("/")[2], path)
    }
    known |= {rule: f"rule {rule}" for rule in load_all()}
    close = get_close_matches(subject[:100], known, n=1)
    said = (
        f"; nearest: {known[close[0]]}"
        if close
        else "; list the rules with `cli-guard rules`"
    )
    return f"there is no rule {subject!r}, and no path, name of code, commit or command of that name{said}"


command = Command(
    "explain",
    callback=run,
    help="Explain a rule (why it matters, what to do, examples) or list those that match secret-*; a file or folder"
    " (its purpose, names, imports and tests); a name of the code (its documentation, callers and tests); a commit; or"
    " a command: what each part does, and how it is judged. Options come before what is explained.",
    params=[
        click.Argument(
            ["words"], nargs=-1, required=True, metavar="RULE|PATH|NAME|COMMIT|COMMAND"
        ),
        click.Option(
            ["--rev"],
            metavar="REV",
            help="Use the files of a commit instead of what is staged.",
        ),
        click.Option(["--worktree"], is_flag=True, help="Use the files of the work tree."),
    ],
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
