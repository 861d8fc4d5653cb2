"""Scripts that a change alters beneath a start that was there already: the same question as about a new start."""

from collections.abc import Iterator, Sequence

from cli_guard.lazy import dataclass
from cli_guard.model import FileChange, Status
from cli_guard.reviewers.agents.starts import Start, StartJudge
from cli_guard.reviewers.agents.statements import SurfaceStatement, read_statements
from cli_guard.reviewers.agents.states import FileState
from cli_guard.reviewers.agents.tables import files_of
from cli_guard.reviewers.agents.tasks import file_of
from cli_guard.reviewers.review_input import ReviewInput

# A file says more than a start that reaches a script; one for each is enough.
MOST_STARTS = 200


@dataclass(frozen=True, slots=True)
class AlteredScript:
    """A script that a change alters, and the start that reaches it."""

    change: FileChange
    statement: SurfaceStatement
    start: Start


def altered_scripts(
    subject: ReviewInput,
    judge: StartJudge,
    states: Sequence[FileState],
    starters: Sequence[str],
) -> Iterator[AlteredScript]:
    """Yield each changed script that an old start reaches and that asks about more than it did."""
    changed = {
        each.path: each for each in subject.changes if each.status is not Status.DELETED
    }
    found: set[str] = set()
    for number, statement in enumerate(standing_starts(subject, states, starters)):
        if number >= MOST_STARTS:
            break
        start = judge.judge(statement)
        for name in start.scripts:
            change = changed.get(file_of(name))
            if change and name not in found and asks_more(subject, judge, start, name):
                found.add(name)
                yield AlteredScript(change, statement, start)


def standing_starts(
    subject: ReviewInput, states: Sequence[FileState], starters: Sequence[str]
) -> Iterator[SurfaceStatement]:
    """Yield the starts of the settings that do not change, and the old ones of those that do."""
    for state in states:
        new = {each.identity for each in state.new_ones("start")}
        starts = (each for each in state.after if each.kind == "start")
        yield from (each for each in starts if each.identity not in new)
    for path in starters:
        text = subject.text_at(path) or ""
        for file in files_of(path):
            statements = read_statements(file, path, text).statements
            yield from (each for each in statements if each.kind == "start")


def asks_more(subject: ReviewInput, judge: StartJudge, start: Start, name: str) -> bool:
    """Return whether a script asks about something that it did not ask about before the change."""
    change = subject.file_at(file_of(name))
    if change is None or not start.scripts[name].questions:
        return False
    old = subject.contents.old(change) if change.status is not Status.ADDED else None
    before = judge.questions_before(name, old) if old else frozenset()
    return not start.scripts[name].questions <= before
