"""Run git: a fixed tuple of arguments, bytes out, no shell, and no program that a repository names.

Every call switches off what a configuration could make Git run while it only reads: file system monitors, hooks,
external diffs, text conversions, pagers, and transports (a partial clone would fetch a missing blob over the network).
Sources: git(1), git-config(1), gitattributes(5).
"""

import os
import subprocess
import time
import weakref
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path

from cli_guard.errors import GitError, MissingObject, NotARepository
from cli_guard.git.call import PIECE_BYTES, GitCall, Late, Process, Starter, start_process
from cli_guard.git.prefetch import OBJECTS
from cli_guard.lazy import dataclass, regex
from cli_guard.repository.protocol import as_lines
from cli_guard.runtime import Env

# An emergency stop: what a call may print is bounded by its size.
TIMEOUT_SECONDS = 600
# Each takes at most four bytes, and the smallest pipe holds 65,536.
GROUP_CHARS = 10_000

SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    # Configured hooks run without a folder (Git 2.54; 2.54 itself cannot switch off an event).
    "hook.post-index-change.enabled=false",
    "hook.reference-transaction.enabled=false",
    "core.untrackedCache=keep",
    "diff.renameLimit=2000",
    "diff.orderFile=/dev/null",
    # Or `git log` runs the gpg.program of the repository.
    "log.showSignature=false",
    # Files that a repository's configuration names, and Git reads to their end.
    "core.attributesFile=/dev/null",
    "mailmap.file=/dev/null",
    "blame.ignoreRevsFile=",
)
READ_ONLY = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *(word for each in SETTINGS for word in ("-c", each)),
)

# What says where Git, its configuration and the repository are, and who the user is. Any other variable could change
# what Git reads or prints (GIT_ATTR_SOURCE, GIT_DIFF_OPTS, GIT_SHALLOW_FILE), write a log, or load code.
KEPT = regex(
    r"PATH|HOME(?:DRIVE|PATH)?|USER(?:NAME|PROFILE)?|LOGNAME|SUDO_UID|T(?:E?MP|MPDIR|Z)|LANG|LC_\w+|XDG_\w+"
    r"|LD_LIBRARY_PATH|DEVELOPER_DIR|(?i:SYSTEMROOT|COMSPEC|PATHEXT|PROGRAM(?:DATA|FILES)|(?:LOCAL)?APPDATA)"
    r"|GIT_(?:DIR|COMMON_DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|PREFIX|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES))"
    r"|GIT_(?:CONFIG(?:_\w+)?|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM|(?:AUTHOR|COMMITTER)_\w+)"
)


def reading_environment(env: Env) -> dict[str, str]:
    """Return what Git needs of the caller's environment, index and repository included, made safe for reading."""
    kept = {name: value for name, value in env.items() if KEPT.fullmatch(name)}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        # No such file, so that nobody moves a commit by one; for an empty one Git prints a hint.
        "GIT_GRAFT_FILE": f"{os.devnull}/none",
        "LC_ALL": "C",
    }


@dataclass(frozen=True)
class Git:
    """Git, run in `cwd` under `env`; `start` starts its processes."""

    cwd: Path
    env: Env = field(repr=False)
    start: Starter = field(default=start_process, repr=False, compare=False)
    _begun: dict[tuple[str, ...], GitCall] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    # Each with the process that has started it: a copy of that one would take the answers of the other.
    _dialogues: dict[tuple[str, ...], tuple[int, Process]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def at(self, cwd: Path, env: Env) -> "Git":
        """Return the same for another folder and environment."""
        return Git(cwd, env, self.start)

    def command(self, *arguments: str) -> tuple[str, ...]:
        """Return the full command line of a call."""
        return ("git", *READ_ONLY, *arguments)

    @cached_property
    def _environment(self) -> Mapping[str, str]:
        return reading_environment(self.env)

    def begin(self, *arguments: str) -> None:
        """Prefetch a call: start it now and use its result for the next identical one."""
        # A call that cannot be started raises when its result is used.
        with suppress(GitError):
            if arguments == OBJECTS:
                self.dialogue(*OBJECTS)
            else:
                self._begun[arguments] = self._call(*arguments)

    def began(self, *arguments: str) -> bool:
        """Return whether this call was prefetched and not used yet."""
        return arguments in self._begun

    def anything(self, *arguments: str) -> bool | None:
        """Return whether a prefetched call prints anything; None if there is no such call, or it failed."""
        call = self._begun.get(arguments)
        try:
            return call.anything(time.monotonic() + TIMEOUT_SECONDS) if call else None
        except Late:
            return None

    def head(self, *arguments: str, end: bytes) -> bytes | None:
        """Return the output of a prefetched call up to an end mark; the call can still be used.

        None if there is no such call, it is late, or the mark is not near.
        """
        call = self._begun.get(arguments)
        try:
            return call.head(end, time.monotonic() + TIMEOUT_SECONDS) if call else None
        except Late:
            return None

    def forget(self) -> None:
        """End the prefetched calls that were not used, and what `ask` has started."""
        while self._begun:
            self._begun.popitem()[1].close()
        end_all(self._dialogues)

    def _call(self, *arguments: str, stdin: bytes = b"") -> GitCall:
        begun = None if stdin else self._begun.pop(arguments, None)
        try:
            return begun or GitCall(
                self.command(*arguments), self.cwd, self._environment, stdin, self.start
            )
        except OSError as error:
            raise not_started(self.cwd, error) from error

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Return the standard output of a call that must succeed. Raises GitError with Git's own words."""
        code, out, err = self.attempt(*arguments, stdin=stdin)
        if code != 0:
            raise refusal(err, code)
        return out

    def attempt(self, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Return exit code, standard output and standard error of a call that may fail."""
        with closing(self._call(*arguments, stdin=stdin)) as call:
            until = time.monotonic() + TIMEOUT_SECONDS
            try:
                out = call.rest(until)
                code, err = call.ended(until)
            except Late as error:
                words = f"git {arguments[0]} did not answer within {TIMEOUT_SECONDS} s; run it by hand to see why"
                raise GitError(words) from error
        return code, out, err

    def text(self, *arguments: str) -> str:
        """Return standard output as text without its last newline. Raises GitError."""
        return self.run(*arguments).decode("utf-8", "surrogateescape").removesuffix("\n")

    def optional(self, *arguments: str) -> str | None:
        """Return standard output like `text`, but None if Git fails."""
        code, out, _ = self.attempt(*arguments)
        return (
            out.decode("utf-8", "surrogateescape").removesuffix("\n") if code == 0 else None
        )

    def run_bounded(
        self,
        *arguments: str,
        limit: int,
        stdin: bytes = b"",
        seconds: float = TIMEOUT_SECONDS,
    ) -> tuple[bytes, bool]:
        """Return at most `limit` bytes of standard output, and whether there was more.

        Raises GitError, also if late.
        """
        out = b"".join(self.pieces(*arguments, limit=limit, stdin=stdin, seconds=seconds))
        return out[:limit], len(out) > limit

    def pieces(
        self,
        *arguments: str,
        limit: int,
        stdin: bytes = b"",
        seconds: float = TIMEOUT_SECONDS,
        codes: tuple[int, ...] = (0,),
    ) -> Generator[bytes, None, None]:
        """Yield standard output as it arrives, at most `limit` bytes, and one more if there is more.

        Raises GitError, also if nothing arrives for `seconds`, or for an exit code that is none of `codes`.
        """
        with closing(self._call(*arguments, stdin=stdin)) as call:
            try:
                left = limit + 1
                while piece := call.read(
                    min(PIECE_BYTES, left), time.monotonic() + seconds
                ):
                    left -= len(piece)
                    yield piece
                    if not left:
                        return
                code, err = call.ended(time.monotonic() + TIMEOUT_SECONDS)
            except Late as error:
                raise GitError(
                    f"git did not answer within {seconds:g} s; ask for less"
                ) from error
        if code not in codes:
            raise refusal(err, code)

    def ask(self, *arguments: str, questions: Iterable[str]) -> list[bytes]:
        """Return the line that a call prints for each line that it reads; it runs on, for the next questions.

        It must not read the index, which it would read once. Raises GitError.
        """
        answers: list[bytes] = []
        for some in in_groups(questions):
            try:
                answers += self._ask(arguments, some)
            except BaseException as error:
                # What it answers next is no answer to the next question.
                self.end_dialogue(*arguments)
                if not isinstance(error, OSError | EOFError):
                    raise
                # It has ended, and a call by itself says why.
                answers += self.run(*arguments, stdin=as_lines(some)).split(b"\n")[:-1]
        return answers

    def _ask(self, arguments: tuple[str, ...], questions: Sequence[str]) -> list[bytes]:
        process = self.dialogue(*arguments)
        assert process.stdin and process.stdout  # noqa: S101 - opened as pipes
        process.stdin.write(as_lines(questions))
        process.stdin.flush()
        answers = [process.stdout.readline() for _ in questions]
        if not answers[-1].endswith(b"\n"):
            raise EOFError
        return [answer[:-1] for answer in answers]

    def dialogue(self, *arguments: str) -> Process:
        """Return a call that answers while it runs, one for all who need it. Raises GitError."""
        starter, process = self._dialogues.get(arguments, (0, None))
        if process is None or starter != os.getpid() or process.poll() is not None:
            process = self._begin_dialogue(*arguments)
            # Python itself keeps a process that nobody has waited for, and so its pipes.
            weakref.finalize(self, end_all, self._dialogues)
            self._dialogues[arguments] = os.getpid(), process
        return process

    def end_dialogue(self, *arguments: str) -> None:
        """End such a call, if it runs: also after an answer that was not read to its end."""
        if arguments in self._dialogues:
            end(*self._dialogues.pop(arguments))

    def _begin_dialogue(self, *arguments: str) -> Process:
        # What it says on stderr is dropped.
        try:
            return self.start(
                self.command(*arguments),
                self.cwd,
                self._environment,
                subprocess.PIPE,
                subprocess.DEVNULL,
            )[0]
        except OSError as error:
            raise not_started(self.cwd, error) from error


def find_starter(*, through_gitpython: bool) -> Starter:
    """Return what starts Git."""
    if not through_gitpython:
        return start_process
    from cli_guard.git.gitpython import start_by_gitpython

    return start_by_gitpython


def end_all(dialogues: dict[tuple[str, ...], tuple[int, Process]]) -> None:
    """End calls that answer while they run."""
    while dialogues:
        end(*dialogues.popitem()[1])


def end(starter: int, process: Process) -> None:
    """End such a call if it was started here, and not by the process that this one is a copy of."""
    if starter != os.getpid():
        return
    process.kill()
    # Closes the pipes, and waits for its end.
    with suppress(OSError):
        process.__exit__(None, None, None)


def in_groups(questions: Iterable[str]) -> Iterator[list[str]]:
    """Yield questions in groups that fit into a pipe, so that neither side waits for the other one to read."""
    group: list[str] = []
    left = GROUP_CHARS
    for each in questions:
        left -= len(each)
        if group and left < 0:
            yield group
            group = []
            left = GROUP_CHARS - len(each)
        group.append(each)
    if group:
        yield group


def not_started(cwd: Path, error: OSError) -> GitError:
    """Return the error for an OSError of a start: the folder or the program is missing."""
    if not os.path.lexists(cwd):
        return GitError(f"there is no folder {cwd}")
    if isinstance(error, FileNotFoundError):
        return GitError(
            f"git was not found on PATH: install it, or add its folder to PATH ({error.strerror})"
        )
    return GitError(f"git cannot be run in {cwd}: {error.strerror}")


def refusal(stderr: bytes, code: int) -> GitError:
    """Return Git's refusal as an error in one line, of the kind that its words show."""
    words = " ".join(stderr.decode("utf-8", "replace").split())
    fatal = words.find("fatal: ")
    line = words[fatal + len("fatal: ") :] if fatal >= 0 else words
    line = line or f"no reason given, exit code {code}"
    if "not a git repository" in line:
        return NotARepository(
            "there is no Git repository here: run this inside one, or `git init` first"
        )
    if "dubious ownership" in line:
        return GitError(f"git: {line}")
    if any(
        sign in line
        for sign in ("unable to read", "bad object", "missing blob", "could not fetch")
    ):
        return MissingObject(
            f"git: {line}; an object is missing: run `git fsck`, then `git fetch` or restore the object"
        )
    return GitError(f"git: {line}")


def missing(oid: str) -> MissingObject:
    """Build the error for a missing object."""
    return MissingObject(
        f"Git has no object {oid}: run `git fsck`, then `git fetch` or restore it"
    )


# git-config(1): the scopes that are files of the repository; the others are the user's own.
OWN_SCOPES = (b"local", b"worktree")
UNREADABLE: dict[str, tuple[str, ...]] = {
    "include.path": ("a configuration that cannot be read",)
}


def own_configuration(git: Git) -> dict[str, tuple[str, ...]]:
    """Return key (section and name in lower case) -> values, included files too; empty outside a repository.

    If Git cannot read the configuration, no Git read counts as harmless.
    """
    try:
        code, out, _ = git.attempt("config", "--list", "-z", "--show-scope", "--includes")
    except GitError:
        return UNREADABLE
    if code != 0:
        return UNREADABLE
    found: dict[str, tuple[str, ...]] = {}
    words = out.split(b"\0")
    for scope, entry in zip(words[::2], words[1::2], strict=False):
        key, given, value = entry.decode("utf-8", "surrogateescape").partition("\n")
        # The list contains the keys of included files itself.
        if scope not in OWN_SCOPES or key == "include.path" or key.startswith("includeif."):
            continue
        # A key without a value is true.
        found[key] = (*found.get(key, ()), value if given else "true")
    return found
