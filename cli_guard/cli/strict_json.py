"""Reads JSON that another program wrote, and refuses what two readers could understand in two ways."""

import json
from collections.abc import Mapping
from typing import Any


def parse(raw: bytes) -> Any:
    """The data of a JSON text in UTF-8. Raises ValueError with the reason in one line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from error
    try:
        return json.loads(text, object_pairs_hook=without_doubles, parse_constant=refuse)
    except json.JSONDecodeError as error:
        place = (
            f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        )
        raise ValueError(f"not JSON: {error.msg} at {place}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys stand there once: of two, each reader takes another one."""
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("the same key stands twice in one object")
    return data


def refuse(name: str) -> Any:
    """NaN and Infinity are no JSON."""
    raise ValueError(f"{name} is not JSON")


def text_in(data: Mapping[str, Any], key: str) -> str:
    """A text of an object. Raises ValueError for what is missing, no text, or half a character of one."""
    if key not in data:
        raise ValueError(f"there is no {key}")
    value = data[key]
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"{key} is not UTF-8 at character {error.start}") from error
    return value
