"""What a file of the state folder is read as, and how it is said that one cannot be written."""

import errno
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from examples import table

from cli_guard.errors import CliGuardError
from cli_guard.state import files
from cli_guard.state.files import explain_write_errors, open_state, record_of


@dataclass(frozen=True)
class Sample:
    """A record of each kind of field."""

    name: str
    paths: tuple[str, ...] = ()
    marks: dict[str, str | None] | None = None


def test_a_record_is_built_from_what_is_there() -> None:
    data = {"name": "a", "paths": ["b", "c"], "marks": {"d": "e", "f": None}}
    assert record_of(Sample, data) == Sample("a", ("b", "c"), {"d": "e", "f": None})
    assert record_of(Sample, {"name": "a"}) == Sample("a")


@table(
    "data",
    [
        {"name": 1},
        {"name": "a", "paths": "bc"},
        {"name": "a", "paths": ["b", 1]},
        {"name": "a", "marks": {"d": 1}},
        {"name": "a", "unknown": "b"},
        {},
    ],
    ids=repr,
)
def test_any_other_shape_is_an_error(data: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        record_of(Sample, data)


@table(
    ("file", "says"),
    [
        ("a.json", "the log cannot be written to a.json: No space left on device"),
        (None, "the log cannot be written: No space left on device"),
    ],
)
def test_what_cannot_be_written_is_said(file: str | None, says: str) -> None:
    with pytest.raises(CliGuardError) as caught, explain_write_errors("the log"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), file)
    assert str(caught.value) == says


def test_only_what_is_written_becomes_its_owners_alone(tmp_path: Path) -> None:
    for flags, mode in ((os.O_RDONLY, 0o644), (os.O_WRONLY, 0o600)):
        file = tmp_path / str(flags)
        file.touch()
        file.chmod(0o644)
        os.close(open_state(file, flags))
        assert file.stat().st_mode & 0o777 == mode


def test_a_lock_that_is_held_is_an_error_and_no_second_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.0)
    file = tmp_path / "new" / "a.json"
    with (
        files.lock(file),
        pytest.raises(CliGuardError, match=r"a\.json\.lock is locked"),
        files.lock(file),
    ):
        pass
    with files.lock(file):
        assert file.with_suffix(".json.lock").stat().st_mode & 0o777 == 0o600


def test_what_stands_in_the_place_of_a_file_or_folder_is_named(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    with pytest.raises(CliGuardError, match="should be a folder, but it is a link"):
        files.make_folder(link)
    with pytest.raises(CliGuardError, match="it is a folder: remove it"):
        files.write_atomically(tmp_path, "text")
    files.write_atomically(link, "text")
    assert (link.read_text(), link.is_symlink()) == ("text", False)
    with pytest.raises(CliGuardError, match="should be a folder: remove it"):
        files.make_folder(link)
    assert list(files.read_lines(tmp_path / "none")) == []
    assert list(files.read_lines(link / "none")) == []
