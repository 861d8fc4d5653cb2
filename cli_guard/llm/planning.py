"""Words for a plan without a patch: its steps and places stay what the code says, a model orders and words them."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from pydantic import BaseModel

from cli_guard.assistant.replies import result_of, step_text
from cli_guard.assistant.sentences import KnownNames, list_dropped, problem_with
from cli_guard.graph.state import State
from cli_guard.llm.answers import parse_answer
from cli_guard.llm.prompts import fence, system, user
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from cli_guard.llm.guest import Guest

LINES = 120
LINE_CHARS = 160
SPAN = 12
ADDED = 3
# A place at the beginning of a line, `a.py:12 in f, 40 in g`; of a definition, `a.py:3-90`, some lines are shown.
PLACE = re.compile(r"^(\S[^:\n]*):(\d{1,7})(?:-(\d{1,7}))?(.*)", re.MULTILINE)
TASK = f"""Put the steps of a plan for a change into the order in which to do them. The steps were found in the code.
Answer with JSON alone: {{"steps": [{{"id": text, "sentence": text}}]}}. The id is the number of a step, each once. You
may put in up to {ADDED} further steps, whose id is a place (path:line) of which you see the line; mostly there is none.
The sentence, of at most 200 characters, says what to do there for this request. Names of code are in backticks; name
only what you see."""


class Step(BaseModel):
    """A step in words: one of the plan by its number, or a further one by its place."""

    id: int | str
    sentence: str


class Order(BaseModel):
    """The steps in their order."""

    steps: list[Step]


def word_plan(guest: "Guest", state: State, answer: str) -> str:
    """Return an answer with a plan without a patch, and below it the plan as a model orders it. Raises ModelError."""
    made = result_of(state, "plan_refactoring") or result_of(state, "plan_change")
    if not made.get("steps") or made.get("patch") or made.get("missing"):
        return answer
    steps = {str(at): step_text(each) for at, each in enumerate(made["steps"], 1)}
    shown = []
    for (at, text), step in zip(steps.items(), made["steps"], strict=True):
        part = "\n".join((f"{at}. {text}", *step["places"]))
        paths = (*step["paths"], *(found[0] for found in PLACE.findall(part)))
        if not any(map(guest.config.is_private, paths)):
            shown.append(part)
    groups = (*(group["places"] for group in made["usages"]), made["by_hand"])
    places = [f"{path}:{line}" for group in groups for path, line, _ in group]
    lines = dict(islice(show_lines(guest, "\n".join([*shown, *places])), LINES))
    plan = "\n".join(
        [*shown, "Lines:", *(f"{place}: {text}" for place, text in lines.items())]
    )
    request = state["normalized_input"]
    prompt = [
        system(TASK),
        user(f"The request: {request}", f"The plan:\n{fence(plan, 'plan')}"),
    ]
    order = parse_answer(guest.ask(prompt, purpose="plan", schema=Order).text, Order)
    known = KnownNames(f"{plan}\n{request}")
    dropped = list[str]()
    said = dict[str, str]()
    for each in order.steps:
        at = str(each.id)
        problem = problem_with(each.sentence, known)
        if at in said or (at not in steps and at not in lines):
            problem = (
                "a step twice"
                if at in said
                else "cites a step or a line that it was not shown"
            )
        elif at in lines and len(said.keys() & lines.keys()) >= ADDED:
            problem = f"more than {ADDED} further steps"
        if problem:
            dropped.append(problem)
        else:
            said[at] = each.sentence.strip()
    if said:
        # A step that the model leaves out, or words in a way that cannot be taken, keeps the words of the plan.
        ordered = (
            said | {at: text for at, text in steps.items() if at not in said}
        ).items()
        head = "Plan, ordered by the model (in brackets the steps above, or the place of a further one):"
        numbered = enumerate(ordered, 1)
        answer = "\n".join(
            (answer, head, *(f"{number}. ({at}) {text}" for number, (at, text) in numbered))
        )
    return "\n".join(filter(None, (answer, list_dropped(dropped))))


def show_lines(guest: "Guest", text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of the places that a text names, by path:line, as far as they exist and may be sent."""
    for path, first, last, others in PLACE.findall(text):
        known = "" if guest.config.is_private(path) else guest.texts.get(path, "")
        lines = known.splitlines()
        masked = redact(known, path).splitlines()
        # Before they are cut; where a key of several lines is masked, no line has its number any more.
        lines = masked if len(masked) == len(lines) else []
        numbers = range(int(first), min(int(last or first), int(first) + SPAN) + 1)
        for line in (*numbers, *map(int, re.findall(r", (\d{1,7}) ", others))):
            if 0 < line <= len(lines):
                yield f"{path}:{line}", lines[line - 1].strip()[:LINE_CHARS]
