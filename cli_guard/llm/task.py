"""What a model does in one request: it answers an unsure question, orders a plan, documents code, changes it.

plan without a model -> calls of the model over a copy -> an answer, or a patch that is reviewed and then waits
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.source import leaves_code
from cli_guard.assistant.editing.sources import find_syntax_errors
from cli_guard.assistant.planning import KINDS
from cli_guard.assistant.replies import (
    covering_lines,
    first_lines,
    patch_lines,
    result_of,
)
from cli_guard.assistant.retrieval.masked_lines import MaskedLines
from cli_guard.code.test_files import is_test_code
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.state import Data, State
from cli_guard.lazy import dataclass
from cli_guard.llm.answers import (
    KnownNames,
    cited_lines,
    list_dropped,
    missing_citations,
    problem_with,
)
from cli_guard.llm.loop import ToolLoop
from cli_guard.llm.patching import (
    PROPOSE,
    EditLoop,
    patching_tools,
)
from cli_guard.llm.prompts import Message, fence, sendable, system, user
from cli_guard.llm.providers import ModelError
from cli_guard.llm.tools import EDITING, READING, Copy
from cli_guard.policy.gate import READ_ONLY
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

QUESTION = "repo_qna"
DOCUMENTING = "doc_generation"
# A plan that is only to be shown, and a change.
PLAN = "plan"
CHANGE = "change"
SPOKEN = (QUESTION, PLAN)
# How much of the file of a plan's main place is sent with the request.
FILE_CHARS = 12_000
LINES_BEFORE = 40
PATHS = re.compile(r"[\w@+.-]*[/.][\w@+./-]*\w")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
FINDINGS = 10
COVERED = 3
CITED = 3
WORDS = 1_000
# Rounds that are left for the review of the edits and for the proposal.
SPARE = 3
EDIT = """They work on a copy: what you change there is reviewed and shown to a person as a patch. What was found
without you stands below; look at its places first, and read what you change."""
TASKS = {
    QUESTION: """Answer a question about the repository. A search without you has found no sure answer; it stands below.
Look with the tools; often the code says it in other words. Answer in at most three plain sentences, each with the place
that shows it, as path:line. Name only what you have seen. If nothing there answers it, say so.""",
    DOCUMENTING: f"""Document what the request names with edit_file: docstrings or comments, in the style of their file.
{EDIT} Say what the code does, what its parameters mean, what it returns and raises; leave out what the code does not
show, and change nothing but documentation. Then say in a sentence what you have left open.""",
    PLAN: """Say in which order to carry out a plan for a change, which was made without you and stands below. Look with
the tools. Answer in at most five plain sentences, each with the place that it is about, as path:line. Name only what
you have seen, and add a step only where the plan lacks one.""",
    CHANGE: f"""Make the change that the request asks for, with edit_file, create_file and delete_file. {EDIT} Change as
little as the request needs, in the style of the file, and change the tests with it. When the edits are done, answer in
at most three sentences: what the patch does, and what it leaves open. If you cannot make the change, edit nothing and
say why.""",
}


@dataclass
class ModelTask:
    """Implements `cli_guard.llm.guest.Use`.

    `held` is the last step of the planner without a model, which stands if the model proposes nothing.
    """

    guest: "Guest"
    held: Planned = Planned(())
    edits: EditLoop | None = None
    copy: Copy = field(init=False)

    def __post_init__(self) -> None:
        self.copy = Copy(self.guest.config)

    def plan(self, state: State, context: Context) -> Planned:
        """Return the next actions: those without a model, then the model's, then its patch in place of none."""
        if not self.edits:
            planned = self.plan_before(state, context)
            if not planned.last or planned.failed or not is_open(state):
                return planned
            self.held = planned
            self.edits = self.begin(state)
            self.guest.tools |= patching_tools(self.copy, context)
        try:
            planned = self.edits.plan(state, context)
        except ModelError as error:
            self.guest.failure = str(error)
            return self.held
        if planned.answered:
            return replace(self.held, log=(*self.held.log, *planned.log))
        if any(each.tool == "write_file" for each in planned.actions):
            writes = planned.actions if state["wishes"].get("writes") else ()
            others = (each for each in self.held.actions if each.tool != "write_file")
            return Planned((*writes, *others))
        return planned

    def plan_before(self, state: State, context: Context) -> Planned:
        """Plan as without a model; where that only reads, go on after it, as the result decides about the model."""
        reads = state["task_type"] in TASKS
        if reads and state["blocked_actions"]:
            # Without a model that round was the last, and its deny the end.
            return Planned((), failed=state["blocked_actions"][-1]["reason"])
        planned = self.guest.base(state, context)
        reads = reads and all(each.risk == READ_ONLY for each in planned.actions)
        if reads and planned.actions and not planned.failed:
            return replace(planned, last=False)
        return planned

    def begin(self, state: State) -> EditLoop:
        """Return the loop of the model's calls, with the task in its first messages."""
        kind = task_of(state)
        offered = READING if kind in SPOKEN else (*READING, *EDITING)
        loop = ToolLoop(self.guest, first_messages(state, self.guest), offered, kind, SPARE)
        check = find_changed_code if kind == DOCUMENTING else find_syntax_errors
        return EditLoop(loop, self.copy, mends=1, check=check)

    def reply(self, state: State, answer: str) -> str:
        """Return the answer with the model's words, and the patch with what the reviewers say of it."""
        if not self.edits:
            return answer
        if task_of(state) in SPOKEN:
            return "\n".join((answer, *self.describe_answer(self.edits.loop.answer)))
        head, mark, tail = answer.partition("Needs review: ")
        if state["proposal"]:
            head = head.replace("Plan, without a patch:", "Plan:", 1)
        described = self.describe_patch(state, self.edits, head)
        return "\n".join(filter(None, (head.rstrip("\n"), *described, mark + tail)))

    def describe_answer(self, said: str) -> Iterator[str]:
        """Yield the sentences that name only what is there, and the lines that they cite."""
        texts = self.copy.over(self.guest.texts)
        known = KnownNames(texts)
        kept: list[str] = []
        dropped: list[str] = []
        for each in SENTENCE_END.split(" ".join(said.split())[:WORDS]):
            problem = problem_with(each, known)
            if missing := missing_citations(each, texts):
                problem = f"cites {missing[0]}, which is not there"
            (dropped if problem else kept).append(problem or each)
        words = " ".join(kept)
        cited = [each for each in dict.fromkeys(cited_lines(words)) if each[0] in texts]
        if cited:
            yield f"The model says: {words}"
            for path, line in cited[:CITED]:
                yield f"  {path}:{line}: {MaskedLines(path, texts[path]).line(line)}"
        else:
            yield "The model's answer cites no place that is there."
        if dropped:
            yield list_dropped(dropped)

    def describe_patch(self, state: State, edits: EditLoop, known: str) -> Iterator[str]:
        """Yield what became of the model's work; `known` is what the answer says already."""
        reviews = [each for each in state["tool_results"] if each["tool"] == PROPOSE]
        result: Data = reviews[-1] if reviews else {}
        if not result or "denied" not in result:
            why = edits.loop.stopped or edits.problem or "it changed nothing"
            yield f"No patch of the model: {why}."
        elif result["denied"]:
            yield "The model's patch is refused; policy denies what the reviewers found in it:"
            yield from first_lines([f"  {line}" for line in result["denied"]], FINDINGS)
        else:
            paths = ", ".join(state["proposal"]["paths"][:FINDINGS])
            yield f"Patch of the model for {paths}; check it:"
            yield from first_lines([f"  {line}" for line in result["findings"]], FINDINGS)
            covered = [
                f"Covered by {line}"
                for line in covering_lines(result, COVERED, names=False)
            ]
            yield from (line for line in covered if line not in known)
            yield from patch_lines(result)
        words = " ".join(edits.loop.answer.split())[:WORDS]
        if missing := missing_citations(words, self.copy.over(self.guest.texts)):
            words = f"(left out, as it cites {missing[0]}, which is not there)"
        if words:
            yield f"The model says: {words}"


def task_of(state: State) -> str:
    """Return what the model is to do in a run, a key of TASKS."""
    wishes = state["wishes"]
    if state["task_type"] in TASKS:
        return str(state["task_type"])
    return CHANGE if wishes.get("writes") and not wishes.get("forbids") else PLAN


def is_open(state: State) -> bool:
    """Return whether the plan without a model leaves something to a model."""
    kind = task_of(state)
    if kind == QUESTION:
        found = result_of(state, "search_repository")
        return bool(found) and not is_sure(found)
    if kind == DOCUMENTING:
        proposals = result_of(state, "propose_documentation").get("proposals", ())
        return any(not each["text"] or "TODO" in each["text"] for each in proposals)
    made = result_of(state, "plan_change")
    has_steps = bool(made.get("steps")) and not made.get("missing")
    return not state["proposal"] and (kind == CHANGE or has_steps)


def is_sure(found: Data) -> bool:
    """Return whether the result of a search needs no model."""
    return found["confidence"] == "high" or (
        found["confidence"] == "medium" and not found["missing"]
    )


def find_changed_code(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return what is more than documentation in some edits, or does not parse."""
    changed = [
        f"{path}: more than documentation is changed"
        for path in sorted({**old, **new})
        if not leaves_code(path, old.get(path, ""), new.get(path, ""))
    ]
    return [*find_syntax_errors(old, new), *changed]


def first_messages(state: State, guest: "Guest") -> list[Message]:
    """Return the prompt: the task, what was found without a model, and the text of its main place."""
    is_private = guest.config.is_private
    texts = guest.texts
    # A name with a blank is no word of a line.
    hidden = set(texts).difference(sendable(texts, guest.config))
    _, answer_lines = KINDS[str(state["task_type"])]
    plan = "\n".join(
        line
        for line in answer_lines(state)
        if not any(map(is_private, PATHS.findall(line)))
        and not any(path in line for path in hidden)
    )
    parts = [f"The request: {state['normalized_input']}"]
    if plan:
        parts.append(f"What was found without you:\n{fence(plan, 'plan')}")
    places = (*cited_lines(plan), *((path, 1) for path in PATHS.findall(plan)))
    present = [each for each in places if each[0] in texts]
    for path, line in sorted(present, key=lambda each: is_test_code(each[0]))[:1]:
        # Before it is cut: half a secret would not be known as one.
        text = redact(texts[path], path)
        if len(text) > FILE_CHARS:
            text = "\n".join(text.split("\n")[max(0, line - LINES_BEFORE) :])[:FILE_CHARS]
        parts.append(f"Its main place is in this file:\n{fence(text, path, path)}")
    return [system(TASKS[task_of(state)]), user(*parts)]
