"""Real repositories in temporary folders, with Git's own configuration shut out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from repositories import Repo, isolated_environment


@pytest.fixture(autouse=True)
def isolated(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """No configuration, hook or variable of whoever runs the tests reaches Git or us."""
    env = isolated_environment(tmp_path_factory.mktemp("home"))
    for name in list(os.environ):
        if name not in env:
            monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    yield env


@pytest.fixture
def repo(tmp_path: Path, isolated: dict[str, str]) -> Repo:
    """An empty repository."""
    return Repo.create(tmp_path / "repo", isolated)


@pytest.fixture
def committed(repo: Repo) -> Repo:
    """A repository with one commit that holds `app.py`."""
    repo.write("app.py", "x = 1\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Start")
    return repo


@pytest.fixture
def guarded(committed: Repo) -> Repo:
    """A repository with one commit and our native hooks."""
    committed.guard("install")
    return committed
