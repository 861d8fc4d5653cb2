import unicodedata

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.secrets.printable import clip, json_value, printable

ANY_TEXT = st.text(st.characters(exclude_categories=()))


@table(
    ("text", "shown"),
    [
        ("plain.py", "plain.py"),
        ("naïve/日本語 🐛.py", "naïve/日本語 🐛.py"),
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("a\r\n\tb", r"a\r\n\tb"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("caf\udce9", r"caf\xe9"),
        ("\ud800", r"\ud800"),
        ("a\u202eb\u2066c\u200f", r"a\u202eb\u2066c\u200f"),
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),
        ("x\U000e0041\U000e0100", r"x\U000e0041\U000e0100"),
        ("\u3164\u115f", r"\u3164\u115f"),
        ("heart \u2764\ufe0f", "heart \u2764\ufe0f"),
    ],
)
def test_printable(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_newlines_stay_only_on_request() -> None:
    assert printable("a\nb\x1b", keep_newlines=True) == "a\nb\\x1b"


@settings(deadline=None)
@given(ANY_TEXT)
def test_nothing_unseen_is_left(text: str) -> None:
    shown = printable(text)
    assert not any(
        unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown
    )
    assert printable(shown) == shown
    shown.encode("utf-8", "strict")


@table("category", ["Cc", "Cf", "Cs", "Zl", "Zp"])
def test_no_character_of_an_unseen_category_is_missed(category: str) -> None:
    unseen = [
        char for char in map(chr, range(0x110000)) if unicodedata.category(char) == category
    ]
    assert [hex(ord(char)) for char in unseen if printable(char) == char] == []


def test_json_values_are_plain_data() -> None:
    value = {
        1: ("caf\udce9", float("nan"), float("inf"), 1.5),
        "set": {"b", "a"},
        "path": object,
    }
    assert json_value(value) == {
        "1": [r"caf\xe9", None, None, 1.5],
        "set": ["a", "b"],
        "path": "<class 'object'>",
    }


def test_clip_shows_that_it_cut() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefg", 6) == "abc..."
