"""The map of a repository in the first message: what it holds, and what it takes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.code.definitions import Definition, find_definitions
from cli_guard.llm.mapping import (
    MAP_CHARS,
    MODULES,
    MODULES_READ,
    draw_map,
    outline_files,
)

MODULE = """LIMIT = 3


def send():
    return 1


def _hidden():
    return 2


class Box:
    def open(self):
        return 3
"""
FILES = {
    "src/box.py": MODULE,
    "src/vendor/other.py": MODULE * 3,
    "tests/test_box.py": "from src.box import send\n\n\ndef test_send():\n    assert send()\n",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}


def test_it_names_folders_modules_and_how_to_test() -> None:
    drawn = draw_map(FILES)
    assert "src/box.py: send, Box\n" in f"{drawn}\n"
    assert "tests: test_box.py" in drawn and "Tests: pytest" in drawn
    assert "src/vendor/other.py:" not in drawn


@pytest.mark.parametrize("files", [0, 1, 400])
def test_it_is_bounded(files: int) -> None:
    texts = {
        f"part{n}/{'long' * 40}{n}.py": f"def f{n}(): pass\n" * 20 for n in range(files)
    }
    assert len(draw_map(texts)) <= MAP_CHARS
    assert draw_map(texts) == draw_map(dict(reversed(texts.items())))


@pytest.mark.parametrize(
    ("body", "folders", "read"),
    [
        ("def name(one, two):\n    return one + two\n", 70, MODULES),
        ("name(1, 2)\n", 5_000, MODULES_READ),
    ],
)
def test_few_of_five_thousand_files_are_read_for_their_names(
    body: str, folders: int, read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def find(path: str, text: str) -> tuple[Definition, ...]:
        asked.append(path)
        return find_definitions(path, text)

    monkeypatch.setattr("cli_guard.llm.mapping.find_definitions", find)
    texts = {f"part{n % folders}/module_{n}.py": body + f"# {n}\n" for n in range(5_000)}
    draw_map(texts)
    assert len(asked) == read


@given(
    st.lists(
        st.lists(st.text("ab.é\n-", min_size=1, max_size=30), min_size=1, max_size=6).map(
            "/".join
        ),
        max_size=300,
        unique=True,
    )
)
def test_an_outline_is_bounded_and_names_every_folder_or_says_how_many_more(
    paths: list[str],
) -> None:
    lines = outline_files(paths)
    assert len("\n".join(lines)) <= 1_900
    folders = {path.rpartition("/")[0] for path in paths}
    more = re.fullmatch(r"and (\d+) more folders", lines[-1]) if lines else None
    assert len(lines) - bool(more) + int(more[1] if more else 0) == len(folders)


def test_an_outline_of_a_hundred_thousand_files_is_small() -> None:
    outline = outline_files(f"src/pkg{at % 3000}/mod{at}.py" for at in range(100_000))
    assert len("\n".join(outline)) <= 1_900
    assert outline[-1].endswith(" more folders")
