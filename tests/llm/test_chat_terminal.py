"""`cli-guard chat` at a real terminal, with a scripted model: streaming, approvals, Ctrl-C, sessions."""

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openai_server import call, fault, say, serve
from repositories import GUARD, Repo, cold, isolated_environment
from terminals import Seat

READY = "\x1b[?2004h"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
CODE = "def send():\n    return 1\n"
EDIT = call(("edit_file", {"path": "a.py", "old": "return 1", "new": "return 2"}))
PUSH = ("run_command", {"command": "git fetch"})


class Person(Seat):
    """A person in a chat."""

    def ready(self) -> str:
        return STYLE.sub("", self.until(READY))

    def say(self, text: str) -> None:
        self.type(f"{text}\r")

    def leave(self) -> str:
        self.say("/exit")
        code, seen = self.end()
        assert code == 0, seen
        return seen


class Place:
    # What is run: `quick` has it loaded.
    program = GUARD

    def __init__(self, folder: Path, base_url: str, extra: str = "") -> None:
        home = folder / "home"
        self.env = isolated_environment(home) | {
            "TERM": "xterm",
            "COLUMNS": "100",
            "LINES": "40",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "XDG_STATE_HOME": str(home / "state"),
        }
        config = home / ".config" / "cli-guard" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(
            f'[model]\ndeadline_s = 300\nmedium = ["openai:test-model"]\nbase_url = "{base_url}"\n'
            f"context_tokens = 100000\n{extra}"
        )
        self.state = home / "state"
        self.repo = Repo.create(folder / "repo", self.env)
        self.repo.commit("First", {"a.py": CODE})

    @contextmanager
    def sit(self, *options: str, **env: str) -> Iterator[Person]:
        with self.open(*options, **env) as person:
            person.ready()
            yield person

    def open(self, *options: str, **env: str) -> Person:
        chat = (str(self.program), "chat", *options)
        loaded = self.program != GUARD
        return Person(chat, self.repo.path, self.env | env, preloaded=loaded)

    @property
    def log(self) -> list[Any]:
        path = self.repo.path / ".git" / "cli-guard" / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture(autouse=True)
def quick(
    preloaded: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Load nothing anew for a chat, but in the tests that are about the program itself."""
    if not request.node.get_closest_marker("cold"):
        monkeypatch.setattr(Place, "program", preloaded / "cli-guard")


def answers_of(server: Any) -> list[str]:
    """What the model was told of its calls and by the person, last request."""
    return [str(each["content"]) for each in server.requests[-1].messages]


@cold
def test_an_answer_is_streamed_as_markdown(tmp_path: Path) -> None:
    text = "# Found\n\nIt is in **a.py:1**.\n\n```python\ndef send():\n    return 1\n```\nAll of it."
    with serve([call(("run", {"command": "cat a.py"})), say(text, delta=3)]) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.say("where is send?")
            shown = person.ready()
            person.say("/cost")
            cost = person.ready()
            person.leave()
    assert "- run cat a.py" in shown
    assert "It is in a.py:1." in shown
    assert "**" not in shown and "```" not in shown
    assert "turn     2 calls, 20 + 10 tokens" in cost
    assert place.state.joinpath("cli-guard", "chat-history").stat().st_mode & 0o777 == 0o600


def test_keys_complete_and_begin_lines_and_former_lines_come_back(tmp_path: Path) -> None:
    with serve([say("Seen."), say("Hello."), say("Again.")]) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.type("see a.\t")
            # What completes it may be drawn a moment later.
            person.until("a.")
            person.until("py")
            person.type("\r")
            person.until("Seen.")
            person.ready()
            person.type("one\x1b\rtwo\r")
            person.until("Hello.")
            person.ready()
            person.leave()
        with place.sit() as person:
            person.type("\x1b[A\x1b[A\r")
            person.until("Again.")
            person.leave()
    assert [each.messages[-1]["content"] for each in server.requests] == [
        "see a.py",
        "one\ntwo",
        "one\ntwo",
    ]


@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_a_hostile_answer_shows_no_escape_and_no_secret(tmp_path: Path, term: str) -> None:
    key = "".join(("AKIA", "Q3EGRIPLE", "5W2ZT7N"))
    text = (
        f"a \x1b]0;owned\x07b \x1b[2Jc\u202e d {key} e [safe](http://evil.example/) f\n\n"
    )
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA7Zq0x1\n\n" * 3
    with serve([say(text + block, delta=1)]) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit(TERM=term) as person:
            person.say(f"hello, the key is {key}")
            shown = person.ready() if term == "xterm" else person.until("not shown]")
            seen = person.leave()
    answered = seen[
        seen.index("working") if term == "xterm" else seen.rindex("hello") + 60 :
    ]
    assert "]0;owned" not in seen and "\x1b[2J" not in seen and "\u202e" not in seen
    assert key not in answered and "MIIEpAIB" not in seen
    assert "evil.example" in shown
    assert key not in place.state.joinpath("cli-guard", "chat-history").read_text()
    assert key not in server.requests[0].all_text


def test_a_patch_is_shown_approved_undone_and_done_again(tmp_path: Path) -> None:
    with serve([EDIT, say("It returns 2 now."), say("Done.")]) as server:
        place = Place(tmp_path, server.base_url)
        file = place.repo.path / "a.py"
        with place.sit() as person:
            person.say("make it return 2")
            assert "+    return 2" in STYLE.sub("", person.until("Approve exactly this?"))
            assert file.read_text() == CODE
            person.type("y\n")
            person.ready()
            assert "return 2" in file.read_text()
            person.say("/diff")
            assert "+    return 2" in person.ready()
            person.say("/undo")
            person.ready()
            assert file.read_text() == CODE
            person.say("/redo")
            person.until("Approve exactly this?")
            person.type("y\n")
            person.ready()
            assert "return 2" in file.read_text()
            person.leave()
    assert "the patch was written" in answers_of(server)[-1]
    assert [
        each["event"] for each in place.log if each["event"] in ("approve", "undo")
    ] == [
        "approve",
        "undo",
        "approve",
    ]


def test_a_session_of_twelve_edits_and_all_of_them_back(tmp_path: Path) -> None:
    def edit(number: int) -> Any:
        change = {"old": f"return {number}", "new": f"return {number + 1}"}
        return call(("edit_file", {"path": "a.py", **change}))

    script = [
        each
        for number in range(1, 13)
        for each in (edit(number), say("Edited."), say("Done."))
    ]
    with serve(script) as server:
        place = Place(tmp_path, server.base_url)
        file = place.repo.path / "a.py"
        with place.sit() as person:
            for number in range(2, 14):
                person.say(f"make it return {number}")
                person.until("Approve exactly this?")
                person.type("y\n")
                person.ready()
                assert file.read_text() == CODE.replace("1", str(number))
            for number in range(12, 0, -1):
                person.say("/undo")
                person.ready()
                assert file.read_text() == CODE.replace("1", str(number))
            person.leave()
    assert place.repo.git("status", "--porcelain") == ""


def test_y_n_and_a_and_a_deny_that_beats_them(tmp_path: Path) -> None:
    touch = ("run_command", {"command": "touch made"})
    denied = ("run_command", {"command": "rm -rf /"})
    script = [call(touch), call(touch), call(PUSH), call(PUSH), call(denied), say("Done.")]
    with serve(script) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.say("go")
            assert "touch made" in person.until("Approve exactly this?")
            person.type("n\n")
            person.until("a person has rejected it")
            person.until("Approve exactly this?")
            assert not (place.repo.path / "made").exists()
            person.type("y\n")
            assert "git fetch" in person.until("Approve exactly this?")
            assert (place.repo.path / "made").exists()
            person.type("a\n")
            person.until("approved, as you allowed run_command git fetch")
            assert "denied by policy: run_command" in person.ready()
            person.say("/allow-all")
            person.until("[allow-all]")
            person.leave()
    told = "\n".join(answers_of(server))
    assert "a person has rejected it" in told
    assert "denied by policy: " in told
    reasons = [each["reason"] for each in place.log if each["event"] == "approve"]
    assert reasons == ["chat: once", "chat: for this session", "chat: for this session"]


def test_a_queued_line_is_no_answer_and_comes_next(tmp_path: Path) -> None:
    slow = call(
        ("run_command", {"command": "touch made"}), wire=lambda frames: (0.5, *frames)
    )
    with serve([slow, say("I did not."), say("Second.")]) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.say("first")
            person.until("working")
            person.type("y\n")
            person.until("queued: y")
            person.until("Approve exactly this?")
            person.type("n\n")
            person.until("> y")
            person.ready()
            person.leave()
    assert not (place.repo.path / "made").exists()
    assert answers_of(server)[-1] == "y"


@cold
def test_ctrl_c_ends_a_turn_and_the_session_goes_on_later(
    tmp_path: Path, preloaded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = [fault("stall", 3), say("Here."), say("Again.")]
    with serve(script) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.say("remember the number 4711")
            person.until("The ")
            person.type("\x03")
            assert "ended by the person with Ctrl-C" in person.ready()
            person.say("still there?")
            person.until("Here.")
            person.ready()
            # The others are not interrupted.
            monkeypatch.setattr(Place, "program", preloaded / "cli-guard")
            with place.sit("--model", "openai:other") as second:
                second.say("/resume")
                (listed,) = re.findall(
                    r"(\w{8})  \d{4}-.* 2 turns: remember the number", second.ready()
                )
                second.say(f"/resume {listed}")
                assert "is open in another chat" in second.ready()
                second.leave()
            person.type("\x03")
            person.until("press Ctrl-C again")
            person.ready()
            person.type("\x03")
            assert person.end()[0] == 0
        with place.sit("--resume", TERM="xterm") as person:
            assert listed in person.seen
            person.say("and now?")
            person.until("Again.")
            person.leave()
    told = server.requests[-1].text
    assert "4711" in told and "ended by the person" in told and "Here." in told


@pytest.mark.parametrize("marker", [{"CLAUDECODE": "1"}, {"CI": "true"}, {"TERM": "dumb"}])
def test_nobody_approves_where_no_person_can(
    tmp_path: Path, marker: dict[str, str]
) -> None:
    with serve([EDIT, say("Edited.")]) as server:
        place = Place(tmp_path, server.base_url)
        with place.open(**marker) as person:
            person.until("/help")
            person.say("/allow-all")
            person.say("make it return 2")
            assert "Approve exactly" not in person.until("a person has rejected it")
            person.leave()
    assert (place.repo.path / "a.py").read_text() == CODE


def test_without_a_model_in_reach_the_answer_is_the_one_without(tmp_path: Path) -> None:
    with serve([fault("unauthorized"), say("Hello.")]) as server:
        place = Place(tmp_path, server.base_url)
        with place.sit() as person:
            person.say("where is send defined?")
            shown = person.ready()
            person.say("hello")
            person.until("Hello.")
            person.leave()
    assert "no answer of the model" in shown
    assert "a.py:1" in shown[shown.index("Without a model:") :]


def test_what_cannot_begin_says_why_in_one_line(tmp_path: Path) -> None:
    place = Place(tmp_path, "http://127.0.0.1:9/v1")
    piped = place.repo.guard("chat")
    assert (piped.code, piped.err) == (
        2,
        "cli-guard: a chat needs a terminal: for scripts there is `cli-guard ask`\n",
    )
    for options in (["--resume"], ["--resume", "abcd"], ["--model", "big"]):
        with place.open(*options) as person:
            code, seen = person.end()
            assert (code, len(seen.splitlines())) == (2, 1), seen
    shutil.rmtree(tmp_path / "home" / ".config")
    with Person([GUARD, "chat"], place.repo.path, place.env) as person:
        code, seen = person.end()
    assert code == 2 and "no model is configured: name one in [model] of" in seen
