"""Checks in the graph: they run once nothing stands, and what did not run does not count as passed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from examples import table
from repositories import key

from cli_guard.errors import CliGuardError
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.planning import plan
from cli_guard.graph.state import State
from cli_guard.graph.tools import guard_tools
from cli_guard.graph.tools.effects import checking_tool
from cli_guard.graph.tools.tool import ToolOutput
from cli_guard.model import Action, ChangeSet, Decision, FileChange, Hunk, Status, Verdict
from cli_guard.policy.checks import CheckConfig, PlannedCheck
from cli_guard.policy.gate import CHECKS_TRUSTED, RUN_CHECKS
from cli_guard.reviewers.review_input import ReviewInput

ALLOWED = Verdict(Decision.ALLOW, "trusted by Ada", CHECKS_TRUSTED)


def check(name: str = "t", **facts: Any) -> PlannedCheck:
    config = CheckConfig(command=facts.pop("command", "make test"))
    return PlannedCheck(
        name, config, "a" * 40, None, "d" * 64, trusted=facts.pop("trusted", "Ada"), **facts
    )


@dataclass
class Runner:
    """Runs nothing, and says of some checks that they passed."""

    passes: Collection[str] = ()
    error: str = ""
    asked: list[Mapping[str, Collection[str]]] = field(default_factory=list)

    def run(self, wanted: Mapping[str, Collection[str]]) -> ToolOutput:
        self.asked.append(wanted)
        if self.error:
            raise CliGuardError(self.error)
        return ToolOutput(
            {"checks": [{"id": each, "outcome": "passed"} for each in self.passes]}
        )


def review(
    *checks: PlannedCheck,
    runner: Runner,
    line: str = "x = 1",
    verdict: Verdict | None = ALLOWED,
    **given: Any,
) -> Any:
    """The end of a review of one added line, under some checks."""
    change = FileChange(
        "a.py", Status.ADDED, new_blob="b" * 40, hunks=(Hunk(0, 1, (), (line,)),)
    )
    subject = ReviewInput("pre-push", ChangeSet((change,), identity="i"), checks=checks)
    tools = guard_tools() | ({RUN_CHECKS: checking_tool(verdict)} if verdict else {})
    context = Context(subject=subject, tools=tools, checker=runner, **given)
    return build_graph().invoke(
        {"input": "review it", "task_type": "change_review"}, context=context
    )


def nodes(state: Any, tool: str) -> list[str]:
    return [entry["node"] for entry in state["action_log"] if entry.get("tool") == tool]


def test_they_run_in_a_round_of_their_own() -> None:
    runner = Runner([check().id])
    state = review(check(), runner=runner)
    assert (state["status"], state["decision"]) == ("ok", "allow")
    assert runner.asked == [{check().id: ("make test",)}]
    assert nodes(state, RUN_CHECKS) == ["policy_gate", "execute_safe_actions"]
    assert [entry["tools"] for entry in state["action_log"] if "tools" in entry][1:] == [
        [RUN_CHECKS],
        ["git_push"],
    ]
    [planned] = [each for each in state["plan"] if each["tool"] == RUN_CHECKS]
    assert planned["arguments"] == {"checks": [check().id]}


def test_without_checks_there_is_no_such_round() -> None:
    state = review(runner=Runner())
    assert state["decision"] == "allow" and nodes(state, RUN_CHECKS) == []
    assert sum(entry["node"] == "plan_cli_actions" for entry in state["action_log"]) == 2


def test_nothing_runs_while_a_finding_stands() -> None:
    runner = Runner([check().id])
    state = review(check(), runner=runner, line=f'KEY = "{key()}"')
    assert state["decision"] == "deny" and runner.asked == []
    assert [each["rule"] for each in state["blocked_actions"]] == [
        "checks-wait",
        "findings-denied",
    ]
    assert not any(
        each["finding"].rule.startswith("push-check") for each in state["judged"]
    )


@table(
    ("runner", "says"),
    [
        (Runner(), "no result"),
        (Runner(["t@other"]), "no result"),
        (Runner(error="the disk is full"), "the disk is full"),
    ],
)
def test_what_gave_no_result_is_asked_about(runner: Runner, says: str) -> None:
    state = review(check(), runner=runner)
    assert (state["decision"], state["status"]) == ("review", "needs_review")
    [judged] = state["judged"]
    assert (
        judged["finding"].rule == "push-check-not-run" and says in judged["finding"].message
    )


@table(
    "verdict",
    [
        None,
        Verdict(Decision.ALLOW, "x", "other"),
        Verdict(Decision.DENY, "x", CHECKS_TRUSTED),
    ],
    ids=["no tool", "another reason", "denied"],
)
def test_what_the_gate_does_not_let_run_stops_the_push(verdict: Verdict | None) -> None:
    runner = Runner([check().id])
    state = review(check(), runner=runner, verdict=verdict)
    assert state["decision"] == "deny" and runner.asked == []


def test_a_command_that_is_denied_runs_under_no_trust() -> None:
    runner = Runner([check().id])
    state = review(check(command="rm -rf /"), runner=runner)
    assert state["decision"] == "deny" and runner.asked == []
    assert state["blocked_actions"][0]["rule"] == "command-wipe"


def test_what_is_not_trusted_is_not_planned() -> None:
    runner = Runner([check().id])
    state = review(check(trusted=""), check("u", denied="deletes all"), runner=runner)
    assert runner.asked == [] and state["decision"] == "review"
    assert sorted(each["finding"].rule for each in state["judged"]) == [
        "push-check-not-run",
        "push-check-untrusted",
    ]


def test_a_plan_that_leaves_them_out_is_asked_about() -> None:
    def hasty(state: State, context: Context) -> Planned:
        return plan({**state, "round": 1 if state["round"] == 1 else 3}, context)

    state = review(check(), runner=Runner(), planner=hasty)
    assert state["decision"] == "review"
    assert [each["finding"].rule for each in state["judged"]] == ["push-check-not-run"]


@table(
    "arguments",
    [
        {},
        {"checks": 3},
        {"checks": [3]},
        {"checks": [{"id": "t"}]},
        {"checks": [{"id": "", "commands": []}]},
    ],
)
def test_a_malformed_plan_ends_it(arguments: dict[str, object]) -> None:
    runner = Runner()
    state = review(
        check(),
        runner=runner,
        planner=lambda state, context: Planned((Action(RUN_CHECKS, arguments),)),
    )
    assert state["decision"] == "deny" and runner.asked == []
    assert state["blocked_actions"][0]["rule"] == "tool-malformed"


def test_a_reviewer_that_may_not_run_ends_it() -> None:
    def astray(state: State, context: Context) -> Planned:
        if state["round"] == 1:
            return Planned(
                (Action("review_secrets", {"paths": ["elsewhere"]}),), last=False
            )
        return plan(state, context)

    state = review(runner=Runner(), planner=astray)
    assert (state["decision"], state["status"]) == ("deny", "failed")
