"""The gate as a function: what stands, what was answered, and what Git may record."""

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.model import Category, Confidence, Decision, Disposition, Finding, Severity
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import FLOORS, Policy
from cli_guard.policy.gate import judge_findings, judge_record
from cli_guard.policy.suppressions import Answer
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


def judge(findings: Any, policy: Policy | None = None, *, inline: bool = False, approved: Any = ()) -> Any:
    answer = (lambda finding: (Answer(("*",), "because"), True)) if inline else (lambda finding: None)
    return judge_findings(
        findings, policy or Policy(), answer, TODAY, dict.fromkeys(approved, "approved by Ada")
    )


@pytest.mark.parametrize(
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


@given(st.lists(FINDINGS, max_size=6), st.booleans(), st.sets(st.sampled_from(["f1", "f2", "f3", "f4"])))
def test_nothing_is_lost(findings: list[Finding], inline: bool, approved: set[str]) -> None:
    judgement = judge(findings, inline=inline, approved=approved)
    assert len(judgement.standing) + len(judgement.suppressed) == len(findings)


@given(st.lists(FINDINGS, max_size=6), st.sets(st.sampled_from(["f1", "f2", "f3", "f4"])))
def test_an_approval_never_lifts_a_deny(findings: list[Finding], approved: set[str]) -> None:
    denied = judge(findings).of(Disposition.DENY)
    judgement = judge(findings, approved=approved)
    assert judgement.of(Disposition.DENY) == denied
    assert {each.by for each in judgement.suppressed} <= {"approval"}
    if denied:
        assert judge_record(judgement).decision is Decision.DENY


@pytest.mark.parametrize("rule", list(FLOORS))
def test_a_floor_is_answered_by_nothing_but_an_approval(rule: str) -> None:
    policy = Policy(
        Config.model_validate({"ignore": [{"rule": "*", "reason": "because"}], "rules": {"*": "off"}}),
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
        [found("docs-missing", "low"), found("code-x", "high", "f2"), found("code-y", "high", "f3")],
        policy,
        approved=["f3"],
    )
    assert [(each.by, each.reason) for each in judgement.suppressed] == [
        ("config", "not ours"),
        ("baseline", "there before the baseline was written"),
        ("approval", "approved by Ada"),
    ]
    [inline] = judge([found("code-x", "critical")], inline=True).suppressed
    assert (inline.by, inline.reason, inline.new) == ("inline", "because", True)


def test_what_is_off_is_gone() -> None:
    policy = Policy(Config.model_validate({"rules": {"docs-*": "off"}}))
    judgement = judge([found("docs-missing", "critical")], policy)
    assert judgement.standing == judgement.suppressed == ()


def test_the_rules_of_the_floors_exist() -> None:
    assert set(FLOORS) <= set(load_all())
