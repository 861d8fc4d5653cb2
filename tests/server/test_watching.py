"""What the kernel tells of changes in folders, and what a server makes of it."""

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_guard.server.leaving import Stay, folders
from cli_guard.server.watching import Watch

pytestmark = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "inotify_init1"), reason="no inotify here"
)


def rewrite(path: Path) -> None:
    with path.open("r+") as file:
        file.write("X")


def touch(path: Path) -> None:
    os.utime(path, (1, 1))


def replace(path: Path) -> None:
    fresh = path.with_name("fresh")
    fresh.write_text("new")
    fresh.rename(path)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (rewrite, True),
        (touch, True),
        (replace, True),
        (Path.unlink, True),
        (lambda path: path.chmod(0o600), True),
        (lambda path: (path.parent / "new").mkdir(), True),
        (lambda path: path.parent.rename(path.parent.parent / "away"), True),
        (Path.read_text, False),
        (lambda path: list(path.parent.iterdir()), False),
        (lambda path: (path.parent.parent / "beside").write_text(""), False),
        (lambda path: (path.parent / "inner" / "deep").write_text(""), False),
    ],
)
def test_what_stirs(tmp_path: Path, change: Callable[[Path], object], told: bool) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    path = folder / "file"
    path.write_text("text")
    watch = Watch([str(folder)])
    assert not watch.stirred()
    change(path)
    assert watch.stirred() is told
    # Once; a folder that is no longer there is never again what it was.
    assert watch.stirred() is not folder.exists()
    watch.close()


def test_another_folder_in_the_same_place_is_a_change(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "package").mkdir(parents=True)
    (tmp_path / "current").symlink_to("one")
    watch = Watch([str(tmp_path / "current" / "package")])
    assert not watch.stirred()
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("two")
    assert watch.stirred()
    watch.close()


def test_many_changes_are_one_answer(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path)])
    for number in range(5_000):
        (tmp_path / f"{number}{'x' * 200}").touch()
    assert watch.stirred()
    assert not watch.stirred()
    watch.close()


def test_where_not_all_can_be_watched_anything_may_have_changed(tmp_path: Path) -> None:
    watch = Watch([str(tmp_path), str(tmp_path / "gone")])
    assert watch.stirred() and watch.stirred()
    watch.close()


def test_every_link_on_the_way_is_watched(tmp_path: Path) -> None:
    for name in ("bin", "alternatives", "real"):
        (tmp_path / name).mkdir()
    (tmp_path / "real" / "python").write_text("")
    (tmp_path / "alternatives" / "python").symlink_to("../real/python")
    (tmp_path / "bin" / "python").symlink_to(tmp_path / "alternatives" / "python")
    found = {os.path.realpath(each) for each in folders([str(tmp_path / "bin" / "python")])}
    assert found == {str(tmp_path / name) for name in ("bin", "alternatives", "real")}


def test_of_what_is_not_there_the_folder_it_would_be_in_is_watched(tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python" / "site-packages"
    watch = Watch(folders([str(packages)]))
    assert not watch.stirred()
    packages.mkdir(parents=True)
    assert watch.stirred()
    watch.close()


def test_a_change_is_looked_at_until_it_is_none(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("one")
    old = os.stat(path)
    stay = Stay()
    stay._watch.add([str(tmp_path)])
    stay._known |= {str(path): (old.st_mtime_ns, old.st_size, old.st_ino)}
    assert not stay.outdated()
    path.chmod(0o600)
    assert not stay.outdated(), "it holds what it held"
    path.write_text("three")
    # Whoever asks first may be about something else; the next one must be told as well.
    assert stay.outdated() and stay.outdated()
