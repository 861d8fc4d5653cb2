"""What policy makes of a finding: severity, confidence, rules, the user's own file, and the floors."""

import datetime
from typing import Any

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.errors import ConfigError
from cli_guard.model import Category, Confidence, Disposition, Finding, Severity
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import (
    FLOORS,
    STRICTNESS,
    Policy,
    read_baseline,
    stricter,
    write_baseline,
)
from cli_guard.rules.catalog import load_all

TODAY = datetime.date(2026, 5, 4)
RULE = "secret-aws-access-key"
DISPOSITIONS = st.sampled_from(list(Disposition))
PATTERNS = st.sampled_from([*load_all(), "secret-*", "code-*", "docs-*", "policy-*", "*"])
CONFIGS = st.builds(
    lambda decisions, rules: Config(decisions=decisions, rules=rules),
    st.dictionaries(st.sampled_from(list(Severity)), DISPOSITIONS),
    st.dictionaries(PATTERNS, DISPOSITIONS, max_size=4),
)


def found(
    rule: str = RULE,
    severity: Severity = Severity.HIGH,
    confidence: Confidence = Confidence.HIGH,
    path: str = "a.py",
) -> Finding:
    return Finding(rule, Category.RISK, severity, confidence, path, 1, "message", "remedy")


FINDINGS = st.builds(
    found,
    st.sampled_from(list(load_all())),
    st.sampled_from(list(Severity)),
    st.sampled_from(list(Confidence)),
)


def policy(
    config: dict[str, Any] | None = None, user: dict[str, Any] | None = None
) -> Policy:
    return Policy(
        Config.model_validate(config or {}),
        Config.model_validate(user) if user is not None else None,
    )


def test_the_rule_of_these_tests_exists() -> None:
    assert RULE in load_all()


@table(
    ("severity", "confidence", "leads_to"),
    [
        ("critical", "high", "deny"),
        ("critical", "medium", "deny"),
        ("critical", "low", "review"),
        ("high", "high", "review"),
        ("high", "low", "review"),
        ("medium", "high", "advise"),
        ("low", "high", "advise"),
        ("info", "high", "advise"),
    ],
)
def test_by_default(severity: str, confidence: str, leads_to: str) -> None:
    assert (
        Policy().disposition(found(RULE, Severity(severity), Confidence(confidence)))
        == leads_to
    )


@table(
    ("config", "leads_to"),
    [
        ({"decisions": {"high": "deny"}}, "deny"),
        ({"decisions": {"high": "off"}}, "off"),
        ({"decisions": {"critical": "advise"}}, "review"),
        ({"rules": {RULE: "deny"}}, "deny"),
        ({"rules": {"secret-*": "deny"}}, "deny"),
        ({"rules": {"code-*": "deny"}}, "review"),
        ({"rules": {"*": "advise"}}, "advise"),
        ({"rules": {"secret-*": "off", RULE: "deny"}}, "deny"),
        ({"rules": {RULE: "deny", "secret-*": "off"}}, "deny"),
        ({"rules": {"secret-*": "off", "secret-aws*": "advise"}}, "advise"),
        ({"rules": {RULE + "*": "off", RULE: "deny"}}, "deny"),
        ({"rules": {"secret-*": "advise"}, "decisions": {"high": "deny"}}, "advise"),
    ],
    ids=repr,
)
def test_configured(config: dict[str, Any], leads_to: str) -> None:
    assert policy(config).disposition(found()) == leads_to


def test_low_confidence_denies_only_where_a_rule_says_so() -> None:
    unsure = found(confidence=Confidence.LOW)
    assert policy({"decisions": {"high": "deny"}}).disposition(unsure) == "review"
    assert policy({"rules": {RULE: "deny"}}).disposition(unsure) == "deny"


@table(
    ("config", "user", "leads_to"),
    [
        ({}, {"decisions": {"high": "deny"}}, "deny"),
        ({}, {"rules": {"secret-*": "deny"}}, "deny"),
        ({}, {"decisions": {"high": "advise"}}, "review"),
        ({"rules": {RULE: "off"}}, {"rules": {RULE: "review"}}, "review"),
        ({"rules": {RULE: "deny"}}, {"rules": {"*": "advise"}}, "deny"),
        ({"rules": {RULE: "off"}}, {}, "off"),
    ],
    ids=repr,
)
def test_a_user_can_only_tighten(
    config: dict[str, Any], user: dict[str, Any], leads_to: str
) -> None:
    assert policy(config, user).disposition(found()) == leads_to


@given(CONFIGS, CONFIGS, FINDINGS)
def test_no_user_file_loosens(config: Config, user: Config, finding: Finding) -> None:
    alone = Policy(config).disposition(finding)
    both = Policy(config, user).disposition(finding)
    assert stricter(alone, both) is both


@given(CONFIGS, st.sampled_from(list(FLOORS)), st.sampled_from(list(Severity)))
def test_no_configuration_lowers_a_floor(
    config: Config, rule: str, severity: Severity
) -> None:
    got = Policy(config).disposition(found(rule, severity, Confidence.LOW))
    assert STRICTNESS.index(got) >= STRICTNESS.index(FLOORS[rule])


@table("rule", list(FLOORS))
def test_no_ignore_answers_a_floor(rule: str) -> None:
    ignoring = policy({"ignore": [{"rule": "*", "reason": "because"}]})
    assert ignoring.ignore_for(found(rule), TODAY) is None
    assert ignoring.ignore_for(found(), TODAY) is not None


@table(
    ("ignore", "answers"),
    [
        ({"rule": RULE}, True),
        ({"rule": "secret-*", "path": "fixtures/**"}, True),
        ({"rule": "secret-*", "path": "tests/**"}, False),
        ({"rule": "code-*"}, False),
        ({"rule": RULE, "expires": TODAY}, True),
        ({"rule": RULE, "expires": TODAY - datetime.timedelta(1)}, False),
    ],
    ids=["rule", "path", "another path", "another rule", "the last day", "expired"],
)
def test_an_ignore(ignore: dict[str, Any], answers: bool) -> None:
    given = policy({"ignore": [{"reason": "because", **ignore}]})
    assert (
        given.ignore_for(found(path="fixtures/a/keys.py"), TODAY) is not None
    ) is answers


def test_an_expired_ignore_does_not_hide_one_that_holds() -> None:
    old = {"rule": RULE, "reason": "then", "expires": TODAY - datetime.timedelta(1)}
    given = policy({"ignore": [old, {"rule": "secret-*", "reason": "now"}]})
    answer = given.ignore_for(found(), TODAY)
    assert answer is not None and answer.reason == "now"
    assert [each.reason for each in given.find_expired(TODAY)] == ["then"]


def test_what_has_expired_in_any_configuration_is_named_once() -> None:
    old = {"rule": RULE, "reason": "then", "expires": TODAY - datetime.timedelta(1)}
    lax = policy({"ignore": [old]}).config
    other = policy({"ignore": [old, {**old, "reason": "there too"}]}).config
    given = Policy(Config(), also=(lax, other))
    assert [each.reason for each in given.find_expired(TODAY)] == ["then", "there too"]


@table(
    "content",
    [
        b'{"findings": [{"rule": 1, "path": "a", "fingerprint": "b"}]}',
        b'{"findings": [{"rule": "r", "path": null, "fingerprint": "b"}]}',
        b'{"findings": [{"rule": "r", "path": "a", "fingerprint": ["b"]}]}',
        b'{"findings": [{"rule": "r", "path": "a"}]}',
        b'{"findings": {}}',
        b'{"findings": ["rule"]}',
        b"[" * 200_000,
        b'{"findings": ' + b"[" * 200_000,
        b"\xff",
    ],
    ids=[
        "number",
        "null",
        "list",
        "missing",
        "table",
        "text",
        "deep",
        "deep inside",
        "not UTF-8",
    ],
)
def test_what_is_no_baseline(content: bytes) -> None:
    with pytest.raises(ConfigError, match="x: not a baseline"):
        read_baseline(content, "x")


def test_a_baseline_is_read_as_it_was_written() -> None:
    one = found(path="a\udcff.py")
    other = found("docs-missing")
    marks = {(RULE, "a\udcff.py", ""), ("docs-missing", "a.py", "")}
    assert read_baseline(write_baseline([one, other]).encode(), "x") == marks


def test_identity_is_that_of_what_it_decides_by() -> None:
    same = policy({"rules": {RULE: "deny"}})
    assert same.identity == Policy(same.config, sources=("elsewhere",)).identity
    others = [
        Policy(),
        policy({"rules": {RULE: "review"}}),
        policy({"rules": {RULE: "deny"}}, {}),
        Policy(same.config, baseline=frozenset({("a", "b", "c")})),
    ]
    assert len({same.identity, *(other.identity for other in others)}) == 5


@table(
    ("config", "user", "style", "branches"),
    [
        ({}, {}, "plain", ("main", "master", "release/*")),
        (
            {},
            {"message": {"style": "conventional"}},
            "conventional",
            ("main", "master", "release/*"),
        ),
        (
            {"message": {"style": "conventional"}},
            {"message": {"style": "plain"}},
            "conventional",
            None,
        ),
        (
            {"git": {"protected_branches": ["a"]}},
            {"git": {"protected_branches": ["b"]}},
            "plain",
            ("a", "b"),
        ),
        ({"git": {"protected_branches": ["a"]}}, {}, "plain", ("a",)),
    ],
    ids=repr,
)
def test_what_a_user_adds_besides(
    config: dict[str, Any],
    user: dict[str, Any],
    style: str,
    branches: tuple[str, ...] | None,
) -> None:
    given = policy(config, user)
    assert given.message_style == style
    assert branches is None or given.protected_branches == branches
