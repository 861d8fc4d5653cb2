"""Turns and commands of a chat over a real repository, with a scripted model and scripted answers of the person."""

import os
from pathlib import Path
from typing import Any

import pytest
from chat_desk import CODE, Desk
from openai_server import call, fault, say, serve
from repositories import Repo, find_program

from cli_guard.errors import CliGuardError, UsageError
from cli_guard.llm.chat.commands import take_lines

DONE = ("edit_file", {"path": "a.py", "old": "return 1", "new": "return 2"})
BROKEN = ("edit_file", {"path": "a.py", "old": "return 1", "new": "return ("})
MENDED = ("edit_file", {"path": "a.py", "old": "return (", "new": "return 3"})
SECRET = (
    "create_file",
    {"path": "b.py", "text": "key = '" + "".join(("AKIA", "Q3EGRIPLE", "5W2ZT7N")) + "'\n"},
)
TAKEN_BACK = ("delete_file", {"path": "b.py"})


def test_edits_that_do_not_parse_go_back_to_the_model(tmp_path: Path) -> None:
    script = [
        call(BROKEN),
        say("Done."),
        call(MENDED),
        say("Mended."),
        say("It returns 3."),
    ]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        shown = desk.turn("return 3", "y")
    assert "this cannot be taken: a.py: " in shown
    assert "+    return 3" in shown
    assert "return 3" in desk.code


def test_a_patch_that_policy_denies_is_never_asked_about(tmp_path: Path) -> None:
    script = [call(SECRET), say("Done."), say("It must be."), say("Really.")]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.chat.permission.allow_all = True
        shown = desk.turn("add the key")
    assert "policy denies the patch: " in shown and "the edits are dropped" in shown
    assert not desk.typist.asked
    assert not (desk.repo.path / "b.py").exists()


@pytest.mark.parametrize(
    ("text", "asked"), [("def run(x):\n    return eval(x)\n", 1), ("LIMIT = 3\n", 0)]
)
def test_a_finding_that_needs_review_is_looked_at_each_time(
    tmp_path: Path, text: str, asked: int
) -> None:
    script = [
        call(("create_file", {"path": "b.py", "text": text})),
        say("Done."),
        say("Written."),
    ]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.chat.permission.allow_all = True
        shown = desk.turn("write b.py", *["y"] * asked)
    assert len(desk.typist.asked) == asked
    assert ("code-python-eval" in shown) == bool(asked)
    assert (desk.repo.path / "b.py").read_text() == text


def test_a_patch_that_was_mended_is_asked_about(tmp_path: Path) -> None:
    script = [
        call(SECRET),
        say("Done."),
        call(TAKEN_BACK, DONE),
        say("Only the number."),
        say("Written."),
    ]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        shown = desk.turn("add the key and return 2", "y")
    assert "policy denies the patch: " in shown and "+    return 2" in shown
    assert "return 2" in desk.code
    assert not (desk.repo.path / "b.py").exists()


def test_a_rejected_patch_and_its_reason_reach_the_model(tmp_path: Path) -> None:
    with serve([call(DONE), say("Done."), say("All right.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        assert "a person has rejected it" in desk.turn("return 2", "n")
        desk.turn("leave it")
        told = server.requests[-1].messages[-1]["content"]
    assert (
        told
        == "[cli-guard: the patch was not written: a person has rejected it]\n\nleave it"
    )
    assert desk.code == CODE
    assert desk.repo.guard("pending").out.count("a.py") == 0


def test_a_patch_over_unstaged_changes_of_the_person_is_not_written(tmp_path: Path) -> None:
    with serve([call(DONE), say("Done.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.repo.write("a.py", CODE + "# mine\n")
        shown = desk.turn("return 2")
    assert "has unstaged changes: stage, commit or stash them" in shown
    assert desk.code == CODE + "# mine\n"


def test_a_model_that_fails_after_a_call_leaves_a_whole_session(tmp_path: Path) -> None:
    with serve([call(DONE), fault("unauthorized"), say("Hello.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        shown = desk.turn("where is send defined?")
        assert "left undone: the patch of a.py" in shown
        assert "a.py:1" in shown[shown.index("Without a model:") :]
        assert "Hello." in desk.turn("hello")


def test_a_commit_between_two_turns_is_seen(tmp_path: Path) -> None:
    with serve([fault("unauthorized"), fault("unauthorized")]) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.turn("what changed in the last commit?")
        desk.repo.commit("Add a second file", {"later.py": "x = 1\n"})
        assert "later.py" in desk.turn("what changed in the last commit?")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("/help", "/allow-all [off]"),
        ("/model", "medium openai:test-model"),
        ("/model other:b", "in use: other:b"),
        ("/model test-model", "in use: openai:test-model"),
        ("/route", "last message: medium"),
        ("/route heavy", "tier: heavy"),
        ("/diff", "nothing that this session wrote differs from HEAD"),
        ("/review worktree", "nothing"),
        ("/resume", "1 turns: hello"),
        ("/clear", "new session"),
        ("/compact", "tokens before"),
        ("/cost", "session  1 call, 10 + 5 tokens"),
    ],
)
def test_commands(tmp_path: Path, line: str, shown: str) -> None:
    with serve(lambda request: say("Hello.")) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.turn("hello")
        assert shown in desk.command(line)


@pytest.mark.parametrize("line", ["/model big", "/undo", "/redo", "/resume abcd"])
def test_commands_that_cannot(tmp_path: Path, line: str) -> None:
    desk = Desk(tmp_path, "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError):
        desk.command(line)


def test_a_session_is_resumed_with_its_choices_but_not_with_its_permissions(
    tmp_path: Path,
) -> None:
    with serve([call(DONE), say("Done."), say("Written.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.turn("return 2", "a")
        desk.command("/model openai:b")
        desk.command("/route light")
        desk.command("/allow-all")
        first = desk.chat.session.id
        desk.command("/clear")
        assert (desk.chat.gateway.forced, desk.chat.permission.scopes) == ("", set())
        desk.command(f"/resume {first[:6]}")
        chat = desk.chat
        assert (chat.gateway.forced, chat.session.tier) == ("openai:b", "light")
        assert (chat.permission.allow_all, chat.permission.scopes) == (False, set())
        assert "reverted: a.py" in desk.command("/undo")
        assert desk.code == CODE
        with pytest.raises(UsageError):
            desk.command("/undo")
        with pytest.raises(CliGuardError, match="open in another chat"):
            Desk(tmp_path, server.base_url).chat.open(first)


def test_a_long_session_fits_the_window(tmp_path: Path) -> None:
    with serve(lambda request: say("word " * 200)) as server:
        desk = Desk(tmp_path, server.base_url, context_tokens=4_000, answer_tokens=500)
        for number in range(8):
            desk.turn(
                f"Remember that port {9000 + number} is for service number {number}. "
                + "filler " * 150
            )
        assert all(len(each.all_text) < 4 * 4_000 for each in server.requests)
        assert "9000" in server.requests[-1].text


def test_a_line_that_was_queued_does_not_allow_all(tmp_path: Path) -> None:
    with serve() as server:
        desk = Desk(tmp_path, server.base_url)
        desk.typist.queue += ["/allow-all", "/exit"]
        assert "type it at the prompt" in desk.shown(lambda: take_lines(desk.chat))
        assert not desk.chat.permission.allow_all
        desk.command("/allow-all")
        assert desk.chat.permission.allow_all


def replace_in(old: str, new: str) -> Any:
    return call(("edit_file", {"path": "a.py", "old": old, "new": new}))


def script_of(*changes: tuple[str, str]) -> list[Any]:
    """Edits of one file, each with what the model says before and after it is written."""
    return [
        each
        for old, new in changes
        for each in (replace_in(old, new), say("Edited."), say("Done."))
    ]


def test_patches_build_on_each_other_and_undo_steps_back(tmp_path: Path) -> None:
    new_file = call(("create_file", {"path": "b.py", "text": "x = 1\n"}))
    longer = call(("edit_file", {"path": "b.py", "old": "x = 1", "new": "x = 2"}))
    gone = call(("delete_file", {"path": "b.py"}))
    script = script_of(("return 1", "return 2"), ("return 2", "return 3"))
    script += [
        each for one in (new_file, longer, gone) for each in (one, say("E"), say("D"))
    ]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        file = desk.repo.path / "b.py"
        for number in (2, 3):
            desk.turn(f"return {number}", "y")
            assert desk.code == CODE.replace("1", str(number))
        seen = []
        for text in ("add b", "longer", "remove b"):
            desk.turn(text, "y")
            seen.append(file.read_text() if file.exists() else None)
        assert seen == ["x = 1\n", "x = 2\n", None]
        for before in ("x = 2\n", "x = 1\n", None):
            desk.command("/undo")
            assert (file.read_text() if file.exists() else None) == before
        desk.command("/undo")
        assert desk.code == CODE.replace("1", "2")
        desk.command("/redo", "y")
        assert desk.code == CODE.replace("1", "3")
        desk.command("/undo")
        desk.command("/undo")
        assert desk.code == CODE
        with pytest.raises(UsageError, match="has written no patch"):
            desk.command("/undo")
    assert desk.repo.git("status", "--porcelain") == ""


def commit_all(repo: Repo) -> None:
    repo.git("commit", "-qam", "Mine")


def switch_with_changes(repo: Repo) -> None:
    repo.git("switch", "-qc", "other")


def stage_all(repo: Repo) -> None:
    repo.git("add", "a.py")


@pytest.mark.parametrize("act", [commit_all, switch_with_changes, stage_all])
def test_what_git_does_with_a_patch_keeps_it_the_sessions_own(
    tmp_path: Path, act: Any
) -> None:
    with serve(script_of(("return 1", "return 2"), ("return 2", "return 3"))) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.turn("return 2", "y")
        act(desk.repo)
        desk.turn("return 3", "y")
    assert desk.code == CODE.replace("1", "3")


def test_an_edit_of_a_person_in_between_is_named_and_kept(tmp_path: Path) -> None:
    mine = CODE.replace("1", "2") + "# mine\n"
    with serve(script_of(("return 1", "return 2"), ("return 2", "return 3"))) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.turn("return 2", "y")
        desk.repo.write("a.py", mine)
        assert "a.py has unstaged changes" in desk.turn("return 3")
        with pytest.raises(UsageError, match=r"a\.py changed since"):
            desk.command("/undo")
    assert desk.code == mine


def test_a_branch_with_another_content_is_built_on_as_it_is(tmp_path: Path) -> None:
    with serve(script_of(("return 1", "return 2"), ("return 7", "return 8"))) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.repo.git("switch", "-qc", "other")
        desk.repo.commit("Seven", {"a.py": CODE.replace("1", "7")})
        desk.repo.git("switch", "-q", "-")
        desk.turn("return 2", "y")
        desk.repo.git("stash", "-q")
        desk.repo.git("switch", "-q", "other")
        desk.turn("return 8", "y")
        assert desk.code == CODE.replace("1", "8")
        desk.command("/undo")
        with pytest.raises(UsageError, match=r"a\.py changed since"):
            desk.command("/undo")
    assert desk.code == CODE.replace("1", "7")


def test_an_edit_is_dropped_if_its_file_changes_before_it_is_shown(tmp_path: Path) -> None:
    command = call(("run_command", {"command": "sed -i s/1/5/ a.py && git add a.py"}))
    with serve([call(DONE), command, say("Done."), say("Fine.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        shown = desk.turn("return 2", "y")
        told = server.requests[-1].messages[-1]["content"]
    assert "a.py changed since you edited it" in shown and "a.py changed since" in told
    assert desk.code == CODE.replace("1", "5")


TESTED = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "test_a.py": "from a import send\n\n\ndef test_send():\n    assert send() == 3\n",
}


def desk_with_tests(folder: Path, base_url: str) -> Desk:
    desk = Desk(folder, base_url)
    programs = Path(find_program()).parent
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    # As in a shell with the environment of the project.
    desk.repo.env["PATH"] = desk.chat.host.env["PATH"] = path
    desk.repo.commit("Tests", TESTED)
    return desk


def test_covering_tests_run_if_wanted_and_a_failure_goes_back(tmp_path: Path) -> None:
    script = script_of(("return 1", "return 2"))[:-1] + script_of(("return 2", "return 3"))
    with serve(script) as server:
        desk = desk_with_tests(tmp_path, server.base_url)
        desk.chat.permission.allow_all = True
        shown = desk.turn("return more", "t", "t")
        told = [str(each["content"]) for each in server.requests[-1].messages]
    assert "covering tests: test failed: test_a.py::test_send" in shown
    assert "covering tests: passed" in shown
    assert any("assert 2 == 3" in each for each in told)
    assert "its covering tests pass" in told[-1]
    assert desk.code == CODE.replace("1", "3")


@pytest.mark.parametrize(("mode", "replies"), [("off", ()), ("ask", ("n",)), ("on", ("",))])
def test_covering_tests_are_not_run_by_themselves(
    tmp_path: Path, mode: str, replies: tuple[str, ...]
) -> None:
    with serve(script_of(("return 1", "return 2"))) as server:
        desk = desk_with_tests(tmp_path, server.base_url)
        desk.command(f"/test {mode}")
        desk.chat.permission.allow_all = True
        shown = desk.turn("return 2", *replies)
    assert "covering tests:" not in shown
    assert not (desk.repo.path / ".pytest_cache").exists()


def test_after_two_rounds_a_failure_stays_as_it_is(tmp_path: Path) -> None:
    changes = [(f"return {number}", f"return {number + 4}") for number in (1, 5, 9)]
    script = [each for one in changes for each in script_of(one)[:-1]] + [say("Open.")]
    with serve(script) as server:
        desk = desk_with_tests(tmp_path, server.base_url)
        desk.chat.permission.allow_all = True
        desk.turn("return more", "t", "t", "t")
        told = str(server.requests[-1].messages[-1]["content"])
    assert "the covering tests still fail" in told


def test_a_call_that_fails_is_shown_and_so_is_a_turn_without_a_change(
    tmp_path: Path,
) -> None:
    malformed = call(("edit_file", {"path": "a.py"}))
    with serve([replace_in("return 9", "x"), malformed, say("It is done.")]) as server:
        shown = Desk(tmp_path, server.base_url).turn("return 9")
    assert "- failed: edit_file: `old` does not occur" in shown
    assert shown.count("- failed: edit_file: ") == 2
    assert "no file was changed by this turn" in shown


def test_a_turn_that_only_reads_says_nothing_of_changes(tmp_path: Path) -> None:
    with serve([call(("run", {"command": "cat a.py"})), say("It is there.")]) as server:
        shown = Desk(tmp_path, server.base_url).turn("look")
    assert "failed" not in shown and "no file was changed" not in shown


def test_the_first_message_holds_it_and_context_shows_it(tmp_path: Path) -> None:
    key = "".join(("AKIA", "Q3EGRIPLE", "5W2ZT7N"))
    with serve([say("Hello."), say("Again.")]) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.repo.commit(
            "More", {".env": f"KEY={key}\n", f"{key}.py": "def leak(): pass\n"}
        )
        assert "none yet" in desk.command("/context")
        desk.turn("hello")
        desk.repo.write("new.py", CODE)
        desk.turn("again")
        shown = desk.command("/context")
    first = [each.messages[0]["content"] for each in server.requests]
    assert "a.py: send" in first[0] and first[0] == first[1]
    assert "a.py: send" in shown and "messages, about" in shown
    assert key not in first[0] + shown and ".env" not in first[0]


def test_the_run_tool_reads_edits_and_history_and_nothing_private(tmp_path: Path) -> None:
    script = [
        call(DONE),
        call(("run", {"command": "cat a.py; git log --format=%s; git show HEAD:a.py"})),
        call(("run", {"command": "cat .env; git show HEAD:.env; git log -p"})),
        call(("run", {"command": "seq 9000"})),
        call(("run", {"command": "cat /tmp/cmd-output/cmd-1.txt | tail 1"})),
        call(("run", {"command": "memory store fact 'send is slow'; memory facts"})),
        call(("read_file", {"path": "a.py"})),
        say("Done."),
    ]
    with serve(script) as server:
        desk = Desk(tmp_path, server.base_url)
        desk.repo.commit("Keys", {".env": "A=nobody-knows-this\n"})
        desk.turn("return 2", "n")
        tools = server.requests[0].body["tools"]
        told = [
            each["content"]
            for each in server.requests[-1].messages
            if each["role"] == "tool"
        ]
    names = [each["function"]["name"] for each in tools]
    assert names == [
        "run",
        "edit_file",
        "create_file",
        "delete_file",
        "run_command",
        "git_commit",
    ]
    assert "  symbols: " in tools[0]["function"]["description"]
    assert "return 2" in told[1] and "return 1" in told[1] and "First" in told[1]
    assert "nobody-knows-this" not in str(told) and "is private" in told[2]
    assert "Explore: cat /tmp/cmd-output/cmd-1.txt" in told[3]
    assert "9000" in told[4] and "send is slow" in told[5]
    assert "there is no tool read_file" in told[6]
