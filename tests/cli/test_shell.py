"""`cli-guard shell`: the run tool at the terminal, in a real repository."""

import pytest
from in_process import guard, inspect
from repositories import Repo, key


@pytest.fixture
def filled(committed: Repo) -> Repo:
    """A repository whose commit, index and work tree differ."""
    committed.write("app.py", "x = 2\n")
    committed.git("add", "-A")
    committed.write("app.py", "x = 3\n")
    return committed


def test_the_index_is_the_world_unless_told_otherwise(filled: Repo) -> None:
    for options, expected in (
        ((), "x = 2"),
        (("--worktree",), "x = 3"),
        (("--rev", "HEAD"), "x = 1"),
    ):
        done = inspect(filled, "shell", "cat app.py", *options)
        assert done.code == 0 and done.out.startswith(f"{expected}\n[exit:0 | "), done.all


def test_the_exit_code_says_whether_the_command_succeeded(filled: Repo) -> None:
    assert inspect(filled, "shell", "exit 7").code == 1
    assert "[exit:7 | " in inspect(filled, "shell", "exit 7").out
    assert inspect(filled, "shell", "exit 7", "--raw").code == 7


def test_raw_is_the_execution_alone(filled: Repo) -> None:
    done = filled.inspect("shell", r"printf 'a\0b\377'; echo why >&2; exit 3", "--raw")
    assert (done.code, done.out, done.err) == (3, "a\0b\ufffd", "why\n")
    assert filled.inspect("shell", "--raw", "cat", stdin=b"piped\n").out == "piped\n"
    assert filled.inspect("shell", "--raw", "cat big | tail -1").code == 0


def test_diff_shows_what_would_change_as_a_patch_that_applies(filled: Repo) -> None:
    done = inspect(filled, "shell", "sed -i s/2/9/ app.py; echo n > new.txt", "--diff")
    patch = done.out[done.out.index("diff --git") :]
    assert "-x = 2\n+x = 9\n" in patch and "+++ b/new.txt" in patch
    filled.git("apply", "--check", "--cached", "-", stdin=patch)
    assert "no file would be changed" in inspect(filled, "shell", "ls", "--diff").out


def test_a_subfolder_and_a_bare_repository(filled: Repo) -> None:
    filled.commit("More", {"sub/a.txt": "a\n"})
    assert "sub" in inspect(filled, "shell", "ls", at="sub").out
    filled.git("clone", "-q", "--bare", ".", "../bare.git")
    done = guard(
        filled,
        "shell",
        "log --oneline | wc -l; cat app.py",
        "--rev",
        "HEAD",
        at="../bare.git",
    )
    assert done.code == 0 and done.out.startswith("2\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ls", "--rev", "nosuch"), "there is no commit 'nosuch'"),
        (("ls", "--rev", "HEAD", "--worktree"), "give one"),
        (("ls", "--raw", "--diff"), "give one"),
        ((), "Missing argument"),
    ],
)
def test_wrong_usage_is_said(filled: Repo, arguments: tuple[str, ...], words: str) -> None:
    done = inspect(filled, "shell", *arguments)
    assert done.code == 2 and words in done.err and done.out == ""


def test_outside_a_repository(repo: Repo) -> None:
    done = guard(repo, "shell", "ls", at="..")
    assert done.code == 2 and "no Git repository" in done.err


def test_an_empty_repository_is_a_world_too(repo: Repo) -> None:
    assert guard(repo, "shell", "ls; status").out.startswith(
        "## No commits yet on main\n[exit:0"
    )


def test_secrets_and_escapes_stay_out_and_overflow_is_read_by_the_next_call(
    committed: Repo,
) -> None:
    secret = key("github")
    committed.commit("More", {"many.txt": f"token = '{secret}' \x1b[31m\n" * 300})
    first = guard(committed, "shell", "cat many.txt")
    assert secret not in first.out and "\x1b" not in first.out
    assert "--- output truncated (300 lines, " in first.out
    second = guard(committed, "shell", "wc -l < /tmp/cmd-output/cmd-1.txt")
    assert second.out.startswith("300\n")


def test_memory_stays_from_call_to_call(committed: Repo) -> None:
    stored = guard(committed, "shell", "memory store the build needs make")
    assert "stored #1" in stored.out
    found = guard(committed, "shell", "memory search build")
    assert "fact: the build needs make" in found.out
    (committed.path / ".git" / "cli-guard" / "memory.sqlite").write_bytes(b"broken" * 999)
    done = guard(committed, "shell", "memory recent")
    assert done.code == 1 and "delete the file" in done.out and "Traceback" not in done.all


def test_help_says_what_it_is_for(repo: Repo) -> None:
    done = guard(repo, "shell", "--help")
    assert (
        done.code == 0
        and "--raw" in done.out
        and "No file is changed" in " ".join(done.out.split())
    )
