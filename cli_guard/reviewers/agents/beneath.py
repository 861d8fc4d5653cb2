"""Scripts that a change alters beneath a start that was there already: the same question as about a new start."""

from collections.abc import Iterator, Sequence

from cli_guard.lazy import frozen
from cli_guard.model import FileChange, Status
from cli_guard.reviewers.agents.starts import Start, StartJudge
from cli_guard.reviewers.agents.statements import SurfaceStatement
from cli_guard.reviewers.agents.states import FileState, standing_ones
from cli_guard.reviewers.agents.tasks import file_of
from cli_guard.reviewers.review_input import ReviewInput

# A file says more than a start that reaches a script; one for each is enough.
MOST_STARTS = 200


@frozen
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
    starts = standing_ones(subject, states, starters, "start")
    standing = (each for each, is_new in starts if not is_new)
    for number, statement in enumerate(standing):
        if number >= MOST_STARTS:
            break
        start = judge.judge(statement)
        for name in start.scripts:
            change = changed.get(file_of(name))
            if not change or name in found:
                continue
            if asks_more(subject, judge, start, name, change):
                found.add(name)
                yield AlteredScript(change, statement, start)


def asks_more(
    subject: ReviewInput, judge: StartJudge, start: Start, name: str, change: FileChange
) -> bool:
    """Return whether a script asks about something that it did not ask about before the change."""
    old = subject.contents.old(change) if change.status is not Status.ADDED else None
    before = judge.questions_before(name, old) if old else frozenset()
    return not start.scripts[name].questions <= before
