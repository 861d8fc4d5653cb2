"""Changes to how the guard is called: every edit of a call asks, unless all that decides how it runs is equal.

`documents` and `texts` read what a file is into its calls, each with its surroundings; `values` compares them.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from posixpath import basename

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Finding, Kind, Status
from cli_guard.reviewers.call_sites import documents, texts
from cli_guard.reviewers.call_sites.values import (
    MENTION,
    Sites,
    TooMuchError,
    Values,
    differing_keys,
)
from cli_guard.reviewers.commands.extract import read_document
from cli_guard.reviewers.commands.extract.known import YAML, path
from cli_guard.reviewers.commands.extract.line_files import PATTERNS, is_script
from cli_guard.reviewers.commands.extract.nodes import tables
from cli_guard.reviewers.commands.extract.snippet import shell_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import one

WORKFLOWS = path(rf"\.(?:github|gitea|forgejo)/workflows/[^/]+{YAML}")
DOCUMENTS: tuple[tuple[re.Pattern[str], documents.CallLayout], ...] = (
    (WORKFLOWS, documents.WORKFLOW),
    (path(rf"action{YAML}"), documents.WORKFLOW),
    (
        path(rf"[^/]*\.gitlab-ci{YAML}|\.gitlab/ci/(?:.+/)?[^/]+{YAML}|ci/gitlab{YAML}"),
        documents.GITLAB,
    ),
    (path(rf"\.pre-commit-(?:config|hooks){YAML}|prek\.toml"), documents.HOOKS),
    (path(r"\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)"), documents.LEFTHOOK),
    (path(r"package\.json"), documents.PACKAGE),
    (
        path(
            rf"[^/]*(?:azure|bitbucket)-pipelines[^/]*{YAML}|\.(?:travis|drone|woodpecker|appveyor){YAML}"
            rf"|\.(?:circleci|woodpecker|semaphore|buildkite)/(?:.+/)?[^/]+{YAML}|cloudbuild[^/]*{YAML}"
        ),
        documents.WHOLE,
    ),
)
TEXTS: tuple[tuple[re.Pattern[str], Callable[[Values, str, str], Sites]], ...] = (
    (path(r"(?:gnu|bsd)?makefile|[^/]+\.mk"), texts.makefile),
    (path(r"jenkinsfile(?:\.[^/]*)?|\.?justfile|Taskfile\.ya?ml"), texts.whole_text),
)
# What may be a file of the repository that a call runs: `ci/guard.sh`, `./.github/workflows/guard.yml`.
RUNNERS = (
    (
        re.compile(r"(?:\bmake|\$[({]MAKE[)}])\s+(?:(?:-\S+|\w+=\S*)\s+){0,9}([\w.-]+)"),
        "Makefile",
        "target ",
    ),
    (
        re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?([\w:.-]+)"),
        "package.json",
        "script ",
    ),
)
# A new file that its program reads in place of another one.
SHADOWS = {
    "GNUmakefile": ("makefile", "Makefile"),
    "makefile": ("Makefile",),
    "prek.toml": (".pre-commit-config.yaml",),
    "lefthook-local.yml": ("lefthook.yml", "lefthook.yaml", ".lefthook.yml"),
}
PATH = re.compile(r"(?<![\w./:@-])(?:\./)?((?:[\w.-]+/)*[\w.-]+)")
ACTIONS = ("", "/action.yml", "/action.yaml")
MOST_PATHS = 200
SHOWN = 3


@frozen
class Calls:
    """The calls of one file, and why the rest of it cannot be read."""

    sites: Sites
    problem: str = ""


def review_calls(subject: ReviewInput) -> Iterator[Finding]:
    """Report each file in which the change takes a call of the guard away, or changes what decides how it runs."""
    caller = GuardCalls(subject)
    for change in subject.changes:
        is_new = change.is_new
        if not (is_new or change.read_as) and may_call(change.old_path or change.path):
            yield from review_caller(subject, change, caller.calls)
        if is_new or change.status is Status.RENAMED:
            for other in SHADOWS.get(change.path, ()):
                if caller.sites_of(other):
                    told = (
                        f"{change.path} is used in place of {other}, which calls cli-guard"
                    )
                    yield finding(change.path, min(change.added, default=None), told, told)


def may_call(file: str) -> bool:
    """Return whether a file is one from which programs are called, by its path; a script may have no ending."""
    kinds = (
        PATTERNS["scripts"],
        PATTERNS["hooks"],
        *(paths for paths, _ in (*TEXTS, *DOCUMENTS)),
    )
    return "." not in basename(file) or any(paths.search(file) for paths in kinds)


def review_caller(
    subject: ReviewInput, change: FileChange, calls: Callable[[str], bool]
) -> Iterator[Finding]:
    """Report what a change does to the calls of one file."""
    before = change.old_path or change.path
    # Bytes that are no text do not take a file away from the program that reads it.
    change = replace(change, kind=Kind.TEXT) if change.kind is Kind.BINARY else change
    old = subject.contents.old(change)
    if old is None:
        yield from review_lines(change, before)
        return
    was = read_calls(before, old, calls)
    if not was.sites:
        return
    new = None if change.is_deleted else subject.contents.new(change)
    if new is not None and is_moved(before, change.path):
        becomes = Calls({})
        told = f"{before} calls cli-guard; it is now {change.path}, which nothing runs"
    else:
        becomes = read_calls(change.path, new or "", calls)
        told = ""
    is_off = (
        change.old_mode == "100755"
        and change.new_mode == "100644"
        and PATTERNS["hooks"].search(before)
    )
    if is_off and ".husky/" not in before:
        told = (
            f"{before} calls cli-guard and is no longer executable, so Git does not run it"
        )
    if becomes.problem and not was.problem:
        told = f"{before} calls cli-guard and can no longer be read: {becomes.problem}"
    differences = list(compare(was.sites, becomes.sites))
    if told or differences:
        first, line = differences[0] if differences else ("", None)
        more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
        at = line if line in change.added else min(change.added, default=None)
        content = "\n".join(each for each, _ in differences) + told
        yield finding(
            change.path,
            at,
            told or first + more,
            f"{content}\n{sorted_digests(becomes.sites)}",
        )


def compare(was: Sites, becomes: Sites) -> Iterator[tuple[str, int | None]]:
    """Say what changes at each call, with the line of the first change; new calls may come."""
    for name, own in was.items():
        if name not in becomes:
            line = min((value.line for value in own.values() if value.line), default=None)
            where = f" on line {line} before this change" if line else ""
            yield (
                f"takes {name} away, which calls cli-guard or decides whether it runs{where}",
                None,
            )
            continue
        if changed := differing_keys(own, becomes[name]):
            shown = ", ".join(filter(None, changed[:SHOWN])) or "its text"
            more = f", and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
            value = becomes[name].get(changed[0])
            yield (
                f"changes how cli-guard is called, in {name}: {shown}{more}",
                value.line if value else None,
            )


def sorted_digests(sites: Sites) -> list[tuple[str, str]]:
    return [
        (key, value.digest) for own in sites.values() for key, value in sorted(own.items())
    ]


def read_calls(file: str, text: str, calls: Callable[[str], bool]) -> Calls:
    """Return the calls in a file by its path, none in a file that nothing runs or reads."""
    values = Values(calls)
    if not (may_call(file) and calls(text)):
        return Calls({})
    try:
        if is_script(file, text):
            return Calls(texts.script(values, file, text))
        for paths, read in TEXTS:
            if paths.search(file):
                return Calls(read(values, file, text))
        for paths, layout in DOCUMENTS:
            if paths.search(file):
                document = read_document(file, text)
                named = (table.text("shell") for table in tables(document.roots))
                values.is_shell = all(shell_of(each) == "sh" for each in named if each)
                return Calls(
                    documents.read_document(values, document, layout), document.problem
                )
    except TooMuchError as error:
        return Calls({}, str(error))
    return Calls({})


def is_moved(before: str, after: str) -> bool:
    """Return whether a file moves away from where it is found: by its path, a workflow in its folder by any name."""
    if before == after:
        return False
    if PATTERNS["hooks"].search(before) and PATTERNS["hooks"].search(after):
        return basename(before) != basename(after)
    same_folder = before.rpartition("/")[0] == after.rpartition("/")[0]
    return not (same_folder and WORKFLOWS.search(before) and WORKFLOWS.search(after))


def review_lines(change: FileChange, before: str) -> Iterator[Finding]:
    """Report a bare patch, which shows only its lines, if it takes one away that names the guard."""
    left = {text.strip() for text in change.added.values()}
    lost = [
        (number, text)
        for number, text in change.removed.items()
        if MENTION.search(text)
        and text.strip() not in left
        and not text.lstrip().startswith("#")
    ]
    if lost and may_call(before):
        told = f"changes line {lost[0][0]} before this change, which calls cli-guard"
        yield finding(
            change.path,
            min(change.added, default=None),
            told,
            "\n".join(text for _, text in lost),
        )


def finding(file: str, line: int | None, message: str, content: str) -> Finding:
    return one("policy", "policy-hook-removed").finding(
        path=file, line=line, message=message, content=content
    )


class GuardCalls:
    """Tells whether a text calls the guard, itself or by a file of the repository that names the guard."""

    def __init__(self, subject: ReviewInput) -> None:
        self.subject = subject
        self.known: dict[str, Sites] = {}

    def calls(self, text: str) -> bool:
        """Return whether a text names the guard, or a file that names it."""
        if MENTION.search(text):
            return True
        for pattern, file, prefix in RUNNERS:
            for found in pattern.finditer(text):
                if any(
                    f"{site},".startswith(f"{prefix}{found[1]},")
                    for site in self.sites_of(file)
                ):
                    return True
        named = {
            found[1].rstrip(".")
            for found in PATH.finditer(text)
            if "/" in found[1] or "." in found[1]
        }
        return any(
            self.sites_of(each + ending) for each in sorted(named) for ending in ACTIONS
        )

    def sites_of(self, file: str) -> Sites:
        """Return the calls in a file of the repository after the change."""
        if file not in self.known and len(self.known) < MOST_PATHS:
            text = self.subject.text_at(file) if may_call(file) else None
            self.known[file] = read_calls(file, text, names_guard).sites if text else {}
        return self.known.get(file, {})


def names_guard(text: str) -> bool:
    return MENTION.search(text) is not None
