"""A snapshot: one type over memory, the index, a commit and the work tree, and the patches made from it."""

import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from repositories import Repo, isolated_environment

from cli_guard.errors import UsageError
from cli_guard.git.repository import GitRepository
from cli_guard.git.snapshot import read_commit, read_index, read_worktree
from cli_guard.repository.protocol import Repository
from cli_guard.repository.snapshot import Snapshot, SnapshotBounds
from cli_guard.repository.unified import apply_in_memory, unified_diff


def opened(repo: Repo) -> Repository:
    return GitRepository.discover(repo.path, repo.env)


def test_three_states_of_one_repository(committed: Repo) -> None:
    committed.commit("one", {"a.txt": "committed\n", "sub/pic.png": b"\x89PNG\0\0"})
    committed.write("a.txt", "staged\n")
    os.symlink("a.txt", committed.path / "link")
    committed.git("add", "-A")
    committed.write("a.txt", "lying there\n")
    committed.write("new.txt", "untracked\n")
    committed.write(".gitignore", "ignored.txt\n")
    committed.write("ignored.txt", "no")
    with committed.unchanged():
        index = read_index(opened(committed))
        head = read_commit(opened(committed), "HEAD")
        tree = read_worktree(opened(committed))
    assert (index["a.txt"], head["a.txt"], tree["a.txt"]) == (
        "staged\n",
        "committed\n",
        "lying there\n",
    )
    assert (
        "new.txt" not in index
        and tree["new.txt"] == "untracked\n"
        and "ignored.txt" not in tree
    )
    assert "sub/pic.png" not in index and index.raw("sub/pic.png") == b"\x89PNG\0\0"
    assert "link" not in index and index.raw("link") == tree.raw("link") == b"a.txt"
    assert len({index.identity, head.identity, tree.identity}) == 3
    assert read_index(opened(committed)).identity == index.identity


def test_from_a_folder_below_it_is_the_same(committed: Repo) -> None:
    committed.commit("one", {"sub/a.txt": "a", "b.txt": "b"})
    below = GitRepository.discover(committed.path / "sub", committed.env)
    for read in (read_index, read_worktree):
        assert dict(read(below)) == dict(read(opened(committed)))
    assert dict(read_commit(below, "HEAD")) == dict(read_commit(opened(committed), "HEAD"))


def test_nothing_committed(tmp_path: os.PathLike[str], committed: Repo) -> None:
    fresh = Repo.create(committed.path.parent / "fresh", committed.env)
    assert dict(read_index(opened(fresh))) == {}
    with pytest.raises(UsageError, match="there is no commit 'HEAD'"):
        read_commit(opened(fresh), "HEAD")


def test_what_is_left_out_is_named(committed: Repo) -> None:
    committed.commit("one", {"big.txt": "x" * 200, "small.txt": "x"})
    bounds = SnapshotBounds(file_bytes=100)
    for read in (read_index, read_worktree):
        snapshot = read(opened(committed), bounds)
        assert "big.txt" not in snapshot and snapshot["small.txt"] == "x"
        assert [(each.path, each.reason) for each in snapshot.skipped] == [
            ("big.txt", "over the limit of 100 bytes")
        ]
        assert snapshot.raw("big.txt") is None


def test_memory_reads_like_a_repository(committed: Repo) -> None:
    texts = {"b.py": "x = 1\n", "a.md": "# hi\n"}
    committed.commit("one", dict(texts))
    memory = Snapshot.of(texts)
    index = read_index(opened(committed))
    assert dict(memory) == {path: index[path] for path in texts}
    assert memory.raw("b.py") == b"x = 1\n"


LINES = st.lists(
    st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "d é\n", "-- x\n", "@@ -1 +1 @@\n"]),
    max_size=12,
)
TEXT = st.builds(
    lambda lines, end: "".join(lines) + end, LINES, st.sampled_from(["", "no newline"])
)


@settings(max_examples=60, deadline=None)
@given(
    states=st.lists(st.tuples(st.none() | TEXT, st.none() | TEXT), min_size=1, max_size=4),
    seed=st.integers(0, 99),
)
def test_git_applies_the_patch(
    states: list[tuple[str | None, str | None]],
    seed: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("patch")
    repo = Repo.create(folder / "repo", isolated_environment(folder))
    names = ["plain.txt", "with space.txt", 'quo"te.txt', "tab\tin é.txt"]
    random.Random(seed).shuffle(names)
    old = {
        name: text
        for name, (text, _) in zip(names, states, strict=False)
        if text is not None
    }
    new = {
        name: text
        for name, (_, text) in zip(names, states, strict=False)
        if text is not None
    }
    for name, text in old.items():
        repo.write(name, text)
    repo.git("add", "-A")
    patch = unified_diff(old, new)
    if not patch:
        assert old == new
        return
    made = apply_in_memory(patch, old)
    assert {name: text for name, text in (old | made).items() if text is not None} == new
    repo.git("apply", "--index", "--whitespace=nowarn", "-", stdin=patch)
    assert dict(read_index(opened(repo))) == new
    repo.git("apply", "--index", "--reverse", "--whitespace=nowarn", "-", stdin=patch)
    assert dict(read_index(opened(repo))) == old
