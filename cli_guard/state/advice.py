"""What a model has said about commits: one file a content, for `last`, `stats` and the line of the next hook."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from cli_guard.errors import CliGuardError
from cli_guard.lazy import frozen
from cli_guard.repository.protocol import Repository
from cli_guard.repository.texts import read_worktree_file
from cli_guard.repository.unified import unchanged_lines
from cli_guard.state.files import make_folder, read_state, write_atomically

KEPT = 200
TEXTS = ("content", "commit", "at", "model", "summary", "shown")
FILE_BYTES = 5_000_000


@frozen
class Question:
    """A question about a line that a commit has added."""

    path: str
    line: int
    text: str


@frozen
class Advice:
    """A summary of a change (some lines), and questions about it.

    `content` is `ChangeSet.identity`, `commit` the last commit that recorded it, `left_out` the number of files of
    which not all was sent. `at` and `shown` are ISO 8601 times in UTC; `shown` is "" before `last` printed it.
    """

    content: str
    commit: str
    at: str
    model: str
    summary: str
    questions: tuple[Question, ...]
    left_out: int = 0
    shown: str = ""

    def open_questions(
        self, read: Callable[[str, str], str | None]
    ) -> tuple[Question, ...]:
        """Return the questions whose lines are unchanged; `read` returns a path in a commit, or now ("")."""

        def is_open(asked: Question) -> bool:
            before = read(self.commit, asked.path)
            after = read("", asked.path)
            if before is None or after is None:
                return False
            return any(asked.line in lines for lines in unchanged_lines(before, after))

        return tuple(filter(is_open, self.questions))


class AdviceStore:
    """The folder `advice` of a state folder; `latest` in it has the questions on the last commit while unseen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "advice"

    def read(self, content: str) -> Advice | None:
        """Return what is stored about a content, or as `latest`; None for nothing that can be read."""
        with suppress(
            OSError, CliGuardError, ValueError, TypeError, KeyError, RecursionError
        ):
            data = json.loads(read_state(self.folder / f"{content}.json").decode("utf-8"))
            asked = (
                Question(str(q["path"]), int(q["line"]), str(q["text"]))
                for q in data["questions"]
            )
            texts = {name: str(data[name]) for name in TEXTS}
            return Advice(**texts, questions=tuple(asked), left_out=int(data["left_out"]))
        return None

    def every(self) -> list[Advice]:
        """Return all that is stored, oldest first."""
        found = (
            self.read(path.stem)
            for path in self.folder.glob("*.json")
            if path.stem != "latest"
        )
        return sorted(filter(None, found), key=lambda each: each.at)

    def keep(self, advice: Advice) -> Advice:
        """Store it, and drop the oldest beyond KEPT. Raises CliGuardError, OSError."""
        make_folder(self.folder)
        unseen = advice.questions and not advice.shown
        for name in (advice.content, "latest") if unseen else (advice.content,):
            write_atomically(self.folder / f"{name}.json", json.dumps(asdict(advice)))
        if not unseen:
            (self.folder / "latest.json").unlink(missing_ok=True)
        for old in self.every()[:-KEPT]:
            (self.folder / f"{old.content}.json").unlink(missing_ok=True)
        return advice


def read_version(repository: Repository, commit: str, path: str) -> str | None:
    """Return a file in a commit, or in the work tree for "", with LF alone at the end of its lines."""
    raw = repository.show(commit, path) if commit else None
    if not commit:
        raw = read_worktree_file(repository.root, path, FILE_BYTES)
    if raw is None:
        return None
    return raw.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
