"""The worlds of these tests."""

import shutil
from pathlib import Path

import pytest
from forging.world import World, build, person
from repositories import Repo
from watching import make_once


@pytest.fixture
def world(tmp_path: Path, shared: Path) -> World:
    """A copy of the world that every forgery begins with, in Ada's hands."""
    folder = tmp_path / "world"
    shutil.copytree(make_once(shared / "forging", build), folder, symlinks=True)
    found = World(Repo(folder / "repo", person(folder, "ada")), folder)
    found.repo.git("update-index", "-q", "--refresh")
    found.start_here()
    return found
