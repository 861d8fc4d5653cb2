"""Plans: which tools a task needs next. Pure: a state and a context in, actions out.

A task takes at most two rounds: the second acts on what the first has read. The review of a change takes three if its
repository has checks.
"""

from cli_guard.graph.context import Context, Planned, assistant_of
from cli_guard.graph.state import State
from cli_guard.hooks import MESSAGE, event_of
from cli_guard.model import Action
from cli_guard.policy.gate import EXECUTE, RUN_CHECKS
from cli_guard.reviewers import registry
from cli_guard.reviewers.claims import makes_claim
from cli_guard.reviewers.per_file import may_be_packed
from cli_guard.reviewers.review_input import ReviewInput


def plan(state: State, context: Context) -> Planned:
    """Return the next actions of the task."""
    if state["task_type"] != "change_review":
        return assistant_of(context).plan(state, context)
    assert context.subject is not None  # noqa: S101 - prepare_task failed without one
    planned = {each["tool"] for each in state["plan"]}
    if not planned and (
        reviewers := plan_reviewers(context.subject, state["requested_paths"])
    ):
        return Planned(tuple(reviewers), last=False)
    if RUN_CHECKS not in planned and (checks := plan_checks(context.subject)):
        return Planned((checks,), last=False)
    return Planned((plan_recording(context.subject, state),))


def plan_reviewers(subject: ReviewInput, paths: list[str]) -> list[Action]:
    """Plan the reviewers that this change needs, last those that only advise: the decision does not wait for them."""
    ordered = sorted(
        registry.REVIEWERS, key=lambda each: each.name in subject.advice.reviewers
    )
    packed = (
        {change.path for change in subject.changes if may_be_packed(change)}
        if subject.shard
        else set()
    )
    return [
        Action(
            f"review_{reviewer.name}",
            {"paths": paths_of(reviewer, subject, paths, packed)},
            purpose=f"find {reviewer.name} risks",
        )
        for reviewer in ordered
        if reviewer.is_needed(subject, has_paths=bool(paths))
        and (subject.shard is None or subject.shard.runs(reviewer.name))
    ]


def paths_of(
    reviewer: registry.Reviewer, subject: ReviewInput, paths: list[str], packed: set[str]
) -> list[str]:
    """Return the paths that a reviewer looks at; those that are `packed` go to one part of a review in parts."""
    if event_of(subject.event).request == MESSAGE:
        # The files were reviewed before; only a message that says something of them is compared with them.
        is_claim = subject.message is not None and makes_claim(subject.message)
        return paths if is_claim and reviewer.name == "message" else []
    shard = subject.shard
    if shard is None:
        return paths
    return [
        path
        for path in paths
        if shard.has_file(reviewer.name, path, is_packed=path in packed)
    ]


def plan_checks(subject: ReviewInput) -> Action | None:
    """Plan the checks that may run, None if there are none. They run after the reviewers, which take less time."""
    wanted = [
        {"id": check.id, "commands": list(check.commands)}
        for check in subject.checks
        if check.may_run
    ]
    purpose = "run the checks of the repository over exactly this"
    return (
        Action(RUN_CHECKS, {"checks": wanted}, risk=EXECUTE, purpose=purpose)
        if wanted
        else None
    )


def plan_recording(subject: ReviewInput, state: State) -> Action:
    """Plan the action that Git takes if the hook allows it."""
    tool = "git_push" if event_of(subject.event).has_commits else "git_commit"
    arguments = {"content": subject.changes.identity, "findings": len(state["findings"])}
    return Action(tool, arguments, risk="git", purpose="let Git record what was reviewed")
