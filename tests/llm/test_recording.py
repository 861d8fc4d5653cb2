"""Messages worded by a model: from the diff, within the rules of the reviewers, else the draft that was there."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.in_process import guard
from tests.openai_server import Server, fault, say, say_json, serve
from tests.repositories import Repo, key

CODE = "def slug(text):\n    return text\n"
NEW = (
    CODE
    + '\n\ndef title_case(text, sep):\n    """Closes #12."""\n    return sep.join(text)\n'
)
DRAFT = "Add title_case"
SUBJECT = "Join the words of a title with a separator"


def configure(repo: Repo, server: Server, more: str = "") -> None:
    path = Path(repo.env["XDG_CONFIG_HOME"], "cli-guard", "config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'[model]\nmedium = ["openai:test"]\nbase_url = "{server.base_url}"\n{more}'
    )


def ask(repo: Repo, answers: list[Any], *words: str, more: str = "") -> tuple[Any, Server]:
    with serve(answers) as server, repo.unchanged():
        configure(repo, server, more)
        done = guard(repo, "ask", *(words or ("commit my changes",)), "--format", "json")
    return json.loads(done.out), server


@pytest.fixture
def changed(repo: Repo) -> Repo:
    repo.commit("Start", {"web/page.py": CODE})
    repo.write("web/page.py", NEW)
    repo.git("add", "-A")
    return repo


def test_the_message_comes_from_the_diff(changed: Repo) -> None:
    body = [
        "A call of `title_case` joins the words of a text with `sep`, which the callers give it so far.",
        "",
        "- Why",
    ]
    data, server = ask(changed, [say_json({"subject": f"{SUBJECT}.", "body": body})])
    wrapped = "A call of `title_case` joins the words of a text with `sep`, which the\ncallers give it so far.\n\n- Why"
    assert data["messages"] == [f"{SUBJECT}\n\n{wrapped}"]
    assert f"git commit -m '{SUBJECT}' -m " in data["commands"][0]
    assert (
        data["final_output"]
        .splitlines()[-1]
        .startswith("Model: openai:test (medium): 1 call")
    )
    assert [each["purpose"] for each in data["action_log"]] == ["message"]
    assert (
        DRAFT in server.requests[0].text
        and "     return sep.join(text)" in server.requests[0].text
    )


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        ("Add `title_case` to web/page.py", ""),
        ("Add title_case (see page.py)", ""),
        ("Add `title_cast`", "the subject: names title_cast, which is not in the code"),
        (
            "Add title_case to pages.py",
            "the subject: names pages.py, which is not in the code",
        ),
        (
            f"Add {' '.join(map(str, range(32)))}",
            "the subject: empty, or longer than 72 characters",
        ),
        ("", "the subject: empty, or longer than 72 characters"),
        ("wip", "the subject: message-says-nothing"),
        ("fixup! Start", "the subject: the form of a fixup commit"),
        ('Revert "Start"', "the subject: the form of a revert commit"),
        ("feat!: join titles", "the subject: another form than that of the draft"),
        ("Join titles [skip ci]", "the subject: a directive to a program"),
        ("Join titles, fixes #12", "the subject: an issue that the draft does not name"),
        ("Join titles for @ada", "the subject: a mention or a tag"),
        ("Join titles\n\nSigned-off-by: Ada", "the subject: several lines"),
        (f"Join {key()}", "the subject: a masked secret"),
    ],
)
def test_a_subject_is_taken_or_the_draft_stays(
    changed: Repo, subject: str, reason: str
) -> None:
    data, _ = ask(changed, [say_json({"subject": subject})])
    assert data["messages"] == [DRAFT if reason else subject]
    dropped = f"Not taken from the model: 1 (reasons: {reason})." if reason else "Not taken"
    assert (dropped in data["final_output"]) == bool(reason), data["final_output"]


@pytest.mark.parametrize(
    ("line", "is_kept"),
    [
        ("Signed-off-by: Ada <ada@example.org>", False),
        ("Co-authored-by: Bob", False),
        (f"Join{' the words' * 6} by a Signed-off-by: Ada", False),
        ("Fixes: #12", False),
        ("fixes #12", False),
        ("See #12 for more.", False),
        ("It resolves ada/web#12 too.", False),
        ("BREAKING CHANGE: all of it", False),
        ("cli-guard: ignore[secret-aws] known", False),
        ("https://example.org/x", False),
        ("Calls `os.system`.", False),
        ("Closes the gap between two words.", True),
        ("It fixes titles of one word.", True),
        ("- Titles: joined by `sep`.", True),
    ],
)
def test_a_line_of_the_body_is_kept_or_dropped(
    changed: Repo, line: str, is_kept: bool
) -> None:
    data, _ = ask(changed, [say_json({"subject": SUBJECT, "body": [line]})])
    assert data["messages"] == ["\n\n".join((SUBJECT, line) if is_kept else (SUBJECT,))]


def test_a_conventional_style_is_kept(changed: Repo) -> None:
    changed.commit(
        "Ask for a style", {"cli-guard.toml": '[message]\nstyle = "conventional"\n'}
    )
    changed.write("web/page.py", CODE + NEW[len(CODE) :].replace("sep", "mark"))
    changed.git("add", "-A")
    for subject, taken in (
        ("fix(web): join by a mark", True),
        ("nix: join by a mark", False),
        (SUBJECT, False),
    ):
        data, _ = ask(changed, [say_json({"subject": subject})])
        assert (data["messages"] == [subject]) == taken, data["final_output"]


def test_a_pull_request_is_worded_too(changed: Repo) -> None:
    changed.git("commit", "-q", "-m", "Start anew")
    changed.git("branch", "-m", "work")
    changed.git("branch", "main", "HEAD~1")
    changed.git("remote", "add", "origin", "../other")
    data, server = ask(
        changed,
        [say_json({"subject": SUBJECT, "body": ["Because."]})],
        "open a PR against main",
    )
    assert data["messages"] == [f"{SUBJECT}\n\nBecause."]
    assert (
        f"  {SUBJECT}\n  Because.\n" in data["final_output"]
        and "Start anew" in server.requests[0].text
    )


def test_a_change_that_the_review_stops_is_not_sent(changed: Repo) -> None:
    changed.write("web/keys.py", f'KEY = "{key()}"\n')
    changed.git("add", "-A")
    data, server = ask(changed, [])
    assert data["status"] == "failed" and data["messages"] == [] and not server.requests


def test_private_files_and_secrets_are_not_sent(changed: Repo) -> None:
    # The key is in the commit before: the review of this one has nothing against taking it out.
    changed.commit(
        "Add a key",
        {
            "web/keys.py": f'KEY = "{key()}"\n',
            "deploy/inner.py": "def hidden_part(): ...\n",
        },
    )
    changed.write("web/keys.py", 'KEY = ""\n')
    changed.write("deploy/inner.py", "def hidden_part(deep): ...\n")
    changed.git("add", "-A")
    data, server = ask(
        changed,
        [say_json({"subject": "Take the key out"})],
        more='private = ["deploy/**"]\n',
    )
    assert data["messages"] == ["Take the key out"], data["final_output"]
    sent = server.requests[0].all_text
    assert (
        "KEY" in sent
        and key() not in sent
        and "hidden_part" not in sent
        and "inner.py" not in sent
    )


def test_a_large_diff_is_clipped_with_a_note(changed: Repo) -> None:
    changed.write("web/data.py", "".join(f"NUMBER_{at} = {at}\n" for at in range(9_000)))
    changed.git("add", "-A")
    _, server = ask(changed, [say_json({"subject": SUBJECT})])
    sent = server.requests[0].text
    assert (
        len(sent) < 40_000
        and "sep.join" in sent
        and "characters of the diff of this file are not shown." in sent
    )


@pytest.mark.parametrize(
    "answer", [say("Sure!"), say_json({"body": []}), fault("stall"), fault("refusal")]
)
def test_without_an_answer_the_draft_stays(changed: Repo, answer: Any) -> None:
    data, _ = ask(changed, [answer] * 2, more="deadline_s = 4\n")
    plain = json.loads(
        guard(changed, "ask", "commit my changes", "--no-model", "--format", "json").out
    )
    said, _, last = data.pop("final_output").rpartition("\n")
    assert said == plain.pop("final_output") and last.startswith("Model: not used: ")
    assert data.pop("action_log") and plain.pop("action_log") == []
    assert data == plain


def test_a_message_that_the_request_gives_is_not_worded(changed: Repo) -> None:
    data, server = ask(changed, [], "commit everything with the message 'Tidy the cache'")
    assert data["messages"] == ["Tidy the cache"] and not server.requests
