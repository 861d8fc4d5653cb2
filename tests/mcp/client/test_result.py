"""What is kept of an answer, whatever it was: bounded, visible, plain JSON."""

import unicodedata

from examples import table
from hypothesis import given
from hypothesis import strategies as st
from mcp import types

from cli_guard.mcp.client import schemas
from cli_guard.mcp.client.result import McpResult, clip_text, one_line, result_of

KEY = "AKIA" + "Q3EGRHPXVWT5LZN7"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def plain(text: str) -> str:
    return text


def acts(text: str) -> list[str]:
    """The characters of a text that a terminal obeys, or that nobody sees."""
    return [
        each
        for each in text
        if unicodedata.category(each) in ("Cc", "Cf", "Cs") and each not in "\n\t"
    ]


@given(st.text(st.characters()), st.integers(4, 60))
def test_a_text_is_bounded_and_visible(text: str, limit: int) -> None:
    kept, cut = clip_text(text, limit, plain)
    assert len(kept) <= limit and not acts(kept)
    assert cut or len(kept) >= len(text.replace("\r\n", "\n"))
    line = one_line(text, limit, plain)
    assert len(line) <= limit and not acts(line) and "\n" not in line and "\t" not in line


@given(JSON)
def test_any_schema_is_looked_at_without_a_crash(value: object) -> None:
    reason = schemas.check_bounds({"type": "object", "properties": {"a": value}})
    assert reason is None or "\n" not in reason


@table(
    ("schema", "usable"),
    [
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}}, True),
        ({"$ref": "other.json"}, False),
        ({"$ref": "https://example.com/a"}, False),
        ({"allOf": [{"not": {"$dynamicRef": "x#a"}}]}, False),
        ({"properties": {"$ref": {"type": "string"}}}, True),
        ({"properties": {"url": {"const": "https://example.com"}}}, True),
    ],
)
def test_a_reference_stays_inside_the_schema(
    schema: dict[str, object], usable: bool
) -> None:
    assert (schemas.check_bounds(schema) is None) is usable


@table(
    ("schema", "arguments", "says"),
    [
        ({"type": "object", "additionalProperties": False}, {"a": 1}, "'a' was unexpected"),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": "y"}, "a: 'y' is not one of ['x']"),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": "x"}, None),
        (
            {"$ref": "#/$defs/a", "$defs": {"a": {"required": ["b"]}}},
            {},
            "'b' is a required property",
        ),
        ({"properties": {"a": {"pattern": "^[a-z]+$"}}}, {"a": "1"}, "does not match"),
        ({"properties": {"a": {"pattern": "^[a-z]+$"}}}, {"a": "abc"}, None),
        # Draft 4 and 2020-12 read a list of item schemas in different ways: the one that is named counts.
        (
            {
                "$schema": "http://json-schema.org/draft-04/schema#",
                "properties": {"a": {"items": [{"type": "null"}]}},
            },
            {"a": [1]},
            "is not of type 'null'",
        ),
        ({}, {"anything": None}, None),
    ],
)
def test_arguments_are_held_to_a_schema(
    schema: dict[str, object], arguments: dict[str, object], says: str | None
) -> None:
    problem = schemas.problem_with(schema, arguments)
    assert (problem is None) if says is None else (problem is not None and says in problem)


def test_many_blocks_are_one_bounded_result() -> None:
    blocks = [
        types.TextContent(type="text", text=f"{n} {KEY} \x1b[0m") for n in range(3_000)
    ]
    result = result_of(types.CallToolResult(content=[*blocks]), plain)
    assert result.truncated and len(result.text) <= 100_000
    assert result.text.startswith("0 AKIA**** \\x1b[0m\n1 ") and KEY not in result.text
    assert result_of(types.CallToolResult(content=[]), plain) == McpResult("")


@table(
    "text",
    [
        "x " * 495 + f"key = {KEY}" + " y" * 100,
        "x " * 990 + f"key = {KEY}",
        f"key = {KEY}\n" * 200,
        f"{KEY} " * 95 + KEY,
    ],
)
@table("limit", [985, 990, 995, 1_000, 1_005])
def test_a_secret_that_the_end_cuts_in_two_is_hidden(text: str, limit: int) -> None:
    kept, cut = clip_text(text, limit, plain)
    assert cut and KEY[:5] not in kept
