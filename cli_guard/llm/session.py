"""Sessions with a model: what was said and what was done, each in its own file in the repository's state folder."""

import datetime
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, field
from pathlib import Path
from secrets import token_hex
from typing import Literal

from pydantic import TypeAdapter

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.lazy import dataclass, frozen
from cli_guard.llm.prompts import Message, mask_value
from cli_guard.policy.language_model import Tier
from cli_guard.runtime import open_plain
from cli_guard.state.files import explain_write_errors, lock, make_folder

VERSION = 1
MOST_SESSIONS = 200
KEPT_DAYS = 90
FILE_BYTES = 64_000_000

Kind = Literal["task", "decision", "approval", "fact", "file", "command", "patch"]


@frozen
class Artefact:
    """Something of a session that no summary may reword.

    `text` is the person's words (task, decision, fact), what was allowed (approval), a path (file), a command line,
    or a unified diff (patch). `about` is the path of a file or those of a patch: a newer one about the same replaces it
    """

    kind: Kind
    text: str
    turn: int
    exit_code: int | None = None
    about: str = ""

    def __str__(self) -> str:
        return (
            self.text
            if self.exit_code is None
            else f"{self.text} -> exit code {self.exit_code}"
        )

    @property
    def key(self) -> tuple[str, str]:
        """Return what a newer artefact has in common with the one that it replaces."""
        return self.kind, self.about or str(self)


def newest(artefacts: Iterable[Artefact]) -> list[Artefact]:
    """Return the newest version of each artefact, oldest first."""
    latest: dict[tuple[str, str], Artefact] = {}
    for each in artefacts:
        latest.pop(each.key, None)
        latest[each.key] = each
    return list(latest.values())


@dataclass
class ChatSession:
    """A session: plain data. `at` is when it was saved last (ISO 8601, UTC), `root` the top folder of the work tree.

    `messages` are in OpenAI's form. `scale` is the server's count of tokens divided by ours, see
    `compaction.measure_scale`. `model` is the one that the person chose, "" for the route's.
    """

    id: str
    at: str
    root: str
    task: str = ""
    messages: list[Message] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)
    model: str = ""
    tier: Tier | None = None
    turn: int = 0
    scale: float = 1.0
    version: int = VERSION

    def add(
        self, kind: Kind, text: str, *, exit_code: int | None = None, about: str = ""
    ) -> None:
        """Record an artefact of the turn; it replaces an older version of the same."""
        self.artefacts = newest(
            [*self.artefacts, Artefact(kind, text, self.turn, exit_code, about)]
        )


@frozen
class Sessions:
    """The stored sessions of a repository. `folder` is in its state folder."""

    folder: Path

    def files(self) -> list[Path]:
        """Return the files of the sessions, last saved first."""
        dated = []
        for path in self.folder.glob("*.sqlite"):
            with suppress(OSError):
                dated.append((path.lstat().st_mtime, path))
        return [path for _, path in sorted(dated, reverse=True)]

    def list_all(self) -> tuple[list[ChatSession], list[str]]:
        """Return the sessions, last saved first, and a line about each that cannot be resumed."""
        found = []
        problems = []
        for path in self.files()[:MOST_SESSIONS]:
            try:
                found.append(self.load(path.stem))
            except UsageError as error:
                problems.append(str(error))
        return found, problems

    @contextmanager
    def open(
        self, root: str, now: datetime.datetime, name: str = ""
    ) -> Iterator[ChatSession]:
        """Hold a session while a chat goes on: the one whose id begins with `name`, or a new one.

        Raises UsageError if another chat holds it or it cannot be read; CliGuardError if nothing can be written.
        """
        self.prune(now)
        found = (
            [path.stem for path in self.files() if path.stem.startswith(name)]
            if name
            else [token_hex(4)]
        )
        if len(found) != 1:
            raise UsageError(
                f"{len(found) or 'no'} sessions match {name!r}: give the id of one"
            )
        with ExitStack() as stack:
            try:
                with explain_write_errors("the session"):
                    stack.enter_context(lock(self.folder / found[0]))
            except CliGuardError as error:
                if "is locked" not in str(error):
                    raise
                raise UsageError(
                    f"session {found[0]} is open in another chat: end that one, or start a new session"
                ) from None
            yield self.load(found[0]) if name else ChatSession(found[0], moment(now), root)

    def load(self, id: str) -> ChatSession:
        """Return a stored session. Raises UsageError for one that cannot be read; its file stays as it is."""
        from cli_guard.graph.run import load_values

        path = self.folder / f"{id}.sqlite"
        try:
            descriptor = open_plain(path, os.O_RDONLY)
            size = os.fstat(descriptor).st_size
            os.close(descriptor)
            values = load_values(path) if size <= FILE_BYTES else {}
            if values.get("version", VERSION) != VERSION:
                raise UsageError(
                    f"session {id} was written by another version of cli-guard: resume it with that one, or start a"
                    " new session"
                )
            session = TypeAdapter(ChatSession).validate_python(values)
            if session.id != id or not all(
                {"role", "content"} <= set(each) for each in session.messages
            ):
                raise ValueError("its messages are broken")
            return session
        except (OSError, sqlite3.Error, ValueError) as error:
            why = "its content is broken" if isinstance(error, ValueError) else error
            raise UsageError(
                f"session {id} cannot be read ({why}): start a new one, or remove {path}"
            ) from None

    def save(self, session: ChatSession, now: datetime.datetime) -> None:
        """Store a session, secrets masked. Raises CliGuardError if it cannot be written; the old one stays then."""
        from cli_guard.graph.run import save_values

        session.at = moment(now)
        # Names of files may have half characters, which no text in a file can have.
        plain = json.dumps(asdict(session), ensure_ascii=False).encode("utf-8", "replace")
        try:
            with explain_write_errors("the session"):
                make_folder(self.folder)
                save_values(
                    self.folder / f"{session.id}.sqlite", mask_value(json.loads(plain))
                )
        except sqlite3.Error as error:
            raise CliGuardError(f"the session cannot be written: {error}") from None

    def prune(self, now: datetime.datetime) -> None:
        """Remove the sessions beyond MOST_SESSIONS, and those that nobody has saved for KEPT_DAYS."""
        oldest = (now - datetime.timedelta(days=KEPT_DAYS)).timestamp()
        for number, path in enumerate(self.files()):
            with suppress(OSError):
                if number >= MOST_SESSIONS or path.lstat().st_mtime < oldest:
                    path.unlink()
                    path.with_suffix(".lock").unlink(missing_ok=True)


def moment(now: datetime.datetime) -> str:
    """Return a time as it is stored."""
    return now.astimezone(datetime.UTC).isoformat(timespec="seconds")
