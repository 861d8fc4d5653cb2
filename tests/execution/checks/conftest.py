"""A world with checks, and its own folder for temporary files."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from checks_world import World
from repositories import Repo


@pytest.fixture
def world(
    committed: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[World]:
    """A repository whose checks leave traces; nothing of theirs may be left at the end."""
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    committed.env["TMPDIR"] = str(room)
    made = World.create(committed, room)
    yield made
    assert list(room.iterdir()) == []
