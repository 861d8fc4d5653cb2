"""What may be taken from an answer: printable text, data of the schema, lines that are there."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from watching import cpu_seconds

from cli_guard.llm.answers import (
    cited_lines,
    clean,
    is_endless,
    missing_citations,
    parse_answer,
)
from cli_guard.llm.providers import ModelError

TOKEN = "ghp_" + "Zq8vR2mK5tX9wL3nB7cD" + "1fG4hJ6pS0yT"


class Queries(BaseModel):
    """Two fields."""

    queries: list[str]
    count: int = 0


@given(st.text(max_size=300))
def test_a_clean_text_has_nothing_that_a_terminal_obeys(text: str) -> None:
    cleaned = clean(text)
    assert not [
        c
        for c in cleaned
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x1b]0;title\x07b", "ab"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\tb", "a   b"),
        ("user\u202etxt", "usertxt"),
        ("\U000e0041x", "x"),
        ("grün 🙂", "grün 🙂"),
        (f"token = {TOKEN}", "token = ghp_****"),
    ],
)
def test_control_characters_and_secrets_are_taken_out(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    "text",
    [
        "again " * 200,
        "=" * 1_000,
        "\n" * 1_000,
        "intro " + "The answer is no. So it is. " * 40,
        ("a" * 400 + "\n") * 11,
    ],
)
def test_a_text_that_goes_on_and_on(text: str) -> None:
    assert is_endless(text)
    assert not is_endless(f"{text} Then it ends."), "it has gone on"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Heading\n" + "=" * 120,
        "| name | value |\n|" + "-" * 200 + "|\n",
        "\n".join(f"- item {number}: TODO" for number in range(400)),
        "no " * 60,
        ("a" * 400 + "\n") * 9,
    ],
)
def test_a_border_or_a_list_is_no_repetition(text: str) -> None:
    assert not is_endless(text)


def test_looking_for_a_repetition_takes_no_long_time() -> None:
    with cpu_seconds(1):
        for text in (
            "a" * 4_999 + "b",
            "ab" * 2_500 + "a",
            ("a" * 249 + "b") * 20 + "c",
            "a" * 100_000 + "b",
        ):
            is_endless(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"queries": ["a"]}',
        ' \n{"queries": ["a"]}\n',
        '```json\n{"queries": ["a"]}\n```',
        '```\n{"queries": ["a"]}\n```\n',
    ],
)
def test_an_answer_may_be_in_a_fence(text: str) -> None:
    assert parse_answer(text, Queries).queries == ["a"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON"),
        ("Here it is:", "no JSON"),
        ('{"queries": ["a"', "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("9" * 10_000, "no JSON"),
        ('{"queries": "a"}', "not the data that was asked for"),
        ('{"queries": [], "count": "many"}', "not the data that was asked for"),
        ("null", "not the data that was asked for"),
        (
            json.dumps({"queries": [f"\x1b[2J{TOKEN}"], "count": []}),
            "not the data that was asked for",
        ),
    ],
)
def test_an_answer_of_another_shape_is_one_line(text: str, why: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_answer(text, Queries)
    assert str(caught.value) == f"the model's answer is {why}"


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("see src/a.py:2", []),
        ("src/a.py:1-3 and a_b-c.md:1", []),
        ("src/a.py:4", ["src/a.py:4"]),
        ("src/a.py:0", ["src/a.py:0"]),
        ("src/a.py:2-9", ["src/a.py:9"]),
        ("a.py:1", ["a.py:1"]),
        ("../src/a.py:1", ["../src/a.py:1"]),
        ("Makefile:3", ["Makefile:3"]),
        ("src/new:1", ["src/new:1"]),
        ("/etc/passwd:1", []),
        ("at 12:30, 3:4, 10.5:2, localhost:8080 and 127.0.0.1:80", []),
    ],
)
def test_a_cited_line_must_be_there(text: str, missing: list[str]) -> None:
    assert (
        missing_citations(text, {"src/a.py": "1\n2\n3", "a_b-c.md": "", "Makefile": "1\n2"})
        == missing
    )


@pytest.mark.parametrize(
    "text", ["a" * 50_000, "(1" * 50_000, "@/" * 50_000, "+a" * 50_000, "a/" * 50_000]
)
def test_citations_are_found_in_linear_time(text: str) -> None:
    with cpu_seconds(2):
        assert cited_lines(text) == []
