"""The commit-msg hook on the messages that Git really writes."""

import json
from pathlib import Path

import pytest
from repositories import Repo, key

from cli_guard.model import Decision
from cli_guard.review.request import Commit, Message

SECRET = f'KEY = "{key()}"'


@pytest.fixture
def staged(committed: Repo, preloaded: Path) -> Repo:
    """A repository with our hooks and a harmless change staged."""
    committed.watch_hooks("commit-msg", preloaded=preloaded)
    committed.write("app.py", "x = 2\n")
    committed.git("add", "-A")
    return committed


def editor(repo: Repo, text: str) -> dict[str, str]:
    """An environment in which the editor puts a text before what Git prepared."""
    script = repo.path / ".git" / "editor"
    script.write_text(
        '#!/bin/sh\n{ cat "$0.text"; cat "$1"; } > "$1.new" && mv "$1.new" "$1"\n'
    )
    script.chmod(0o755)
    script.with_name("editor.text").write_text(text)
    return {"GIT_EDITOR": str(script)}


def test_a_secret_in_the_message_stops_the_commit(staged: Repo) -> None:
    done = staged.try_git("commit", "-q", "-m", "Rotate the key", "-m", f"It was {SECRET}")
    assert done.code == 1
    assert "in the commit message" in done.all
    assert key() not in done.all
    assert staged.hooks_run() == ["commit-msg"]


def test_the_diff_below_the_scissors_is_no_message(staged: Repo) -> None:
    staged.commit("Old", {"old.py": SECRET + "\n"})
    staged.git("rm", "-q", "old.py")
    done = staged.try_git("commit", "-q", "-v", env=editor(staged, "Remove the old file\n"))
    assert done.code == 0, done.all
    assert staged.git("log", "-1", "--format=%B") == "Remove the old file"
    assert staged.hooks_run() == ["commit-msg"]


SCISSORS = "# ------------------------ >8 ------------------------\n"
# As Git writes it below the line, but for the language.
NOTE = "# Do not modify or remove the line above.\n# Everything below it will be ignored.\n"
DIFF = "diff --git a/app.py b/app.py\n@@ -1 +1 @@\n"


def test_scissors_cut_nothing_from_a_message_on_the_command_line(staged: Repo) -> None:
    done = staged.try_git("commit", "-q", "-m", f"Add a\n\n{SCISSORS}{key()}")
    assert (done.code, key() in done.all) == (1, False)


@pytest.mark.parametrize(
    ("text", "editor"),
    [
        (f"{SCISSORS}{key()}\n", ":"),
        (f"Add a\n\n{SCISSORS}{SECRET}\n", ":"),
        (f"Add a\n\n{SCISSORS}{NOTE}{DIFF}+{SECRET}\n", "vi"),
        (f"Add a\n\n{SCISSORS}{NOTE}{DIFF}-x = 1\n+x = 2\n {SECRET}\n", "vi"),
        (f"Add a\n\n# {SECRET}\n", "vi"),
        (f"# {SECRET}\n", "vi"),
        (f"Add a\n\n{SCISSORS}{key('password')}\n", ":"),
    ],
)
def test_what_git_may_keep_is_searched(staged: Repo, text: str, editor: str) -> None:
    review = staged.look(Message(text.encode()), env={"GIT_EDITOR": editor})
    assert review.decision is Decision.DENY


def test_what_the_diff_of_the_change_shows_is_known(staged: Repo) -> None:
    lines = [f"x = {number}\n" for number in range(9)]
    staged.commit("Old", {"old.py": "".join([*lines[:2], SECRET + "\n", *lines[2:]])})
    staged.write("old.py", "".join([*lines[:3], "y = 1\n"]))
    staged.git("add", "-A")
    removed = staged.git("diff", "--cached")
    staged.write("old.py", "".join([*lines[:2], SECRET + "\n", "y = 1\n", *lines[2:]]))
    staged.git("add", "-A")
    shown = (
        removed,
        staged.git("diff", "--cached"),
        staged.git("diff", "--cached", "HEAD^"),
    )
    assert all(SECRET in each for each in shown)
    for diff in shown:  # removed, beside a change, and by the commit that is amended
        review = staged.look(
            Message(f"Change x\n{SCISSORS}{NOTE}{diff}\n".encode()),
            env={"GIT_EDITOR": "vi"},
        )
        assert review.decision is Decision.ALLOW


@pytest.mark.parametrize(
    ("char", "subject"),
    [(";", "#12 Change x"), ("%", "#12 Change x"), ("auto", "Change x")],
)
def test_comments_are_no_message(staged: Repo, char: str, subject: str) -> None:
    staged.git("config", "core.commentChar", char)
    template = staged.write(
        ".git/template", "" if char == "auto" else f"{char} a comment\n"
    )
    env = editor(staged, subject + "\n")
    done = staged.try_git("commit", "-q", "-v", "-t", str(template), env=env)
    assert done.code == 0, done.all
    assert staged.git("log", "-1", "--format=%B") == subject


@pytest.mark.parametrize(
    "subject",
    [
        "fixup! Start",
        "squash! Start",
        'Revert "Start"',
        "Merge branch 'side'",
        "Merge tag 'v1' of there",
    ],
)
def test_messages_that_git_writes_are_left_alone(committed: Repo, subject: str) -> None:
    review = committed.look(Message(f"{subject}\n".encode()))
    assert (review.decision, review.findings) == (Decision.ALLOW, ())


def test_a_merge_and_a_fixup_by_git_itself(committed: Repo, preloaded: Path) -> None:
    committed.watch_hooks("commit-msg", "pre-merge-commit", preloaded=preloaded)
    committed.git("config", "merge.ff", "false")
    committed.git("checkout", "-q", "-b", "side")
    committed.commit("Side", {"side.py": "a = 1\n"})
    committed.git("checkout", "-q", "main")
    assert committed.try_git("merge", "-q", "--no-edit", "side").code == 0
    committed.write("app.py", "x = 3\n")
    committed.git("add", "-A")
    assert committed.try_git("commit", "-q", "--fixup", "HEAD").code == 0
    assert committed.hooks_run() == ["pre-merge-commit", "commit-msg", "commit-msg"]


def test_an_empty_message_is_git_s_to_refuse(committed: Repo) -> None:
    for raw in (b"", b"\n\n"):
        review = committed.look(Message(raw), env={"GIT_EDITOR": "vi"})
        assert (review.decision, review.review_reason) == (
            Decision.ALLOW,
            "the message is empty: Git will not commit",
        )
    # `--cleanup=verbatim` would keep it.
    review = committed.look(Message(b"# only a comment\n"), env={"GIT_EDITOR": "vi"})
    assert (review.decision, review.findings) == (Decision.ALLOW, ())


def test_a_message_that_is_not_utf8(staged: Repo) -> None:
    assert staged.look(Message(b"Caf\xe9 au lait\n")).decision is Decision.ALLOW
    review = staged.look(Message(b"Caf\xe9\n\n\xff " + SECRET.encode() + b"\n"))
    assert review.decision is Decision.DENY
    file = staged.write(".git/latin", b"Caf\xe9\n\n" + SECRET.encode() + b"\n")
    staged.git("config", "i18n.commitEncoding", "latin-1")
    done = staged.try_git("commit", "-q", "-F", str(file))
    assert done.code == 1
    assert key() not in done.all
    staged.git("commit", "-q", "-F", str(file), "--no-verify")
    recorded = staged.look(Commit("HEAD"))
    assert [judged.finding.path for judged in recorded.findings] == [""]


def test_a_message_file_that_is_not_there(committed: Repo) -> None:
    done = committed.inspect("hook", "commit-msg", "nowhere/COMMIT_EDITMSG")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1


def test_a_clean_message_leaves_the_report_on_the_change(forked: Repo) -> None:
    kept = forked.path / ".git" / "cli-guard"
    forked.write("app.py", "x = 2\n")
    forked.git("commit", "-q", "-a", "-m", "Change it")
    assert (
        json.loads((kept / "audit.jsonl").read_text().splitlines()[-1])["event"]
        == "commit-msg"
    )
    report = json.loads((kept / "last-report.json").read_text())
    assert (report["event"], report["coverage"]["reviewed"]) == ("pre-commit", 1)
