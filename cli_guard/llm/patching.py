"""Edits of a copy by a model: parsed and reviewed as a hook does it, mended by the model, proposed as one patch.

calls of the model -> edits of a copy -> syntax, reviewers -> write_file, which waits for a person
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from cli_guard.assistant.editing.sources import find_syntax_errors
from cli_guard.assistant.projects import tests_for
from cli_guard.assistant.proposals import mask_patch
from cli_guard.graph.context import Context, Planned, limit_changes
from cli_guard.graph.gate import judgement_of
from cli_guard.graph.planning import plan_reviewers
from cli_guard.graph.state import Data, State
from cli_guard.graph.tools import guard_tools
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.lazy import dataclass
from cli_guard.llm.loop import ToolLoop
from cli_guard.llm.tools import Copy, tools_for
from cli_guard.model import Action, Disposition, Finding
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.repository.unified import unified_diff
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.secrets.redact import redact

ORDER = (Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE)
TOLD = ("path", "paths", "query", "command")
# So often the model is told what is wrong with its edits.
MENDS = 2
Files = Mapping[str, str]


PROPOSE = "propose_patch"
REVIEW = Action(PROPOSE, {}, purpose="review the edits, and make the patch")


class NoArguments(Arguments):
    """Nothing: the edits are in the copy."""


def patching_tools(copy: Copy, context: Context) -> dict[str, Tool]:
    """Return the tools over a copy, and the one that reviews its edits and proposes their patch."""

    def propose_patch(world: World, arguments: Arguments) -> ToolOutput:
        return review_edits(
            *copy.changes(world.snapshot), replace(context, snapshot=world.snapshot)
        )

    summary = "Review the edits as a hook does, and propose them as a patch."
    return {
        **tools_for(copy, getattr(context.assistant, "shell", None)),
        PROPOSE: Tool(PROPOSE, summary, "read_only", NoArguments, propose_patch),
    }


def write_action(proposal: Data) -> Action:
    """Return the write of a patch, which the gate lets wait for a person."""
    arguments = {"paths": proposal["paths"], "patch": proposal["patch"]}
    return Action(
        "write_file", arguments, risk="write", purpose="write the patch of the model"
    )


@dataclass
class EditLoop:
    """Implements `cli_guard.llm.guest.Use`: the calls of a model, then the patch of its edits.

    `on_step` gets a line for each; `problem` is what was last wrong with the edits, `mends` how often it is told.
    """

    loop: ToolLoop
    copy: Copy
    on_step: Callable[[str], None] = field(default=lambda line: None)
    mends: int = MENDS
    check: Callable[[Files, Files], list[str]] = field(default=find_syntax_errors)
    problem: str = ""
    _blocked: int = 0
    _reviewed: int = 0
    _mended: int = 0

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next calls of the model; when it has answered, the review of its edits, then their write."""
        for each in state["blocked_actions"][self._blocked :]:
            self.on_step(f"denied by policy: {each['tool']}: {each['reason']}")
        self._blocked = len(state["blocked_actions"])
        reviews = [each for each in state["tool_results"] if each["tool"] == PROPOSE]
        if len(reviews) > self._reviewed:
            self._reviewed = len(reviews)
            if denied := reviews[-1].get("denied"):
                return self.ask_to_fix(
                    f"policy denies the patch: {'; '.join(denied)}", state, context
                )
            return Planned((write_action(state["proposal"]),))
        planned = self.loop.plan(state, context)
        for action in planned.actions:
            self.on_step(describe_call(action))
        if not planned.answered or self.loop.stopped:
            return planned
        snapshot = context.world(state).snapshot
        if lost := self.copy.drop_overtaken(snapshot):
            problem = f"{', '.join(lost)} changed since you edited it, so that your edit of it is dropped"
            return self.ask_to_fix(problem, state, context)
        old, new = self.copy.changes(snapshot)
        if not {**old, **new}:
            return planned
        if broken := self.check(old, new):
            return self.ask_to_fix(
                f"this cannot be taken: {'; '.join(broken)}", state, context
            )
        return Planned((REVIEW,), last=False, log=planned.log)

    def ask_to_fix(self, problem: str, state: State, context: Context) -> Planned:
        """Tell the model what is wrong with its edits, and go on; drop them if it has been told often enough."""
        self._mended += 1
        self.problem = problem
        self.on_step(problem)
        if self._mended > self.mends:
            self.copy.edits.clear()
            self.on_step("the edits are dropped")
            return Planned((), answered=True)
        self.loop.say(
            f"{problem}. Fix it, or take the edit back, and say what you have done."
        )
        return self.plan(state, context)

    def reply(self, state: State, answer: str) -> str:
        """Return the model's words before the rest of the answer."""
        return "\n".join(filter(None, (self.loop.answer, answer)))


def describe_call(action: Action) -> str:
    """Return a call on one line."""
    told = (str(each) for key, each in action.arguments.items() if key in TOLD)
    return " ".join((action.tool, *told))


def review_edits(
    old: Mapping[str, str], new: Mapping[str, str], context: Context
) -> ToolOutput:
    """Review files (path -> text, before and after) as a hook does; propose their patch if nothing is denied."""
    changes = limit_changes(changes_between(old, new), new, Limits.of(context.policy))
    subject = ReviewInput("snapshot", changes, SnapshotContents(old, new)).under(
        context.policy
    )
    tools = guard_tools()
    paths = sorted({**old, **new})
    found: State = {"findings": [], "skipped": []}
    for action in plan_reviewers(subject, [change.path for change in changes]):
        output = tools[action.tool].call(World(subject), action.arguments)
        found["findings"] += output.findings
        found["skipped"] += output.skipped
    judged = judgement_of(
        found, replace(context, subject=subject, answer=InlineAnswers(subject))
    )
    denied, *others = (list(map(describe_finding, judged.of(kind))) for kind in ORDER)
    patch = unified_diff(old, new)
    try:
        shown = mask_patch(patch, redact, old)
    except (ValueError, IndexError) as error:
        denied.append(f"the patch has a form that cannot be shown ({error})")
    if denied:
        return ToolOutput({"denied": denied})
    covering = tests_for(paths, (), {**context.texts, **new})
    data = {
        "denied": [],
        "findings": [line for lines in others for line in lines],
        "needs_review": bool(others[0]),
        "patch": shown,
    }
    return ToolOutput(
        {**plain_data(covering), **data}, proposal={"patch": patch, "paths": paths}
    )


def describe_finding(finding: Finding) -> str:
    """Format a finding on one line; its message has no secret."""
    place = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{place}: {finding.message} [{finding.rule}]"
