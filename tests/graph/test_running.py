"""A command in the graph: planned, stopped, judged again at the yes, run by whoever can, and told as it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from examples import table
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cli_guard.commands import Context as CommandContext
from cli_guard.commands.model import Pattern
from cli_guard.errors import UsageError
from cli_guard.execution.approved import CommandRunner
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context, Planned
from cli_guard.graph.gate import proposal_id
from cli_guard.model import Action, Decision
from cli_guard.repository.snapshot import Snapshot

FILES = {"src/a.py": "x = 1\n"}
THREAD: Any = {"configurable": {"thread_id": "t"}}
YES: Any = Command(resume={"approved": True, "by": "Ada", "reason": ""})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def context(folder: Path, *actions: Action, runs: bool = True, **more: Any) -> Context:
    runner = CommandRunner(str(folder), {"PATH": "/usr/bin:/bin"}, folder.parent / "state")
    return Context(
        snapshot=Snapshot.of(FILES),
        runner=runner if runs else None,
        planner=lambda state, context: Planned(actions),
        **more,
    )


def running(command: str) -> Action:
    return Action("run_command", {"command": command}, risk="execute")


def asked(given: Context) -> tuple[Any, Any]:
    """A graph that has stopped, and its state."""
    graph = build_graph(checkpointer=InMemorySaver())
    return graph, graph.invoke({"input": "What is this?"}, THREAD, context=given)


@pytest.mark.parametrize(
    ("command", "status", "code"),
    [
        ("touch ran", "ok", 0),
        ("touch ran; exit 7", "failed", 7),
        ("touch ran; kill -15 $$", "failed", -15),
    ],
)
def test_how_it_ended_is_the_status(
    folder: Path, command: str, status: str, code: int
) -> None:
    given = context(folder, running(command))
    graph, state = asked(given)
    assert (state["status"], state["tool_results"]) == ("needs_review", [])
    assert not (folder / "ran").exists()
    done = graph.invoke(YES, THREAD, context=given)
    assert (folder / "ran").exists()
    [result] = done["tool_results"]
    assert (done["status"], result["exit_code"]) == (status, code)
    assert result["status"] == status
    assert [entry["node"] for entry in done["action_log"]][-2:] == [
        "execute_safe_actions",
        "synthesize_cli_response",
    ]
    assert done["final_output"].startswith("Ran: touch ran")
    assert not done["requires_human_review"]


def test_no_is_no(folder: Path) -> None:
    given = context(folder, running("touch ran"))
    graph, _ = asked(given)
    done = graph.invoke(Command(resume={"approved": False}), THREAD, context=given)
    assert done["tool_results"] == []
    assert not (folder / "ran").exists()


def test_a_deny_beats_a_yes(folder: Path) -> None:
    graph, state = asked(context(folder, running("touch ran")))
    assert state["review_id"]
    deny = Pattern("touch *", Decision.DENY)
    now = context(folder, running("touch ran"), commands=CommandContext(patterns=(deny,)))
    done = graph.invoke(YES, THREAD, context=now)
    assert (done["status"], done["decision"], done["tool_results"]) == (
        "failed",
        "deny",
        [],
    )
    assert done["final_output"].startswith("failed: ")
    assert not (folder / "ran").exists()


def test_it_is_judged_in_the_folder_where_it_runs(folder: Path) -> None:
    """Two folders below the top `../..` is the top; from the top itself it leads out of the work tree."""
    command = "rm -rf ../../build"
    commands = CommandContext(
        folder=str(folder / "sub" / "below"), root=str(folder), home="/home/ada"
    )
    _, below = asked(context(folder, running(command), runs=False, commands=commands))
    assert below["review_reason"] == f"deletes {folder}/build"
    _, top = asked(context(folder, running(command), commands=commands))
    assert top["review_reason"] == f"deletes {folder.parents[1]}/build"


def test_without_a_runner_it_is_left_to_a_person(folder: Path) -> None:
    _, state = asked(context(folder, running("touch ran"), runs=False))
    assert (state["status"], state["review_id"]) == ("needs_review", None)
    assert "Left to you: touch ran." in state["final_output"]


def test_a_command_is_approved_alone(folder: Path) -> None:
    """What it does cannot be taken back, and one yes must not mean a patch as well."""
    patch = "diff --git a/src/a.py b/src/a.py\n--- a/src/a.py\n+++ b/src/a.py\n@@ -1,1 +1,1 @@\n-x = 1\n+x = 2\n"
    write = Action("write_file", {"paths": ["src/a.py"], "patch": patch}, risk="write")
    _, both = asked(context(folder, write, running("touch ran")))
    _, alone = asked(context(folder, write))
    assert both["review_id"] == alone["review_id"]
    assert "Left to you: touch ran." in both["__interrupt__"][0].value["final_output"]
    _, two = asked(context(folder, running("touch ran"), running("touch other")))
    assert two["review_id"] is None


def test_an_approval_is_of_one_command_in_one_folder(folder: Path) -> None:
    def request(command: str, where: str) -> Action:
        return Action("run_command", {"command": command, "folder": where})

    ids = {
        proposal_id([request(command, where)], policy)
        for command in ("pytest", "pytest ")
        for where in ("/a", "/b")
        for policy in ("p", "q")
    }
    assert len(ids) == 8
    runner = CommandRunner(str(folder), {"PATH": "/usr/bin:/bin"}, folder.parent / "state")
    for where in ("", "/", str(folder / "sub"), f"{folder}/"):
        with pytest.raises(UsageError, match="ask again"):
            runner.run("touch ran", where)
    assert not (folder / "ran").exists()


@dataclass(frozen=True)
class Refusing:
    """A runner of somebody else."""

    folder: str = "/shop"

    def run(self, command: str, folder: str) -> Mapping[str, object]:
        raise UsageError("not today: ask again tomorrow")


def test_what_is_not_started_is_no_answer(folder: Path) -> None:
    given = Context(
        snapshot=Snapshot.of(FILES),
        runner=Refusing(),
        planner=lambda s, c: Planned((running("make"),)),
    )
    graph, _ = asked(given)
    with pytest.raises(UsageError, match="not today"):
        graph.invoke(YES, THREAD, context=given)


@table("request_", ["Run the tests of src/a.py", "run the linter", "build the project"])
def test_in_memory_nothing_waits_to_be_run(request_: str) -> None:
    files = {
        "Makefile": "test:\n\tpytest\nlint:\n\truff check .\nbuild:\n\tpython -m build\n",
        **FILES,
    }
    state: Any = build_graph(checkpointer=InMemorySaver()).invoke(
        {"input": request_, "repo_snapshot": files}, THREAD
    )
    assert state["status"] == "ok"
    assert "run_command" not in [each["tool"] for each in state["plan"]]
