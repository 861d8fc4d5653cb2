"""A key in what a push publishes beside files: the name of a ref, a nested tag, an author, a committer."""

from pathlib import Path

import pytest
from repositories import Repo, key


@pytest.fixture
def pushing(guarded: Repo, tmp_path: Path) -> Repo:
    remote = Repo.create(tmp_path / "remote.git", guarded.env, "--bare")
    guarded.git("remote", "add", "origin", str(remote.path))
    return guarded


def test_a_ref(pushing: Repo) -> None:
    pushing.git("branch", key())
    assert pushing.try_git("push", "-q", "origin", key()).code != 0


def test_a_nested_tag(pushing: Repo) -> None:
    pushing.git("tag", "-a", "-m", f"inner {key()}", "inner")
    pushing.git("tag", "-a", "-m", "outer", "outer", "inner")
    pushing.git("tag", "-d", "inner")
    assert pushing.try_git("push", "-q", "origin", "outer").code != 0


@pytest.mark.parametrize("name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"])
def test_a_person(pushing: Repo, name: str) -> None:
    pushing.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "Nothing", env={name: key()})
    assert pushing.try_git("push", "-q", "origin", "main").code != 0


def test_ordinary_names_pass(pushing: Repo) -> None:
    pushing.git("tag", "-a", "-m", "Version 1", "v1")
    pushing.git("push", "-q", "origin", "main", "v1")
