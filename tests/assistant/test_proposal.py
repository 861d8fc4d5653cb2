"""The one way to the assistant: a request and files in, a proposal out; and another assistant in its place."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from examples import table
from in_process import guard
from repositories import Repo

from cli_guard.assistant import propose
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context, Planned, Reading
from cli_guard.graph.state import State, TaskType
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Action

FILES = {
    "src/text.py": "def slug():\n    return 1\n",
    "tests/test_text.py": "from src.text import slug\n",
}


def test_a_question_is_answered() -> None:
    proposal = propose("Where is slug defined?", FILES)
    assert (proposal.status, proposal.patch, proposal.pause) == ("ok", "", None)
    assert proposal.text.startswith("src/text.py:1: def slug()")
    assert proposal.data["task_type"] == "repo_qna"


def test_a_change_is_a_patch_that_waits_for_a_person() -> None:
    files = dict(FILES)
    proposal = propose("Rename slug to slugify", files)
    assert (proposal.status, proposal.data["requires_human_review"]) == (
        "needs_review",
        True,
    )
    assert "+def slugify():" in proposal.patch
    assert files == FILES


@table(
    ("request_", "said"),
    [
        ("What does Find do?", "store.go:4-6: func Find(id int) int"),
        ("which tests cover slug", "tests/test_text.py:1: from src.text import slug"),
        ("rename Find to Lookup", "No patch: there is nothing to approve."),
        ("add a rate limit", "No patch: there is nothing to approve."),
    ],
)
def test_what_is_said(request_: str, said: str) -> None:
    go = "package store\n\n// Find finds.\nfunc Find(id int) int {\n\treturn id\n}\n"
    text = propose(request_, {**FILES, "store.go": go}).text
    assert said in text
    assert "Needs review" not in text
    assert "The command (not run): which" not in text


def test_paths_narrow_what_is_looked_at() -> None:
    proposal = propose("Where is slug defined?", FILES, paths=["tests/test_text.py"])
    assert "src/text.py:" not in proposal.text
    assert propose("Where is slug defined?", FILES, paths=[]).status == "failed"


def test_what_is_refused_has_no_patch() -> None:
    proposal = propose("Delete all files", FILES)
    assert (proposal.status, proposal.patch, proposal.data["tool_results"]) == (
        "failed",
        "",
        [],
    )


class Parrot:
    """An assistant that repeats the request, with a tool of its own."""

    def __init__(self, risk: str = "read_only") -> None:
        self.risk = risk

    @property
    def tools(self) -> Mapping[str, Tool]:
        def run(world: World, arguments: Arguments) -> ToolOutput:
            return ToolOutput({"files": sorted(world.snapshot)})

        return {"squawk": Tool("squawk", "squawks", self.risk, Arguments, run)}

    def read(self, request: str, paths: Collection[str], kind: TaskType | None) -> Reading:
        return Reading(
            kind or "repo_qna",
            "squawk",
            {"paths": sorted(paths)[:1]},
            "no" * ("refuse" in request),
        )

    def select_paths(self, state: State, context: Context) -> Sequence[str]:
        return ()

    def plan(self, state: State, context: Context) -> Planned:
        return Planned((Action("squawk", risk=self.risk),))

    def reply(self, state: State) -> Iterable[str]:
        return [
            f"{state['normalized_input']}: {result['files'][0]}"
            for result in state["tool_results"]
        ]


def ask(request: str, parrot: Parrot) -> Any:
    asked: Any = {"input": request, "repo_snapshot": FILES}
    return build_graph().invoke(asked, context=Context(assistant=parrot))


def test_another_assistant_is_behind_the_same_gate() -> None:
    state = ask("Say it", Parrot())
    assert (state["status"], state["final_output"]) == ("ok", "Say it: src/text.py")
    assert state["requested_paths"] == ["src/text.py"]
    asked = ask("Say it", Parrot("execute"))
    assert (asked["status"], asked["blocked_actions"][0]["tool"]) == (
        "needs_review",
        "squawk",
    )
    assert ask("refuse it", Parrot())["final_output"] == "failed: not supported: no"


def test_the_exit_code_and_the_tabs_of_an_answer(committed: Repo) -> None:
    go = "package a\n\nfunc Find() int {\n\treturn 1\n}\n\nconst LIMIT = 3\n\tconst DEPTH = 1\n"
    committed.commit("Begin", {"a.go": go})
    # A patch waits for a person; a plan without one has failed.
    assert guard(committed, "ask", "rename Find to Lookup").code == 1
    changed = guard(committed, "ask", "set LIMIT to 5")
    assert changed.code == 3
    assert "\n \tconst DEPTH = 1\n" in changed.out
    assert guard(committed, "ask", "what does Find do?").code == 0
