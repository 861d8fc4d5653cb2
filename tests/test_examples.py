"""The tables of tests/examples.py: every row is checked, all that fail are in one message, the totals add up."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from examples import (
    FIRES,
    ROWS,
    SILENT,
    examples,
    examples_of,
    near_misses,
    report_totals,
    table,
)


def run(test, **arguments):
    """Runs a table as pytest does: what it counted, and its message if rows fail."""
    node = SimpleNamespace(user_properties=[])
    try:
        test(SimpleNamespace(node=node), **arguments)
    except pytest.fail.Exception as failed:
        return dict(node.user_properties), str(failed)
    return dict(node.user_properties), ""


def test_all_rows_that_fail_are_in_one_message_with_their_text_and_what_came_out() -> None:
    @table(("text", "length"), [("one", 3), ("three", 3), ("eleven", 4), ("four", 4)])
    def test(text: str, length: int) -> None:
        assert len(text) == length

    counted, message = run(test)
    assert counted == {ROWS: 2}
    lines = message.splitlines()
    assert lines[:2] == ["2 of 4 rows fail", "'three', 3"]
    assert "'eleven', 4" in lines
    assert (
        "test_examples.py:" in message
        and "assert 5 == 3" in message
        and "assert 6 == 4" in message
    )


def test_an_error_in_a_row_is_a_failure_of_that_row() -> None:
    @examples("text", ["1", "x", "2"])
    def test(text: str) -> None:
        int(text)

    counted, message = run(test)
    assert counted == {FIRES: 2}
    assert (
        message.startswith("1 of 3 rows fail\n'x'\n")
        and "ValueError: invalid literal" in message
    )


def test_an_assertion_without_words_is_shown_by_its_line() -> None:
    @examples("text", ["1"])
    def test(text: str) -> None:
        raise AssertionError

    assert run(test)[1].endswith(": raise AssertionError")


def test_a_rule_has_examples_and_near_misses_and_both_are_counted() -> None:
    @examples(("example", "fires"), lambda rule: examples_of(rule), fires="fires")
    def test(rule: SimpleNamespace, example: str, fires: bool) -> None:
        assert (rule.word in example) is fires

    rule = SimpleNamespace(word="key", fires=["a key", "keys"], silent=["lock"])
    assert run(test, rule=rule) == ({FIRES: 2, SILENT: 1}, "")


def test_tables_above_one_another_are_multiplied() -> None:
    seen = []

    @table("letter", "ab")
    @near_misses("number", (1, 2, 3))
    def test(letter: str, number: int) -> None:
        seen.append(f"{letter}{number}")

    assert run(test) == ({SILENT: 6}, "")
    assert seen == ["a1", "a2", "a3", "b1", "b2", "b3"]


class Setting:
    changed = False


def test_no_row_sees_what_another_has_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @table("name", ("one", "two"))
    def test(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert list(tmp_path.iterdir()) == []
        (tmp_path / name).touch()
        assert not Setting.changed
        monkeypatch.setattr(Setting, "changed", True)

    assert run(test, tmp_path=tmp_path, monkeypatch=monkeypatch) == ({ROWS: 2}, "")


def test_a_row_that_is_skipped_is_not_counted() -> None:
    @table("number", (1, 2))
    def test(number: int) -> None:
        if number == 1:
            pytest.skip("no such program")

    assert run(test) == ({ROWS: 1}, "")


def test_a_fixture_that_rows_would_share_is_refused() -> None:
    def test(name: str, capsys: object) -> None: ...

    with pytest.raises(AssertionError, match="a row may change"):
        table("name", ("one",))(test)


def test_the_totals_are_those_of_all_reports() -> None:
    reports = [SimpleNamespace(user_properties=[(FIRES, 2), (SILENT, 1000), ("other", 5)])]
    reports.append(SimpleNamespace(user_properties=[(FIRES, 1), (ROWS, 7)]))
    assert (
        report_totals(reports)
        == "examples: 3 fire, 1,000 near misses do not; 7 rows of other tables hold"
    )
    assert report_totals([]) == ""
