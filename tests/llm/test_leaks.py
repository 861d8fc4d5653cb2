"""What a model can do to see a masked secret: edit around it, transform it, guess it, or be shown a part of it."""

import json
import random
import string
from pathlib import Path
from typing import Any

import pytest
from in_process import guard, waiting
from openai_server import call, say, serve
from repositories import Repo

from cli_guard.llm.prompts import mask_lines, show_changes
from cli_guard.repository.between import SnapshotContents, changes_between

VALUE = "Xk29vLmQz81pTr"
CONFIG = f'password = "{VALUE}"\ncolour = "red"\n'
SEND = '"""Sends."""\n\n\ndef send(text):\n    return len(text)\n'
WISH = "Add a retry to send()"
DONE = say("Done.")
GUARDED = "holds what is masked as a secret: a person has to edit it"


def lines_of_a_key(seed: int) -> list[str]:
    chosen = random.Random(seed)
    return [
        "".join(chosen.choices(string.ascii_letters + string.digits, k=64))
        for _ in range(12)
    ]


def key_file(seed: int) -> str:
    begin, end = (f"-----{each} RSA PRIVATE KEY-----" for each in ("BEGIN", "END"))
    return "\n".join([begin, *lines_of_a_key(seed), end, ""])


def ask(repo: Repo, script: Any, wish: str = WISH, more: str = "") -> tuple[Any, list[Any]]:
    with serve(script) as server:
        folder = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard")
        folder.mkdir(parents=True, exist_ok=True)
        text = f'[model]\ndeadline_s = 300\nmedium = ["openai:test-model"]\nbase_url = "{server.base_url}"\n{more}'
        (folder / "config.toml").write_text(text)
        with repo.unchanged():
            done = guard(repo, "ask", wish)
        return done, server.requests


@pytest.fixture
def repository(committed: Repo) -> Repo:
    committed.commit("Send", {"src/send.py": SEND, "src/config.py": CONFIG})
    return committed


@pytest.mark.parametrize(
    "edit",
    [
        {"old": "password =", "new": "colour ="},
        {"old": VALUE[:4], "new": VALUE[:4] + '"\nb = "'},
        {"old": 'colour = "red"', "new": 'colour = "blue"'},
        {"old": VALUE[:6], "new": VALUE[:6]},
        {"old": "not there", "new": "x"},
    ],
    ids=["rename what it is known by", "split it", "beside it", "guess it", "guess wrong"],
)
def test_a_file_with_a_secret_is_not_edited_and_no_guess_is_confirmed(
    repository: Repo, edit: Any
) -> None:
    script = [call(("edit_file", {"path": "src/config.py", **edit}))]
    script += [call(("run", {"command": "cat src/config.py"})), DONE]
    done, requests = ask(repository, script)
    assert GUARDED in requests[1].text
    assert VALUE not in "".join(each.text for each in requests)
    assert waiting(repository) == [] and VALUE not in done.all


@pytest.mark.parametrize(
    "command",
    [
        "sed s/password/colour/ src/config.py",
        "cut -c 12- src/config.py",
        "rev src/config.py",
        "tr -d '\"' < src/config.py",
        f"grep -c {VALUE} src/config.py",
        "base64 src/config.py",
        "while read -n1 sign; do echo $sign; done < src/config.py",
        "cat > x.py < src/config.py; sed -i s/password/colour/ x.py; cat x.py",
    ],
)
def test_no_command_of_the_run_tool_unmasks_a_secret(
    repository: Repo, command: str
) -> None:
    _, requests = ask(repository, [call(("run", {"command": command})), DONE])
    result = (
        str(requests[1].messages[-1]["content"]).partition("output:")[2].replace("\n", "")
    )
    assert VALUE not in result and VALUE[::-1] not in result and "GsyOXZ" not in result
    assert not command.startswith("grep") or "exit:1" in result, "a guess finds nothing"


def test_files_without_a_secret_are_seen_as_they_are(repository: Repo) -> None:
    edit = (
        "edit_file",
        {"path": "src/send.py", "old": "len(text)", "new": "len(text) + 1"},
    )
    look = ("run", {"command": "sed -n 5p src/send.py; grep -c red src/config.py"})
    done, requests = ask(repository, [call(edit, look), DONE])
    assert "return len(text) + 1" in requests[1].text and "\n1\n" in requests[1].text
    assert done.code == 3


def test_files_beyond_the_bound_are_left_out_and_that_is_said(
    repository: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli_guard.llm.tools.MASKED_CHARS", len(CONFIG))
    _, requests = ask(repository, [call(("run", {"command": "ls src"})), DONE])
    assert (
        '"files_left_out": ' in requests[1].text
        and "send.py" not in requests[1].messages[-1]["content"]
    )


@pytest.mark.parametrize(
    "command",
    [
        f"rg {VALUE}",
        f"git grep {VALUE}",
        f"git log --oneline --stat -S {VALUE}",
        f"git log -p | grep -B 9 {VALUE}",
        f"git show HEAD:src/config.py | sed 's/.*=//' | grep {VALUE}",
    ],
)
def test_a_search_confirms_no_guess(repository: Repo, command: str) -> None:
    _, requests = ask(repository, [call(("run", {"command": command})), DONE])
    told = requests[1].messages[-1]["content"].replace(json.dumps(command), "")
    assert "config.py" not in told and VALUE[:4] not in told


def test_a_long_line_is_masked_before_it_is_cut(repository: Repo) -> None:
    token = "ghp_" + "".join(
        random.Random(3).choices(string.ascii_letters + string.digits, k=36)
    )
    code = f'def send(text):\n    log({"0" * 132!r}, "{token}")\n    return len(text)\n'
    repository.commit("Log", {"src/send.py": code})
    _, requests = ask(repository, [say("Nothing to add.")], "document send in src/send.py")
    assert "log(" in requests[0].text and token[6:12] not in requests[0].text


def test_nothing_of_a_private_file_with_a_blank_in_its_name_is_in_a_plan(
    repository: Repo,
) -> None:
    files = {
        "own notes/send.py": "from src.send import send\n\nsend('the merger with Acme')\n"
    }
    repository.commit("Notes", files)
    _, requests = ask(
        repository,
        lambda request: DONE,
        "Rename parameter text of send and add a retry",
        'private = ["own notes/**"]\n',
    )
    assert all(
        "own notes" not in each.text and "Acme" not in each.text for each in requests
    )


def test_the_lines_of_a_key_that_is_replaced_are_masked() -> None:
    # The hunk has neither the first line of the key nor the last.
    old, new = ({"deploy/notes.txt": f"Keep this.\n{key_file(each)}"} for each in (1, 2))
    changes = changes_between(old, new)
    contents = SnapshotContents(old, new)
    shown = "\n".join(show_changes(list(changes), contents, 30_000, 30_000)[0])
    assert "deploy/notes.txt" in shown and "****" in shown
    assert not [each for seed in (1, 2) for each in lines_of_a_key(seed) if each in shown]
    (change,) = changes
    assert mask_lines("+Keep this.", change, contents) == "+Keep this."
