"""The trusted work tree as a place: which paths and words stay in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from urllib.parse import urlsplit

from cli_guard.commands.effects.arguments import CallArguments
from cli_guard.commands.effects.places import (
    GLOBS,
    PathClass,
    classify_path,
    is_below,
    is_credential,
    resolve_path,
    unfold_home,
)
from cli_guard.commands.effects.values import LOOPBACK
from cli_guard.commands.expand.fields import Field
from cli_guard.commands.invocations import ProgramInvocation
from cli_guard.commands.model import Context, Effect, EffectKind, Span, WorkTree
from cli_guard.commands.programs import Spec
from cli_guard.commands.scope import drop_places
from cli_guard.lazy import dataclass
from cli_guard.rules import tables

# A path, or the part of a word that may be one (`--rootdir=/x`, `SHELL=/x`, `@../x`), and an address.
PATH_IN_WORD = re.compile(
    r"""(?:^|[=:,;"'(@\s])((?:~[\w.-]*|\.\.)?/[^=:,;"')\s]*|~[\w.-]*|\.\.)(?=$|[=:,;"')\s])"""
)
# Options whose value is a file that is written.
OUTPUT = re.compile(
    r"-{1,2}(?:o|(?:[\w-]*[-_])?(?:out|output|log|junit|(?:cpu|mem|block|mutex|trace|cover)?prof(?:ile)?|results?|report|dest(?:ination)?)"
    r"(?:[-_]?(?:file|path|dir|name|junit|xml|html))?)",
    re.IGNORECASE,
)
STEPS_BACK = re.compile(r"[^\s./;&|('\"=]/\.\.(?![^/\s;&|)'\"])")
# Make, npm and valgrind expand these, after the shell.
LATER = re.compile(r"\$[({$A-Za-z_]|%[qp]\{|`")
GIT_FOLDER = re.compile(r"(?i)(?:^|[^\w.-])\.git(?:/|\Z)")
# Files that tools of a project run by themselves.
DEFAULTS = re.compile(
    r"/(?:(?:GNU)?[Mm]akefile|conftest\.py|noxfile\.py|setup\.py|package\.json|[Jj]ustfile|Rakefile|build\.rs"
    r"|[\w.-]+\.config\.[cm]?[jt]s|\.justfile|tox\.ini|[Tt]askfile\.ya?ml|tasks\.py)\Z"
)
# An option of one letter, or several, with its value: `-C/x`, `-kC../x`.
GLUED = re.compile(r"-[A-Za-z]+((?:/|~|\.\.).*)", re.DOTALL)
ADDRESS = re.compile(r"[a-zA-Z][\w+.-]*://[^\s\"',]*")
TEMPORARY = ("/tmp", "/var/tmp", "/private/tmp")  # noqa: S108 - places that a command may write to
# What `mktemp` makes, as its handler writes it.
MADE = re.compile(r"\A(?:/private)?(?:/var)?/tmp/[\w.-]*XXX\d+[\w.-]*(?:/|\Z)")
# Each word is looked up in the file system.
MOST_WORDS = 500
# What a word that is known only at run time may be, without naming code or leaving the tree.
HARMLESS_ORIGINS = ("number", "value", "paths", "names", "ref")


@dataclass(eq=False)
class Place:
    """A trusted work tree and one script that would run in it. `top` is its root with all links resolved.

    `unread` are the files that the script writes without the judge knowing their code, `whole` those that it has
    written from beginning to end, whose code was judged. `effects` are those of the script, with their commands.
    """

    context: Context
    root: str
    tree: WorkTree
    command: str = ""
    invocations: tuple[ProgramInvocation, ...] = ()
    unread: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    effects: Mapping[Effect, list[ProgramInvocation | None]] = field(default_factory=dict)

    @cached_property
    def top(self) -> str:
        return self.follow(self.root)

    @cached_property
    def lists(self) -> tables.WorkspaceLists:
        return tables.workspace()

    def resolve(self, path: str, folder: str | None) -> str:
        return resolve_path(path, folder, self.context)

    def follow(self, path: str) -> str:
        """Return where the links of a path lead, as a resolved path; `~user` is not looked up, and outside."""
        path = unfold_home(path, self.context)
        if path.startswith("~"):
            return path
        return resolve_path(
            self.context.follow(path) if self.context.follow else path, None, self.context
        )

    def relative(self, path: str) -> str | None:
        """Return a path from the top of the tree, "" for the top; None outside, or in another repository."""
        found = (
            self.tree.expand(unfold_home(path, self.context)) if GLOBS.search(path) else ()
        )
        if not all(is_below(self.follow(each), self.top, self.context) for each in found):
            return None
        real = self.follow(path)
        if not is_below(real, self.top, self.context):
            return None
        if self.context.find_repository and self.context.find_repository(
            unfold_home(real, self.context)
        ):
            return None
        return real[len(self.top) :].strip("/")

    def is_own_tool(self, spec: Spec) -> bool:
        """Return whether a program, or this sub-command of it, runs the project's own code."""
        listed = not self.lists.runs.isdisjoint((spec.name, f"{spec.program} ..."))
        return listed or any(fnmatchcase(spec.name, form) for form in self.lists.forms)

    def exists(self, path: str) -> bool:
        return self.tree.exists(unfold_home(path, self.context))

    def is_temporary(self, path: str) -> bool:
        """Return whether a path is a temporary file; the neighbours of a tree that lies there are none."""
        real = self.follow(path)
        if MADE.search(real):
            return True
        for folder in TEMPORARY:
            if real.startswith(f"{folder}/") and "cli-guard" not in real:
                near = f"{folder}/" + self.top.removeprefix(f"{folder}/").partition("/")[0]
                beside = self.top.startswith(f"{folder}/") and (
                    not (folder in self.command or "TMPDIR" in self.command)
                    or real.startswith(f"{near}/")
                )
                return not beside
        return False

    def is_folder(self, path: str) -> bool:
        return self.tree.is_folder(unfold_home(path, self.context))

    def is_file(self, word: str) -> bool:
        """Return whether a word is a path of something in the tree, and not the name of a task."""
        return ("/" in word or "." in word) and self.exists(
            self.resolve(word, self.context.folder)
        )

    def is_known(self, path: str) -> bool:
        """Return whether a file is as it was before this script, or what the script writes into it was judged."""
        return not self.patches and path not in self.unread

    @cached_property
    def patches(self) -> bool:
        return any(
            each.program == "patch" or "apply" in each.words for each in self.invocations
        )

    @cached_property
    def writes_configuration(self) -> bool:
        """Return whether this script writes what tools run without being told (a Makefile), with unknown content."""
        return any(DEFAULTS.search(path) for path in self.unread)

    @cached_property
    def steps_back(self) -> bool:
        """Return whether a path goes through a folder and back (`link/..`): where a link leads, that is elsewhere."""
        return STEPS_BACK.search(self.command) is not None

    @cached_property
    def loses_way(self) -> bool:
        """Return whether the script goes on in another folder than it says, if a `cd` fails."""
        entered = [each for each in self.invocations if each.program in ("cd", "pushd")]
        missing = any(
            word.text is not None
            and not self.is_folder(self.resolve(word.text, each.folder))
            for each in entered
            for word in each.arguments.operands[:1]
            if word.text != "-"
        )
        makes = any(
            each.program in ("mkdir", "git", "tar", "unzip") for each in self.invocations
        )
        return missing and not makes and re.search(r";|\n|\|\|", self.command) is not None

    def may_write(self, path: str) -> bool:
        """Return whether a write to a path needs no question."""
        if LATER.search(path):
            return False
        inside = self.relative(path)
        if inside is None:
            return self.is_temporary(path)
        real = self.follow(path)
        below = f"{inside}/" if self.is_folder(real) else inside
        if any(
            self.matches(name, each)
            for name in ("never", "installed")
            for each in (inside, below)
        ):
            return False
        if (
            is_credential(path)
            or classify_path(real) is not PathClass.ORDINARY
            or self.is_hook(real)
        ):
            return False
        # In a folder of CI the new file is not named.
        return not self.matches("new", below) or (below == inside and self.exists(real))

    def is_hook(self, real: str) -> bool:
        """Return whether a path is in the folder of hooks that Git is configured to use."""
        folders = self.context.git_config.get("core.hookspath", ())
        return any(
            is_below(real, self.follow(self.resolve(each, self.root)), self.context)
            for each in folders
            if each
        )

    def matches(self, name: str, path: str) -> bool:
        return self.lists.files[name].search(path) is not None

    def runs_inside(self, caller: ProgramInvocation) -> bool:
        return caller.folder is not None and self.relative(caller.folder) is not None

    def stays_inside(
        self, caller: ProgramInvocation, *, texts: bool = False, data: bool = False
    ) -> bool:
        """Return whether a command runs in the tree and no word leads out of it. `texts`: skip plain text and code.

        `data`: temporary files are data for a program of the project. What is written has an effect of its own.
        """
        folder = caller.folder
        if folder is None or len(caller.fields) > MOST_WORDS:
            return False
        if not self.runs_inside(caller):
            return False
        skipped = judged_elsewhere(caller, texts=texts)
        words = [word for word in caller.fields[1:] if word.span not in skipped]
        return all(
            self.is_inside(word, folder)
            or self.is_output(before, word, folder)
            or (word.text is not None and self.resolve(word.text, folder) in self.whole)
            or (data and word.start.startswith("/tmp/") and self.is_temporary(word.start))  # noqa: S108
            for before, word in pairwise((caller.fields[0], *words))
        )

    def is_output(self, before: Field, word: Field, folder: str) -> bool:
        """Return whether a word names a temporary file that an option writes: `--log-junit /tmp/x`, `--out=/tmp/x`."""
        option, equals, value = (
            word.start.partition("=")
            if word.start.startswith("-")
            else (before.start, "=", word.start)
        )
        named = (
            word.text is not None and bool(equals) and OUTPUT.fullmatch(option) is not None
        )
        return (
            named
            and value.startswith("/")
            and self.is_temporary(self.resolve(value, folder))
        )

    def is_inside(self, word: Field, folder: str) -> bool:
        """Return whether a word names nothing outside, protected or secret, and expands to nothing later."""
        text = word.text if word.text is not None else word.start
        if GIT_FOLDER.search(text):
            return False
        tainted = drop_places(word.taints) or LATER.search(text)
        if tainted or (word.text is None and word.origin not in HARMLESS_ORIGINS):
            return False
        for address in ADDRESS.findall(text):
            if not is_loopback(address):
                return False
        rest = ADDRESS.sub("", text)
        paths = (
            resolve_path(each, folder, self.context) for each in PATH_IN_WORD.findall(rest)
        )
        if not all(
            path == "/dev/null" or self.relative(path) is not None for path in paths
        ):
            return False
        # A link in the tree may lead out of it, a folder may be another repository.
        names = [rest.partition("=")[2], rest[2:]] if rest.startswith("-") else [rest]
        if glued := GLUED.match(rest):
            names += [] if self.exists(self.resolve(rest[2:], folder)) else [glued[1]]
        return all(self.may_name(self.resolve(name, folder)) for name in names if name)

    def may_name(self, path: str) -> bool:
        """Return whether a command of the project may be given a path: in the tree, not protected, no secret."""
        if path == "/dev/null":
            return True
        inside = self.relative(path)
        return (
            inside is not None
            and not self.matches("never", inside)
            and not is_credential(path)
        )


def judged_elsewhere(caller: ProgramInvocation, *, texts: bool) -> set[Span]:
    """Return the places of the words of a command that need not stay in the tree.

    What is written has an effect of its own, the command that a runner starts is judged by itself, and a filter of
    tests is no path; `texts`: neither are plain text and code.
    """
    given = caller.arguments
    plain = ("text", "code:") if given.spec.program == "git" else ("code:",)
    skipped = [*given.rest, *find_patterns(given)]
    valued = [(option.takes or "text", value) for option, value in given.values]
    for kind, word in (*valued, *given.kinds):
        if kind == EffectKind.WRITE or (texts and kind.startswith(plain)):
            skipped.append(word)
    return {word.span for word in skipped}


def find_patterns(given: CallArguments) -> Iterator[Field]:
    """Yield the words of a command that choose tests, routes or the like by a pattern, as far as its table is read."""
    pairs = (each.rpartition(" ") for each in tables.workspace().patterns)
    names = {option for program, _, option in pairs if program in ("", given.spec.program)}
    yield from (value for option, value in given.values if names.intersection(option.names))
    for option, value in pairwise((*given.operands, *given.operands[:1])):
        name, equals, _ = option.start.partition("=")
        if name in names:
            yield option if equals else value


def is_loopback(address: str) -> bool:
    """Return whether an address names this machine: `localhost:8000/x`, `http://127.0.0.1`."""
    text = address if "://" in address else f"//{address}"
    try:
        host = urlsplit(text).netloc.rpartition("@")[2]
    except ValueError:
        return False
    return (
        bool(host)
        and "\\" not in address
        and host[0] not in "/.:"
        and LOOPBACK.fullmatch(host) is not None
    )
