"""The types of the command engine: effects, the context of a command, and the verdict."""

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from cli_guard.lazy import dataclass, frozen
from cli_guard.model import Decision


class EffectKind(StrEnum):
    """What a command does. A verdict is made of these, never of the name of a program.

    The worst first: a verdict names its worst effect. UNKNOWN says least, so it comes last.
    """

    GUARD = "guard"
    SYSTEM = "system"
    PERSISTENCE = "persistence"
    DELETE = "delete"
    CREDENTIAL = "credential"
    SERVICE_WRITE = "service-write"
    PRIVILEGE = "privilege"
    GIT_WRITE = "git-write"
    EXEC = "exec"
    PROCESS = "process"
    NETWORK_OUT = "network-out"
    NETWORK_IN = "network-in"
    WRITE = "write"
    SERVICE_READ = "service-read"
    READ = "read"
    UNKNOWN = "unknown"


class Profile(StrEnum):
    """How far the work tree is trusted; see `profiles`."""

    STRICT = "strict"
    WORKSPACE = "workspace"
    FLOORS = "floors"


class Setting(StrEnum):
    """Where a command comes from."""

    AGENT = "agent"
    PERSON = "person"
    CHANGE = "change"


STRICTNESS = (Decision.ALLOW, Decision.REVIEW, Decision.DENY)

# The rule for switching off the hooks or the guard.
GUARD_OFF = "command-guard-off"
# A service read queries a service that the user has set up, with the user's credentials (`gh pr list`).
HARMLESS = frozenset({EffectKind.READ, EffectKind.SERVICE_READ})
DECISIONS: Mapping[EffectKind, Decision] = MappingProxyType(
    dict.fromkeys(EffectKind, Decision.REVIEW)
    | dict.fromkeys(HARMLESS, Decision.ALLOW)
    | {EffectKind.GUARD: Decision.DENY}
)


@frozen
class Span:
    """A part of the command: characters from `start` up to, not including, `end`."""

    start: int
    end: int


@frozen
class Effect:
    """One effect of a command; `rule` is the id in the catalogue of the rule it falls under."""

    kind: EffectKind
    target: str | None
    decision: Decision
    reason: str
    span: Span
    rule: str = ""
    alternative: str = ""


@frozen
class Pattern:
    """A pattern of the configuration over the words of a parsed command: `terraform apply *`."""

    text: str
    decision: Decision
    reason: str = ""


@frozen
class TaskFile:
    """What a Makefile or the like defines: the commands of each task, by its name or a pattern (`%`, `*`).

    The name "" stands for the task that runs if none is named. `always` runs whichever task is named, `folder` is where
    all of it runs, and `unread` says what of the file was not read.
    """

    folder: str
    tasks: Mapping[str, tuple[str, ...]]
    always: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


class WorkTree(Protocol):
    """A work tree as far as the judge asks about it; paths are absolute unless said otherwise.

    What is answered here is so for a tree that is on no disk, of which nothing else is known.
    """

    def exists(self, path: str) -> bool:
        """Return whether there is anything at a path."""

    def is_folder(self, path: str) -> bool:
        """Return whether there is a folder at a path."""

    def expand(self, pattern: str) -> tuple[str, ...]:
        """Return the paths that a pattern of the shell finds, at most some hundreds."""
        return ()

    def holds_odd_names(self) -> bool:
        """Return whether a name in the tree or in the index may be taken for an option or a command of perl.

        Such a name begins with a dash, has one behind a blank, or holds `|`, `<` or `>`. True if there are too many.
        """
        return False

    def list_links(self) -> tuple[str, ...]:
        """Return the symbolic links in the tree, at most as many as can be looked at."""
        return ()

    def adds_links(self, revision: str) -> bool:
        """Return whether a commit has a symbolic link that HEAD does not have, or its files cannot be listed."""
        return True

    def diff_holds_odd_names(self, revisions: tuple[str, ...]) -> bool:
        """Return whether `git diff --name-only` of some revisions lists such a name, or cannot be asked."""
        return False

    def list_uncommitted(self, most: int) -> tuple[tuple[str, bool], ...]:
        """Return what Git could not bring back, from the top of the tree, each with whether Git ignores it.

        `*` stands for all if the names of the tracked files take over `most` bytes.
        """
        return (("*", False),)

    def holds_work(self, path: str) -> bool:
        """Return whether a file at or below a path, or found by a pattern, is tracked, or neither that nor ignored."""
        return True

    def locks(self, program: str) -> bool:
        """Return whether a lock file at the top names a package like the program, or the project itself makes it.

        True as well if there is a lock file and no other place where the name of the program is found.
        """

    def makes_program(self, program: str) -> bool:
        """Return whether a package of the tree makes a program of this name, or it is installed in the tree.

        False if another file on PATH has the name.
        """
        return False

    def allows_install(
        self, lock: tuple[str, ...], needed: tuple[str, ...], settings: tuple[str, ...]
    ) -> bool:
        """Return whether a person has allowed installs by these files as they are now, by paths from the top.

        One of `lock` must be there and all `needed`; the others count as they were then, or as missing.
        """
        return False

    def owns_process(self, number: str) -> bool:
        """Return whether a process runs in a folder of the tree."""
        return False

    def read_number(self, path: str) -> str | None:
        """Return the process id that a file holds; None if there is no such file."""
        return None

    def read_tasks(
        self,
        files: tuple[str, ...],
        place: str,
        given: Mapping[str, str],
        *,
        dry: bool = False,
    ) -> TaskFile | None:
        """Read the tasks in a file, or in the first of `files` that counts in a folder; None if there is none.

        `given` are the variables that the command line sets; `dry`: commands are only shown, but for a few.
        """
        return None

    def list_packages(self) -> tuple[str, ...]:
        """Return the folders of the tree that have a package.json."""
        return ()

    def is_pushed(self) -> bool:
        """Return whether the commit at HEAD is on a remote, as far as this clone knows."""
        return False

    def is_on_branch(self, revision: str) -> bool | None:
        """Return whether a branch, a remote-tracking branch or a tag holds a commit; None if there is none so named."""
        return False

    def holds_resolutions(self) -> bool:
        """Return whether conflicts of a merge, or the like, that goes on were resolved, which an abort would lose."""
        return True

    def reviews_commits(self) -> bool:
        """Return whether a hook of cli-guard reviews each commit."""
        return False

    def find_secret(self, folder: str) -> str | None:
        """Return a file below a folder, or a pattern of paths, that may hold secrets; None if none was found."""
        return None


@dataclass(frozen=True)
class Context:
    """Where a command would run.

    `home`, `folder` (the current one) and `root` (of the work tree) are absolute paths. `git_config` is the
    repository's own configuration: key in lower case (the sub-section as written) -> values.
    `files` maps the paths that earlier commands wrote to their taints: "remote" (from the network), "secret".
    `names` are the names of the files in `folder`, None if they were not read.
    `find_repository` returns the other repository that a folder below `root` is in, for None any other repository.
    `follow` resolves the symbolic links of a path. Both take absolute paths.
    `tree` is the work tree of `root`.
    `read_commands` returns the shell commands in the text of a file (a Makefile, a workflow), by its path; None for one
    that holds none by its kind, or that cannot be read.
    `warnings` say which part of the configuration has no effect.
    """

    setting: Setting = Setting.AGENT
    home: str | None = None
    folder: str | None = None
    root: str | None = None
    git_config: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)
    patterns: tuple[Pattern, ...] = ()
    names: frozenset[str] | None = None
    find_repository: Callable[[str | None], str | None] | None = None
    follow: Callable[[str], str] | None = None
    warnings: tuple[str, ...] = ()
    profile: Profile = Profile.STRICT
    tree: WorkTree | None = None
    read_commands: Callable[[str, str], tuple[str, ...] | None] | None = None


@frozen
class Verdict:
    """The answer about one command.

    `coverage` is "partial" if a part was not understood. `savable` is a pattern that a person may keep to allow such
    commands, None where none should be kept. `files` are the paths left behind with a download or a secret in them, as
    in `Context`.
    """

    command: str
    verdict: Decision
    reason: str
    effects: tuple[Effect, ...] = ()
    coverage: str = "full"
    alternative: str | None = None
    savable: str | None = None
    files: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def evidence(self) -> tuple[Span, ...]:
        """Return the places that the verdict is based on, in order, each once."""
        decisive = {
            effect.span for effect in self.effects if effect.decision is self.verdict
        }
        return tuple(sorted(decisive, key=lambda span: (span.start, span.end)))


def strictest(
    decisions: "frozenset[Decision] | set[Decision] | list[Decision]",
) -> Decision:
    """Return the strictest of some decisions; allow if there are none."""
    return max(decisions, key=STRICTNESS.index, default=Decision.ALLOW)
