"""Plans for long functions as libraries have them, labelled with what a reader would write, and carried out."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from reviewers.refactor.grown import carried_out

from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.model import split_lines
from cli_guard.reviewers.refactor.plan import plan

FOLDER = Path(__file__).parents[3] / "fixtures" / "refactor"


def plans(name: str) -> list[dict[str, Any]]:
    return tomllib.loads((FOLDER / name).read_text("utf-8"))["plan"]


PYTHON = plans("python.toml")


def longest(language: str, text: str) -> Symbol:
    functions = (s for s in symbols_of(Trees(), language, text) if s.is_function)
    return max(functions, key=lambda s: s.end_line - s.line)


def steps_in(said: str) -> list[str]:
    """The sentences of a plan without their numbers, the last (about tests) left out."""
    return [line.partition(" ")[2] for line in said.split("\n")[:-1]]


def answers(text: str, calls: list[str]) -> list[str]:
    names: dict[str, object] = {}
    exec(compile(text, "sample", "exec"), names)
    return [repr(eval(call, names)) for call in calls]


@pytest.mark.parametrize("label", PYTHON, ids=lambda label: label["name"])
def test_python(label: dict[str, Any]) -> None:
    text = label["text"].removeprefix("\n")
    symbol = longest("python", text)
    said = plan("python", symbol, split_lines(text)) or ""
    assert bool(said) != label.get("silent", False), said
    assert not [part for part in label.get("says", ()) if part not in said], said
    assert not [part for part in label.get("never", ()) if part in said], said
    after = carried_out(text, symbol, steps_in(said))
    calls = label.get("calls", [])
    assert answers(after, calls) == answers(text, calls)
