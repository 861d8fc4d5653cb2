"""Review commit messages: the one being written, and those of the commits of a range or a push.

A message is checked for its form, for the configured style, and against its change. Its wording is checked only where
it is plain English; findings never quote a message, which may hold a secret.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase

from cli_guard.hooks import PUSH, event_of
from cli_guard.lazy import frozen
from cli_guard.model import ChangeSet, CommitMessage, Finding, Report
from cli_guard.repository.message import recorded_message
from cli_guard.reviewers.claims import contradiction
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import Rule, load, read_patterns


@frozen
class MessageCase:
    """One message under review, with its change. `recorded`: the commit exists; `branch`: its protected branch."""

    message: CommitMessage
    changes: ChangeSet
    subject: ReviewInput
    recorded: bool
    branch: str | None = None


Check = Callable[[Rule, MessageCase], str | None]
"""What a rule says of a message: one sentence, None when it has nothing to say."""


def review(subject: ReviewInput) -> Report:
    """Apply every enabled rule to each message."""
    findings = [found for case in _cases(subject) for found in _judge(case)]
    return Report(findings=tuple(findings))


def _cases(subject: ReviewInput) -> Iterator[MessageCase]:
    whole = subject.changes
    commits = tuple(subject.history)
    branches = _protected_branches(subject)
    if subject.message is not None:
        yield MessageCase(subject.message, whole, subject, False)
    elif whole.message is not None and not any(
        each.commit == whole.commit for each in commits
    ):
        yield MessageCase(recorded_message(whole.message), whole, subject, True)
    for each in commits:
        if each.message is not None:
            branch = branches.get(each.commit)
            yield MessageCase(recorded_message(each.message), each, subject, True, branch)


def _judge(case: MessageCase) -> Iterator[Finding]:
    for rule in load("message"):
        if _in_force(rule, case):
            said = CHECKS[rule.id](rule, case)
            if said is not None:
                yield _finding(rule, case, said)


def _in_force(rule: Rule, case: MessageCase) -> bool:
    is_push = event_of(case.subject.event).request == PUSH
    if case.message.kind != "plain" and not rule.extra.get("every_kind"):
        return False
    if rule.extra.get("style", case.subject.style) != case.subject.style:
        return False
    # A linter of messages, if there is one, tells its own limits itself.
    if rule.extra.get("is_style") and case.subject.style == "plain":
        return False
    if is_push and not rule.extra.get("on_push"):
        return False
    if rule.extra.get("pushed_only") and not is_push:
        return False
    return case.recorded or not rule.extra.get("recorded_only")


def _finding(rule: Rule, case: MessageCase, said: str) -> Finding:
    commit = case.changes.commit if case.recorded else None
    named = re.match(r"Line (\d+) ", said)
    found = rule.finding(
        line=int(named[1]) if named else 1,
        message=said,
        severity=rule.worst if case.branch else None,
        content=case.message.text,
    )
    return replace(found, commit=commit)


def _protected_branches(subject: ReviewInput) -> dict[str | None, str]:
    """Return the protected branch that each commit is pushed to, the first one named."""
    seen = set[str]()
    found = dict[str | None, str]()
    for pushed in subject.pushed:
        branch = pushed.update.remote_ref.removeprefix("refs/heads/")
        if pushed.commits and any(
            fnmatchcase(branch, each) for each in subject.protected_branches
        ):
            found |= dict.fromkeys(pushed.commits.beyond(seen), branch)
    return found


PATTERNS = read_patterns("languages/patterns.toml", "message")


def _subject_long(rule: Rule, case: MessageCase) -> str | None:
    subject = PATTERNS["pull_request"].sub("", case.message.subject)
    is_short = len(subject) <= rule.extra["limit"] or PATTERNS["by_a_program"].match(
        subject
    )
    if is_short:
        return None
    return f"The subject has {len(subject)} characters; most tools cut it at {rule.extra['limit']}."


def _subject_period(_rule: Rule, case: MessageCase) -> str | None:
    subject = PATTERNS["pull_request"].sub("", case.message.subject)
    is_sentence = subject.endswith(".") and " " in subject
    is_sentence = is_sentence and not PATTERNS["abbreviated"].search(subject)
    return "The subject ends with a period." if is_sentence else None


def _unseparated_body(_rule: Rule, case: MessageCase) -> str | None:
    if case.message.body[:1] not in ((), ("",)):
        return "Line 2 is not empty, so Git reads it as a part of the subject."
    return None


def _body_long(rule: Rule, case: MessageCase) -> str | None:
    limit = rule.extra["limit"]
    fenced = False
    first = 0
    number = 0
    for position, line in enumerate(case.message.body, start=2):
        if line.startswith("```"):
            fenced = not fenced
        elif len(line) <= limit or fenced:
            continue
        elif not PATTERNS["unwrappable"].search(line[:2_000]) and not PATTERNS[
            "trailer"
        ].match(line):
            first = first or position
            number = number + 1
    if not number:
        return None
    others = f", and {number - 1} more" if number > 1 else ""
    return f"Line {first} of the message{others} is longer than {limit} characters."


def _says_nothing(rule: Rule, case: MessageCase) -> str | None:
    subject = PATTERNS["type_and_scope"].sub("", case.message.subject, count=1)
    if not subject.isascii() or len(subject) > 40:
        return None
    words = " ".join(re.sub(r"[^a-z0-9 ]+", " ", subject.lower()).split())
    has_words = words and words not in rule.extra["words"]
    is_noise = not has_words or PATTERNS["same_character"].fullmatch(words) is not None
    is_alone = bool(subject) and not re.search(r"[#:\d/]", subject)
    return "The subject does not say what changes." if is_noise and is_alone else None


def _not_utf8(_rule: Rule, case: MessageCase) -> str | None:
    return (
        "The message holds bytes that are not UTF-8."
        if "\ufffd" in case.message.text
        else None
    )


def _empty(_rule: Rule, case: MessageCase) -> str | None:
    return "The commit has no message." if not case.message.subject else None


def _wip_pushed(_rule: Rule, case: MessageCase) -> str | None:
    message = case.message
    where = f"the protected branch {case.branch[:100]}" if case.branch else "the remote"
    if message.kind == "fixup":
        return f"A commit that waits to be folded into another (fixup!, squash! or amend!) goes to {where}."
    subject = PATTERNS["type_and_scope"].sub("", message.subject, count=1)
    texts = (message.subject, subject) if message.kind == "plain" else ()
    signs = (PATTERNS["unfinished"], PATTERNS["unfinished_in_capitals"])
    if any(sign.match(text) for text in texts for sign in signs):
        return f"A commit that calls itself unfinished goes to {where}."
    return None


def _contradicts(_rule: Rule, case: MessageCase) -> str | None:
    return contradiction(
        case.message, case.changes, case.subject, is_recorded=case.recorded
    )


def _conventional_form(_rule: Rule, case: MessageCase) -> str | None:
    subject = case.message.subject
    if not subject or PATTERNS["conventional"].match(subject):
        return None
    return "The subject is not `type: description` or `type(scope): description`."


def _conventional_type(rule: Rule, case: MessageCase) -> str | None:
    match = PATTERNS["conventional"].match(case.message.subject)
    if not match or match[1].lower() in rule.extra["types"]:
        return None
    return f"The type is none of {', '.join(rule.extra['types'])}."


def _conventional_breaking(_rule: Rule, case: MessageCase) -> str | None:
    match = PATTERNS["conventional"].match(case.message.subject)
    if not match or match[2]:
        return None
    known = ("BREAKING CHANGE: ", "BREAKING-CHANGE: ")
    lines = {
        n: line
        for n, line in enumerate(case.message.body, 2)
        if PATTERNS["breaking"].match(line)
    }
    if not lines or any(line.startswith(known) for line in lines.values()):
        return None
    return f"Line {min(lines)} mentions a breaking change in a form that tools do not read."


CHECKS: dict[str, Check] = {
    "message-subject-long": _subject_long,
    "message-subject-period": _subject_period,
    "message-body-long": _body_long,
    "message-says-nothing": _says_nothing,
    "message-not-utf8": _not_utf8,
    "message-empty": _empty,
    "message-wip-pushed": _wip_pushed,
    "message-contradicts-change": _contradicts,
    "message-conventional-form": _conventional_form,
    "message-conventional-type": _conventional_type,
    "message-conventional-body": _unseparated_body,
    "message-conventional-breaking": _conventional_breaking,
}
