"""The examples in the rule files are true, wherever the file lies: each fires, and what only looks like it does not."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from examples import examples
from rules.example_kinds import ELSEWHERE, check_example, has_examples, kind_of, rows_of

from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.rules.catalog import load
from cli_guard.rules.data import FOLDER

TESTS = Path(__file__).parents[1]
REVIEWED = {reviewer.name for reviewer in REVIEWERS}
FILES = [
    file
    for file in sorted(FOLDER.rglob("*.*"))
    if file.suffix in (".toml", ".yml") and kind_of(file) not in ELSEWHERE
]


def is_examined(file: Path) -> bool:
    """What the catalogue reads as rules, and the tables of flows."""
    kind = kind_of(file)
    return kind == "flow" or (kind in REVIEWED and file.parent in (FOLDER, FOLDER / kind))


OWN_FILES = [file for file in FILES if is_examined(file)]


def name_of(file: Path) -> str:
    return file.relative_to(FOLDER).as_posix()


@pytest.mark.parametrize("file", OWN_FILES, ids=name_of)
@examples(("owner", "example", "fires"), lambda file: rows_of(file), fires="fires")
def test_an_example_fires_and_a_near_miss_does_not(
    file: Path, owner: Any, example: Any, fires: bool
) -> None:
    check_example(file, owner, example, fires=fires)


def test_every_file_with_examples_is_of_a_kind_that_is_tested() -> None:
    for file in set(FILES) - set(OWN_FILES):
        text = file.read_text("utf-8")
        read = tomllib.loads if file.suffix == ".toml" else yaml.safe_load_all
        assert not has_examples(read(text)), f"{name_of(file)}: no test runs its examples"
    for kind, test in ELSEWHERE.items():
        assert (TESTS / test).is_file(), kind


def test_wrong_examples_are_seen() -> None:
    file = FOLDER / "docs.toml"
    rule = load("docs")[0]
    check_example(file, rule, rule.fires[0], fires=True)
    with pytest.raises(AssertionError, match="reported"):
        check_example(file, rule, rule.fires[0], fires=False)
    with pytest.raises(AssertionError, match="reported"):
        check_example(file, rule, "<<path:a.py>>\nx = 1\n", fires=True)
    other = dataclasses.replace(rule, id="docs-other")
    with pytest.raises(AssertionError, match="reported"):
        check_example(file, other, rule.fires[0], fires=True)
    assert has_examples({"thing": [{"fires": ["a"], "silent": ["b"]}]})
    assert has_examples([{"a": {"fact": [{"match": "a", "near": "b"}]}}])
    assert not has_examples({"words": {"silent": "a b"}, "near": 3})
