"""Kubernetes manifests in JSON become YAML of blocks, line by line."""

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.code.manifests import as_blocks, is_json_manifest


@table(
    ("text", "expected"),
    [
        pytest.param(
            '{\n  "kind": "Pod",\n  "spec": {\n    "hostPID": true\n  }\n}\n',
            "\nkind: Pod\nspec:\n  hostPID: true\n\n\n",
            id="blocks",
        ),
        pytest.param(
            '{\n"items": [\n{\n"a": 1\n},\n{"b": [2, "on"]},\n"c"\n]\n}',
            '\nitems:\n  -\n    a: 1\n\n  - {b: [2, "on"]}\n  - c\n\n',
            id="lists",
        ),
        pytest.param(
            '{\n"a": [{\n"b": "x: y"\n}]\n}',
            '{\n"a": [{\n"b": "x: y"\n}]\n}',
            id="two-brackets-on-a-line",
        ),
        pytest.param('{"a": 1,\n"b": 2}', "a: 1\nb: 2", id="key-beside-the-bracket"),
        pytest.param(
            '{"a": 1, "c": 3,\n"b": 2}', '{"a": 1, "c": 3,\n"b": 2}', id="two-keys"
        ),
        pytest.param('{\n"a": [}\n', '{\n"a": [}\n', id="no-json"),
        pytest.param("[" * 99 + "\n" + "]" * 99, "[" * 99 + "\n" + "]" * 99, id="too-deep"),
        pytest.param("", "", id="empty"),
    ],
)
def test_blocks(text: str, expected: str) -> None:
    assert as_blocks(text) == expected


@given(st.text(alphabet='{}[],:"a1 \n\\', max_size=60))
def test_every_line_keeps_its_number(text: str) -> None:
    assert as_blocks(text).count("\n") == text.count("\n")


@table(
    ("text", "expected"),
    [
        ('{"apiVersion": "v1", "kind": "Pod"}', True),
        ('{"kind": "Pod"}', False),
        ('apiVersion: v1 # "apiVersion" "kind"', False),
    ],
)
def test_is_json_manifest(text: str, expected: bool) -> None:
    assert is_json_manifest(text) is expected
