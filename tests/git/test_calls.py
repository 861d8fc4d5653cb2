"""Calls of git: read while they run, begun ahead, bounded in time."""

import os
import select
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from examples import table
from in_process import guard, stage
from repositories import Repo

from cli_guard.errors import GitError
from cli_guard.git import call
from cli_guard.git import prefetch as questions
from cli_guard.git.call import GitCall, Late
from cli_guard.git.process import Git, reading_environment
from cli_guard.git.repository import GitRepository, read_tree
from cli_guard.model import POLICY_FILES
from cli_guard.policy.config import FILE, PYPROJECT
from cli_guard.policy.decisions import BASELINE_FILE
from cli_guard.repository import protocol
from cli_guard.reviewers.review_input import Limits

NOISY = "import sys; sys.stderr.write('x' * 300_000); sys.stdout.write('y' * 300_000); sys.exit(3)"


def soon(seconds: float = 60) -> float:
    return time.monotonic() + seconds


def python(script: str, stdin: bytes = b"") -> GitCall:
    return GitCall((sys.executable, "-I", "-c", script), Path("/"), dict(os.environ), stdin)


def slow_git(tmp_path: Path, script: str) -> str:
    """A PATH on which `git` is a shell script."""
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return f"{program.parent}:/usr/bin:/bin"


@table(
    ("names", "kept"),
    [
        ("PATH HOME LC_CTYPE XDG_CONFIG_HOME TMPDIR USERPROFILE SystemRoot", True),
        ("GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY", True),
        (
            "GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_PARAMETERS GIT_CONFIG_GLOBAL GIT_AUTHOR_DATE",
            True,
        ),
        (
            "GIT_ATTR_SOURCE GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_SHALLOW_FILE GIT_TRACE GIT_TRACE2_EVENT",
            False,
        ),
        (
            "GIT_NAMESPACE GIT_EXEC_PATH GIT_DIRX XGIT_DIR GIT_REPLACE_REF_BASE GIT_NOTES_REF",
            False,
        ),
        (
            "LD_PRELOAD PYTHONPATH PRE_COMMIT PRE_COMMIT_FROM_REF AWS_SECRET_ACCESS_KEY MYPATH HOMES",
            False,
        ),
    ],
)
def test_git_gets_what_says_where_things_are(names: str, kept: bool) -> None:
    given = dict.fromkeys(names.split(), "x")
    assert (given.items() & reading_environment(given).items()) == (
        given.items() if kept else set()
    )


def test_more_errors_than_a_pipe_holds_stop_nothing() -> None:
    made = python(NOISY)
    assert made.rest(soon()) == b"y" * 300_000
    code, errors = made.ended(soon())
    made.close()
    assert code == 3 and errors == b"x" * call.ERROR_BYTES


@pytest.mark.parametrize("size", [0, 1, 65_537, 2_000_000])
def test_it_reads_all_that_it_is_given(size: int) -> None:
    made = python(
        "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())", b"z" * size
    )
    assert made.rest(soon()) == b"z" * size
    made.close()


def test_what_was_seen_ahead_is_read_once() -> None:
    made = python("print('ab' * 50_000)")
    assert made.anything(soon()) is True
    assert made.anything(soon()) is True
    assert made.read(3, soon()) == b"aba"
    assert made.rest(soon()) == b"b" + b"ab" * 49_998 + b"\n"
    made.close()


@pytest.mark.parametrize(("code", "answer"), [(0, False), (1, None), (128, None)])
def test_no_output_is_an_answer_only_where_it_succeeded(
    code: int, answer: bool | None
) -> None:
    made = python(f"import sys; sys.exit({code})")
    assert made.anything(soon()) is answer
    made.close()


@pytest.mark.parametrize(
    "script",
    ["import time; time.sleep(3600)", "import os, time; os.close(1); time.sleep(3600)"],
)
def test_one_that_says_nothing_is_late_and_ended(script: str) -> None:
    made = python(script)
    with pytest.raises(Late):
        made.rest(soon(0.5))
        made.ended(soon(0.5))
    made.close()


def test_one_that_says_little_is_late_as_well(committed: Repo, tmp_path: Path) -> None:
    git = Git(
        committed.path,
        {
            **committed.env,
            "PATH": slow_git(
                tmp_path,
                "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 1; done; sleep 3600",
            ),
        },
    )
    with pytest.raises(GitError, match="did not answer within 2 s"):
        git.run_bounded("log", limit=1_000, seconds=2)


@pytest.mark.parametrize(
    "missing",
    [(os, "memfd_create"), (os, "pidfd_open"), (select, "poll")],
    ids=lambda each: each[1],
)
def test_without_what_linux_alone_has_it_is_the_same(
    monkeypatch: pytest.MonkeyPatch, missing: tuple[object, str]
) -> None:
    monkeypatch.delattr(*missing)
    if missing[1] == "poll":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
        late = python("import time; time.sleep(60)")
        with pytest.raises(Late):
            late.rest(soon(0.5))
        late.close()
    made = python("import sys; sys.stderr.write('e'); print(sys.stdin.read())", b"in")
    assert (made.rest(soon()), made.ended(soon())) == (b"in\n", (0, b"e"))
    made.close()


def test_a_sandbox_may_refuse_files_in_memory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refused(name: str) -> int:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refused)
    made = python("print('out')")
    assert made.rest(soon()) == b"out\n"
    made.close()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        GitError, match="temporary file: No such file or directory; see TMPDIR"
    ):
        Git(tmp_path, dict(os.environ)).text("version")


def test_a_call_that_was_begun_answers_once(committed: Repo) -> None:
    git = Git(committed.path, committed.env)
    git.begin("rev-parse", "HEAD")
    committed.git("commit", "-q", "--allow-empty", "-m", "another")
    # A process that runs already may have looked before or after, but the next one looks now.
    assert (
        git.text("rev-parse", "HEAD")
        in committed.git("rev-parse", "HEAD", "HEAD~1").split()
    )
    assert git.text("rev-parse", "HEAD") == committed.git("rev-parse", "HEAD").strip()


def test_what_cannot_be_begun_says_so_when_it_is_asked(tmp_path: Path) -> None:
    git = Git(tmp_path / "gone", dict(os.environ))
    git.begin("rev-parse", "HEAD")
    with pytest.raises(GitError, match="there is no folder"):
        git.text("rev-parse", "HEAD")


def test_what_nobody_asked_for_is_ended(committed: Repo, tmp_path: Path) -> None:
    path = slow_git(
        tmp_path,
        f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; exec sleep 60",
    )
    git = Git(committed.path, {**committed.env, "PATH": path})
    git.begin("status")
    until = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < until:
        time.sleep(0.01)
    git.forget()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_what_is_asked_ahead_is_what_most_policies_want() -> None:
    assert Limits().file_chars == questions.USUAL_FILE_BYTES
    assert (FILE, PYPROJECT, BASELINE_FILE) == POLICY_FILES


def test_a_policy_that_was_asked_for_ahead_is_that_of_head(committed: Repo) -> None:
    def known() -> frozenset[str]:
        found = GitRepository.discover(committed.path, committed.env, questions.OBJECTS)
        assert found.head == committed.git("rev-parse", "HEAD").strip()
        assert (
            found.tree_of(found.head) == committed.git("rev-parse", "HEAD^{tree}").strip()
        )
        later = GitRepository.discover(committed.path, committed.env)
        shown = {name: later.show("HEAD", name) for name in POLICY_FILES}
        for revision in (found.head, found.tree_of(found.head)):
            found.read_roots([revision], POLICY_FILES)
            assert shown == {name: found.show(revision, name) for name in POLICY_FILES}
        return frozenset(name for name, raw in shown.items() if raw is not None)

    assert known() == frozenset()
    committed.write("pyproject.toml", "[project]\n")
    committed.write("cli-guard-baseline.json", "[]")
    committed.git("add", "-A")
    assert known() == frozenset()
    committed.git("commit", "-qm", "Add both")
    assert known() == {"pyproject.toml", "cli-guard-baseline.json"}
    # Not read as files: a link by what it holds, a folder not at all.
    (committed.path / "cli-guard.toml").symlink_to("pyproject.toml")
    (committed.path / "cli-guard-baseline.json").unlink()
    committed.write("cli-guard-baseline.json/a", "")
    committed.git("add", "-A")
    committed.git("commit", "-qm", "Make others of them")
    assert known() == {"cli-guard.toml", "pyproject.toml"}


@table(
    ("raw", "named"),
    [
        (b"", {}),
        (b"100644 a b\0" + b"\0" * 20 + b"40000 a\0" + b" x\0" * 6 + b"..", {"a b", "a"}),
        (b"100644 a", None),
    ],
)
def test_the_entries_of_a_tree_are_told_by_their_length(
    raw: bytes, named: set[str] | None
) -> None:
    if named is None:
        with pytest.raises(GitError, match="git fsck"):
            read_tree(raw, "sha1")
        return
    assert read_tree(raw, "sha1").keys() == set(named)


@table(
    ("argv", "asked"),
    [
        ("pre-commit", "cat-file config diff-index rev-parse"),
        ("commit-msg .git/COMMIT_EDITMSG", "cat-file config diff-index rev-parse"),
    ],
)
def test_a_hook_starts_each_git_that_it_needs_once(
    committed: Repo, tmp_path: Path, argv: str, asked: str
) -> None:
    committed.commit("Configure", {"pyproject.toml": "[tool.cli-guard.rules]\n"})
    stage(committed, {"app.py": "def load(a):\n    return a + 7\n"})
    committed.write(".git/COMMIT_EDITMSG", "Add load\n")
    env = {"GIT_INDEX_FILE": ".git/index"}
    assert guard(committed, "hook", "pre-commit", env=env).code == 0
    log = tmp_path / "log"
    git = shutil.which("git")
    env["PATH"] = slow_git(tmp_path, f'echo "$*" >> {log}\nexec {git} "$@"')
    assert guard(committed, "hook", *argv.split(), env=env).code == 0
    assert " ".join(sorted(map(command_of, log.read_text().splitlines()))) == asked


def command_of(line: str) -> str:
    """The command of Git in a line of arguments, after its options."""
    words = line.split()
    while words[0].startswith("-"):
        words = words[2 if words[0] == "-c" else 1 :]
    return words[0]


@pytest.mark.parametrize("name", ["a\n" + "0" * 40, "0" * 40 + "\n" + "0" * 40, "false"])
def test_the_name_of_a_folder_is_not_taken_for_an_answer(repo: Repo, name: str) -> None:
    folder = repo.path / name
    folder.mkdir(parents=True)
    subprocess.run(("git", "init", "-q"), cwd=folder, env=repo.env, check=True)
    found = GitRepository.discover(folder, repo.env)
    assert (found.git_dir, found.common_dir, found.head) == (
        folder / ".git",
        folder / ".git",
        None,
    )


@pytest.mark.parametrize("lost", ["HEAD^{commit}", "HEAD^{tree}"])
def test_where_head_cannot_be_read_the_folders_are_what_they_are(
    committed: Repo, lost: str
) -> None:
    oid = committed.git("rev-parse", lost)
    (committed.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    found = GitRepository.discover(committed.path, committed.env)
    assert (found.git_dir, found.common_dir) == (
        committed.path / ".git",
        committed.path / ".git",
    )
    assert (found.object_format, found.bare) == ("sha1", False)
    committed.write("a.py", "x = 1\n")
    committed.git("add", "a.py")
    done = committed.guard("hook", "pre-commit")
    assert done.code == 2 and "git fsck" in done.err
    assert not (committed.path / "sha1").exists()


def test_of_a_clone_without_trees_the_folders_are_known(
    committed: Repo, tmp_path: Path
) -> None:
    committed.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    committed.git(
        "clone",
        "-q",
        "--no-checkout",
        "--filter=tree:0",
        f"file://{committed.path}",
        str(clone),
    )
    committed.path.rename(tmp_path / "away")
    found = GitRepository.discover(clone, committed.env)
    assert (found.git_dir, found.bare) == (clone / ".git", False)


def test_a_name_that_was_not_asked_for_ahead_is_that_of_the_commit(committed: Repo) -> None:
    committed.commit("Configure", {"cli-guard.toml": "[rules]\n"})
    found = GitRepository.discover(committed.path, committed.env)
    head = found.head
    assert head
    committed.git("rm", "-q", "cli-guard.toml")
    committed.git("commit", "-qm", "Configure no more")
    found.read_roots([head], POLICY_FILES)
    assert found.show(head, "cli-guard.toml") == b"[rules]\n"


def test_a_policy_whose_content_is_missing_is_not_passed_over(committed: Repo) -> None:
    committed.commit("Configure", {"cli-guard.toml": "[rules]\n"})
    oid = committed.git("rev-parse", "HEAD:cli-guard.toml")
    (committed.path / ".git" / "objects" / oid[:2] / oid[2:]).unlink()
    committed.write("a.py", "x = 1\n")
    committed.git("add", "a.py")
    done = committed.guard("hook", "pre-commit")
    assert done.code == 2 and done.err.count("\n") == 1, done.all


def test_a_folder_by_the_name_of_a_policy_is_none(committed: Repo) -> None:
    committed.commit("Confuse", {"cli-guard.toml/inner": "x\n"})
    committed.write("a.py", "x = 1\n")
    committed.git("add", "a.py")
    assert committed.guard("hook", "pre-commit").code == 0


CHECK = ("cat-file", "--batch-check")


def test_a_call_that_stays_is_started_again_when_it_has_ended(committed: Repo) -> None:
    found = GitRepository.discover(committed.path, committed.env)
    head = committed.head()
    assert found.identify(["HEAD"]) == {"HEAD": (head, "commit")}
    process = found.git.dialogue(*CHECK)
    assert found.git.dialogue(*CHECK) is process
    process.kill()
    process.wait()
    newer = committed.commit("More", {"b.py": "y = 2\n"})
    # What names nothing, and what comes after it.
    asked = [f"{'0' * 40} commit 1", "HEAD:none", "HEAD:b.py", "HEAD"]
    assert found.identify(asked).keys() == {"HEAD:b.py", "HEAD"}
    assert found.identify(["HEAD"]) == {"HEAD": (newer, "commit")}
    # One that no process answers is asked by itself, which says why.
    with pytest.raises(GitError, match="outside repository"):
        found.identify(["HEAD:../a"])
    found.git.forget()
    assert found.git.dialogue(*CHECK) is not process
    found.git.forget()


def test_a_call_that_stays_ends_with_the_last_one_who_needs_it(committed: Repo) -> None:
    found = GitRepository.discover(committed.path, committed.env)
    process = found.git.dialogue(*CHECK)
    del found
    assert process.poll() is not None


def test_the_index_is_read_anew_by_each_reader(committed: Repo) -> None:
    found = GitRepository.discover(committed.path, committed.env)
    for text in (b"x = 2\n", b"x = 3\n"):
        committed.write("app.py", text)
        committed.git("add", "-A")
        with found.blobs(100) as reader:
            assert reader.read(":app.py") == text


@pytest.mark.parametrize("most", [protocol.KEPT_CHARS, 100])
def test_a_short_history_is_read_once(
    committed: Repo, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(protocol, "KEPT_CHARS", most)
    ids = (committed.head(), committed.commit("More", {"b.py": "y = 2\n" * 50}))
    found = GitRepository.discover(committed.path, committed.env)
    with found.blobs(1_000) as reader:
        history = protocol.History(found.changes(reader, Limits().bounds), ids)
        # One that is left is read again.
        next(iter(history))
        first, second, third = [*history], [*history], [*history]
    assert first == second == third and [each.commit for each in first] == [*ids]
    assert (first[1] is second[1] is third[1]) is (most != 100)
