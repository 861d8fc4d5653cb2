"""The worlds of these tests."""

from pathlib import Path

import pytest
from forging.world import World, build, copy_world
from watching import make_once


@pytest.fixture
def world(tmp_path: Path, shared: Path, preloaded: Path) -> World:
    """A copy of the world that every forgery begins with, in Ada's hands."""
    origin = make_once(shared / "forging", build)
    kept = shared / "forging-judged"
    kept.mkdir(exist_ok=True)
    return copy_world(origin, tmp_path / "world", kept=kept, preloaded=preloaded)
