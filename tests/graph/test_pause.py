"""A run that needs a person pauses, survives its process, and goes on with an approval."""

import contextlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import ormsgpack
import pytest
from examples import table
from in_process import RISKY, state_values
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command

from cli_guard.errors import UsageError
from cli_guard.graph import build_graph
from cli_guard.graph.build import with_kept_types
from cli_guard.graph.context import Context
from cli_guard.graph.run import resume_review, run_review
from cli_guard.model import Finding, Severity, Skipped
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.review_input import ReviewInput

THREAD: Any = {"configurable": {"thread_id": "t"}}
REQUEST: Any = {"input": "Review this change", "repo_snapshot": {"reports.py": RISKY}}


def paused(path: Path) -> Any:
    """A paused run, written to a file; its state."""
    after = {"reports.py": RISKY}
    subject = ReviewInput("staged", changes_between({}, after), SnapshotContents({}, after))
    state, pause = run_review(Context(subject=subject))
    assert pause
    pause.keep(path)
    return state


def test_pauses_and_goes_on() -> None:
    graph = build_graph(checkpointer=InMemorySaver())
    waiting: Any = graph.invoke(REQUEST, THREAD)
    [stop] = waiting["__interrupt__"]
    assert "reports.py:8" in stop.value["final_output"]
    assert graph.get_state(THREAD).next == ("request_human_review",)
    done: Any = graph.invoke(
        Command(resume={"approved": True, "by": "Ada", "reason": "checked"}), THREAD
    )
    assert (done["status"], done["decision"], done["requires_human_review"]) == (
        "ok",
        "allow",
        False,
    )
    assert done["tool_results"][-1]["tool"] == "git_commit"
    assert [entry for entry in done["action_log"] if entry.get("approved_by") == "Ada"]
    nodes = [entry["node"] for entry in done["action_log"]]
    assert nodes[-2:] == ["execute_safe_actions", "synthesize_cli_response"]
    assert nodes.count("prepare_task") == 1


def test_without_an_approval_it_ends_where_it_was() -> None:
    graph = build_graph(checkpointer=InMemorySaver())
    graph.invoke(REQUEST, THREAD)
    done: Any = graph.invoke(Command(resume={"approved": False}), THREAD)
    assert (done["status"], done["decision"]) == ("needs_review", "review")
    assert "git_commit" not in [result["tool"] for result in done["tool_results"]]


def test_goes_on_in_a_fresh_process(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("plain.sqlite", "with ? and # and %41.sqlite")]
    assert [paused(path)["status"] for path in paths] == ["needs_review"] * 2
    code = (
        "import sys; from pathlib import Path; from cli_guard.graph.run import resume_review\n"
        "for name in sys.argv[1:]: print(resume_review(Path(name), by='Ada', reason='ok')['status'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("ok\nok\n", "")


def test_the_file_is_only_read(tmp_path: Path) -> None:
    path = tmp_path / "waiting.sqlite"
    paused(path)
    before = path.read_bytes()
    assert (
        resume_review(path, by="Ada", reason="", approved=False)["status"] == "needs_review"
    )
    assert path.read_bytes() == before, "whoever is asked can still say yes"
    assert resume_review(path, by="Ada", reason="")["status"] == "ok"


@table("damage", ["missing", "empty", "garbage", "cut", "blob"])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "waiting.sqlite"
    paused(path)
    whole = path.read_bytes()
    content = {
        "empty": b"",
        "garbage": b"not a database" * 400,
        "cut": whole[: len(whole) // 2],
    }.get(damage)
    path.unlink()
    if damage == "blob":
        path.write_bytes(whole)
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE checkpoints SET checkpoint = X'C1C1C1'")
            file.commit()
    elif content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        resume_review(path, by="Ada", reason="")
    assert "\n" not in str(raised.value)
    assert "again" in str(raised.value)


@pytest.mark.parametrize("strict", [False, True], ids=["by default", "strict"])
def test_a_state_survives_a_checkpoint(
    strict: bool, caplog: pytest.LogCaptureFixture
) -> None:
    serde = JsonPlusSerializer(allowed_msgpack_modules=None) if strict else None
    graph = build_graph(checkpointer=InMemorySaver(serde=serde))
    graph.invoke(REQUEST, THREAD)
    kept: Any = graph.get_state(THREAD).values
    alone: Any = build_graph().invoke(REQUEST)
    assert kept["judged"] and kept["tool_requests"]
    assert (
        kept | {"final_output": alone["final_output"], "action_log": alone["action_log"]}
        == alone
    )
    for found in kept["findings"]:
        assert type(found) is Finding and type(found.severity) is Severity
    assert caplog.records == [], "nothing of it was unknown to the library"


COMMIT = {"tool": "git_commit", "arguments": {}, "risk": "git", "purpose": ""}


@pytest.mark.parametrize(
    "change",
    [
        {"tool_requests": [Skipped("git_commit", "rm -rf /")]},
        {"tool_requests": [{"tool": "git_commit"}]},
        {"tool_requests": [{**COMMIT, "arguments": "rm -rf /"}]},
        {"tool_requests": [{**COMMIT, "tool": ["git_commit"]}]},
        {"tool_requests": [{**COMMIT, "run": "rm -rf /"}]},
        {"findings": [{"rule": "code-eval"}]},
        {"judged": [{"finding": {"rule": "code-eval"}, "decision": "review"}]},
        {"judged": ["all"]},
        {"suppressed": [Skipped("a.py", "binary")]},
        {"skipped": [{"path": "a.py", "reason": "binary", "asks": False}]},
        {"skipped": None},
    ],
    ids=lambda change: f"{change}"[:40],
)
def test_a_checkpoint_of_another_form_is_one_line(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    """An older version kept plain data where the state has objects now."""
    path = tmp_path / "waiting.sqlite"
    paused(path)
    state_values(path, lambda values: change)
    with pytest.raises(UsageError) as raised:
        resume_review(path, by="Ada", reason="")
    assert "\n" not in str(raised.value)
    assert "run the commit or push again" in str(raised.value)


def test_a_checkpoint_builds_nothing_but_the_types_of_the_state(tmp_path: Path) -> None:
    serde = with_kept_types(InMemorySaver()).serde

    def read(code: int, *words: object) -> Any:
        return serde.loads_typed(
            ("msgpack", ormsgpack.packb(ormsgpack.Ext(code, ormsgpack.packb(words))))
        )

    single, positional, keywords, method = range(4)
    assert (
        type(read(keywords, "cli_guard.model", "Skipped", {"path": "a", "reason": "b"}))
        is Skipped
    )
    made = str(tmp_path / "pwned")
    assert read(single, "os", "mkdir", made) == made
    assert read(single, "cli_guard.model", "Path", made) == made
    assert read(method, "cli_guard.model", "Finding", made, "__init__") == made
    assert read(positional, "cli_guard.model", "ChangeSet", [[]]) == [[]]
    assert read(keywords, "cli_guard.model", "Finding", {"__class__": made}) == {
        "__class__": made
    }
    for code in range(8):
        read(code, "pathlib", "os.mkdir", made, "mkdir")
        read(code, "cli_guard.model", "Action", {"tool": made}, "tool")
    assert list(tmp_path.iterdir()) == []


def test_the_environment_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    before = dict(os.environ)
    paused(tmp_path / "a.sqlite")
    assert dict(os.environ) == before
