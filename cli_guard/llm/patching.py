"""Patches that a model writes: edits of a copy, parsed and reviewed as a hook does it, then proposed to a person.

plan without a model -> edits of a copy -> syntax, reviewers, tests -> write_file, which waits -> approve
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cli_guard.assistant.editing.sources import parse_python
from cli_guard.assistant.projects import tests_for
from cli_guard.assistant.proposals import mask_patch
from cli_guard.assistant.replies import (
    answer_change,
    covering_lines,
    first_lines,
    patch_lines,
    result_of,
)
from cli_guard.code.definitions import is_parseable
from cli_guard.code.languages import GRAMMARS, language_for
from cli_guard.code.syntax import Trees
from cli_guard.code.test_files import is_test_code
from cli_guard.graph.context import Context, Planned, limit_changes
from cli_guard.graph.gate import judgement_of
from cli_guard.graph.planning import plan_reviewers
from cli_guard.graph.state import Data, State, log
from cli_guard.graph.tools import guard_tools
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World, plain_data
from cli_guard.lazy import dataclass
from cli_guard.llm.answers import cited_lines, missing_citations
from cli_guard.llm.loop import ToolLoop
from cli_guard.llm.planning import word_plan
from cli_guard.llm.prompts import Message, fence, sendable, system, user
from cli_guard.llm.providers import ModelError
from cli_guard.llm.tools import EDITING, READING, Copy, tools_for
from cli_guard.model import Action, Disposition, Finding
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.repository.unified import unified_diff
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import Limits, ReviewInput
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

# How much of the file of a plan's main place is sent with the request.
FILE_CHARS = 12_000
LINES_BEFORE = 40
PATHS = re.compile(r"[\w@+.-]*[/.][\w@+./-]*\w")
FINDINGS = 10
COVERED = 3
ORDER = (Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE)
WORDS = 1_000
# Rounds that are left for the review of the edits and for the proposal.
SPARE = 3
TASK = """Make the change that the request asks for, with edit_file, create_file and delete_file. They work on a copy:
what you change there is reviewed and shown to a person as a patch. A plan was made without you; look at its places
first, and read what you change. Change as little as the request needs, in the style of the file, and change the tests
with it. When the edits are done, answer in at most three sentences: what the patch does, and what it leaves open. If
you cannot make the change, edit nothing and say why."""


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
class Patching:
    """The use of a model for a change of code that the planner without a model cannot compute.

    `held` is the last step of that planner, which stands if the model proposes nothing.
    """

    guest: "Guest"
    held: Planned | None = None
    loop: ToolLoop | None = None
    is_told: bool = False
    is_reviewed: bool = False
    copy: Copy = field(init=False)

    def __post_init__(self) -> None:
        self.copy = Copy(self.guest.config)

    def tools(self, context: Context) -> Mapping[str, Tool]:
        """Return the tools over the copy, and the one that proposes its patch."""
        return patching_tools(self.copy, context)

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next actions: those without a model, then the model's, then its patch in place of none."""
        if self.held is None:
            planned = self.guest.base(state, context)
            if not self.is_open(state, planned):
                return planned
            self.held = planned
            messages = first_messages(state, self.guest)
            self.loop = ToolLoop(self.guest, messages, (*READING, *EDITING), "patch", SPARE)
        if self.is_reviewed:
            return self.propose(state, result_of(state, PROPOSE))
        try:
            return self.work(state, context)
        except ModelError as error:
            self.guest.failure = str(error)
            return self.held

    def is_open(self, state: State, planned: Planned) -> bool:
        """Return whether the plan without a model ends here, files are to be changed, and there is no patch."""
        wishes = state["wishes"]
        ends = planned.last and not planned.failed
        return bool(
            ends
            and wishes.get("writes")
            and not wishes.get("forbids")
            and not state["proposal"]
        )

    def work(self, state: State, context: Context) -> Planned:
        """Return the calls of the next round; when the edits are done, their review. Raises ModelError."""
        assert self.loop and self.held  # noqa: S101 - set by `plan`
        planned = self.loop.plan(state, context)
        if not planned.answered:
            return planned
        old, new = self.copy.changes(self.guest.texts)
        broken = find_syntax_errors(old, new)
        if broken and not self.is_told and not self.loop.stopped:
            self.is_told = True
            self.loop.say(f"This does not parse; fix it: {'; '.join(broken)}")
            again = self.work(state, context)
            return replace(
                again, log=(*planned.log, *log("tool_loop", broken=broken), *again.log)
            )
        if self.loop.stopped or broken or not {**old, **new}:
            # Half of a change is none.
            self.copy.edits.clear()
            self.loop.stopped = (
                self.loop.stopped or "; ".join(broken) or "it changed nothing"
            )
            return replace(self.held, log=(*self.held.log, *planned.log))
        self.is_reviewed = True
        return Planned((REVIEW,), last=False, log=planned.log)

    def propose(self, state: State, result: Data) -> Planned:
        """Return the write of the patch, which waits for a person; without a patch, what was planned before."""
        assert self.held  # noqa: S101 - set by `plan`
        if result.get("denied", True):
            return self.held
        others = (each for each in self.held.actions if each.tool != "write_file")
        return Planned((write_action(state["proposal"]), *others))

    def reply(self, state: State, answer: str) -> str:
        """Return the answer with the patch, what the reviewers say of it, and the model's own words.

        A plan that is only to be shown is ordered and worded. Raises ModelError.
        """
        if self.loop is None:
            return word_plan(self.guest, state, answer)
        head, mark, tail = answer.partition("Needs review: ")
        head = (
            head.replace("Plan, without a patch:", "Plan:", 1)
            if state["proposal"]
            else head
        )
        return "\n".join(
            filter(None, (head.rstrip("\n"), *self.describe(state, head), mark + tail))
        )

    def describe(self, state: State, known: str) -> Iterator[str]:
        """Yield what became of the model's work; `known` is what the answer says already."""
        assert self.loop  # noqa: S101 - `reply` looks
        result = result_of(state, PROPOSE)
        if not result:
            yield f"No patch of the model: {self.loop.stopped or 'its review failed'}."
        elif result["denied"]:
            yield "The model's patch is refused; policy denies what the reviewers found in it:"
            yield from first_lines([f"  {line}" for line in result["denied"]], FINDINGS)
        else:
            yield f"Patch of the model for {', '.join(state['proposal']['paths'][:FINDINGS])}; check it:"
            yield from first_lines([f"  {line}" for line in result["findings"]], FINDINGS)
            covered = [
                f"Covered by {line}"
                for line in covering_lines(result, COVERED, names=False)
            ]
            yield from (line for line in covered if line not in known)
            yield from patch_lines(result)
        words = " ".join(self.loop.answer.split())[:WORDS]
        if missing := missing_citations(words, self.copy.over(self.guest.texts)):
            words = f"(left out, as it cites {missing[0]}, which is not there)"
        if words:
            yield f"The model says: {words}"


def first_messages(state: State, guest: "Guest") -> list[Message]:
    """Return the prompt: the task, the plan that was made without a model, and the text of its main place."""
    is_private = guest.config.is_private
    texts = guest.texts
    # A name with a blank is no word of a line.
    hidden = set(texts).difference(sendable(texts, guest.config))
    plan = "\n".join(
        line
        for line in answer_change(state)
        if not any(map(is_private, PATHS.findall(line)))
        and not any(path in line for path in hidden)
    )
    parts = [f"The request: {state['normalized_input']}"]
    if plan:
        parts.append(f"The plan that was made without you:\n{fence(plan, 'plan')}")
    places = (*cited_lines(plan), *((path, 1) for path in PATHS.findall(plan)))
    present = [each for each in places if each[0] in texts]
    for path, line in sorted(present, key=lambda each: is_test_code(each[0]))[:1]:
        # Before it is cut: half a secret would not be known as one.
        text = redact(texts[path], path)
        if len(text) > FILE_CHARS:
            text = "\n".join(text.split("\n")[max(0, line - LINES_BEFORE) :])[:FILE_CHARS]
        parts.append(f"Its main place is in this file:\n{fence(text, path, path)}")
    return [system(TASK), user(*parts)]


def find_syntax_errors(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return where a file does not parse that did before, or was not there."""
    found = ((path, find_syntax_error(path, text)) for path, text in new.items())
    return [
        f"{path}: {error}"
        for path, error in found
        if error and not find_syntax_error(path, old.get(path, ""))
    ]


def find_syntax_error(path: str, text: str) -> str:
    """Return why a text does not parse, "" if it does, or if no grammar is there to tell."""
    language = language_for(path, text)
    if language == "python":
        tree = parse_python(text)
        return tree if isinstance(tree, str) else ""
    if language in GRAMMARS and is_parseable(text):
        with suppress(ValueError):
            broken = Trees().root(language, text).find(kind="ERROR")
            return (
                f"not valid {language} (line {broken.range().start.line + 1})"
                if broken
                else ""
            )
    return ""


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
