"""The cache gives back what it was given, or nothing: broken, locked, of another version, or used by many at once."""

import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.reviewers.cache import NAME, Cache

A = b"a" * 32
B = b"b" * 32
C = b"c" * 32


def test_what_is_kept_is_found_by_its_key_alone(tmp_path: Path) -> None:
    Cache(tmp_path / "state").put({A: b"one", B: b"two"})
    assert Cache(tmp_path / "state").get([A, C, B]) == {A: b"one", B: b"two"}
    assert stat.S_IMODE((tmp_path / "state" / NAME).stat().st_mode) == 0o600


def test_nothing_is_made_by_reading(tmp_path: Path) -> None:
    assert Cache(tmp_path / "state").get([A]) == {}
    assert not (tmp_path / "state").exists()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.binary(max_size=8), st.binary(max_size=20), max_size=6),
        max_size=4,
    )
)
def test_the_last_value_of_a_key_counts(
    tmp_path_factory: pytest.TempPathFactory, puts: list[dict[bytes, bytes]]
) -> None:
    cache = Cache(tmp_path_factory.mktemp("state"))
    expected: dict[bytes, bytes] = {}
    for values in puts:
        cache.put(values)
        expected |= values
    assert cache.get(expected) == expected


def test_what_was_not_used_for_longest_makes_room(tmp_path: Path) -> None:
    cache = Cache(tmp_path, most_rows=2)
    cache.put({A: b"1"})
    cache.put({B: b"2"})
    cache.put({C: b"3"}, used=[A])
    assert cache.get([A, B, C]) == {A: b"1", C: b"3"}


def future(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 99")


def other_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DROP TABLE examined")
        file.execute("CREATE TABLE examined (key, value, seal, used)")
        file.execute("INSERT INTO examined VALUES (?, 'text', 'x', 1)", (A,))


def torn(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def text(path: Path) -> None:
    path.write_bytes(b"this is no database, whatever its name says\n" * 40)


@table("damage", [future, other_table, torn, text])
def test_a_file_that_is_broken_is_thrown_away(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    cache = Cache(tmp_path)
    cache.put({A: b"one"})
    damage(tmp_path / NAME)
    assert cache.get([A]) == {}
    cache.put({B: b"two"})
    cache.put({C: b"three"})
    assert cache.get([A, B, C]).items() >= {(C, b"three")}
    assert A not in cache.get([A])


def test_a_value_that_was_changed_is_not_given_back(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put({A: b"one", B: b"two"})
    with closing(sqlite3.connect(tmp_path / NAME)) as file, file:
        file.execute("UPDATE examined SET value = ? WHERE key = ?", (b"two", A))
    assert cache.get([A, B]) == {B: b"two"}


def test_one_that_is_locked_is_neither_waited_for_nor_thrown_away(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put({A: b"one"})
    with closing(sqlite3.connect(tmp_path / NAME, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert cache.get([A]) == {}
        cache.put({B: b"two"})
        other.execute("ROLLBACK")
    assert cache.get([A, B]) == {A: b"one"}


@table("at", ["file", "folder"])
def test_a_place_that_cannot_be_used_is_done_without(tmp_path: Path, at: str) -> None:
    if at == "file":
        (tmp_path / NAME).mkdir()
        cache = Cache(tmp_path)
    else:
        (tmp_path / "state").write_text("a file in the place of the folder\n")
        cache = Cache(tmp_path / "state")
    cache.put({A: b"one"})
    assert cache.get([A]) == {}


MANY = """
import sys
from pathlib import Path
from cli_guard.reviewers.cache import Cache
cache = Cache(Path(sys.argv[1]))
for turn in range(20):
    key = f"{sys.argv[2]}-{turn}".encode()
    cache.put({key: key})
    for other, value in cache.get([f"{n}-{turn}".encode() for n in range(6)]).items():
        assert other == value
"""


def test_many_at_once_never_read_what_nobody_wrote(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", MANY, str(tmp_path), str(number)])
        for number in range(6)
    ]
    assert [process.wait(60) for process in running] == [0] * 6
    with closing(sqlite3.connect(tmp_path / NAME)) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
