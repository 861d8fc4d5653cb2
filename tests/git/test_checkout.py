"""Scratch checkouts: exactly the tree, a Git that answers in it, the repository left alone, nothing left behind."""

import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import Repo

from cli_guard.errors import CliGuardError, GitError
from cli_guard.git.checkout import PREFIX, Checkout, checked_out, sweep, tree_of_index
from cli_guard.git.repository import GitRepository
from cli_guard.model import Skipped
from cli_guard.repository.protocol import Repository

POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n"
NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=12
).filter(
    lambda name: (
        name not in (".", "..")
        and ".git" not in name.lower()
        and "git~" not in name.lower()
    )
)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of this test alone, which must be empty at its end."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def found(repo: Repo, env: dict[str, str] | None = None) -> Repository:
    return GitRepository.discover(repo.path, repo.env | (env or {}))


def git_in(checkout: Checkout, repo: Repo, *arguments: str) -> str:
    """What Git says in a checkout, with the user's own configuration, as a check would run it."""
    done = subprocess.run(
        ("git", *arguments),
        cwd=checkout.folder,
        env=repo.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def at_head(repo: Repo, stack: ExitStack, env: dict[str, str] | None = None) -> Checkout:
    repository = found(repo, env)
    head = repository.head
    return stack.enter_context(checked_out(repository, repository.tree_of(head), head))


def test_exactly_the_tree_and_a_git_that_answers(committed: Repo, room: Path) -> None:
    committed.write("run.sh", "#!/bin/sh\n")
    (committed.path / "run.sh").chmod(0o755)
    (committed.path / "link").symlink_to("/etc/passwd")
    committed.commit("More", {"src/deep/a.py": "x = 2\n"})
    committed.git("tag", "-a", "-m", "One", "v1")
    committed.git("remote", "add", "origin", "https://token@example.org/x.git")
    committed.write("app.py", "not this\n")
    committed.write("new.py", "nor this\n")
    committed.git("add", "new.py")
    with committed.unchanged(), ExitStack() as stack:
        checkout = at_head(committed, stack)
        top = checkout.folder
        assert sorted(p.name for p in top.iterdir()) == [
            ".git",
            "app.py",
            "link",
            "run.sh",
            "src",
        ]
        assert (top / "app.py").read_text() == "x = 1\n"
        assert os.access(top / "run.sh", os.X_OK) and not os.access(top / "app.py", os.X_OK)
        assert (top / "link").readlink() == Path("/etc/passwd")
        assert top.name == committed.path.name
        assert not top.is_relative_to(committed.path)
        assert stat.S_IMODE(top.parent.stat().st_mode) == 0o700
        assert git_in(checkout, committed, "status", "--porcelain") == ""
        assert git_in(checkout, committed, "describe") == "v1"
        assert git_in(checkout, committed, "rev-parse", "HEAD") == committed.git(
            "rev-parse", "HEAD"
        )
        assert git_in(checkout, committed, "log", "--format=%s") == "More\nStart"
        assert git_in(checkout, committed, "remote") == ""
        assert checkout.missing == ()


def test_what_is_done_in_it_stays_in_it(committed: Repo, room: Path) -> None:
    committed.write(".git/hooks/post-commit", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    with committed.unchanged(), ExitStack() as stack:
        checkout = at_head(committed, stack)
        (checkout.folder / "app.py").write_text("changed\n")
        git_in(checkout, committed, "commit", "-aqm", "Mine")
        git_in(checkout, committed, "gc", "-q", "--prune=now")
        git_in(checkout, committed, "tag", "-f", "v9")
        assert not (checkout.folder / "ran").exists()
    assert committed.git("tag") == ""


def test_no_filter_runs_while_it_is_made(
    committed: Repo, room: Path, isolated: dict[str, str]
) -> None:
    committed.commit(
        "Filtered", {".gitattributes": "*.txt filter=mine\n", "a.txt": "text\n"}
    )
    for scope in ("--local", "--global"):
        committed.git(
            "config", scope, "filter.mine.smudge", f"touch {room.parent}/smudged; cat"
        )
        committed.git("config", scope, "filter.mine.required", "true")
    with ExitStack() as stack:
        assert (at_head(committed, stack).folder / "a.txt").read_text() == "text\n"
    assert not (room.parent / "smudged").exists()


def test_the_tree_of_the_index(committed: Repo, room: Path) -> None:
    committed.write("app.py", "x = 2\n")
    committed.write("new/b.py", "y = 1\n")
    committed.git("add", "-A")
    committed.write("app.py", "x = 3\n")
    repository = found(committed)
    with committed.unchanged():
        tree = tree_of_index(repository)
        with checked_out(repository, tree, repository.head, staged=True) as checkout:
            assert (checkout.folder / "app.py").read_text() == "x = 2\n"
            assert (checkout.folder / "new" / "b.py").exists()
            assert (
                git_in(checkout, committed, "diff", "--cached", "--name-only")
                == "app.py\nnew/b.py"
            )
    committed.git("commit", "-q", "-m", "Record")
    assert committed.git("rev-parse", "HEAD^{tree}") == tree


def test_before_the_first_commit(repo: Repo, room: Path) -> None:
    repo.write("a.py", "x = 1\n")
    repo.git("add", "-A")
    repository = found(repo)
    with (
        repo.unchanged(),
        checked_out(repository, tree_of_index(repository), None, staged=True) as checkout,
    ):
        assert git_in(checkout, repo, "status", "--porcelain") == "A  a.py"


def test_another_index_than_the_usual_one(committed: Repo, room: Path) -> None:
    committed.write("app.py", "x = 2\n")
    env = {"GIT_INDEX_FILE": ".git/other"}
    committed.git("read-tree", "HEAD", env=env)
    committed.git("add", "app.py", env=env)
    with committed.unchanged():
        assert tree_of_index(found(committed, env)) != tree_of_index(found(committed))


def test_an_index_that_changes_meanwhile_is_told(committed: Repo, room: Path) -> None:
    repository = found(committed)
    tree = tree_of_index(repository)
    committed.write("app.py", "x = 2\n")
    committed.git("add", "-A")
    with (
        pytest.raises(GitError, match="changed"),
        checked_out(repository, tree, None, staged=True),
    ):
        pass


@pytest.mark.parametrize(
    "kind", ["bare", "linked", "shallow", "sha256", "borrowed", "git-dir"]
)
def test_every_kind_of_repository(
    committed: Repo, room: Path, isolated: dict[str, str], kind: str
) -> None:
    committed.commit("More", {"b.py": "y = 1\n"})
    beside = committed.path.parent / "beside"
    repo = Repo(beside, committed.env)
    env = dict[str, str]()
    if kind == "bare":
        committed.git("clone", "-q", "--bare", str(committed.path), str(beside))
    elif kind == "linked":
        committed.git("worktree", "add", "-q", str(beside), "-b", "topic")
    elif kind == "shallow":
        committed.git("clone", "-q", "--depth=1", f"file://{committed.path}", str(beside))
    elif kind == "borrowed":
        committed.git("clone", "-q", "--shared", str(committed.path), str(beside))
    elif kind == "git-dir":
        repo = committed
        env = {
            "GIT_DIR": str(committed.path / ".git"),
            "GIT_WORK_TREE": str(committed.path),
        }
    else:
        repo = Repo.create(beside, isolated, "--object-format=sha256")
        repo.commit("Only", {"app.py": "x = 1\n", "b.py": "y = 1\n"})
    with repo.unchanged(), ExitStack() as stack:
        checkout = at_head(repo, stack, env)
        assert sorted(p.name for p in checkout.folder.iterdir()) == [
            ".git",
            "app.py",
            "b.py",
        ]
        assert git_in(checkout, repo, "status", "--porcelain") == ""
        shown = git_in(checkout, repo, "log", "--format=%s").split("\n")
        assert shown == {"sha256": ["Only"], "shallow": ["More"]}.get(
            kind, ["More", "Start"]
        )
    if kind == "linked":
        assert committed.git("worktree", "list").count("\n") == 1


def test_what_is_missing_is_named(committed: Repo, room: Path) -> None:
    committed.commit(
        "Large",
        {
            ".gitattributes": "*.bin filter=lfs\n",
            "a.bin": POINTER,
            "b.bin": "really here\n",
        },
    )
    oid = committed.git("rev-parse", "HEAD")
    committed.git("update-index", "--add", "--cacheinfo", f"160000,{oid},vendor/lib")
    committed.git("commit", "-q", "-m", "Submodule")
    with ExitStack() as stack:
        assert at_head(committed, stack).missing == (
            Skipped("vendor/lib", "a submodule: not checked out"),
            Skipped("a.bin", "stored by Git LFS: only its pointer is checked out"),
        )


@pytest.mark.parametrize("hurt", ["interrupt", "error", "read-only", "gone"])
def test_nothing_is_left_behind(committed: Repo, room: Path, hurt: str) -> None:
    with committed.unchanged(), ExitStack() as stack:
        if hurt == "interrupt":
            stack.enter_context(pytest.raises(KeyboardInterrupt))
        if hurt == "error":
            stack.enter_context(pytest.raises(ZeroDivisionError))
        checkout = at_head(committed, stack)
        if hurt == "interrupt":
            raise KeyboardInterrupt
        if hurt == "error":
            raise ZeroDivisionError
        inner = checkout.folder / "made" / "by" / "check"
        inner.mkdir(parents=True)
        (inner / "file").write_text("x")
        (inner / "out").symlink_to(committed.path)
        inner.chmod(0o500)
        inner.parent.chmod(0)
        if hurt == "gone":
            subprocess.run(("rm", "-rf", str(checkout.folder / ".git")), check=True)


def test_folders_of_killed_processes_are_swept_and_no_others(
    committed: Repo, room: Path
) -> None:
    with subprocess.Popen(("true",)) as ended:
        ended.wait()
    dead, ours, other = (
        room / name
        for name in (f"{PREFIX}{ended.pid}-x", f"{PREFIX}{os.getpid()}-x", f"{PREFIX}me-x")
    )
    for folder in (dead, ours, other):
        folder.mkdir()
    sweep(found(committed))
    assert not dead.exists() and ours.exists() and other.exists()
    ours.rmdir()
    other.rmdir()


def test_a_tree_that_is_not_whole_is_told(committed: Repo, room: Path) -> None:
    blob = committed.git("rev-parse", "HEAD:app.py")
    (committed.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with ExitStack() as stack, pytest.raises(GitError):
        at_head(committed, stack)


def test_a_name_that_leads_out_is_refused(committed: Repo, room: Path) -> None:
    blob = committed.git("rev-parse", "HEAD:app.py")
    inner = committed.git("mktree", stdin=f"100644 blob {blob}\tconfig\n")
    # Git's own mktree would not write it.
    raw = b"40000 .git\0" + bytes.fromhex(inner)
    tree = committed.git(
        "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw
    )
    with pytest.raises(GitError), checked_out(found(committed), tree, None):
        pass


def test_the_folder_for_temporary_files_may_lie_in_the_repository(
    committed: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(committed.path))
    with committed.unchanged(), ExitStack() as stack:
        checkout = at_head(committed, stack)
        assert not checkout.folder.is_relative_to(committed.path)
    assert not checkout.folder.exists()


def test_no_room_is_one_line(committed: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = committed.path.parent / "shut"
    folder.mkdir(mode=0o500)
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "gone"))
    monkeypatch.setattr(
        "cli_guard.git.checkout.room_outside", lambda repository: folder / "gone"
    )
    with (
        ExitStack() as stack,
        pytest.raises(CliGuardError, match="cannot create a scratch checkout"),
    ):
        at_head(committed, stack)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.dictionaries(NAMES, st.binary(max_size=50), min_size=1, max_size=4))
def test_any_tree_comes_back_as_it_is(committed: Repo, files: dict[str, bytes]) -> None:
    lines = []
    for name, content in sorted(files.items()):
        blob = committed.git("hash-object", "-w", "--stdin", stdin=content)
        lines.append(f"100644 blob {blob}\t{name}\0")
    tree = committed.git("mktree", "-z", stdin="".join(lines))
    with checked_out(found(committed), tree, None) as checkout:
        there = {
            path.name: path.read_bytes()
            for path in checkout.folder.iterdir()
            if path.name != ".git"
        }
    assert there == files
