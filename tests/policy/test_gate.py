"""The gate as a function: what stands, what was answered, and what Git may record."""

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from examples import examples, table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.commands import Context
from cli_guard.model import (
    Action,
    Category,
    Confidence,
    Decision,
    Disposition,
    Finding,
    Severity,
    Verdict,
)
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import FLOORS, Policy
from cli_guard.policy.gate import (
    CHECKS_TRUSTED,
    RUN_CHECKS,
    announce_suppressions,
    commands_in,
    judge_findings,
    judge_record,
    judge_tool,
)
from cli_guard.policy.suppressions import Suppression
from cli_guard.rules.catalog import load_all

TODAY = datetime.date(2026, 5, 4)
FINDINGS = st.builds(
    Finding,
    st.sampled_from(["secret-aws-access-key", "code-py-shell", "docs-missing", *FLOORS]),
    st.just(Category.RISK),
    st.sampled_from(list(Severity)),
    st.sampled_from(list(Confidence)),
    st.sampled_from(["a.py", "b/c.py"]),
    st.just(1),
    st.just("message"),
    st.just("remedy"),
    fingerprint=st.sampled_from(["f1", "f2", "f3", "f4"]),
)


def found(rule: str, severity: str, mark: str = "f1") -> Finding:
    return Finding(
        rule,
        Category.RISK,
        Severity(severity),
        Confidence.HIGH,
        "a.py",
        1,
        "message",
        "remedy",
        fingerprint=mark,
    )


def judge(
    findings: Any, policy: Policy | None = None, *, inline: bool = False, approved: Any = ()
) -> Any:
    answer = (
        (lambda finding: (Suppression(("*",), "because"), False))
        if inline
        else (lambda finding: None)
    )
    return judge_findings(
        findings,
        policy or Policy(),
        answer,
        TODAY,
        dict.fromkeys(approved, "approved by Ada"),
    )


@table(
    ("severities", "decision", "rule"),
    [
        ([], "allow", "no-objection"),
        (["medium", "low", "info"], "allow", "no-objection"),
        (["high", "low"], "review", "findings-to-review"),
        (["critical", "high"], "deny", "findings-denied"),
    ],
    ids=["nothing", "advice", "a person", "deny wins"],
)
def test_the_worst_finding_decides(severities: list[str], decision: str, rule: str) -> None:
    findings = [found("code-x", severity, f"f{n}") for n, severity in enumerate(severities)]
    verdict = judge_record(judge(findings))
    assert (verdict.decision, verdict.rule) == (decision, rule)
    worst = {"deny": "critical", "review": "high"}.get(decision)
    assert verdict.evidence == tuple(f.fingerprint for f in findings if f.severity == worst)


@given(
    st.lists(FINDINGS, max_size=6),
    st.booleans(),
    st.sets(st.sampled_from(["f1", "f2", "f3", "f4"])),
)
def test_nothing_is_lost(findings: list[Finding], inline: bool, approved: set[str]) -> None:
    judgement = judge(findings, inline=inline, approved=approved)
    assert len(judgement.standing) + len(judgement.suppressed) == len(findings)


@given(st.lists(FINDINGS, max_size=6), st.sets(st.sampled_from(["f1", "f2", "f3", "f4"])))
def test_an_approval_never_lifts_a_deny(
    findings: list[Finding], approved: set[str]
) -> None:
    denied = judge(findings).of(Disposition.DENY)
    judgement = judge(findings, approved=approved)
    assert judgement.of(Disposition.DENY) == denied
    assert {each.by for each in judgement.suppressed} <= {"approval"}
    if denied:
        assert judge_record(judgement).decision is Decision.DENY


@table("rule", list(FLOORS))
def test_a_floor_is_answered_by_nothing_but_an_approval(rule: str) -> None:
    policy = Policy(
        Config.model_validate(
            {"ignore": [{"rule": "*", "reason": "because"}], "rules": {"*": "off"}}
        ),
        baseline=frozenset({(rule, "a.py", "f1")}),
    )
    judgement = judge([found(rule, "info")], policy, inline=True)
    assert [each.disposition for each in judgement.standing] == [FLOORS[rule]]
    asks = FLOORS[rule] is Disposition.REVIEW
    assert judge_record(judgement).decision is (Decision.REVIEW if asks else Decision.ALLOW)
    approved = judge([found(rule, "info")], policy, inline=True, approved=["f1"])
    assert judge_record(approved).decision is Decision.ALLOW


def test_each_answer_says_what_it_was() -> None:
    config = Config.model_validate({"ignore": [{"rule": "docs-*", "reason": "not ours"}]})
    policy = Policy(config, baseline=frozenset({("code-x", "a.py", "f2")}))
    judgement = judge(
        [
            found("docs-missing", "low"),
            found("code-x", "high", "f2"),
            found("code-y", "high", "f3"),
        ],
        policy,
        approved=["f3"],
    )
    assert [(each.by, each.reason) for each in judgement.suppressed] == [
        ("config", "not ours"),
        ("baseline", "older than the baseline"),
        ("approval", "approved by Ada"),
    ]
    [inline] = judge([found("code-x", "critical")], inline=True).suppressed
    assert (inline.by, inline.reason, inline.new) == ("inline", "because", False)


@pytest.mark.parametrize(
    ("rules", "reason", "severity", "asks", "answered"),
    [
        (("code-x",), "a fixture only", "critical", True, True),
        (("code-x",), "a fixture only", "high", True, True),
        (("code-y", "code-x"), "测" * 3, "high", True, True),
        (("code-x",), "a fixture only", "low", False, True),
        (("*",), "because", "low", False, True),
        (("code-x",), "a fixture", "critical", False, False),
        (("code-x",), "- - - -", "high", False, False),
        (("code-*",), "a fixture only", "high", False, False),
        (("*", "code-x"), "a fixture only", "critical", False, False),
    ],
)
def test_a_new_inline_answer_needs_a_person(
    rules: tuple[str, ...], reason: str, severity: str, asks: bool, answered: bool
) -> None:
    policy, finding = Policy(), found("code-x", severity)

    def answer(finding: Finding) -> tuple[Suppression, bool] | None:
        return (Suppression(rules, reason), True) if finding.rule == "code-x" else None

    _, *new = announce_suppressions([finding], policy, answer)
    assert [each.rule for each in new] == ["policy-suppression-new"] * asks
    judgement = judge_findings([finding, *new], policy, answer, TODAY, {})
    assert bool(judgement.suppressed) == answered
    assert (judge_record(judgement).decision is Decision.ALLOW) == (answered and not asks)
    approved = judge_findings(
        [finding, *new], policy, answer, TODAY, {each.fingerprint: "Ada" for each in new}
    )
    assert (judge_record(approved).decision is Decision.ALLOW) == answered


def test_a_policy_may_accept_new_inline_answers() -> None:
    policy = Policy(Config.model_validate({"rules": {"policy-suppression-new": "advise"}}))
    finding = found("code-x", "critical")

    def answer(finding: Finding) -> tuple[Suppression, bool] | None:
        return (
            (Suppression(("code-x",), "a fixture only"), True)
            if finding.rule == "code-x"
            else None
        )

    found_all = announce_suppressions([finding], policy, answer)
    assert (
        judge_record(judge_findings(found_all, policy, answer, TODAY, {})).decision
        is Decision.ALLOW
    )


def test_what_is_off_is_gone() -> None:
    policy = Policy(Config.model_validate({"rules": {"docs-*": "off"}}))
    judgement = judge([found("docs-missing", "critical")], policy)
    assert judgement.standing == judgement.suppressed == ()


def test_the_rules_of_the_floors_exist() -> None:
    assert set(FLOORS) <= set(load_all())


@dataclass(frozen=True)
class Facts:
    """What the gate knows of a tool that takes any arguments."""

    risk: str = "read_only"
    shows_command: bool = False
    decided: Verdict | None = None

    def problem_with(self, arguments: Mapping[str, object]) -> str | None:
        return None


HARMLESS = "ls -la"
ASKED = "npm install left-pad"
DENIED = "rm -rf /"


def judge_call(
    arguments: dict[str, object],
    *,
    review_only: bool = False,
    context: Context | None = None,
    **facts: Any,
) -> Any:
    tools = {"tool": Facts(**facts)}
    return judge_tool(
        Action("tool", arguments), tools, (), review_only=review_only, commands=context
    )


@table(
    ("command", "review_only", "decision", "rule"),
    [
        (HARMLESS, False, "allow", "read-only"),
        (HARMLESS, True, "allow", "read-only"),
        (ASKED, False, "review", "command-review"),
        (ASKED, True, "deny", "command-review"),
        (DENIED, False, "deny", "command-wipe"),
        (DENIED, True, "deny", "command-wipe"),
        ("", False, "review", "command-review"),
    ],
)
def test_a_command_of_a_tool_is_judged(
    command: str, review_only: bool, decision: str, rule: str
) -> None:
    verdict = judge_call({"command": command}, review_only=review_only)
    assert (verdict.decision, verdict.rule) == (decision, rule)
    assert verdict.reason


def test_a_harmless_command_lets_the_other_checks_go_on() -> None:
    assert judge_call({"command": HARMLESS}, risk="process").decision == "review"
    assert (
        judge_call({"command": HARMLESS}, risk="process", review_only=True).rule
        == "review-only"
    )
    assert judge_call({"command": HARMLESS, "path": "elsewhere"}).rule == "path-not-allowed"
    assert judge_call({"command": DENIED}, risk="process").rule == "command-wipe"


@examples(
    "hidden",
    [
        {"commands": [HARMLESS, DENIED]},
        {"commands": (HARMLESS, DENIED)},
        {"steps": [{"name": "x"}, {"run": {"command": DENIED}}]},
        {"command": {"text": DENIED}},
        {"command": {"a": [{"b": DENIED}]}},
        {"command": ["rm", "-rf", "/"]},
        {"command": [["rm", "-rf", "/"]]},
        {"Command": DENIED},
        {"a": [[[{"COMMANDS": {"x": DENIED}}]]]},
        {"cmd": DENIED},
        {"command": HARMLESS, "more": {"command": DENIED}},
        {"commands": frozenset({DENIED})},
    ],
    ids=str,
)
def test_a_command_cannot_hide(hidden: dict[str, object]) -> None:
    assert judge_call(hidden).decision == "deny"
    assert judge_call(hidden, shows_command=True).decision == "deny"


@table(
    "plain",
    [{}, {"query": DENIED}, {"command": 3}, {"command": None}, {"text": [DENIED]}],
    ids=str,
)
def test_a_text_that_is_no_command_is_none(plain: dict[str, object]) -> None:
    assert list(commands_in(plain)) == []
    assert judge_call(plain).decision == "allow"


def test_a_command_that_is_only_shown_is_stopped_by_a_deny_alone() -> None:
    for review_only in (True, False):
        assert (
            judge_call(
                {"command": ASKED}, shows_command=True, review_only=review_only
            ).decision
            == "allow"
        )
        assert (
            judge_call(
                {"command": DENIED}, shows_command=True, review_only=review_only
            ).decision
            == "deny"
        )


TRUSTED = Verdict(Decision.ALLOW, "trusted by Ada", CHECKS_TRUSTED)
CHECKS = {"checks": [{"id": "t@1", "commands": [ASKED]}]}


def judge_checks(
    arguments: dict[str, object] = CHECKS,
    *,
    name: str = RUN_CHECKS,
    review_only: bool = True,
    paths: tuple[str, ...] = (),
    **facts: Any,
) -> Any:
    facts = {"risk": "execute", "decided": TRUSTED, **facts}
    return judge_tool(
        Action(name, arguments), {name: Facts(**facts)}, paths, review_only=review_only
    )


def test_trusted_checks_are_the_one_thing_that_runs_in_review_only_mode() -> None:
    for review_only in (True, False):
        verdict = judge_checks(review_only=review_only)
        assert (verdict.decision, verdict.rule) == (Decision.ALLOW, CHECKS_TRUSTED)


@table(
    ("change", "rule"),
    [
        ({"name": "run_command"}, "command-review"),
        ({"name": "run_checks_"}, "command-review"),
        ({"risk": "write"}, "command-review"),
        ({"risk": "external"}, "command-review"),
        ({"decided": None}, "command-review"),
        ({"decided": Verdict(Decision.ALLOW, "x", "mcp-allowed")}, "command-review"),
        ({"decided": Verdict(Decision.REVIEW, "x", CHECKS_TRUSTED)}, "command-review"),
        ({"decided": Verdict(Decision.DENY, "x", CHECKS_TRUSTED)}, "command-review"),
        ({"arguments": {"checks": [{"id": "t@1", "commands": [DENIED]}]}}, "command-wipe"),
        (
            {"arguments": {"checks": [{"id": "t@1", "commands": [ASKED, DENIED]}]}},
            "command-wipe",
        ),
        (
            {"arguments": {"checks": [{"id": "t@1", "commands": ["cli-guard trust"]}]}},
            "command-guard-off",
        ),
        ({"arguments": {**CHECKS, "path": "elsewhere"}}, "path-not-allowed"),
    ],
    ids=str,
)
def test_nothing_else_comes_in_beside_them(change: dict[str, Any], rule: str) -> None:
    verdict = judge_checks(**change)
    assert (verdict.decision, verdict.rule) == (Decision.DENY, rule)


@given(
    st.sampled_from([RUN_CHECKS, "run_command", "write_file", "open_pull_request"]),
    st.sampled_from(["execute", "write", "external", "mcp", "checks", "process"]),
    st.none()
    | st.builds(
        Verdict,
        st.sampled_from(Decision),
        st.just("x"),
        st.sampled_from([CHECKS_TRUSTED, "x"]),
    ),
    st.sampled_from([{}, CHECKS, {"command": HARMLESS}, {"command": DENIED}]),
)
def test_what_acts_in_review_only_mode_is_trusted_checks(
    name: str, risk: str, decided: Verdict | None, arguments: dict[str, object]
) -> None:
    verdict = judge_checks(arguments, name=name, risk=risk, decided=decided)
    if verdict.decision is not Decision.DENY:
        assert (name, risk, decided) == (
            RUN_CHECKS,
            "execute",
            Verdict(Decision.ALLOW, "x", CHECKS_TRUSTED),
        )
        assert arguments != {"command": DENIED}


def test_the_context_of_the_run_counts() -> None:
    watched = Context(git_config={"core.fsmonitor": ("./watch",)})
    assert judge_call({"command": "git status"}).decision == "allow"
    assert judge_call({"command": "git status"}, context=watched).decision == "review"
