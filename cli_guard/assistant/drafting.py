"""Drafts the message of a change: its type, its scope, what it does to which definitions, within 72 characters."""

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from cli_guard.assistant.changed_symbols import find_changed_symbols
from cli_guard.code.test_files import is_test_code
from cli_guard.lazy import frozen
from cli_guard.model import Contents, FileChange, Kind, Status
from cli_guard.reviewers.dependencies.changes import DependencyChange, find_differences
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_patterns

SUBJECT_CHARS = 72
BODY_LINES = 6
NAMES_SHOWN = 4
# Files whose definitions are compared; the others are named as such.
COMPARED = 40
# Beyond this many files no content is read: their paths have to do.
MOST_READ = 300
VERBS = ("add", "remove", "rename", "bump", "change", "update")
CONVENTIONAL = read_patterns("languages/patterns.toml", "message")["conventional"]
PROSE = re.compile(r"(?i)\.(?:md|rst|adoc|txt)$|(?:^|/)docs?/")
AUTOMATION = re.compile(
    r"^\.github/workflows/|^\.gitlab-ci|(?:^|/)Jenkinsfile$|^\.circleci/"
)
SCOPE = re.compile(r"\w+\(([\w-]+)\)!?: ")
# Folders that say nothing about what is in them.
PLAIN_FOLDERS = frozenset("src lib app pkg packages internal cmd tests test docs".split())


@frozen
class FileDraft:
    """What a change does to one file: the names of each verb, in the order of `VERBS`."""

    path: str
    done: Mapping[str, tuple[str, ...]]

    def __str__(self) -> str:
        return f"{self.path}: " + "; ".join(
            f"{verb} {join(names)}" for verb, names in self.done.items()
        )


@frozen
class MessageDraft:
    """A drafted message: the subject, and a line of the body for each of the first files."""

    subject: str
    body: tuple[str, ...]


def draft_message(subject: ReviewInput, history: Sequence[str]) -> MessageDraft:
    """Draft a message for a change, in the style of the policy or of most of the last subjects in `history`."""
    changes = [each for each in subject.changes if not each.read_as]
    differences = find_differences(subject, []) if len(changes) <= MOST_READ else ()
    bumped = {each.path: bumps_of(each) for each in differences}
    drafts = [
        describe_file(
            each,
            subject.contents,
            bumped.get(each.path, {}),
            compared=at < COMPARED and len(changes) <= MOST_READ,
        )
        for at, each in enumerate(changes)
    ]
    done = [CONVENTIONAL.match(line) for line in history]
    conventional = subject.style == "conventional" or sum(map(bool, done)) * 2 > len(
        history
    )
    prefix = ""
    if conventional:
        used = {found[1] for line in history if (found := SCOPE.match(line))}
        scope = scope_of(changes, used) if used or not any(done) else ""
        kind = type_of(changes, drafts)
        prefix = kind + (f"({scope})" if scope and kind != "ci" else "") + ": "
    small = conventional or sum(line[:1].islower() for line in history) * 2 > len(history)
    text = summarise(leading(drafts), SUBJECT_CHARS - len(prefix))
    shown = [f"- {each}" for each in drafts[: BODY_LINES - (len(drafts) > BODY_LINES)]]
    if more := len(drafts) - len(shown):
        shown.append(f"- and {more} more files")
    return MessageDraft(
        prefix + (text if small else text[:1].upper() + text[1:]),
        tuple(shown) if len(drafts) > 1 else (),
    )


def describe_file(
    change: FileChange,
    contents: Contents,
    bumped: Mapping[str, tuple[str, ...]],
    *,
    compared: bool,
) -> FileDraft:
    """Say what a change does to a file: to its dependencies, its definitions, or the file as such."""
    name = posixpath.basename(change.path)
    if bumped:
        return FileDraft(change.path, bumped)
    if change.status in (Status.ADDED, Status.DELETED):
        return FileDraft(
            change.path, {"add" if change.status is Status.ADDED else "remove": (name,)}
        )
    if change.status is Status.RENAMED and not change.hunks:
        return FileDraft(change.path, {"rename": (f"{change.old_path} to {name}",)})
    found = (
        find_changed_symbols(change, contents)
        if compared and change.kind is Kind.TEXT
        else {}
    )
    return FileDraft(change.path, found or {"update": (name,)})


def bumps_of(difference: DependencyChange) -> dict[str, tuple[str, ...]]:
    """Name the dependencies that a manifest adds, removes or moves to another version; a lock file follows it."""
    if (
        difference.is_lock
        or difference.is_new
        or difference.change.status is Status.DELETED
    ):
        return {}
    if any(entry.is_setting for _, entry in difference.pairs):
        return {}
    moved = [(was, now) for was, now in difference.pairs if was and was.spec != now.spec]
    found = {
        "add": [now.name for was, now in difference.pairs if not was],
        "remove": [each.name for each in difference.removals if not each.is_setting],
        "bump": [
            f"{now.name} from {was.spec.lstrip('=^~>')} to {now.spec.lstrip('=^~>')}"
            for was, now in moved
        ],
    }
    return {verb: tuple(names) for verb, names in found.items() if names}


def leading(drafts: Sequence[FileDraft]) -> list[FileDraft]:
    """Return what a subject speaks of: the code if there is any, else the tests, else all."""
    code = [
        each
        for each in drafts
        if not is_test_code(each.path) and not PROSE.search(each.path)
    ]
    return code or [each for each in drafts if is_test_code(each.path)] or list(drafts)


def summarise(drafts: Sequence[FileDraft], room: int) -> str:
    """Say on one line of at most `room` characters what is done, with as many names as fit."""
    names = {
        verb: [name for each in drafts for name in each.done.get(verb, ())]
        for verb in VERBS
    }
    done = {verb: list(dict.fromkeys(found)) for verb, found in names.items() if found}
    for most in range(NAMES_SHOWN, 0, -1):
        for verbs in (list(done), list(done)[:1]):
            text = " and ".join(f"{verb} {join(done[verb], most)}" for verb in verbs)
            if len(text) <= room:
                return text
    folder = (
        posixpath.commonpath([posixpath.dirname(each.path) for each in drafts])
        if drafts
        else ""
    )
    several = f"{len(drafts)} files" if len(drafts) > 1 else "a file"
    text = f"{next(iter(done), 'change')} {several}"
    placed = f"{text} in {folder}" if folder else text
    return placed if len(placed) <= room else text


def join(names: Sequence[str], most: int = NAMES_SHOWN) -> str:
    """Return `a, b and c`, `a, b and 3 more`."""
    shown = list(names[:most])
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def type_of(changes: Sequence[FileChange], drafts: Sequence[FileDraft]) -> str:
    """Return the type of Conventional Commits 1.0.0 that the files and what is done to them speak for."""
    paths = [each.path for each in changes]
    for name, fits in (
        ("docs", PROSE.search),
        ("test", is_test_code),
        ("ci", AUTOMATION.search),
    ):
        if all(map(fits, paths)):
            return name
    verbs = {verb for each in leading(drafts) for verb in each.done}
    if "bump" in verbs and verbs <= {"bump", "update"}:
        return "build"
    if "add" in verbs:
        return "feat"
    return "refactor" if verbs <= {"rename", "remove"} else "fix"


def scope_of(changes: Iterable[FileChange], used: Collection[str]) -> str:
    """Return the folder of all files of code: one that was a scope before, else one inside of the package, else ""."""
    paths = [
        each.path
        for each in changes
        if not is_test_code(each.path) and not PROSE.search(each.path)
    ]
    parts = (
        posixpath.commonpath([posixpath.dirname(path) for path in paths]).split("/")
        if paths
        else []
    )
    below = [
        part
        for part in parts
        if part and part not in PLAIN_FOLDERS and not part.startswith(".")
    ]
    name = next(
        (part for part in reversed(parts) if part in used),
        "" if len(below) < 2 else below[-1],
    )
    return name if re.fullmatch(r"[\w-]{1,24}", name) else ""
