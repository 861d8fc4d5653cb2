"""Answers a request about the recorded history from Git: who, when, why, and what changed, on any revision.

request -> HistoryRequest -> its subject (files, the lines of a definition, a text, words) -> commits -> lines
"""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from cli_guard.assistant.changed_symbols import list_changed_symbols
from cli_guard.assistant.explaining_files import Explainer
from cli_guard.assistant.history_request import HistoryRequest
from cli_guard.assistant.replies import count_of, first_of
from cli_guard.assistant.retrieval.path_kinds import kind_of
from cli_guard.assistant.stems import stems_of
from cli_guard.code.definitions import find_definitions
from cli_guard.lazy import dataclass, frozen
from cli_guard.repository.protocol import CommitFile, LoggedCommit, Repository

LISTED = 10
MOST_LISTED = 30
MOST_READ = 2_000
FILES = 20
BODY_LINES = 6
AUTHORS = 3
SHORT_ID = 7
WIDTH = 100
MOST_LINES = 39
# The share of the words of a request, by rarity, that the commit which is meant has to hold.
ENOUGH = 0.5
DAY = re.compile(r"\d{4}-\d\d-\d\d")
DATE = re.compile(
    r"\d{4}-\d\d-\d\d|\d+ \w+ ago|last \w+day|midnight|yesterday(?:\.midnight)?|[a-z]+day"
)
HOURS = {"since": " 00:00:00", "until": " 23:59:59"}
STATUS = {"A": "new ", "D": "removed ", "R": "renamed ", "C": "copied "}


@frozen
class HistorySubject:
    """What the commits are about: files, the lines of a definition in one, a text that was in any file, or `found`."""

    name: str = ""
    paths: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    text: str = ""
    found: tuple[LoggedCommit, ...] = ()

    @property
    def about(self) -> str:
        return f" of {self.name}" if self.name else ""

    @property
    def selection(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the options and the paths for git-log(1)."""
        if self.span:
            return (f"-L{self.span[0]},{self.span[1]}:{self.paths[0]}",), ()
        if self.text:
            return (f"-S{self.text}",), self.paths
        return ("--follow",) * (len(self.paths) == 1 and "." in self.paths[0]), self.paths


@dataclass
class HistoryReader:
    """One request over the history of a revision; `allowed` are the only paths to speak of (None: all)."""

    request: HistoryRequest
    repository: Repository
    texts: Mapping[str, str]
    revision: str
    allowed: Collection[str] | None

    def __post_init__(self) -> None:
        self.tip = self.resolve(self.request.revision or self.revision)

    def answer(self) -> Iterator[str]:
        """Yield the lines of the answer; none if nothing in the history fits. Raises GitError, UsageError."""
        request = self.request
        names = self.request.names
        if request.place:
            yield from self.answer_lines(*request.place)
            return
        is_narrowed = names.paths or names.symbols or request.author
        if request.revision and request.kind != "list" and not is_narrowed:
            yield from self.describe(self.tip)
        elif subject := self.find_subject():
            listing = request.kind in ("list", "changed", "files", "blame")
            yield from self.list_commits(subject) if listing else self.tell_commit(subject)

    def answer_lines(self, path: str, first: int, last: int) -> Iterator[str]:
        """Yield some lines, each with the commit that last changed it, and these commits."""
        raw = self.repository.show(self.tip, path)
        text = (raw or b"").decode("utf-8", "replace").removesuffix("\n").split("\n")
        if raw is None or first > len(text):
            why = f"has {count_of(len(text), 'line')}" if raw else "is not there"
            yield f"{path} {why} at {self.tip[:SHORT_ID]}: there is no line {first} to look at."
            return
        ids = self.repository.blame(
            self.tip, path, first, min(last, len(text), first + LISTED)
        )
        for number, oid in enumerate(ids, first):
            yield f"{path}:{number}: {oid[:SHORT_ID]} {text[number - 1].strip()}"
        for oid in dict.fromkeys(ids):
            yield from self.describe(oid)

    def tell_commit(self, subject: HistorySubject) -> Iterator[str]:
        """Yield the commit that a request wants: the first, the last, that of a removal; then the others."""
        request = self.request
        commits = self.load(subject, MOST_READ)
        if not commits:
            return
        renames = (
            each for each in commits if any(file.status == "R" for file in each.files)
        )
        chosen = commits[-1 if request.wants == "added" else 0]
        chosen = next(renames, chosen) if request.wants == "renamed" else chosen
        yield from self.describe(chosen.oid)
        others = [each for each in commits if each is not chosen]
        if others and request.kind == "why" and chosen is not commits[0]:
            yield from self.describe(others.pop(0).oid)
        if others:
            yield f"{count_of(len(others), 'other commit')}{subject.about}:"
            yield from (f"  {commit_line(each)}" for each in others[: LISTED // 2])
        if request.kind == "who":
            authors = Counter(each.author for each in commits).most_common(AUTHORS)
            yield "Commits: " + ", ".join(f"{name} {number}" for name, number in authors)

    def list_commits(self, subject: HistorySubject) -> Iterator[str]:
        """Yield commits, the newest first, and what they changed."""
        request = self.request
        most = min(request.count or LISTED, MOST_LISTED)
        commits = self.load(
            subject, MOST_READ if request.kind == "files" or not request.count else most
        )
        if not commits:
            yield f"No commit{subject.about}{self.bounds}."
        elif len(commits) == 1 or (request.count == 1):
            yield from self.describe(commits[0].oid)
        else:
            least = "At least " if len(commits) == MOST_READ else ""
            yield f"{least}{count_of(len(commits), 'commit')}{subject.about}{self.bounds}:"
            yield from (f"  {commit_line(each)}" for each in commits[:most])
            if len(commits) > most:
                yield f"  and {len(commits) - most} older"
            if request.kind != "list":
                yield from self.sum_files(commits)
            if subject.paths and request.kind == "changed":
                yield "The last of them:"
                yield from self.describe(commits[0].oid, only=subject.paths)

    @property
    def bounds(self) -> str:
        """Return the bounds of the request in words."""
        request = self.request
        said = {"by": request.author, "since": request.since, "until": request.until}
        return "".join(f" {word} {value}" for word, value in said.items() if value)

    def sum_files(self, commits: Sequence[LoggedCommit]) -> Iterator[str]:
        """Yield the files of some commits, the most often changed first."""
        times = Counter(file.path for each in commits for file in self.visible(each.files))
        if times:
            yield from wrap_items(
                f"{count_of(len(times), 'file')}: ",
                [path for path, _ in times.most_common()],
            )

    def describe(self, oid: str, only: Collection[str] = ()) -> Iterator[str]:
        """Yield a commit: its line, the beginning of its message, its files and the definitions that it changed."""
        commit = self.repository.log("--no-walk", tips=[oid], count=1)[0]
        yield commit_line(commit)
        body = [line for line in commit.body.split("\n") if line.strip()]
        yield from (f"    {line.strip()}" for line in body[:BODY_LINES])
        if len(body) > BODY_LINES:
            yield f"    and {count_of(len(body) - BODY_LINES, 'more line')}"
        if len(commit.parents) > 1:
            yield "  a merge of " + " and ".join(
                parent[:SHORT_ID] for parent in commit.parents
            )
        files = self.visible(commit.files)
        if files:
            yield from wrap_items(
                "  files: ", [STATUS.get(file.status, "") + file.path for file in files]
            )
        left_out = len(commit.files) - len(files)
        if left_out:
            yield f"  and {count_of(left_out, 'file')} outside of --path"
        chosen = [file.path for file in files if not only or file.path in only][:FILES]
        yield from (
            f"  {line}" for line in list_changed_symbols(self.repository, oid, chosen)
        )

    def visible(self, files: Iterable[CommitFile]) -> list[CommitFile]:
        """Return the files that may be shown, the source first."""
        kept = (file for file in files if self.allowed is None or file.path in self.allowed)
        return sorted(kept, key=lambda file: (kind_of(file.path) != "source", file.path))

    def load(self, subject: HistorySubject, most: int) -> list[LoggedCommit]:
        """Return the commits of a subject within the bounds of the request, the newest first."""
        if subject.found:
            return list(subject.found)
        request = self.request
        options, paths = subject.selection
        tips = [self.tip]
        bounds = []
        for name, word in (("since", request.since), ("until", request.until)):
            if DATE.fullmatch(word):
                # Git takes a day alone for that day at the present hour.
                hour = HOURS[name] if DAY.fullmatch(word) else ""
                bounds.append(f"--{name}={word}{hour}")
            elif word and name == "since":
                tips.append(f"^{self.resolve(word)}")
            elif word:
                tips[0] = self.resolve(word)
        if request.author:
            bounds += [
                "--regexp-ignore-case",
                "--fixed-strings",
                f"--author={request.author}",
            ]
        if self.allowed is not None and not subject.paths:
            paths = tuple(self.allowed)
        shown = (*bounds, *options)
        return self.repository.log(
            *shown,
            tips=tips,
            count=most,
            paths=paths,
            files=not subject.span,
        )

    def resolve(self, revision: str) -> str:
        """Return the id of a commit; "release" is the last tag. Raises UsageError."""
        if revision.rpartition(" ")[2] in ("release", "tag", "version"):
            revision = (
                self.repository.git.optional("describe", "--tags", "--abbrev=0", "HEAD")
                or revision
            )
        return self.repository.resolve(revision)

    def find_subject(self) -> HistorySubject | None:
        """Find what the request names in the history; None if nothing there fits it."""
        request = self.request
        names = self.request.names
        quoted = (*request.texts, *names.symbols)
        for name in (*names.symbols, *(request.words[:3] if names.paths else ())):
            if found := self.find_definition(name, names.paths):
                return found
        if names.ambiguous:
            return HistorySubject(*names.ambiguous[0])
        if names.paths and not quoted:
            return HistorySubject(first_of(names.paths, 3), names.paths)
        if names.missing and not quoted:
            return HistorySubject(names.missing[0], names.missing)
        for text in quoted:
            exact = HistorySubject(f'"{text}"', names.paths, text=text)
            if (text in request.texts or len(request.words) < 2) and self.load(exact, 1):
                return exact
        words = (*request.words, *quoted)
        if not words:
            return HistorySubject()
        if len(request.words) == 1 and (
            found := self.find_definition(request.words[0], ())
        ):
            return found
        return self.find_by_words(words)

    def find_definition(self, name: str, paths: Sequence[str]) -> HistorySubject | None:
        """Find the definition of a name at the revision; one in the source comes before one in a test."""
        for path, known in Explainer(self.texts).find_definitions(name):
            if not paths or path in paths:
                there = (self.repository.show(self.tip, path) or b"").decode(
                    "utf-8", "replace"
                )
                same = (
                    each
                    for each in find_definitions(path, there)
                    if each.qualname == known.qualname
                )
                if found := next(same, None):
                    title = f"{found.qualname} ({path}:{found.line})"
                    return HistorySubject(title, (path,), (found.line, found.end_line))
        return None

    def find_by_words(self, words: Sequence[str]) -> HistorySubject | None:
        """Find the commit whose message and files hold the most of some words; or the text, if it is one word."""
        wanted = {each for word in words for each in stems_of(word)}
        held = []
        for each in self.load(HistorySubject(), MOST_READ):
            paths = (file.path for file in each.files[:FILES])
            held.append(
                (
                    each,
                    wanted.intersection(
                        stems_of(" ".join((each.subject, each.body, *paths)))
                    ),
                )
            )
        spread = Counter(word for _, have in held for word in have)
        weight = {word: (1 + spread[word]) ** -0.5 for word in wanted}
        points = [(sum(weight[word] for word in have), each) for each, have in held]
        best = max(points, key=lambda each: each[0], default=None)
        if best is not None and best[0] >= ENOUGH * sum(weight.values()):
            near = (each for score, each in points if score == best[0])
            return HistorySubject(found=tuple(near)[:LISTED])
        exact = HistorySubject(f'"{words[0]}"', text=words[0])
        return (
            exact if len(words) == 1 and len(words[0]) > 3 and self.load(exact, 1) else None
        )


def answer_history(
    request: HistoryRequest,
    repository: Repository | None,
    texts: Mapping[str, str],
    revision: str = "HEAD",
    allowed: Collection[str] | None = None,
) -> tuple[str, ...]:
    """Return the lines of the answer; none if nothing in the history fits. Raises GitError, UsageError."""
    if not repository:
        return ("There is no history here: these files are held in memory.",)
    if repository.head is None:
        return ("There is no commit yet: the history begins with the first one.",)
    repository = repository.through_gitpython()
    lines = tuple(
        islice(
            HistoryReader(request, repository, texts, revision, allowed).answer(),
            MOST_LINES,
        )
    )
    if lines and repository.is_shallow:
        return (
            *lines,
            "This clone is shallow: older commits are not in it (`git fetch --unshallow`).",
        )
    return lines


def commit_line(commit: LoggedCommit) -> str:
    """Return the day, the short id, the author and the subject of a commit."""
    return f"{commit.date} {commit.oid[:SHORT_ID]} {commit.author}: {commit.subject}"


def wrap_items(label: str, items: Sequence[str]) -> Iterator[str]:
    """Yield at most 20 items on lines of some 100 characters."""
    indent = " " * len(label)
    shown = first_of(items, FILES)
    yield from textwrap.wrap(
        label + shown,
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
