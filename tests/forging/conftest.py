"""The worlds of these tests."""

from functools import partial
from pathlib import Path

import pytest
from forging.world import World, build, build_changed, copy_world
from watching import make_once


@pytest.fixture
def world(tmp_path: Path, shared: Path, preloaded: Path) -> World:
    """A copy of the world that every forgery begins with, in Ada's hands."""
    origin = make_once(shared / "forging", build)
    changed = make_once(shared / "forging-changed", partial(build_changed, origin))
    return copy_world(origin, tmp_path / "world", changed=changed, preloaded=preloaded)
