"""The two states of a file that agents or editors read, and what the files beside it say in both."""

from collections.abc import Iterator, Sequence

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Skipped
from cli_guard.reviewers.agents.statements import SurfaceStatement, read_statements
from cli_guard.reviewers.agents.tables import SurfaceFile, files_of
from cli_guard.reviewers.review_input import ReviewInput

# Longer than any settings or rules that people write.
LONGEST = 1_000_000


@frozen(eq=False)
class FileState:
    """One file to one tool: its statements before and after, those beside it, and its text after the change."""

    change: FileChange
    file: SurfaceFile
    before: tuple[SurfaceStatement, ...]
    after: tuple[SurfaceStatement, ...]
    beside: tuple[SurfaceStatement, ...]
    text: str
    old_text: str
    problem: str = ""

    def new_ones(self, kind: str) -> Iterator[SurfaceStatement]:
        """Yield the statements of a kind that neither the state before nor a file beside it holds, each once."""
        known = {each.identity for each in (*self.before, *self.beside)}
        for statement in self.after:
            if statement.kind == kind and statement.identity not in known:
                known.add(statement.identity)
                yield statement


def states_of(
    subject: ReviewInput, change: FileChange, skipped: list[Skipped]
) -> Iterator[FileState]:
    """Yield what a changed file is to each tool that reads it; what is left out is added to `skipped`."""
    sides = subject.sides_of(change, "agents", min(LONGEST, subject.limits.file_chars))
    if isinstance(sides, Skipped):
        skipped.append(sides)
        return
    old, new = sides
    old_path = change.old_path or change.path
    known = list(files_of(old_path))
    kinds = list(files_of(change.path))
    gone = [each for each in known if each not in kinds]
    for file in (*kinds, *gone):
        after = read_statements(file, change.path, new if file in kinds else "")
        before = read_statements(file, old_path, old if file in known else "")
        was_unreadable = bool(old.strip() and before.problem)
        problem = "" if was_unreadable else after.problem
        yield FileState(
            change,
            file,
            before.statements,
            after.statements,
            tuple(beside(subject, change, file)),
            new,
            old,
            problem,
        )


def standing_ones(
    subject: ReviewInput, states: Sequence[FileState], starters: Sequence[str], kind: str
) -> Iterator[tuple[SurfaceStatement, bool]]:
    """Yield the statements of a kind after a change, each with whether it is new.

    Those of changed files come first, then those of settings that do not change.
    """
    for state in states:
        new = {each.identity for each in state.new_ones(kind)}
        own = (each for each in state.after if each.kind == kind)
        yield from ((each, each.identity in new) for each in own)
    for path in starters:
        for file in files_of(path):
            if any(entry.kind == kind for entry in file.entries):
                text = subject.text_at(path) or ""
                statements = read_statements(file, path, text).statements
                yield from ((each, False) for each in statements if each.kind == kind)


def beside(
    subject: ReviewInput, change: FileChange, file: SurfaceFile
) -> Iterator[SurfaceStatement]:
    """Yield what files beside a changed one say, that count together with it and do not change themselves."""
    folder, _, name = change.path.rpartition("/")
    changed = {each.path for each in subject.changes}
    for other in file.merges:
        path = f"{folder}/{other}" if folder else other
        if other == name or path in changed:
            continue
        text = subject.text_at(path)
        if text:
            yield from read_statements(file, path, text).statements
