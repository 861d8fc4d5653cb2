"""How results are shown."""

import json

from benchmarks.runner.model import Expected, Failure, Result, Task
from benchmarks.runner.table import as_json, markdown, text


def task(name: str) -> Task:
    return Task(name, "x", ("a", "b"), "easy", 5, "memory", "ask", Expected("ok"))


ROWS = [
    (task("lamp"), Result("lamp", "repo_qna", "ok", "passed", (), 1.5)),
    (task("lost"), Result("lost", "ask", "", "timeout", (Failure("time_limit", "an answer", "none"),), 5.0)),
    (task("wrong"), Result("wrong", "command_help", "failed", "failed",
     (Failure("status", "ok", "failed"), Failure("says", "'a | *b*'", "'`c`'")), 2.5)),
]  # fmt: skip


def test_text() -> None:
    assert text(ROWS) == (
        "id     type          difficulty  status  result\n"
        "lamp   repo_qna      easy        ok      passed\n"
        "lost   ask           easy        -       timeout\n"
        "    time_limit: expected an answer; came none\n"
        "wrong  command_help  easy        failed  failed\n"
        "    status: expected ok; came failed\n"
        "    says: expected 'a | *b*'; came '`c`'\n"
        "\n"
        "ask           0/1\n"
        "command_help  0/1\n"
        "repo_qna      1/1\n"
        "3 tasks: 1 passed, 1 failed, 1 timeout"
    )
    assert text(ROWS[:1]).splitlines()[-1] == "1 task: 1 passed"


def test_markdown() -> None:
    lines = markdown(ROWS).splitlines()
    assert lines[:3] == [
        "| id | type | difficulty | status | result |",
        "| --- | --- | --- | --- | --- |",
        "| lamp | repo_qna | easy | ok | passed |",
    ]
    assert lines[-9] == "- `wrong`: says: expected 'a \\| \\*b\\*'; came '\\`c\\`'"
    assert lines[-4:-2] == ["| command_help | 0/1 |", "| repo_qna | 1/1 |"]
    assert lines[-1] == "3 tasks: 1 passed, 1 failed, 1 timeout"


def test_json() -> None:
    data = json.loads(as_json(ROWS))
    assert data["schema_version"] == 1
    assert data["counts"] == {"failed": 1, "passed": 1, "timeout": 1}
    assert data["tasks"][1] == {
        "id": "lost", "kind": "ask", "world": "memory", "type": "ask", "difficulty": "easy", "tags": ["a", "b"],
        "status": "", "result": "timeout",
        "failures": [{"what": "time_limit", "expected": "an answer", "got": "none"}],
    }  # fmt: skip


def test_nothing_tells_how_long_it_took() -> None:
    slow = [
        (each, Result(r.id, r.type, r.status, r.result, r.failures, 99.0))
        for each, r in ROWS
    ]
    for shown in (text, markdown, as_json):
        assert shown(slow) == shown(ROWS)
