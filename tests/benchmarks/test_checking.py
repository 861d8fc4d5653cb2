"""The checks: each expectation holds for what is as it should be, and fails for what is nearly so."""

import hashlib
from dataclasses import replace
from typing import Any

from examples import table

from benchmarks.runner.checking import check_answer, check_files
from benchmarks.runner.model import Blocked, Expected, FileState, Finding, Outcome

OUTCOME = Outcome(
    "needs_review",
    "src/a.py:3: it stands here",
    task_type="code_change",
    decision="review",
    requires_human_review=True,
    reason="write actions need approval",
    tools=("plan_change", "find_tests"),
    blocked=(Blocked("write_file", "src/a.py"), Blocked("run_command", command="pytest")),
    findings=(Finding("code-python-shell", "src/a.py", 3, "review"), Finding("docs-stale", "a.md", 1, "advise")),
    paths=("src/a.py",),
    nodes=("prepare_task", "policy_gate"),
    data={"input": "say hunter", "tool_results": [{"note": "quite a\nsecret"}], "timings_ms": {"load": 3}},
)  # fmt: skip


def whats(expected: Expected, outcome: Outcome = OUTCOME) -> list[str]:
    return [failure.what for failure in check_answer(expected, outcome)]


WRITE = Blocked("write_file", "src/a.py")
RUN = Blocked("run_command")


@table(
    ("field", "right", "wrong"),
    [
        ("status", "needs_review", ["ok", "failed"]),
        ("task_type", "code_change", ["repo_qna", ""]),
        ("decision", "review", ["allow"]),
        ("requires_human_review", True, [False]),
        ("reason", ("need approval", "write"), [("write", "commit")]),
        ("tools", ("plan_change", "find_tests"), [(), ("plan_change",), ("find_tests", "plan_change")]),
        ("tools_include", ("find_tests",), [("write_file",), ("find_tests", "read_file")]),
        ("tools_exclude", ("write_file",), [("find_tests",)]),
        ("blocked", (WRITE, RUN), [(), (WRITE,), (WRITE, WRITE), (WRITE, RUN, RUN)]),
        ("blocked", (RUN, WRITE), [(Blocked("write_file", "src/b.py"), RUN)]),
        ("blocked", (WRITE, Blocked("run_command", command="pytest")), [(WRITE, Blocked("run_command", "x"))]),
        ("findings", (Finding("code-python-shell", line=3),), [(Finding("code-python-shell", line=4),)]),
        ("findings", (Finding("docs-stale"),), [(Finding("docs-stale", decision="deny"),), (Finding("docs-*"),)]),
        ("findings", (Finding("docs-stale", "a.md"),), [(Finding("docs-stale"), Finding("docs-stale"))]),
        ("no_findings", ("secret-*",), [("*",), ("docs-*",), ("code-python-shell",)]),
        ("paths", ("src/a.py",), [(), ("src/a.py", "b")]),
        ("nodes", ("prepare_task", "policy_gate"), [("policy_gate", "prepare_task"), ()]),
        ("says", ("src/a.py:3", "stands"), [("src/a.py:3", "src/b.py"), ("Stands",)]),
        ("never_says", ("nobody", "hunter"), [("stands",), ("quite a",), ("here", "nobody")]),
    ],
)  # fmt: skip
def test_an_expectation_holds_for_nothing_else(
    field: str, right: Any, wrong: list[Any]
) -> None:
    plain = Expected("needs_review")
    assert whats(plain) == []
    assert whats(replace(plain, **{field: right})) == []
    for each in wrong:
        assert field in whats(replace(plain, **{field: each})), each


def test_a_failure_says_what_was_expected_and_what_came() -> None:
    [failure] = check_answer(Expected("ok"), OUTCOME)
    assert (failure.what, failure.expected) == ("status", "ok")
    assert failure.got == "needs_review: write actions need approval"


def test_the_data_of_an_answer_is_searched_as_well() -> None:
    [failure] = check_answer(Expected("needs_review", never_says=("secret",)), OUTCOME)
    assert failure.got == "it is in the data of the answer"


BEFORE = {"a": "1\n", "b": "2\n"}
ONE = hashlib.sha256(b"1\n").hexdigest()


@table(
    ("expected", "after", "wrong"),
    [
        ({}, BEFORE, []),
        ({}, {**BEFORE, "a": "3\n"}, ["files.a"]),
        ({}, {"a": "1\n"}, ["files.b"]),
        ({}, {**BEFORE, "c": ""}, ["files.c"]),
        ({"a": FileState(text="3\n")}, {**BEFORE, "a": "3\n"}, []),
        ({"a": FileState(text="3\n")}, BEFORE, ["files.a"]),
        ({"a": FileState(text="3\n")}, {**BEFORE, "a": "3"}, ["files.a"]),
        ({"a": FileState(text="3\n")}, {"a": "3\n", "b": "x"}, ["files.b"]),
        ({"a": FileState(absent=True)}, {"b": "2\n"}, []),
        ({"a": FileState(absent=True)}, BEFORE, ["files.a"]),
        ({"c": FileState(text="")}, {**BEFORE, "c": ""}, []),
        ({"c": FileState(text="")}, BEFORE, ["files.c"]),
        ({"a": FileState(holds=("1",), lacks=("2",))}, BEFORE, []),
        ({"b": FileState(holds=("1",), lacks=("2",))}, BEFORE, ["files.b", "files.b"]),
        ({"a": FileState(sha256=ONE)}, BEFORE, []),
        ({"b": FileState(sha256=ONE)}, BEFORE, ["files.b"]),
    ],
)  # fmt: skip
def test_the_files_at_the_end(
    expected: Any, after: dict[str, str], wrong: list[str]
) -> None:
    assert [failure.what for failure in check_files(expected, BEFORE, after)] == wrong
