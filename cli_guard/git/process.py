"""Runs git: a fixed tuple of arguments, bytes out, no shell, and no program that a repository names.

Every call switches off what a configuration could make Git run while it only reads: file system monitors,
hooks, external diffs, text conversions, pagers, and transports (a partial clone would fetch a missing blob
over the network). Sources: git(1), git-config(1), gitattributes(5).
"""

import os
import subprocess
import threading
from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cli_guard.errors import GitError, MissingObject, NotARepository

TIMEOUT_SECONDS = 120
PIECE_BYTES = 1 << 20

READ_ONLY = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "core.untrackedCache=keep"),
    *("-c", "diff.renameLimit=2000"),
    *("-c", "diff.orderFile=/dev/null"),
)

# What would change what Git prints, or make it write a log of its own, and never what it reads. Our own
# --literal-pathspecs is refused next to the other ways of reading pathspecs.
DROPPED = (
    *("GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PAGER", "GIT_QUARANTINE_PATH"),
    *("GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
)
DROPPED_PREFIXES = ("GIT_TRACE",)


def reading_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The caller's environment, index and repository included, made safe for reading."""
    kept = {k: v for k, v in env.items() if k not in DROPPED and not k.startswith(DROPPED_PREFIXES)}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


@dataclass(frozen=True)
class Git:
    """Git, run in `cwd` under `env`."""

    cwd: Path
    env: Mapping[str, str] = field(repr=False)

    def command(self, *arguments: str) -> tuple[str, ...]:
        """The full command line of a call."""
        return ("git", *READ_ONLY, *arguments)

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Standard output of a call that must succeed. Raises GitError with Git's own words."""
        code, out, err = self.attempt(*arguments, stdin=stdin)
        if code != 0:
            raise refusal(err, code)
        return out

    def attempt(self, *arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error of a call that may fail."""
        try:
            done = subprocess.run(
                self.command(*arguments),
                cwd=self.cwd,
                env=reading_environment(self.env),
                input=stdin,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except OSError as error:
            raise not_started(self.cwd, error) from error
        except subprocess.TimeoutExpired as error:
            words = f"git {arguments[0]} did not answer within {TIMEOUT_SECONDS} s; run it by hand to see why"
            raise GitError(words) from error
        return done.returncode, done.stdout, done.stderr

    def text(self, *arguments: str) -> str:
        """Standard output as one text, its last newline cut."""
        return self.run(*arguments).decode("utf-8", "surrogateescape").removesuffix("\n")

    def optional(self, *arguments: str) -> str | None:
        """Like `text`, None where Git answers no."""
        code, out, _ = self.attempt(*arguments)
        return out.decode("utf-8", "surrogateescape").removesuffix("\n") if code == 0 else None

    def bounded(
        self, *arguments: str, limit: int, stdin: bytes = b"", seconds: float = TIMEOUT_SECONDS
    ) -> tuple[bytes, bool]:
        """At most `limit` bytes of standard output, and whether there was more. Raises GitError, as well if late."""
        out = b"".join(self.pieces(*arguments, limit=limit, stdin=stdin, seconds=seconds))
        return out[:limit], len(out) > limit

    def pieces(
        self, *arguments: str, limit: int, stdin: bytes = b"", seconds: float = TIMEOUT_SECONDS
    ) -> Generator[bytes, None, None]:
        """Standard output as it comes, at most `limit` bytes, and one more where there is more.

        Raises GitError, also where nothing comes for so many seconds.
        """
        process = self.start(*arguments)
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        assert process.stdin and process.stdout and process.stderr  # noqa: S101 - all three are pipes
        source, stderr = process.stdin, process.stderr
        errors: list[bytes] = []

        def feed() -> None:
            with suppress(BrokenPipeError), source:
                source.write(stdin)

        # Written and read aside: one full pipe would stop git, and us with it.
        feeder = threading.Thread(target=feed, daemon=True)
        drain = threading.Thread(target=lambda: errors.append(stderr.read()), daemon=True)
        feeder.start()
        drain.start()
        try:
            left = limit + 1
            while left:
                timer = threading.Timer(seconds, stop)
                timer.daemon = True
                timer.start()
                try:
                    piece = process.stdout.read(min(PIECE_BYTES, left))
                finally:
                    timer.cancel()
                if not piece:
                    break
                left -= len(piece)
                yield piece
            else:
                return
            code = process.wait(TIMEOUT_SECONDS)
            drain.join(1)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()
            feeder.join(1)
            drain.join(1)
            stderr.close()
        if late.is_set():
            raise GitError(f"git did not answer within {seconds:g} s; ask for less")
        if code != 0:
            raise refusal(b"".join(errors), code)

    def start(self, *arguments: str) -> "subprocess.Popen[bytes]":
        """A call that is read while it runs; what it says of errors is kept in its stderr pipe."""
        try:
            return subprocess.Popen(
                self.command(*arguments),
                cwd=self.cwd,
                env=reading_environment(self.env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        except OSError as error:
            raise not_started(self.cwd, error) from error


def not_started(cwd: Path, error: OSError) -> GitError:
    """What an OSError of a started process means: the folder or the program cannot be had."""
    if not os.path.lexists(cwd):
        return GitError(f"there is no folder {cwd}")
    if isinstance(error, FileNotFoundError):
        return GitError(
            f"git was not found on PATH: install it, or add its folder to PATH ({error.strerror})"
        )
    return GitError(f"git cannot be run in {cwd}: {error.strerror}")


def refusal(stderr: bytes, code: int) -> GitError:
    """Git's refusal as an error of ours, in one line, of the kind its words tell."""
    words = " ".join(stderr.decode("utf-8", "replace").split())
    fatal = words.find("fatal: ")
    line = words[fatal + len("fatal: ") :] if fatal >= 0 else words
    line = line or f"no reason given, exit code {code}"
    if "not a git repository" in line:
        return NotARepository("there is no Git repository here: run this inside one, or `git init` first")
    if "dubious ownership" in line:
        return GitError(f"git: {line}")
    if any(sign in line for sign in ("unable to read", "bad object", "missing blob", "could not fetch")):
        return MissingObject(
            f"git: {line}; an object is missing: run `git fsck`, then `git fetch` or restore the object"
        )
    return GitError(f"git: {line}")
