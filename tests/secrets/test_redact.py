"""What replaces a secret in a text, in plain data and in the dataclasses within."""

from dataclasses import dataclass
from typing import Any

from examples import table

from cli_guard.rules.examples import expand
from cli_guard.secrets.redact import mask, mask_everywhere, masks_in, redact

TOKEN = expand("ghp_<<crc62:30>>")


@dataclass(frozen=True)
class Note:
    text: str
    more: list[str]


@table(
    ("data", "masked"),
    [
        ("a SECRET b SECRET", "a *** b ***"),
        (["SECRET", 1, ["SECRET"]], ["***", 1, ["***"]]),
        ({"a": {"b": "SECRET"}, "c": None}, {"a": {"b": "***"}, "c": None}),
        (Note("SECRET", ["SECRET"]), Note("***", ["***"])),
        (Note, Note),
        (3, 3),
    ],
    ids=repr,
)
def test_every_text_in_data_is_masked(data: Any, masked: Any) -> None:
    assert mask_everywhere(data, {"SECRET": "***"}) == masked
    assert mask_everywhere(data, {}) is data


@table(
    ("value", "shown"),
    [
        ("hunter2", "****"),
        ("x" * 19, "****"),
        ("ghp_" + "x" * 16, "ghp_****"),
        ("abcdefghij" * 2, "abcd****"),
        ("abcdefghij" * 9, "abcd****"),
        ("", "****"),
    ],
    ids=repr,
)
def test_a_mask_shows_a_fifth_at_most(value: str, shown: str) -> None:
    assert mask(value) == shown


def test_a_secret_is_masked_wherever_it_stands_again() -> None:
    text = f"token = '{TOKEN}'\nagain {TOKEN} and x{TOKEN}y\nplain\n"
    redacted = redact(text)
    assert TOKEN not in redacted
    assert redacted.endswith("y\nplain\n")
    assert redacted.count(mask(TOKEN)) == 3
    assert masks_in(text)[TOKEN] == mask(TOKEN)
