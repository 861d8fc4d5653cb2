"""Parse JSON from another program, and refuse what two parsers could read differently."""

import json
from collections.abc import Mapping
from typing import Any


def parse(raw: bytes) -> Any:
    """Parse a JSON text in UTF-8. Raises ValueError with the reason in one line."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 at byte {error.start}") from error
    try:
        return json.loads(
            text, object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
        )
    except json.JSONDecodeError as error:
        place = (
            f"line {error.lineno}, column {error.colno}"
            if "\n" in text.strip()
            else f"column {error.colno}"
        )
        raise ValueError(f"not JSON: {error.msg} at {place}") from error
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Of two equal keys one parser takes the first and another the last.
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError("the same key occurs twice in one object")
    return data


def reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def text_in(data: Mapping[str, Any], key: str) -> str:
    """Return a text of an object. Raises ValueError if it is missing, not text, or not valid Unicode."""
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
