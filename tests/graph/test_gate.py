"""The gate inside the graph: it decides alone, and what it refuses never runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from examples import table
from pydantic import Field

from cli_guard.assistant.local import LocalAssistant
from cli_guard.commands import Context as CommandContext
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.tools import guard_tools
from cli_guard.graph.tools.tool import Arguments, Tool, ToolOutput, World
from cli_guard.model import Action

RAN: list[str] = []


class Target(Arguments):
    path: str
    mode: int = Field(default=0, ge=0)


class Shell(Arguments):
    command: str = ""
    steps: tuple[dict[str, str], ...] = ()


def note(world: World, arguments: Arguments) -> ToolOutput:
    RAN.append(type(arguments).__name__)
    return ToolOutput({"done": True})


TOOLS = {
    **guard_tools(),
    "write_file": Tool("write_file", "writes a file", "write", Target, note),
    "call_api": Tool("call_api", "calls a service", "external", Target, note),
    "touch": Tool("touch", "looks", "read_only", Target, note),
    "run_shell": Tool("run_shell", "runs a command", "read_only", Shell, note),
}


@pytest.fixture
def planned() -> Iterator[Any]:
    """Runs a question whose plan is the one given: a planner may propose anything, a model one day too."""
    RAN.clear()

    def run(
        *actions: Action, review_only: bool = True, commands: CommandContext | None = None
    ) -> Any:
        context = Context(
            tools=TOOLS,
            review_only=review_only,
            commands=commands,
            planner=lambda state, context: Planned(actions),
        )
        return build_graph().invoke(
            {"input": "What is this?", "repo_snapshot": {"a.py": "x = 1\n"}},
            context=context,
        )

    yield run


@table(
    ("action", "rule", "reason"),
    [
        (Action("format_disk"), "tool-unavailable", "there is no tool format_disk"),
        (Action("touch", {"path": 3}), "tool-malformed", "path"),
        (Action("touch", {"path": "a.py", "mode": -1}), "tool-malformed", "mode"),
        (Action("touch", {"path": "a.py", "shell": "rm"}), "tool-malformed", "shell"),
        (Action("touch", {}), "tool-malformed", "path"),
        (Action("touch", {"path": "b.py"}), "path-not-allowed", "b.py is outside"),
        (
            Action("touch", {"path": "../a.py"}),
            "path-not-allowed",
            "outside the allowed paths",
        ),
        (Action("write_file", {"path": "a.py"}), "review-only", "review-only mode"),
        (
            Action("write_file", {"path": "a.py"}, risk="read_only"),
            "review-only",
            "review-only mode",
        ),
        (Action("call_api", {"path": "a.py"}), "review-only", "review-only mode"),
        (Action("git_commit", {"content": "x"}), "tool-malformed", "findings"),
        (Action("run_shell", {"command": "rm -rf /"}), "command-wipe", "whole file system"),
        (Action("run_shell", {"command": "npm install x"}), "command-review", "installs"),
        (
            Action("run_shell", {"steps": ({"command": "rm -rf /"},)}),
            "command-wipe",
            "whole file system",
        ),
        (Action("suggest_command", {"command": "rm -rf ~"}), "command-wipe", "home folder"),
    ],
    ids=lambda value: value.tool if isinstance(value, Action) else None,
)
def test_a_bad_request_ends_in_failure(
    planned: Any, action: Action, rule: str, reason: str
) -> None:
    state = planned(action)
    assert (state["status"], state["decision"]) == ("failed", "deny")
    assert state["requires_human_review"] is False
    assert state["tool_results"] == []
    assert RAN == []
    [blocked] = state["blocked_actions"]
    assert (blocked["tool"], blocked["rule"]) == (action.tool, rule)
    assert reason in blocked["reason"]
    assert reason in state["final_output"]
    assert [entry["node"] for entry in state["action_log"]][-2:] == [
        "policy_gate",
        "handle_failure",
    ]


@pytest.mark.parametrize("tool", ["write_file", "call_api"])
def test_an_effect_asks_for_a_person_outside_review_only_mode(
    planned: Any, tool: str
) -> None:
    state = planned(
        Action("touch", {"path": "a.py"}), Action(tool, {"path": "a.py"}), review_only=False
    )
    assert (state["status"], state["requires_human_review"]) == ("needs_review", True)
    assert [blocked["tool"] for blocked in state["blocked_actions"]] == [tool]
    assert "need approval" in state["review_reason"]
    assert RAN == []


def test_a_command_runs_after_it_was_judged(planned: Any) -> None:
    assert planned(Action("run_shell", {"command": "ls -la"}))["status"] == "ok"
    assert RAN == ["Shell"]


def test_a_command_that_needs_a_person_waits_for_one(planned: Any) -> None:
    state = planned(Action("run_shell", {"command": "npm install x"}), review_only=False)
    assert (state["status"], state["requires_human_review"]) == ("needs_review", True)
    [blocked] = state["blocked_actions"]
    assert (blocked["tool"], blocked["rule"]) == ("run_shell", "command-review")
    assert RAN == []


def test_a_command_is_judged_where_it_would_run(planned: Any) -> None:
    status = Action("run_shell", {"command": "git status"})
    assert planned(status)["status"] == "ok"
    watched = CommandContext(git_config={"core.fsmonitor": ("./watch",)})
    assert planned(status, commands=watched)["status"] == "failed"


def test_one_bad_request_stops_the_good_ones_too(planned: Any) -> None:
    state = planned(Action("touch", {"path": "a.py"}), Action("format_disk"))
    assert state["status"] == "failed"
    assert RAN == []


def test_a_commit_brings_nothing_past_the_gate(planned: Any) -> None:
    record = Action("git_commit", {"content": "x", "findings": 0}, risk="git")
    state = planned(record, Action("write_file", {"path": "a.py"}))
    assert state["status"] == "failed"
    assert RAN == []


def test_what_is_read_only_runs(planned: Any) -> None:
    state = planned(Action("touch", {"path": "a.py"}))
    assert state["status"] == "ok"
    assert RAN == ["Target"]


def test_an_empty_plan_is_said_to_be_one(planned: Any) -> None:
    state = planned()
    assert state["status"] == "failed"
    assert "no file here matches the request" in state["final_output"]


def test_every_tool_has_a_risk_class_that_the_gate_knows() -> None:
    risks = {
        name: tool.risk
        for name, tool in {**guard_tools(), **LocalAssistant().tools}.items()
    }
    assert {name for name, risk in risks.items() if risk == "git"} == {
        "git_commit",
        "git_push",
    }
    assert {name for name, risk in risks.items() if risk == "write"} == {"write_file"}
    assert {name for name, risk in risks.items() if risk == "execute"} == {"run_command"}
    assert {name for name, risk in risks.items() if risk == "external"} == {
        "open_pull_request",
        "deploy",
        "publish",
    }
    assert set(risks.values()) == {"read_only", "git", "write", "execute", "external"}
