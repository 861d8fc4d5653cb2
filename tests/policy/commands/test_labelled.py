"""Each labelled command of fixtures/commands gets the verdict that it is labelled with."""

import json
from collections import Counter

import labelled_commands
import pytest
from labelled_commands import Labelled

from cli_guard.model import Decision
from cli_guard.policy.commands import judge

CASES = labelled_commands.every()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_command_gets_the_verdict_that_it_is_labelled_with(case: Labelled) -> None:
    verdict = judge(case.command, case.context)
    assert verdict.verdict is case.verdict, verdict.reason


@pytest.mark.parametrize("case", labelled_commands.every(borderline=True), ids=str)
def test_a_borderline_danger_is_never_allowed(case: Labelled) -> None:
    verdict = judge(case.command, case.context)
    assert case.verdict is not Decision.DENY or verdict.verdict is not Decision.ALLOW, verdict.reason


def test_the_set_is_large_and_says_nothing_twice() -> None:
    counts = Counter(case.verdict for case in CASES)
    assert counts[Decision.ALLOW] >= 350
    assert counts[Decision.REVIEW] >= 330
    assert counts[Decision.DENY] >= 220
    keys = Counter(
        (case.command, json.dumps({key: list(values) for key, values in case.context.git_config.items()}))
        for case in CASES + labelled_commands.every(borderline=True)
    )
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_class_has_its_file() -> None:
    for path in labelled_commands.FOLDER.glob("*.jsonl"):
        groups = {labelled_commands.of_line(line).group for line in path.read_text("utf-8").splitlines()}
        assert groups == {path.stem}
