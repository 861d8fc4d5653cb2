"""What the judge says that a script does: the one place of the oracle that knows the engine."""

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from bash_oracle.runner import TREES

from cli_guard.commands.engine import judge, walk
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.model import Context, EffectKind, Profile, WorkTree
from cli_guard.model import Decision

HOME = "/home/ada"
# The characters from which on a word with a pattern is not known.
SPECIAL = "*?[\\"


@dataclass(frozen=True)
class Word:
    """One word of a command as the judge names it.

    `text` is None if it is not known before the command runs; `start` is its known beginning. `many`: it stands for any
    number of words. `may_miss`: it may be absent. `may_be_option`: the judge has counted it among the possible options.
    """

    text: str | None
    start: str = ""
    many: bool = False
    may_miss: bool = False
    may_be_option: bool = False


@dataclass(frozen=True)
class Judged:
    """The commands that a script may run, the files that it may open for writing, and whether it is allowed.

    `any_file`: some file that is known only at run time is written.
    """

    commands: tuple[tuple[Word, ...], ...]
    files: frozenset[str]
    any_file: bool
    verdict: Decision
    reason: str


class Tree(WorkTree):
    """A work tree of a few files, all committed."""

    def __init__(self, folder: str) -> None:
        self.paths = {f"{folder}/{name}" for name in TREES[folder]}
        self.folders = {folder} | {path.rpartition("/")[0] for path in self.paths}

    def exists(self, path: str) -> bool:
        return path in self.paths or path in self.folders

    def is_folder(self, path: str) -> bool:
        return path in self.folders

    def expand(self, pattern: str) -> tuple[str, ...]:
        return tuple(
            sorted(path for path in self.paths | self.folders if fits(path, pattern))
        )

    def holds_odd_names(self) -> bool:
        return any(re.search(r"(?:\A|[/\s])-|[|<>]", path) for path in self.paths)

    def diff_holds_odd_names(self, revisions: tuple[str, ...]) -> bool:
        return self.holds_odd_names()

    def find_secret(self, folder: str) -> str | None:
        return None

    def list_uncommitted(self, most: int) -> tuple[tuple[str, bool], ...]:
        return ()

    def locks(self, program: str) -> bool:
        return False

    def holds_work(self, path: str) -> bool:
        return True

    def adds_links(self, revision: str) -> bool:
        return False

    def is_on_branch(self, revision: str) -> bool | None:
        return None

    def holds_resolutions(self) -> bool:
        return True

    def is_pushed(self) -> bool:
        return True

    def reviews_commits(self) -> bool:
        return True


def fits(path: str, pattern: str) -> bool:
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def context_of(folder: str, profile: Profile) -> Context:
    names = frozenset(name.partition("/")[0] for name in TREES[folder])
    return Context(
        home=HOME,
        folder=folder,
        root=folder,
        names=names,
        profile=profile,
        tree=Tree(folder),
    )


def judged(text: str, folder: str, profile: Profile = Profile.STRICT) -> Judged:
    """Judge a script that would run in a folder of the oracle's root."""
    context = context_of(folder, profile)
    verdict = judge(text, context)
    if not text.strip() or "\0" in text:
        return Judged((), frozenset(), False, verdict.verdict, verdict.reason)
    shell = walk(text, context)
    commands = []
    for invocation in shell.invocations:
        loose = {id(each) for each in invocation.arguments.loose}
        commands.append(
            tuple(word_of(each, id(each) in loose) for each in invocation.fields)
        )
    written = [effect for effect in shell.effects if effect.kind is not EffectKind.READ]
    targets = {effect.target or "" for effect in written} | set(shell.scope.files)
    files = {HOME + path[1:] if path.startswith("~") else path for path in targets}
    any_file = any(effect.kind is EffectKind.UNKNOWN for effect in written)
    return Judged(
        tuple(dict.fromkeys(commands)),
        frozenset(files),
        any_file,
        verdict.verdict,
        verdict.reason,
    )


def word_of(given: Field, is_loose: bool) -> Word:
    text = given.text
    start = given.start
    if given.pattern and text is not None:
        place = min(
            (text.index(each) for each in SPECIAL if each in text), default=len(text)
        )
        start = text[:place]
        text = None
    many = given.many or given.pattern
    return Word(None if many else text, start, many, given.perhaps, is_loose)
