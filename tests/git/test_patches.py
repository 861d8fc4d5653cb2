"""`cli-guard review --patch`: patches from anywhere, and texts that are none."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from in_process import inspect
from repositories import Repo, key, placed

from cli_guard.errors import UsageError
from cli_guard.model import Kind, Status
from cli_guard.repository.patch import read_patch
from cli_guard.review.request import Patch

SECRET = f'KEY = "{key()}"\n'


def look(repo: Repo, text: str | bytes) -> list[tuple[str, int | None]]:
    """Where a patch brings secrets."""
    return placed(
        repo.look(Patch(text.encode() if isinstance(text, str) else text, "x.patch"))
    )


@pytest.fixture
def edited(committed: Repo) -> Repo:
    """A repository whose last commit renames, adds, removes and edits files of odd names."""
    committed.commit(
        "Old",
        {
            "old name.py": "a = 1\n" * 9,
            "gone.py": "x\n",
            "é b/ö.py": "a = 1\n",
            "bin": b"\0",
        },
    )
    committed.git("mv", "old name.py", "new name.py")
    committed.git("rm", "-q", "gone.py")
    committed.write("new name.py", "a = 1\n" * 9 + SECRET)
    committed.write('q"t\n.py', SECRET)
    committed.write("é b/ö.py", "a = 1\nb = 2\n" + SECRET)
    committed.write("bin", b"\0\0")
    committed.git("mv", "app.py", "moved.py")
    committed.commit("Change\n\n--- a dash\n@@ -1 +1 @@\n---\ntext")
    return committed


FOUND = [("new name.py", 10), ('q"t\n.py', 1), ("é b/ö.py", 3)]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("diff", "HEAD~1"), id="git diff"),
        pytest.param(("diff", "-U0", "--no-prefix", "HEAD~1"), id="without prefixes"),
        pytest.param(
            ("-c", "core.quotePath=false", "diff", "HEAD~1"), id="names not quoted"
        ),
        pytest.param(
            ("-c", "diff.mnemonicPrefix=true", "diff", "HEAD~1"), id="other prefixes"
        ),
        pytest.param(("diff", "--binary", "HEAD~1"), id="binary"),
        pytest.param(
            ("diff", "--src-prefix=old/", "--dst-prefix=new/", "HEAD~1"), id="long prefixes"
        ),
        pytest.param(("format-patch", "--stdout", "-1"), id="a mail"),
        pytest.param(
            ("format-patch", "--stdout", "--root", "HEAD"), id="a folder of mails"
        ),
        pytest.param(("show", "--format=fuller"), id="git show"),
        pytest.param(("log", "-p", "-2"), id="git log"),
    ],
)
def test_what_git_prints_is_read(edited: Repo, command: tuple[str, ...]) -> None:
    raw = edited.run("git", *command).out
    if "old/" in "".join(command):
        assert sorted(line for _, line in look(edited, raw)) == sorted(
            line for _, line in FOUND
        )  # type: ignore[type-var]
    else:
        assert sorted(look(edited, raw)) == sorted(FOUND)


def test_what_diff_prints_is_read(tmp_path: Path, repo: Repo) -> None:
    for name, text in (
        ("a/x.py", "a = 1\n"),
        ("b/x.py", "a = 1\n" + SECRET),
        ("b/new.py", SECRET),
    ):
        repo.write(name, text)
    raw = repo.run("diff", "-u", "-r", "-N", "a", "b").out
    assert look(repo, raw) == [("new.py", 1), ("x.py", 2)]
    windows = raw.replace("\n", "\r\n")
    assert look(repo, windows) == [("new.py", 1), ("x.py", 2)]


def test_a_patch_in_utf_16_is_read(edited: Repo) -> None:
    assert sorted(
        look(edited, edited.run("git", "diff", "HEAD~1").out.encode("utf-16"))
    ) == sorted(FOUND)


def test_a_folder_that_is_named_like_a_prefix(repo: Repo) -> None:
    repo.commit("Start", {"a/x.py": "a = 1\n"})
    repo.write("a/x.py", "a = 1\n" + SECRET)
    repo.write("b/new.py", SECRET)
    repo.git("add", "-A")
    for option in ("--no-prefix", "--src-prefix=a/"):
        assert look(repo, repo.run("git", "diff", "--cached", option).out) == [
            ("a/x.py", 2),
            ("b/new.py", 1),
        ]


def test_standard_input_outside_of_a_repository(
    tmp_path: Path, isolated: dict[str, str]
) -> None:
    nowhere = Repo(tmp_path, isolated)
    patch = f"--- a/x.py\n+++ b/x.py\n@@ -0,0 +1 @@\n+{SECRET}"
    done = inspect(nowhere, "review", "--patch", "-", stdin=patch)
    assert done.code == 1
    assert "x.py:1" in done.out
    assert list(tmp_path.iterdir()) == []


def test_an_empty_patch_changes_nothing(committed: Repo) -> None:
    committed.write("empty.patch", "")
    done = inspect(committed, "review", "--patch", "empty.patch")
    assert (done.code, done.err) == (0, "")


@table(
    "text",
    [
        pytest.param("This is no patch.\n", id="words"),
        pytest.param("+++ b/x\n@@ -0,0 +1 @@\n+a\n", id="no old side"),
        pytest.param(
            "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n+a\n", id="a hunk that ends early"
        ),
        pytest.param("@@ -1 +1 @@\n+a\n", id="a hunk of nothing"),
        pytest.param("--- a/x\n+++ b/x\n@@ -1 +1 @@\n?what\n", id="a line that is none"),
        pytest.param("new file mode 100644\n", id="a mode of nothing"),
        pytest.param("diff --cc x\n@@@ -1 -1 +1 @@@\n++a\n", id="a combined diff"),
        pytest.param("\0\x1b[31m\n", id="control characters"),
    ],
)
def test_a_text_that_is_no_patch_is_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="is not a patch") as raised:
        read_patch(text.encode(), "x")
    assert "\n" not in str(raised.value)


def test_no_patch_is_exit_2(committed: Repo) -> None:
    done = inspect(committed, "review", "--patch", "-", stdin="\x1b[31m no patch\n")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert "standard input is not a patch" in done.err


def test_five_megabytes_of_noise() -> None:
    noise = random.Random(7).randbytes(5_000_000)
    with pytest.raises(UsageError, match="is not a patch"):
        read_patch(noise, "noise")
    # One line, and headers that look right: nothing may take long.
    with pytest.raises(UsageError):
        read_patch(b"a" * 5_000_000, "line")
    with pytest.raises(UsageError):
        read_patch(
            b"--- a/x\n+++ b/x\n@@ -1,99999999999 +1,99999999999 @@\n" + b"+a\n" * 100_000,
            "hunk",
        )


PIECES = st.lists(
    st.sampled_from(
        [
            *(
                "diff --git a/x b/x\n",
                "diff --git ",
                '"',
                'diff --git "a/\\303" b/y\n',
                "--- a/x\n",
                "+++ b/x\n",
            ),
            *(
                "--- /dev/null\n",
                "+++ /dev/null\n",
                "@@ -1 +1 @@\n",
                "@@ -0,0 +1,2 @@\n",
                "@@ -\n",
                "+a\n",
                "-b\n",
            ),
            *(
                " c\n",
                "\n",
                "\\ No newline\n",
                "Binary files a and b differ\n",
                "rename from x\n",
                "rename to y\n",
            ),
            *(
                "new file mode 120000\n",
                "deleted file mode 160000\n",
                "-- \n",
                "\r\n",
                "\0",
                "\ufeff",
                "index 1..2 100644\n",
            ),
        ]
    ),
    max_size=14,
).map(lambda pieces: "".join(pieces).encode())


@given(PIECES | st.binary(max_size=100))
def test_any_text_is_read_or_refused(raw: bytes) -> None:
    with suppress(UsageError):
        for change in read_patch(raw, "x"):
            assert change.path


def test_kinds_and_names_of_a_patch(edited: Repo) -> None:
    raw = edited.run("git", "diff", "HEAD~1").out.encode()
    by_path = {change.path: change for change in read_patch(raw, "x")}
    assert set(by_path) == {
        "bin",
        "gone.py",
        "moved.py",
        "new name.py",
        'q"t\n.py',
        "é b/ö.py",
    }
    assert by_path["bin"].kind is Kind.BINARY
    assert by_path["gone.py"].status is Status.DELETED
    assert (by_path["moved.py"].status, by_path["moved.py"].old_path) == (
        Status.RENAMED,
        "app.py",
    )
    assert by_path['q"t\n.py'].status is Status.ADDED
    assert by_path["new name.py"].added == {10: SECRET.rstrip()}
    assert [each.path for each in read_patch(raw, "x").skipped] == ["bin"]


def test_modes_are_taken_from_the_patch(committed: Repo) -> None:
    committed.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (committed.path / "app.py").chmod(0o755)
    committed.git("add", "-A")
    raw = committed.run("git", "diff", "--cached").out.encode()
    assert {change.path: change.made_executable for change in read_patch(raw, "x")} == {
        "app.py": True,
        "run.sh": True,
    }


def test_a_link_and_a_submodule_of_a_patch(committed: Repo) -> None:
    (committed.path / "link").symlink_to("app.py")
    committed.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    committed.git("add", "link")
    raw = committed.run("git", "diff", "--cached").out.encode()
    assert {change.path: change.kind for change in read_patch(raw, "x")} == {
        "lib": Kind.SUBMODULE,
        "link": Kind.SYMLINK,
    }
