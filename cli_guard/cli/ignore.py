"""`cli-guard ignore`: answer findings of the last run in writing, with a reason, where they are."""

import re
import shlex

import click

from cli_guard.answering.approve import bound_findings, find_pending
from cli_guard.answering.ignoring import (
    Answers,
    Reviewed,
    describe_finding,
    list_ignorable,
    plan_answers,
    refusal,
)
from cli_guard.cli.app import Command, option
from cli_guard.cli.io import Io, shown_on_terminal
from cli_guard.cli.last import read_last
from cli_guard.errors import ExitCode, UsageError
from cli_guard.hooks import event_of
from cli_guard.model import Disposition, Finding, JudgedFinding
from cli_guard.repository.protocol import Repository
from cli_guard.review.render.words import ignore_command
from cli_guard.secrets.printable import printable
from cli_guard.state.files import explain_write_errors
from cli_guard.state.records import ASKED, ID, Records

PLACE = re.compile(r"(.+):(\d{1,9})", re.DOTALL)
MOST_LISTED = 20


@click.pass_obj
def run(io: Io, /, what: tuple[str, ...], reason: str) -> int:
    """Write the answers to the chosen findings, and show them."""
    if len(what) > 2:
        raise UsageError("give an id, or RULE PATH[:LINE]")
    repository = io.find_repository()
    if repository.bare:
        raise UsageError("a bare repository has no work tree to write to")
    if len(what) == 1 and ID.fullmatch(what[0]):
        reviewed = pending_review(io, repository, what[0])
        chosen = list(reviewed.findings)
    else:
        reviewed = last_run(repository)
        if not what and len(reviewed.findings) > 1:
            return list_commands(io, reviewed)
        chosen = choose_findings(reviewed, *what)
    refused = list(filter(None, (refusal(each.finding) for each in chosen)))
    chosen = [each for each in chosen if not refusal(each.finding)]
    if not chosen:
        raise UsageError(refused[0])
    answers = plan_answers(repository, reviewed, chosen, reason)
    with explain_write_errors("the answer"):
        answers.write(repository.root)
    io.say(shown_on_terminal(answers.diff))
    for line in (*dict.fromkeys(refused), *next_steps(answers, reviewed.event)):
        io.say(f"cli-guard: {line}")
    return 0


def last_run(repository: Repository) -> Reviewed:
    """Return the findings of the last run. Raises CliGuardError."""
    _, review = read_last(repository)
    if not review.findings:
        raise UsageError("the last run has no findings: run `cli-guard review` first")
    return Reviewed(review.event, review.findings, review.blobs)


def pending_review(io: Io, repository: Repository, prefix: str) -> Reviewed:
    """Return the findings of a pending review. Raises UsageError."""
    records = Records(repository.state_folder)
    review = find_pending(records, prefix, io.invocation)
    if review.event == ASKED:
        raise UsageError("a request has no findings: approve or reject it")
    found = (
        JudgedFinding(each, Disposition.REVIEW) for each in bound_findings(records, review)
    )
    return Reviewed(review.event, tuple(found), review.blobs)


def choose_findings(
    reviewed: Reviewed, rule: str = "", place: str = ""
) -> list[JudgedFinding]:
    """Return the findings of a rule at a path or line; all without a rule. Raises UsageError for none."""
    named = PLACE.fullmatch(place)

    def is_meant(finding: Finding) -> bool:
        if not rule:
            return True
        is_at = named and (finding.path, finding.line) == (named[1], int(named[2]))
        return finding.rule == rule and (finding.path == place or bool(is_at))

    found = [each for each in reviewed.findings if is_meant(each.finding)]
    if not found:
        at = f" at {place}" if place else " without a path"
        raise UsageError(
            f"the last run has no finding of {printable(rule)}{printable(at)}:"
            " `cli-guard ignore` lists what it has"
        )
    return found


def list_commands(io: Io, reviewed: Reviewed) -> int:
    """Print each finding that can be ignored with what to type."""
    listed = list_ignorable(reviewed)
    if not listed:
        raise UsageError(refusal(reviewed.findings[0].finding))
    for each in listed[:MOST_LISTED]:
        io.say(f"{describe_finding(each)}\n    {ignore_command(each.finding)}")
    if len(listed) > MOST_LISTED:
        io.say(f"and {len(listed) - MOST_LISTED} more: cli-guard last -v")
    io.warn("cli-guard: several findings can be ignored: name one")
    return ExitCode.USAGE


def next_steps(answers: Answers, event: str) -> list[str]:
    """Return what is left to do, as Git's index is untouched."""
    pushes = event_of(event).has_commits
    code = [path for path in sorted(answers.files) if path != answers.policy]
    lines = []
    if code:
        names = printable(shlex.join(code))
        again = "commit it, then push again" if pushes else "then commit again"
        lines.append(f"written, not staged: git add {names}, {again}")
        lines.append(
            "if it ignores what stops the change, a person approves the comment once"
        )
    if answers.policy and pushes:
        lines.append(
            "a push is judged by the policy that the remote has: push this entry first, alone, from the remote's"
            " branch, then rebase onto it (into an empty remote: commit it, then push again)"
        )
    elif answers.policy:
        lines.append(
            "an [[ignore]] counts from the next commit on, so record it first, alone:"
            f' git add {answers.policy} && git commit -m "Ignore a finding" {answers.policy}'
        )
    return lines


command = Command(
    "ignore",
    callback=run,
    help="Ignore findings of the last run, with a reason: a comment at the line, in the file's own syntax, or an"
    " [[ignore]] in the policy where the file has no comments. Name the id of a pending review, or a rule and a path"
    " with or without a line; without either, the only finding. Shows what it has written, and stages nothing.",
    params=[
        click.Argument(["what"], nargs=-1, metavar="[ID | RULE PATH[:LINE]]"),
        option(
            "--reason -r reason",
            "TEXT",
            "Why it is right as it is; in three words or more if it stops the change.",
            default="",
        ),
    ],
)
