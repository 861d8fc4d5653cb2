"""Changes to the guard itself, in memory: every example of the rule file, and what a mover of files tries."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.errors import ConfigError
from cli_guard.git.snapshot import SnapshotContents, changes_between
from cli_guard.model import ChangeSet, FileChange, Hunk, NoContents, Skipped, Status
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import write_baseline
from cli_guard.reviewers.policy import loosenings, not_reviewed, review
from cli_guard.reviewers.subject import Subject
from cli_guard.rules.catalog import load

HOOK = "#!/bin/sh\ncli-guard hook pre-commit\n"
PRE_COMMIT = "repos:\n- repo: local\n  hooks:\n  - id: cli-guard\n"
STRICT = '[rules]\n"code-*" = "deny"\n'


def subject(old: dict[str, str], new: dict[str, str]) -> Subject:
    return Subject("staged", changes_between(old, new), SnapshotContents(old, new))


def moved(old: str, new: str, text: str) -> Subject:
    change = FileChange(new, Status.RENAMED, old_path=old)
    return Subject("staged", ChangeSet((change,)), SnapshotContents({old: text}, {new: text}))


def rules(subject: Subject) -> list[str]:
    return [finding.rule for finding in review(subject).findings]


def example(text: str) -> Subject:
    path, _, rest = text.partition("\n")
    before, _, after = rest.partition("---\n")
    old = {path: before} if before.strip() else {}
    new = {path: after} if after.strip() else {}
    return subject(old, new)


def cases(kind: str) -> list[Any]:
    return [
        pytest.param(rule.id, text, id=f"{rule.id}-{number}")
        for rule in load("policy")
        for number, text in enumerate(getattr(rule, kind))
    ]


@pytest.mark.parametrize(("rule", "text"), cases("fires"))
def test_an_example_fires(rule: str, text: str) -> None:
    found = [finding for finding in review(example(text)).findings if finding.rule == rule]
    assert found
    assert all(
        finding.path == text.split("\n")[0] and finding.message and finding.fingerprint for finding in found
    )


@pytest.mark.parametrize(("rule", "text"), cases("silent"))
def test_a_near_miss_is_silent(rule: str, text: str) -> None:
    assert rule not in rules(example(text))


def test_every_rule_but_one_has_examples() -> None:
    assert {rule.id for rule in load("policy") if not (rule.fires and rule.silent)} == {"policy-not-reviewed"}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            moved("cli-guard.toml", "old/cli-guard.toml", STRICT), ["policy-weakened"], id="config moved"
        ),
        pytest.param(subject({"cli-guard.toml": STRICT}, {}), ["policy-weakened"], id="config deleted"),
        pytest.param(
            subject(
                {"cli-guard.toml": STRICT, "pyproject.toml": "[project]\nname = 'x'\n"},
                {"pyproject.toml": '[project]\nname = \'x\'\n[tool.cli-guard.rules]\n"code-*" = "deny"\n'},
            ),
            [],
            id="config moved to the other file",
        ),
        pytest.param(moved("cli-guard.toml.off", "cli-guard.toml", STRICT), [], id="config put in force"),
        pytest.param(
            moved("a.toml", "cli-guard.toml", '[rules]\n"secret-*" = "off"\n'),
            ["policy-weakened"],
            id="weak one moved in",
        ),
        pytest.param(
            moved(".pre-commit-config.yaml", "old.yaml", PRE_COMMIT),
            ["policy-hook-removed"],
            id="framework's file moved",
        ),
        pytest.param(
            moved(".husky/pre-commit", ".husky/off", HOOK), ["policy-hook-removed"], id="hook renamed"
        ),
        pytest.param(
            moved(".husky/pre-commit", ".githooks/pre-commit", HOOK), [], id="hook to another hook folder"
        ),
        pytest.param(
            moved(".github/workflows/a.yml", ".github/workflows/b.yml", HOOK), [], id="workflow renamed"
        ),
        pytest.param(subject({".husky/pre-commit": HOOK}, {}), ["policy-hook-removed"], id="hook deleted"),
        pytest.param(
            subject({".husky/pre-commit": HOOK}, {".husky/pre-commit": f"# {HOOK[10:]}"}),
            ["policy-hook-removed"],
            id="call commented out",
        ),
        pytest.param(
            subject(
                {".husky/pre-commit": HOOK}, {".husky/pre-commit": HOOK.replace("hook", "--color=never hook")}
            ),
            [],
            id="call edited",
        ),
        pytest.param(subject({"notes/cli-guard.toml": STRICT}, {}), [], id="no configuration at all"),
        pytest.param(subject({}, {"pyproject.toml": "broken ["}), [], id="broken file that is not ours"),
    ],
)
def test_what_is_done_to_the_guard(given: Subject, expected: list[str]) -> None:
    assert rules(given) == expected


def test_of_a_bare_patch_the_lines_tell() -> None:
    hunk = Hunk(2, 2, ("cli-guard hook pre-commit",), ("cli-guard hook pre-commit || exit 1",))
    edited = FileChange(".husky/pre-commit", Status.MODIFIED, hunks=(hunk,))
    taken = FileChange(".husky/pre-commit", Status.MODIFIED, hunks=(Hunk(2, 2, hunk.removed, ("true",)),))
    assert rules(Subject("patch", ChangeSet((edited,)), NoContents())) == []
    assert rules(Subject("patch", ChangeSet((taken,)), NoContents())) == ["policy-hook-removed"]


@pytest.mark.parametrize(
    "new",
    [
        {"cli-guard.toml": "[limits]\nfile = 3\n"},
        {"cli-guard.toml": "["},
        {"cli-guard.toml": "a = '\ufffd'"},
        {"pyproject.toml": "[tool.cli-guard]\nfile = 3\n"},
        {"cli-guard.toml": "", "pyproject.toml": "[tool.cli-guard]\n"},
        {"cli-guard-baseline.json": '{"findings": [\n<<<<<<< ours\n'},
    ],
    ids=["unknown key", "not TOML", "not UTF-8", "in pyproject", "in both", "a baseline"],
)
def test_a_broken_configuration_in_the_change_stops_it(new: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="in this change"):
        review(subject({}, new))


def test_a_broken_one_may_be_repaired() -> None:
    assert rules(subject({"cli-guard.toml": "["}, {"cli-guard.toml": "[limits]\nfiles = 20000\n"})) == []


def test_the_message_names_what_is_weaker() -> None:
    [finding] = review(subject({}, {"cli-guard.toml": '[decisions]\ncritical = "advise"\n'})).findings
    assert "critical was deny, becomes advise" in finding.message or "more" in finding.message
    assert (finding.path, finding.line) == ("cli-guard.toml", 1)


CONFIGS = st.builds(
    Config,
    decisions=st.dictionaries(
        st.sampled_from(["critical", "high", "low"]), st.sampled_from(["deny", "review", "off"])
    ),
    rules=st.dictionaries(
        st.sampled_from(["secret-*", "code-*", "docs-*"]), st.sampled_from(["deny", "advise"])
    ),
)


@settings(max_examples=30, deadline=None)
@given(CONFIGS)
def test_no_configuration_is_weaker_than_itself(config: Config) -> None:
    assert list(loosenings(config, config)) == []


@settings(max_examples=30, deadline=None)
@given(CONFIGS, CONFIGS)
def test_weaker_one_way_and_the_same_back_would_be_a_contradiction(one: Config, other: Config) -> None:
    there, back = set(loosenings(one, other)), set(loosenings(other, one))
    assert not there & back


def test_what_a_limit_left_out_is_one_finding() -> None:
    assert not_reviewed([Skipped("a.png", "binary")]) is None
    finding = not_reviewed([Skipped("b", "too big", by_limit=True), Skipped("a", "too big", by_limit=True)])
    assert finding is not None
    assert (finding.rule, finding.path) == ("policy-not-reviewed", "a")
    assert "1 more" in finding.message
    again = not_reviewed([Skipped("a", "too big", by_limit=True), Skipped("b", "too big", by_limit=True)])
    assert again == finding


def test_an_empty_baseline_answers_nothing() -> None:
    assert rules(subject({}, {"cli-guard-baseline.json": write_baseline([])})) == []
