"""The model's calls of tools: each gets exactly one result, the gate decides, and every bound holds."""

import datetime
import json
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from openai_server import Answer, call, say, serve

from cli_guard.execution.approved import CommandRunner
from cli_guard.graph import build_graph
from cli_guard.graph.context import Context
from cli_guard.llm.gateway import Gateway, Reply, ToolCall
from cli_guard.llm.guest import Guest
from cli_guard.llm.ledger import Ledger, Usage
from cli_guard.llm.loop import CALLS, RESULT_CHARS, ToolLoop
from cli_guard.llm.providers import ModelError
from cli_guard.llm.routing import Route
from cli_guard.policy.language_model import ModelSection
from cli_guard.repository.snapshot import Snapshot

FILES = {
    "src/a.py": "def send():\n    return 1\n",
    "src/b.py": "import a\n",
    "prod.env": "x = 1\n",
}
OFFERED = (
    "read_file",
    "search_repository",
    "run",
    "write_file",
    "run_command",
    "git_commit",
)
READ_A = ("read_file", {"path": "src/a.py"})
READ_B = ("read_file", {"path": "src/b.py"})
THREAD: Any = {"configurable": {"thread_id": "t"}}


class Session:
    """A loop over one graph, with the server's script as its model."""

    def __init__(self, base_url: str, folder: Path, **model: Any) -> None:
        config = ModelSection(
            medium=("openai:test-model",), base_url=base_url, private=("*.env",), **model
        )
        env = {"XDG_STATE_HOME": str(folder / "state"), "PATH": "/usr/bin:/bin"}
        gateway = Gateway(
            config, env, Ledger(config, env, datetime.datetime.now(datetime.UTC))
        )
        self.guest = Guest(gateway, Route("medium"))
        self.loop = ToolLoop(self.guest, [{"role": "system", "content": "Help."}], OFFERED)
        runner = CommandRunner(str(folder), env, folder / "kept")
        given = Context(snapshot=Snapshot.of(FILES), runner=runner)
        self.context = replace(self.guest.equip(given), planner=self.loop.plan)
        self.graph = build_graph(checkpointer=InMemorySaver())

    def turn(self, text: str = "Where is send defined?", **state: Any) -> Any:
        self.loop.say(text)
        return self.go_on(text, **state)

    def go_on(self, text: str = "Where is send defined?", **state: Any) -> Any:
        self.guest.gateway.start_turn()
        return self.graph.invoke({"input": text, **state}, THREAD, context=self.context)

    def answer(self, **answer: Any) -> Any:
        return self.graph.invoke(Command(resume=answer), THREAD, context=self.context)

    @property
    def results(self) -> list[Any]:
        """What the model was told, one result a call."""
        told = [each for each in self.loop.messages if each["role"] == "tool"]
        asked = [
            each["id"] for one in self.loop.messages for each in one.get("tool_calls", ())
        ]
        assert sorted(each["tool_call_id"] for each in told) == sorted(asked)
        assert len(set(asked)) == len(asked)
        return [read_result(each["content"]) for each in told]


def read_result(content: str) -> Any:
    """The JSON in the fence, and what is below it."""
    head, _, below = re.sub(r"(?s)\A<data [^\n]*\n|\n</data \w+>\Z", "", content).partition(
        "\n"
    )
    return {**json.loads(head), "below": below}


def test_calls_of_one_answer_are_all_made_in_order(tmp_path: Path) -> None:
    with serve([call(READ_A, READ_B, interleaved=True), say("In src/a.py:1.")]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
        schema = server.requests[0].tools
    assert [each["tool"] for each in state["tool_results"]] == ["read_file", "read_file"]
    assert [each["path"] for each in session.results] == ["src/a.py", "src/b.py"]
    assert session.results[0]["success"]
    assert session.results[0]["below"] == f"text:\n{FILES['src/a.py']}"
    assert session.loop.answer == "In src/a.py:1."
    assert state["status"] == "ok"
    assert [each["calls"] for each in state["action_log"] if "calls" in each] == [
        ["read_file", "read_file"]
    ]
    assert set(schema) == set(OFFERED)
    assert set(schema["run_command"]["parameters"]["properties"]) == {"command"}


def test_an_answer_without_calls_needs_no_tool(tmp_path: Path) -> None:
    with serve([say("Hello.")]) as server:
        session = Session(server.base_url, tmp_path)
        assert session.turn("Hello there")["status"] == "ok"
    assert session.loop.answer == "Hello."


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (("no_such_tool", {}), "there is no tool no_such_tool; there are: read_file(path"),
        (("Read_File", {"path": "src/a.py"}), "there is no tool Read_File"),
        (("read file!", {"path": "src/a.py"}), "there is no tool read_file_"),
        (("read_file", "path"), "the arguments are no JSON object"),
        (("read_file", "[1]"), "the arguments are no JSON object"),
        (("read_file", {"path": "src/a.py", "mode": "x"}), "read_file: mode: Extra inputs"),
        (
            ("read_file", {"file": "src/a.py"}),
            "read_file: path: Field required; it takes read_file(path",
        ),
        (("read_file", {"path": 7}), "read_file: path: Input should be a valid string"),
        (("read_file", {"path": "prod.env"}), "prod.env is private"),
        (
            ("read_file", {"path": "../../etc/passwd"}),
            "denied by policy: ../../etc/passwd is outside",
        ),
        (
            ("run_command", {"command": "ls", "folder": "/"}),
            "run_command: folder: Extra inputs",
        ),
        (("run_command", {"command": "rm -rf /"}), "denied by policy: "),
        (("review_secrets", {}), "there is no tool review_secrets"),
    ],
)
def test_what_is_wrong_with_a_call_is_told_to_the_model(
    tmp_path: Path, made: Any, told: str
) -> None:
    with serve([call(made), say("I give up.")]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
    (result,) = session.results
    assert not result["success"]
    assert result["error"].startswith(told)
    assert (state["status"], session.loop.answer) == ("ok", "I give up.")


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ('{"name": "read_file", "arguments": {"path": "src/a.py"}}', 2),
        ('The field is {"name": "Ada"}.', 1),
    ],
)
def test_a_call_that_is_written_as_text_is_told_once(
    tmp_path: Path, text: str, asked: int
) -> None:
    with serve([say(text)] * asked) as server:
        session = Session(server.base_url, tmp_path)
        assert session.turn()["status"] == "ok"
    assert len(server.requests) == asked
    assert session.loop.answer == text


def test_the_other_calls_of_an_answer_are_made_when_one_is_denied(tmp_path: Path) -> None:
    outside = ("read_file", {"path": "/etc/passwd"})
    with serve([call(READ_A, outside, READ_B), say("Done.")]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
    told = {
        each.get("path", each.get("error")): each["success"] for each in session.results
    }
    assert told == {
        "denied by policy: /etc/passwd is outside the allowed paths": False,
        "src/a.py": True,
        "src/b.py": True,
    }
    assert [each["rule"] for each in state["blocked_actions"]] == ["path-not-allowed"]


def test_calls_beyond_the_bound_of_one_answer_are_not_made(tmp_path: Path) -> None:
    with serve(
        [
            call(
                *[
                    ("read_file", {"path": "src/a.py", "max_chars": n + 1})
                    for n in range(CALLS + 2)
                ]
            ),
            say("x"),
        ]
    ) as server:
        session = Session(server.base_url, tmp_path)
        session.turn()
    assert sum(each["success"] for each in session.results) == CALLS
    assert (
        sum(f"at most {CALLS} calls" in each.get("error", "") for each in session.results)
        == 2
    )


def test_the_same_result_three_times_ends_the_turn(tmp_path: Path) -> None:
    with serve([call(READ_A), call(READ_A), call(READ_A, READ_B)]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
    assert "no progress" in session.loop.stopped
    assert len(session.results) == 4
    assert state["status"] == "ok"


def reading(number: int) -> Answer:
    return call(("read_file", {"path": "src/a.py", "max_chars": number + 1}))


@pytest.mark.parametrize(
    ("model", "rounds", "stopped"),
    [({"turn_calls": 3}, 50, ModelError), ({"turn_calls": 100}, 4, "within 4 rounds")],
)
def test_a_model_without_end_is_stopped(
    tmp_path: Path, model: Any, rounds: int, stopped: Any
) -> None:
    with serve(lambda request: reading(len(request.messages))) as server:
        session = Session(server.base_url, tmp_path, **model)
        session.context = replace(session.context, rounds=rounds)
        if isinstance(stopped, str):
            session.turn()
            assert stopped in session.loop.stopped
        else:
            with pytest.raises(stopped, match="turn_calls"):
                session.turn()
    assert len(session.results) == 3


def test_a_long_result_is_cut_and_says_so(tmp_path: Path) -> None:
    with serve([call(("run", {"command": "seq 100000"})), say("x")]) as server:
        session = Session(server.base_url, tmp_path)
        session.turn()
        assert all(
            len(each["content"] or "") < RESULT_CHARS + 300
            for each in server.requests[1].messages
        )
    assert session.results[0]["exit_code"] == 0


@pytest.mark.parametrize("later", [(), (READ_B,)])
def test_an_approved_command_goes_on_with_its_result(tmp_path: Path, later: Any) -> None:
    run = ("run_command", {"command": "touch ran; exit 3"})
    with serve([call(READ_A, run, *later), say("It failed with 3.")]) as server:
        session = Session(server.base_url, tmp_path)
        waiting = session.turn()
        assert waiting["status"] == "needs_review"
        assert not (tmp_path / "ran").exists()
        session.loop.resume(session.answer(approved=True, by="Ada", reason=""))
        assert session.go_on()["status"] == "ok"
    assert (tmp_path / "ran").exists()
    done = next(each for each in session.results if "exit_code" in each)
    assert (done["success"], done["exit_code"]) == (False, 3)
    assert done["duration"] >= 0
    assert len(session.results) == 2 + len(later)
    assert session.loop.answer == "It failed with 3."


def test_a_rejected_command_and_a_person_who_goes_on(tmp_path: Path) -> None:
    run = ("run_command", {"command": "touch ran"})
    with serve([call(run), call(run, READ_A), say("Well.")]) as server:
        session = Session(server.base_url, tmp_path)
        session.turn()
        session.loop.resume(session.answer(approved=False, by="Ada", reason="not now"))
        session.go_on()
        session.turn("Forget it")
    assert [each.get("error") for each in session.results] == [
        "a person has rejected it: not now",
        "not run: the person has gone on",
        "not run: the person has gone on",
    ]
    assert not (tmp_path / "ran").exists()


def test_two_commands_wait_one_after_the_other(tmp_path: Path) -> None:
    runs = [("run_command", {"command": f"touch {name}"}) for name in ("one", "two")]
    with serve([call(*runs), say("Both.")]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
        assert [each["arguments"]["command"] for each in state["tool_requests"]] == [
            "touch one"
        ]
        session.loop.resume(session.answer(approved=True, by="Ada", reason=""))
        state = session.go_on()
        assert [each["arguments"]["command"] for each in state["tool_requests"]] == [
            "touch two"
        ]
        session.loop.resume(session.answer(approved=True, by="Ada", reason=""))
        session.go_on()
    assert [each["success"] for each in session.results] == [True, True]


def test_a_commit_is_the_command_that_makes_it(tmp_path: Path) -> None:
    message = "Mend send; `touch pwned` $(touch pwned)"
    with serve([call(("git_commit", {"message": message}))]) as server:
        session = Session(server.base_url, tmp_path)
        state = session.turn()
    (request,) = state["tool_requests"]
    assert request["tool"] == "run_command"
    assert request["arguments"]["command"] == f"git commit -m '{message}'"
    assert state["status"] == "needs_review"


def test_a_model_that_says_it_is_approved_gets_nothing(tmp_path: Path) -> None:
    claimed = ("run_command", {"command": "touch ran", "approved": True})
    with serve(
        [
            call(("run_command", {"command": "touch ran"}), text="approved: yes"),
            call(claimed),
            say("approved"),
        ]
    ) as server:
        session = Session(server.base_url, tmp_path)
        session.turn()
        session.turn("approved")
    assert not (tmp_path / "ran").exists()
    assert not any(each["success"] for each in session.results)


def test_why_an_approved_command_did_not_run_is_told(tmp_path: Path) -> None:
    with serve([call(("run_command", {"command": "touch ran"})), say("I see.")]) as server:
        session = Session(server.base_url, tmp_path)
        session.loop.resume(session.turn(), "this was asked for another folder")
        session.go_on()
    assert session.results[0]["error"] == "this was asked for another folder"


CALLS_OF_ANY_KIND = (
    *(
        READ_A,
        READ_B,
        ("read_file", {"path": "../x"}),
        ("read_file", {}),
        ("none", {}),
        ("", [1]),
        ("run", "{"),
    ),
    *(
        ("run_command", {"command": "touch ran"}),
        ("git_commit", {"message": "x"}),
        ("run", {"command": "rm -rf /"}),
    ),
    *(
        ("read_file", {"path": "\ud800"}),
        ("write_file", {"paths": ["src/a.py"], "patch": "x"}),
    ),
)


@given(
    st.lists(
        st.lists(st.sampled_from(CALLS_OF_ANY_KIND), min_size=1, max_size=CALLS + 2),
        max_size=4,
    )
)
@settings(max_examples=12)
def test_every_call_has_one_result_and_nothing_runs(answers: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        session = Session("http://127.0.0.1:9/v1", Path(folder))
        session.graph = build_graph()
        made, asked = iter(answers), list[Any]()

        def ask(messages: Any, **options: Any) -> Reply:
            calls = next(made, ())
            asked.extend(calls)
            read = [
                (each, "") if isinstance(each, dict) else ({}, "no JSON object")
                for _, each in calls
            ]
            named = zip(calls, read, strict=True)
            json.dumps(messages, ensure_ascii=False).encode()
            told = tuple(ToolCall("same id", name, *given) for (name, _), given in named)
            return Reply("", told, "m", "medium", Usage(1, 1), None)

        session.guest.ask = ask  # type: ignore[method-assign,assignment]
        session.turn()
        session.turn()
        session.loop.say("The end.")
        assert len(session.results) == len(asked)
        assert not Path(folder, "ran").exists()
