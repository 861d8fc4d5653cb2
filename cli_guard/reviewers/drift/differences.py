"""What a change removed, renamed or altered of what its files tell their users."""

import posixpath
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cached_property, partial

from cli_guard.code.classify import is_vendored, unreadable
from cli_guard.code.facts import TABLE as FACTS
from cli_guard.code.facts import Fact, Key, facts_of, may_turn_errors
from cli_guard.code.test_files import EXAMPLE_FOLDERS, is_test_code
from cli_guard.errors import GitError
from cli_guard.lazy import dataclass, frozen
from cli_guard.model import ChangeSet, FileChange, Skipped, Status
from cli_guard.repository.protocol import WithFolders
from cli_guard.reviewers.drift.code_words import (
    build_of,
    find_lost_words,
    is_code,
    is_joined,
)
from cli_guard.reviewers.drift.documents import (
    is_left_out,
    is_page,
    pattern,
    words,
)
from cli_guard.reviewers.drift.links import anchors_of
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules.catalog import read_table

# These belong to a function, and are told of one that is still there.
INNER = ("parameter", "type", "error", "member", "choice")
VALUED = ("flag", "variable", "key", "constant", "parameter", "type", "version")
# All others are gone only if no other owner has them either.
OWNED = (*INNER, "anchor", "file", "module", "exit", "version", "turned")
# Of these only what has another name now is told: another function may raise the error, another file declare it.
UNCLEAR = ("error", "exit", "text", "program", "extra")
COMPUTED = re.compile(r"(?:self|this)\.|None$|nil$|null$|undefined$")
SIMILAR = 0.6
HEADER = 20_000
MOST_FOLDERS = 20
FILE_NAME = re.compile(
    r"[\w.-]{1,60}\.(?:ya?ml|toml|json|ini|cfg|conf|db|sqlite|log|txt)|\.\w{3,30}rc"
)
# A word that is no name of code: a header, a media type, a key of a protocol.
STRING = re.compile(r"[A-Za-z]\w{0,30}(?:[-/:.][\w+]{1,30}){1,6}")
# The same types under their older names: `typing.List` is `list`.
GENERIC = re.compile(r"\b(?:List|Dict|Set|FrozenSet|Tuple|Type)\b")
IMPORTED = re.compile(r'"((?:[\w.~-]{1,60}/){1,12}[\w.~-]{1,60})"\s*$')


@frozen
class DriftDifference:
    """One fact that the change made false.

    `new` is the new name of a renamed one, or the new value of one whose value `altered`; "" if there is none.
    `is_key`: a name that is gone as a parameter is still a key in the changed code.
    `project`: what the project is called.
    """

    fact: Fact
    path: str
    new: str = ""
    altered: bool = False
    is_key: bool = False
    project: frozenset[str] = frozenset()

    @property
    def kind(self) -> str:
        return self.fact.kind

    @property
    def name(self) -> str:
        return self.fact.name

    @property
    def value(self) -> str:
        return self.fact.value

    @property
    def ours(self) -> frozenset[str]:
        """Return the names by which code may say where the fact belongs: packages, module, class."""
        parts = posixpath.splitext(self.path)[0].split("/")
        parts += [part.replace("_", "-") for part in parts] + self.fact.owner.split(".")
        names = {*self.project, *parts} - words("generic_folders")
        return frozenset(name for name in names if name and not name.startswith("-"))

    @property
    def folders(self) -> list[str]:
        """Return what a package of Go may be called, by the whole or a part of its folder; [] if it is none."""
        folder = posixpath.dirname(self.path) if self.path.endswith(".go") else ""
        return re.split(r"[/._-]", folder) if folder else []

    @property
    def owner(self) -> str:
        """Return the function or class that users name for what it belongs to."""
        outer, _, last = self.fact.owner.rpartition(".")
        return (
            outer.rpartition(".")[2]
            if last in ("__init__", "constructor", "initialize", "new")
            else last
        )


@dataclass(frozen=True)
class Sides:
    """One file before and after the change, and its facts; what cannot be parsed is added to `skipped`."""

    subject: ReviewInput
    change: FileChange
    old_text: str
    text: str
    skipped: list[Skipped]

    @cached_property
    def old(self) -> Mapping[Key, Fact]:
        return self._facts(self.change.old_path or self.change.path, self.old_text)

    @cached_property
    def new(self) -> Mapping[Key, Fact]:
        return self._facts(self.change.path, self.text)

    def _facts(self, path: str, text: str) -> Mapping[Key, Fact]:
        if is_page(path):
            return anchors_of(path, text)
        try:
            return facts_of(self.subject.trees, path, text) if text else {}
        except (ValueError, RecursionError) as error:
            self.skipped.append(Skipped(self.change.path, f"drift: {error}"))
            return {}


def read_sides(subject: ReviewInput, skipped: list[Skipped]) -> Iterator[Sides]:
    """Read every changed file that is no test and no example; of one that only adds there is no old side."""
    for change in subject.changes:
        if not change.is_text or not change.hunks or change.status is Status.UNMERGED:
            continue
        if is_page(change.path):
            is_left = is_left_out(change.path)
        else:
            top = change.path.split("/", 1)[0].lower()
            is_left = top in EXAMPLE_FOLDERS or is_test_code(change.path)
        if is_left:
            continue
        old = subject.contents.old(change) if change.removed else ""
        new = "" if change.is_deleted else subject.contents.new(change)
        reasons = (
            unreadable(change.path, text, subject.limits.file_chars)
            for text in (old, new)
            if text
        )
        reason = (
            "whole text not available"
            if old is None or new is None
            else next(filter(None, reasons), "")
        )
        if reason:
            skipped.append(Skipped(change.path, f"drift: {reason}"))
        elif subject.advice.has_room("drift", change.path, len(old or "") + len(new or "")):
            yield Sides(subject, change, old or "", new or "", skipped)


def find_differences(
    subject: ReviewInput, files: Sequence[Sides]
) -> Iterator[DriftDifference]:
    """Yield what is gone, renamed or altered; what another changed file has now is not gone."""
    present: set[tuple[str, str]] = set()
    for sides in files:
        path = sides.change.old_path or sides.change.path
        yield from _find_altered(sides, path)
        gone = [
            fact
            for fact in sides.old.values()
            if fact.key not in sides.new and _is_told_apart(fact, sides)
        ]
        if gone and not present:
            present = {
                (fact.kind, fact.name) for each in files for fact in each.new.values()
            }
        gone = [f for f in gone if f.kind in OWNED or (f.kind, f.name) not in present]
        renamed = dict(_pair(sides, gone))
        for fact in gone:
            new = renamed.get(fact.key, "")
            # A type that is gone went with its parameter, a version elsewhere.
            if fact.kind not in ("type", "version", "turned") and (
                new or fact.kind not in UNCLEAR
            ):
                form = rf"[:\"']{re.escape(fact.name)}\b(?!:)"
                is_key = fact.kind == "parameter" and any(
                    re.search(form, each.text) for each in files
                )
                yield DriftDifference(fact, path, new, is_key=is_key)
        yield from _find_turned_errors(sides, path)
    texts = [
        (each.change.path, "\n".join(each.change.removed.values()), each.text)
        for each in files
    ]
    for word, path in find_lost_words(texts):
        yield DriftDifference(Fact("string", word), path)
    yield from _find_moved_folders(subject)
    yield from _find_go_packages(subject.changes)
    yield from _find_moved_files(subject)


def _find_altered(sides: Sides, path: str) -> Iterator[DriftDifference]:
    """Yield what has another value now, and what that value is to a reader."""
    for key, fact in sides.old.items():
        now = sides.new.get(key)
        if now and fact.kind in VALUED and _differ(fact, now):
            yield DriftDifference(fact, path, now.value, altered=True)
            if kind := _kind_of_value(fact, now, sides):
                yield DriftDifference(Fact(kind, fact.value), path, now.value)


def _find_turned_errors(sides: Sides, path: str) -> Iterator[DriftDifference]:
    """Yield the errors in whose place another one is raised now."""
    # Most files catch no error to raise another: of those that are only added to, nothing more is read.
    facts = sides.new.values() if may_turn_errors(sides.text) else ()
    for fact in facts:
        if fact.kind == "turned" and fact.key not in sides.old:
            yield DriftDifference(replace(fact, kind="error"), path, fact.value)


def _find_moved_files(subject: ReviewInput) -> Iterator[DriftDifference]:
    """Yield what a reader knew of the files that moved or went: their paths, modules and tasks."""
    came = {
        module_of(c.path)
        for c in subject.changes
        if c.status in (Status.ADDED, Status.RENAMED)
    }
    left = {c.path for c in subject.changes if not c.is_deleted}
    for change in subject.changes:
        old = change.old_path or change.path
        if not left.isdisjoint(_parents_of(old)):
            continue  # a symbolic link is where the folder was
        # What is linked may tell of the past: a changelog that moves.
        is_own = is_page(old) and not is_vendored(old)
        if change.is_gone and (is_own or not is_left_out(old)):
            yield from _find_moved(change, came)


def project_names(subject: ReviewInput) -> frozenset[str]:
    """Return what the packages and programs of the project are called."""
    names: set[str] = set()
    for path, form in read_table(FACTS)["project"].items():
        with suppress(GitError):
            for match in re.finditer(form, (subject.text_at(path) or "")[:HEADER]):
                names.update(filter(None, match.groups()))
    return frozenset(
        {*names, *(name.replace("-", "_") for name in names)} - words("generic_folders")
    )


def _differ(old: Fact, new: Fact) -> bool:
    """Return whether both have a value, and another one; of a type that only became wider or narrower, not."""
    if (
        not old.value
        or not new.value
        or old.value == new.value
        or COMPUTED.match(new.value)
    ):
        return False
    if old.kind == "type" and re.fullmatch(
        rf"(?:\[\])?{re.escape(old.value)}(?:\[\])?", new.value
    ):
        return True  # many in place of one
    parts = (
        {*re.findall(r"\w+", GENERIC.sub(_lower, each.value))}
        - {"Union", "Optional", "None"}
        for each in (old, new)
    )
    is_other = (
        next(parts) != next(parts)
        and old.value not in new.value
        and new.value not in old.value
    )
    return old.kind != "type" or is_other


def _lower(found: re.Match[str]) -> str:
    return found[0].lower()


def _kind_of_value(old: Fact, new: Fact, sides: Sides) -> str:
    """Return what the value of a constant is to a reader who knows no constant: a file, a word, an exit code."""
    if all(FILE_NAME.fullmatch(each.value) for each in (old, new)):
        return "file"
    if old.kind != "constant":
        return ""
    line = sides.old_text.split("\n")[old.line - 1]
    if STRING.fullmatch(old.value) and re.search(
        rf"[\"']{re.escape(old.value)}[\"']", line
    ):
        return "string"
    is_exit = pattern("exit_name").search(old.name) is not None
    is_code = all(re.fullmatch(r"[1-9]\d{0,2}", each.value) for each in (old, new))
    return "exit" if is_exit and is_code else ""


def _is_told_apart(fact: Fact, sides: Sides) -> bool:
    """Return whether a fact is told by itself, not only with the file or the function that is gone."""
    if fact.kind in ("anchor", "port", "session"):
        return not sides.change.is_deleted
    return _has_owner(fact, sides)


def _has_owner(fact: Fact, sides: Sides) -> bool:
    """Return whether what a fact belongs to is still there: otherwise that is gone, and told."""
    outer, _, name = fact.owner.rpartition(".")
    if fact.kind not in (*INNER, "function", "class", "constant") or not fact.owner:
        return True
    if fact.kind == "function" and _has_other_head(sides, ("class", name, outer)):
        return False  # it may have the method from a class that it extends now
    return any((kind, name, outer) in sides.new for kind in ("function", "class", "flag"))


def _has_other_head(sides: Sides, owner: Key) -> bool:
    """Return whether the line that begins a class is another one after the change."""
    old = sides.old.get(owner)
    new = sides.new.get(owner)
    if not old or not new:
        return False
    return sides.old_text.split("\n")[old.line - 1] != sides.text.split("\n")[new.line - 1]


def _find_go_packages(changes: ChangeSet) -> Iterator[DriftDifference]:
    """Yield the Go packages that files left, by the paths that the change no longer imports."""
    files = [
        change for change in changes if (change.old_path or change.path).endswith(".go")
    ]
    paths = [each.old_path or each.path for each in files if each.is_gone]
    files = files if paths else []
    removed, added = (
        {
            name
            for each in files
            for line in getattr(each, side).values()
            for name in IMPORTED.findall(line)
        }
        for side in ("removed", "added")
    )
    for folder, path in {posixpath.dirname(path): path for path in paths}.items():
        for name in sorted(removed - added):
            root = name.removesuffix(folder)
            new = [each for each in added - removed if each.startswith(root)]
            if folder and name.endswith(f"/{folder}"):
                yield DriftDifference(
                    Fact("module", name), path, new[0] if len(new) == 1 else ""
                )


def _find_moved_folders(subject: ReviewInput) -> Iterator[DriftDifference]:
    """Yield the folders of which every file went to one other folder; the names below them are as before."""
    moves = defaultdict[str, Counter[str]](Counter)
    for change in subject.changes:
        if change.status is Status.RENAMED and change.old_path:
            for old, new in _folders_of(change.old_path, change.path):
                moves[old][new] += 1
    alone = [old for old in sorted(moves) if len(moves[old]) == 1 < moves[old].total()]
    left = {each.path for each in subject.changes if not each.is_deleted}
    done: list[str] = []
    for old in alone[:MOST_FOLDERS]:
        is_inside = any(old.startswith(f"{each}/") for each in done)
        # A symbolic link in its place keeps every path.
        is_linked = not left.isdisjoint({old, *_parents_of(old)})
        if not is_inside and not is_linked and not _has_files(subject, old):
            done.append(old)
            yield DriftDifference(Fact("folder", old), f"{old}/", next(iter(moves[old])))


def _parents_of(path: str) -> set[str]:
    parts = path.split("/")
    return {"/".join(parts[:end]) for end in range(1, len(parts))}


def _folders_of(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield what a moved file says of folders: each that holds it, with the one in which it has the same rest."""
    before = old.split("/")[:-1]
    after = new.split("/")[:-1]
    if posixpath.basename(old) != posixpath.basename(new):
        return
    while before and after:
        yield "/".join(before), "/".join(after)
        if before.pop() != after.pop():
            return


def _has_files(subject: ReviewInput, folder: str) -> bool:
    """Return whether a folder still holds files after the change, or nobody can tell."""
    contents = subject.contents
    with suppress(GitError):
        return not isinstance(contents, WithFolders) or contents.has_files_in(folder)
    return True


def _find_moved(change: FileChange, came: set[str]) -> Iterator[DriftDifference]:
    old = change.old_path or change.path
    new = change.path if change.status is Status.RENAMED else ""
    if build := build_of(old):
        yield DriftDifference(Fact("badge", build), old, build_of(new))
    stem = posixpath.splitext(posixpath.basename(old))[0]
    new_stem = posixpath.splitext(posixpath.basename(new))[0]
    if stem != new_stem and is_code(old) and is_joined(stem):
        yield DriftDifference(Fact("string", stem), old, new_stem)
    yield DriftDifference(Fact("file", old), old, new)
    if "/management/commands/" in old:  # of Django
        yield DriftDifference(
            Fact("task", posixpath.basename(old)[:-3]), old, posixpath.basename(new)[:-3]
        )
    module = module_of(old)
    if module and module not in came:
        yield DriftDifference(Fact("module", module), old, module_of(new))


def module_of(path: str) -> str:
    """Return the name of two parts or more under which Python or Ruby imports a file, "" if there is none."""
    parts = posixpath.splitext(path)[0].split("/")
    parts = parts[1:] if parts[0] in ("src", "lib") else parts
    if path.endswith(".rb"):
        return "/".join(parts) if len(parts) > 1 else ""
    parts = parts[:-1] if parts[-1:] == ["__init__"] else parts
    return ".".join(parts) if path.endswith(".py") and len(parts) > 1 else ""


def _pair(sides: Sides, gone: list[Fact]) -> Iterator[tuple[Key, str]]:
    """Pair what went with what came: the only ones of a kind in one place, or similar names."""
    went = defaultdict(list)
    came = defaultdict(list)
    for fact in gone:
        went[fact.kind, fact.owner].append(fact)
    for fact in sides.new.values() if gone else ():
        if fact.key not in sides.old:
            came[fact.kind, fact.owner].append(fact)
    for place, facts in went.items():
        left = came[place]
        for fact in facts:
            near = [each for each in left if _is_in_place(sides.change, fact, each)]
            best = [each for each in near or left if _similarity(fact, each) >= SIMILAR]
            if fact.kind == "variable":  # another prefix of all
                tail = fact.name[fact.name.find("_") :]
                best = [
                    each
                    for each in left
                    if each.line == fact.line and each.name.endswith(tail)
                ] or best
            if len(facts) == 1 and (
                len(near) == 1 or (len(left) == 1 and fact.kind in INNER)
            ):
                best = near or left
            if best:
                chosen = max(best, key=partial(_similarity, fact))
                left.remove(chosen)
                yield fact.key, chosen.name


def _is_in_place(change: FileChange, old: Fact, new: Fact) -> bool:
    return any(
        hunk.old_start <= old.line < hunk.old_start + len(hunk.removed)
        and hunk.new_start <= new.line < hunk.new_start + len(hunk.added)
        for hunk in change.hunks
    )


def _similarity(one: Fact, other: Fact) -> float:
    return SequenceMatcher(
        None, one.name.lower(), other.name.lower(), autojunk=False
    ).ratio()
