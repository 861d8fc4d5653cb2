"""The labelled requests of fixtures/requests: what the rules were tuned on, and what they were not."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import get_args

from examples import table

from cli_guard.assistant.request import read_request
from cli_guard.graph.state import TaskType

FOLDER = Path(__file__).parents[2] / "fixtures" / "requests"
# What the rules reach on requests that they were never tuned on; fixtures/requests/README.md tells the history.
HELD_OUT = 0.96
TUNED = ("tuned", "second", "third", "fourth", "fifth")


def rows(name: str) -> list[tuple[str, str]]:
    lines = (FOLDER / f"{name}.tsv").read_text("utf-8").splitlines()
    return [tuple(line.split("\t", 1)) for line in lines if line and line[0] != "#"]  # type: ignore[misc]


def right(name: str) -> float:
    cases = rows(name)
    return sum(read_request(request).kind == kind for kind, request in cases) / len(cases)


@table("name", TUNED)
def test_the_tuned_requests_are_told(name: str) -> None:
    assert right(name) >= 0.97


def test_the_held_out_requests_are_told() -> None:
    assert right("held_out") >= HELD_OUT


def test_the_labels_are_balanced_and_stand_once() -> None:
    cases = [case for name in (*TUNED, "held_out") for case in rows(name)]
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
