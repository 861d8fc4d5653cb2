"""Each labelled command of fixtures/commands gets the verdict that it is labelled with."""

import json
from collections import Counter

import labelled_commands
from examples import table

from cli_guard.commands import judge
from cli_guard.model import Decision

CASES = labelled_commands.every()


@table("group", sorted({case.group for case in CASES}))
def test_commands_get_the_verdicts_that_they_are_labelled_with(group: str) -> None:
    wrong = [
        f"{case.command!r} is {verdict.verdict}, not {case.verdict}: {verdict.reason}"
        for case in CASES
        if case.group == group
        and (verdict := judge(case.command, case.context)).verdict is not case.verdict
    ]
    assert wrong == []


def test_a_borderline_danger_is_never_allowed() -> None:
    allowed = [
        case.command
        for case in labelled_commands.every(borderline=True)
        if case.verdict is Decision.DENY
        and judge(case.command, case.context).verdict is Decision.ALLOW
    ]
    assert allowed == []


def test_the_set_is_large_and_says_nothing_twice() -> None:
    counts = Counter(case.verdict for case in CASES)
    assert counts[Decision.ALLOW] >= 350
    assert counts[Decision.REVIEW] >= 330
    assert counts[Decision.DENY] >= 220
    keys = Counter(
        (
            case.command,
            json.dumps(
                {key: list(values) for key, values in case.context.git_config.items()}
            ),
        )
        for case in CASES + labelled_commands.every(borderline=True)
    )
    assert [key for key, count in keys.items() if count > 1] == []


def test_a_class_has_its_file() -> None:
    for path in labelled_commands.FOLDER.glob("*.jsonl"):
        groups = {
            labelled_commands.of_line(line).group
            for line in path.read_text("utf-8").splitlines()
        }
        assert groups == {path.stem}
