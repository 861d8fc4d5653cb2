import os
import shutil
import subprocess
from pathlib import Path

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.repository.message import cleanup_mode, parse_message, recorded_message

SCISSORS = "------------------------ >8 ------------------------"
DIFF = "diff --git a/a b/a\n+# not a comment\n+secret\n"


@table(
    ("raw", "options", "text"),
    [
        pytest.param("Add a\n\nWhy\n", {}, "Add a\n\nWhy", id="plain"),
        pytest.param("\n\n  \nAdd a  \n\n\n\nWhy\t\n\n", {}, "Add a\n\nWhy", id="blanks"),
        pytest.param("Add a\n# help\n#\n", {}, "Add a", id="comments"),
        pytest.param(
            "Add a\n #4 is kept\n",
            {},
            "Add a\n #4 is kept",
            id="only a comment at the very start",
        ),
        pytest.param(
            "# Add a\n",
            {"cleanup": "whitespace"},
            "# Add a",
            id="whitespace keeps comments",
        ),
        pytest.param(
            "# Add a\n", {"cleanup": "verbatim"}, "# Add a", id="verbatim keeps comments"
        ),
        pytest.param(
            "# A\n\n\n\nb\n",
            {"cleanup": "verbatim"},
            "# A\n\n\n\nb",
            id="verbatim keeps empty lines",
        ),
        pytest.param(
            "# A\n\n\n\nb\n",
            {"cleanup": "scissors"},
            "# A\n\nb",
            id="scissors keeps comments",
        ),
        pytest.param(
            f"Add a\n# {SCISSORS}\n# Do not\n{DIFF}", {}, "Add a", id="git commit -v"
        ),
        pytest.param(
            f"A\n# {SCISSORS}\n{DIFF}",
            {"cleanup": "verbatim"},
            "A",
            id="scissors are always cut",
        ),
        pytest.param(
            f"A\n; {SCISSORS}\n{DIFF}",
            {"comment_char": ";"},
            "A",
            id="another comment character",
        ),
        pytest.param(
            f"A\n; {SCISSORS}\n{DIFF}", {}, "A", id="a comment character we were not told"
        ),
        pytest.param(
            f"A\n// {SCISSORS}\n// x\n{DIFF}",
            {"comment_char": "//"},
            "A",
            id="a comment string",
        ),
        pytest.param(f"A\r\n# {SCISSORS}\r\n{DIFF}", {}, "A", id="scissors under CRLF"),
        pytest.param(f"# {SCISSORS}\n{DIFF}", {}, "", id="nothing but a diff"),
        pytest.param(
            f"A\n  # {SCISSORS}\nb\n",
            {},
            f"A\n  # {SCISSORS}\nb",
            id="quoted scissors are text",
        ),
        pytest.param(
            f"A\n{SCISSORS}\nb\n", {}, f"A\n{SCISSORS}\nb", id="scissors of a mail are text"
        ),
        pytest.param("A\r\n\r\nb\r\n", {}, "A\n\nb", id="CRLF"),
        pytest.param("\ufeffA\n", {}, "A", id="BOM"),
        pytest.param("", {}, "", id="empty"),
        pytest.param("# only\n\n# help\n", {}, "", id="only comments"),
        pytest.param(
            "#1 A\n; help\n;\tmodified: a\n", {"comment_char": "auto"}, "#1 A", id="auto"
        ),
        pytest.param(
            "#1 A\n; b\n", {"comment_char": "auto"}, "#1 A", id="auto, help at the end"
        ),
        pytest.param("A\n\n#1\n", {"comment_char": "auto"}, "A\n\n#1", id="auto, no help"),
        pytest.param(
            f"#1\n; x\n; {SCISSORS}\n{DIFF}",
            {"comment_char": "auto"},
            "#1",
            id="auto, scissors",
        ),
        pytest.param("", {"comment_char": "auto"}, "", id="auto, empty"),
        pytest.param(
            "A\n// b\n# c\n",
            {"comment_char": "//"},
            "A\n# c",
            id="a comment string cuts only its own",
        ),
    ],
)
def test_parse(raw: str, options: dict[str, str], text: str) -> None:
    assert parse_message(raw.encode(), **options).text == text


def test_bytes_that_are_not_utf8_are_marked() -> None:
    assert parse_message(b"caf\xe9 au lait\n").subject == "caf\ufffd au lait"
    assert recorded_message("caf\udce9").subject == "caf\ufffd"


@table(
    ("message", "kind"),
    [
        ("Add merge of two lists", "plain"),
        ("Merge duplicate helpers", "plain"),
        ("Merge branch 'main' into topic", "merge"),
        ("Merge branches 'a', 'b' and 'c'", "merge"),
        ("Merge remote-tracking branch 'origin/main'", "merge"),
        ("Merge tag 'v1.0'", "merge"),
        ("Merge pull request #12 from a/b", "merge"),
        ("Merge https://example.test/r", "merge"),
        ("Merge 1a2b3c4d into 5e6f7a8b", "merge"),
        ("Merged in feature (pull request #3)", "merge"),
        ("Merged PR 3: Add a", "merge"),
        ('Revert "Add a"', "revert"),
        ('Reapply "Add a"', "revert"),
        ("Undo a\n\nThis reverts commit 1a2b3c4d.", "revert"),
        ("Revert to the old parser", "plain"),
        ("fixup! Add a", "fixup"),
        ("squash! Add a", "fixup"),
        ("amend! Add a", "fixup"),
        ("fixup the parser", "plain"),
    ],
)
def test_kind(message: str, kind: str) -> None:
    assert parse_message(message.encode()).kind == kind
    assert recorded_message(message).kind == kind


@table(
    ("configured", "edited", "mode"),
    [
        (None, True, "strip"),
        (None, False, "whitespace"),
        ("default", False, "whitespace"),
        ("strip", False, "strip"),
        ("scissors", True, "scissors"),
        ("scissors", False, "whitespace"),
        ("verbatim", True, "verbatim"),
    ],
)
def test_cleanup_mode(configured: str | None, edited: bool, mode: str) -> None:
    assert cleanup_mode(configured, edited=edited) == mode


def test_a_recorded_message_has_no_comments() -> None:
    assert recorded_message("#1 fix\n\n# heading\n").text == "#1 fix\n\n# heading"


LINES = st.lists(
    st.sampled_from(["", " ", "# c", "#", " # d", "Add", "b  ", "\tc\t", "é", "d\r"]),
    max_size=8,
)


@settings(max_examples=40, deadline=None)
@given(LINES, st.booleans())
def test_strips_what_git_strips(lines: list[str], comments: bool) -> None:
    raw = "\n".join(lines).encode()
    command = ["git", "stripspace", *(["--strip-comments"] if comments else [])]
    ours = parse_message(raw, cleanup="strip" if comments else "whitespace").text
    assert ours == subprocess.run(
        command, input=raw, capture_output=True, check=True
    ).stdout.decode().removesuffix("\n")


@settings(deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["#", "auto", ";", "//", ""]))
def test_any_bytes_give_a_message(raw: bytes, comment_char: str) -> None:
    message = parse_message(raw, comment_char=comment_char)
    message.text.encode("utf-8", "strict")
    assert "\n" not in message.subject
    assert not message.subject.endswith((" ", "\t", "\r"))


@pytest.fixture
def staged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one staged file, a hook that keeps what it is given, and an editor that types."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.test")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "a").write_text("# one\n")
    subprocess.run(["git", "add", "a"], cwd=tmp_path, check=True)
    hook = tmp_path / ".git/hooks/commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ncp "$1" given\n')
    hook.chmod(0o755)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncat typed "$1" >typed.new && mv typed.new "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("GIT_EDITOR", "./editor")
    return tmp_path


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.parametrize("verbose", [(), ("-v",)], ids=["", "-v"])
@pytest.mark.parametrize("cleanup", ["default", "strip", "scissors"])
@pytest.mark.parametrize("comment_char", ["#", ";", "auto"])
@pytest.mark.parametrize("typed", ["Add a\n\n\nWhy  \n", "Add a\n\n#1 is why\n; b\n"])
def test_reads_what_git_records(
    staged: Path, typed: str, comment_char: str, cleanup: str, verbose: tuple[str, ...]
) -> None:
    (staged / "typed").write_text(typed)
    settings = ("-c", f"core.commentChar={comment_char}", "-c", f"commit.cleanup={cleanup}")
    subprocess.run(
        ["git", *settings, "commit", "-q", *verbose],
        cwd=staged,
        check=True,
        capture_output=True,
    )
    log = ["git", "log", "-1", "--format=%B"]
    recorded = (
        subprocess.run(log, cwd=staged, check=True, capture_output=True)
        .stdout.decode()
        .rstrip("\n")
    )
    given = (staged / "given").read_bytes()
    mode = cleanup_mode(cleanup, edited=True)
    assert parse_message(given, comment_char=comment_char, cleanup=mode).text == recorded
