"""What a chat shows, what an `a` covers, who may answer, and its commands, without a terminal."""

import io
import os
import re
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.commands import Context as CommandContext
from cli_guard.errors import UsageError
from cli_guard.execution.approved import CommandRunner
from cli_guard.graph.context import Context
from cli_guard.llm.chat.commands import COMMANDS, run_command
from cli_guard.llm.chat.display import Display, block_end, presentable
from cli_guard.llm.chat.keyboard import Keyboard
from cli_guard.llm.chat.permission import ChatPermission, scope_of
from cli_guard.model import Action
from cli_guard.policy.config import parse_config
from cli_guard.policy.decisions import Policy

KEY = "".join(("AKIA", "Q3EGRIPLE", "5W2ZT7N"))
PRIVATE = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7Zq0x1ab\n"
STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def display_of(width: int, term: str = "xterm") -> tuple[Display, io.StringIO]:
    stream = io.StringIO()
    env = {"TERM": term, "COLUMNS": str(width), "LINES": "24", "FORCE_COLOR": "1"}
    return Display(stream, env, colored=True), stream


PIECES = st.sampled_from(
    [
        "a word ",
        "\n",
        "\n\n",
        "```\n",
        "~~~py\n",
        "- item\n",
        "# Head\n",
        f" {KEY} ",
        "\x1b[2J",
        "\u202e",
        "| a |\n",
    ]
)


@settings(max_examples=40)
@given(
    st.lists(PIECES, max_size=12),
    st.integers(0, 2),
    st.integers(1, 30),
    st.sampled_from([40, 200]),
)
def test_pieces_show_what_the_whole_shows_and_nothing_secret(
    pieces: list[str], keys: int, size: int, width: int
) -> None:
    text = "".join([*pieces, *[f"\n{PRIVATE}"] * keys])
    whole, whole_stream = display_of(width)
    whole.feed(text)
    whole.finish()
    display, stream = display_of(width)
    for at in range(0, len(text), size):
        display.feed(text[at : at + size])
        for line in STYLE.sub("", drawn(display)).splitlines():
            assert len(line) <= width
            assert KEY[:8] not in line and "MIIEpAIB" not in line
    display.finish()
    shown = STYLE.sub("", stream.getvalue())
    assert stream.getvalue() == whole_stream.getvalue()
    assert KEY not in shown and "MIIEpAIB" not in shown
    assert "\x1b" not in shown and "\u202e" not in shown
    assert all(
        len(line) <= width
        for line in shown.splitlines()
        if not line.startswith("[a private")
    )


def drawn(display: Display) -> str:
    """What is drawn below the finished blocks at this moment."""
    with display.console.capture() as captured:
        display.console.print(display._draw())
    return captured.get()


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("one\n\ntwo", 5),
        ("one\ntwo", 0),
        ("\n\none", 0),
        ("```py\na\n\nb\n", 0),
        ("```py\na\n```\nb", 12),
        ("````\n```\n````\n", 14),
        ("~~~\n```\n\n", 0),
        (PRIVATE + "\n", 0),
        ("x\n" * 15_000, 30_000),
    ],
)
def test_where_a_block_ends(text: str, end: int) -> None:
    assert block_end(text) == end


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a "),
        ("a b ", "a b "),
        ('say "it is ', "say "),
        ('say "it" is ', 'say "it" is '),
        (PRIVATE, ""),
    ],
)
def test_half_words_quotations_and_keys_are_held_back(text: str, shown: str) -> None:
    assert presentable(text) == shown


def test_a_dumb_terminal_gets_plain_text() -> None:
    display, stream = display_of(80, "dumb")
    display.feed("# Head\n\n**bold** text")
    display.finish()
    assert stream.getvalue() == "# Head\n**bold** text\n"


def context_at(folder: Path, **approvals: Any) -> Context:
    policy = Policy(parse_config({"approvals": approvals}, "cli-guard.toml"))
    runner = CommandRunner(str(folder), {}, folder)
    return Context(
        policy=policy, runner=runner, commands=CommandContext(folder=str(folder))
    )


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("git fetch", "git fetch", True),
        ("git fetch", "git fetch origin", False),
        ("make", "make -f other.mk", False),
        ("make", "env LD_PRELOAD=./x.so make", False),
        ("npm run test", "npm run deploy", False),
        ("git push", "git push --force", False),
        ("git push", "git fetch", False),
        ("pytest -q", "pytest -q -p plugin", False),
        ("pytest -q", "pytest tests", False),
        ("npm install a", "npm run b", False),
        ("python a.py", "python b.py", False),
        ("rm a", "rm b", False),
        ("rm a", "rm a", True),
        ("git fetch", "git fetch; rm a", False),
        ("bash -c 'a'", "bash -c 'b'", False),
    ],
)
def test_what_an_answer_for_the_session_covers(first: str, second: str, same: bool) -> None:
    scopes = [
        scope_of(Action("run_command", {"command": each})) for each in (first, second)
    ]
    assert (scopes[0] == scopes[1]) is same


def permission(
    replies: list[str], *, person: bool = True
) -> tuple[ChatPermission, list[str]]:
    said: list[str] = []
    waiting = deque(replies)

    def check() -> None:
        if not person:
            raise UsageError("an approval needs a person")

    def ask(details: str, question: str) -> str:
        said.append(question)
        return waiting.popleft()

    return ChatPermission(check, ask, said.append), said


FETCH = Action("run_command", {"command": "git fetch"})
WRITE = Action("write_file", {"paths": ["a.py"]})


@pytest.mark.parametrize(
    ("replies", "approved"),
    [
        (["y"], "chat: once"),
        (["YES\n"], "chat: once"),
        (["n"], ""),
        (["\n"], ""),
        ([""], ""),
        (["maybe", "yes please", "y"], "chat: once"),
        (["x", "x", "x"], ""),
        (["a"], "chat: for this session"),
    ],
)
def test_answers(tmp_path: Path, replies: list[str], approved: str) -> None:
    asked, said = permission(replies)
    assert asked.decide([FETCH], "git fetch", context_at(tmp_path)) == approved
    assert len(said) == len(replies)


def test_an_answer_for_the_session_holds_for_its_kind_only(tmp_path: Path) -> None:
    asked, said = permission(["a", "n"])
    context = context_at(tmp_path)
    asked.decide([FETCH], "", context)
    assert asked.decide([FETCH], "", context) == "chat: for this session"
    assert asked.decide([WRITE], "", context) == ""
    asked.allow_all = True
    assert asked.decide([WRITE], "", context) == "chat: /allow-all"
    assert len([each for each in said if each.startswith("Approve")]) == 2


@pytest.mark.parametrize(
    "approvals", [{"high": "key"}, {"author_may_approve": False}, {"trust": "touch"}]
)
def test_a_stricter_level_asks_each_time(tmp_path: Path, approvals: Any) -> None:
    asked, said = permission(["a", "y"])
    asked.allow_all = True
    asked.scopes = {("write_file",)}
    assert asked.decide([WRITE], "", context_at(tmp_path, **approvals)) == "chat: once"
    assert "for this session" not in said[0]


def test_nothing_is_approved_without_a_person(tmp_path: Path) -> None:
    asked, said = permission([], person=False)
    asked.allow_all = True
    assert asked.decide([WRITE], "", context_at(tmp_path)) == ""
    assert said == ["an approval needs a person"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/modle", "there is no command /modle: did you mean /model?"),
        ("/xyzzy now", "there is no command /xyzzy: see /help"),
        ("/route big", "/route big: write /route, /route auto, /route light"),
        ("/allow-all yes", "/allow-all yes: write /allow-all, /allow-all off"),
        ("/review HEAD", "/review HEAD: write /review, /review staged, /review worktree"),
    ],
)
def test_a_wrong_command_names_the_right_one(line: str, problem: str) -> None:
    nothing: Any = None
    with pytest.raises(UsageError, match=re.escape(problem)):
        run_command(nothing, line)


def test_the_commands_of_the_issue_are_there() -> None:
    wanted = "/help /model /route /cost /compact /context /clear /allow-all /test"
    wanted += " /review /diff /undo /redo /resume /exit"
    assert list(COMMANDS) == wanted.split()


@pytest.mark.parametrize(
    ("typed", "queued", "left"),
    [
        ("one\rtwo\nthr", ["one", "two"], "thr"),
        ("on\x7fne\x1b[Atwo\r", ["onetwo"], ""),
        ("a\x15b\r\r \r", ["b"], ""),
        ("grün\r\x1b[200~x", ["grün"], "x"),
    ],
)
def test_what_is_typed_while_a_turn_runs(
    tmp_path: Path, typed: str, queued: list[str], left: str
) -> None:
    reader, writer = os.pipe()
    with open(reader) as stdin, open(writer, "wb") as terminal:
        keyboard = Keyboard(stdin, io.StringIO(), {}, tuple)
        terminal.write(typed.encode())
        terminal.flush()
        while keyboard._take_typed(0):
            pass
    assert (list(keyboard.queue), keyboard.typed) == (queued, left)
    assert keyboard.describe()[: len(queued)] == [f"queued: {line}" for line in queued]
