"""Plans: which tools a task needs next. Pure: a state and a context in, actions out.

Every task takes two rounds at most. What the first one reads is what the second one acts on.
"""

from cli_guard.graph.assisting import plan_assistance
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import State
from cli_guard.model import Action
from cli_guard.reviewers.subject import Subject

MESSAGE_ONLY = "commit-msg"
PUSH_EVENTS = ("pre-push", "range")


def plan(state: State, context: Context) -> Planned:
    """The next actions of the task; none when it is done."""
    if state["task_type"] != "change_review":
        return plan_assistance(state, context)
    assert context.subject is not None  # noqa: S101 - prepare_task failed without one
    if state["round"] == 1:
        return Planned(tuple(plan_reviewers(context.subject, state["requested_paths"])), last=False)
    return Planned((plan_recording(context.subject, state),))


def plan_reviewers(subject: Subject, paths: list[str]) -> list[Action]:
    """The reviewers that this change gives something to do."""
    names = []
    if subject.event == MESSAGE_ONLY:
        names = ["secrets", "message"]
    else:
        names = ["secrets"]
        if paths:
            names += ["code", "commands", "docs", "refactor", "policy"]
        if subject.message or subject.history:
            names.append("message")
        if subject.pushed:
            names.append("push")
    return [
        Action(
            f"review_{name}",
            {"paths": [] if subject.event == MESSAGE_ONLY else paths},
            purpose=f"find {name} risks",
        )
        for name in names
    ]


def plan_recording(subject: Subject, state: State) -> Action:
    """What Git will do once the hook lets it."""
    tool = "git_push" if subject.event in PUSH_EVENTS else "git_commit"
    arguments = {"content": subject.changes.identity, "findings": len(state["findings"])}
    return Action(tool, arguments, risk="git", purpose="let Git record what was reviewed")
