"""The labelled requests of fixtures/requests: what the rules were tuned on, and what they were not."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
from labelled_sets import assert_as_known

from benchmarks.english_requests import judge_cases
from cli_guard.graph.state import TaskType

FOLDER = Path(__file__).parents[2] / "fixtures" / "requests"
FILES = sorted(FOLDER.glob("*.tsv"))


def rows(name: str) -> list[tuple[str, str]]:
    lines = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line and line[0] != "#"]  # type: ignore[misc]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_request_is_read_otherwise_than_before(file: Path) -> None:
    right = judge_cases(file)
    assert_as_known(
        FOLDER, file.stem, right, "python -m benchmarks.english_requests --write"
    )


def test_the_labels_are_balanced_and_stand_once() -> None:
    cases = [case for file in FILES for case in rows(file.stem)]
    assert len(cases) >= 360
    counts = Counter(kind for kind, _ in cases)
    assert set(counts) == set(get_args(TaskType))
    assert max(counts.values()) <= 2 * min(counts.values())
    assert len({request.casefold() for _, request in cases}) == len(cases)


# Classes that are told by the form of a word, not by a list of words.
BY_FORM = frozenset(
    "path symbol quoted shell flag url docs_place secret_path secret_symbol test_name number unknown".split()
)
OF_VERBS = ("verb", "any", "second", "unless_any")
OF_NOUNS = (
    "object",
    "head",
    "first",
    "has",
    "also_has",
    "into",
    "without",
    "unless",
    "unless_object",
    "unless_head",
)


def test_every_class_that_a_rule_names_is_there() -> None:
    data = tomllib.loads(
        (FOLDER.parents[1] / "cli_guard" / "rules" / "requests.toml").read_text("utf-8")
    )
    for keys, group in ((OF_VERBS, "verbs"), (OF_NOUNS, "nouns")):
        for rule in (*data["score"], *data["risk"]):
            named = {word for key in keys for word in rule.get(key, "").split()}
            assert named <= set(data[group]) | BY_FORM, rule
