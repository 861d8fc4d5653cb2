"""Many words in one pass: the same answer as one search after another, with or without the library."""

import sys

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.words import IDENTIFIER, WordSet, fold, split_identifiers, words_in

LETTERS = st.sampled_from("ab_K@( \0\n\x1f\xa0\xe9\u0130\u2014\u212a\u5bc6\U0001f511\udc80")
SHORT = st.text(LETTERS, min_size=1, max_size=4)


@table(
    "words, text, found",
    [
        (["pass", "bypass", "word"], "bypassed", ["pass", "bypass"]),
        (["he", "she", "his", "hers"], "ushers", ["he", "she", "hers"]),
        (["key"], "KEY", []),
        (["key"], fold("KEY \u0130"), ["key"]),
        (["key", "key"], "keys", ["key"]),
        (["ke", "ey"], "k ey", ["ey"]),
        (["\u5bc6\u7801"], "\u5bc6\u7801: x", ["\u5bc6\u7801"]),
        (["eval("], b"\xff\0eval(\xfe".decode("latin-1"), ["eval("]),
        ([], "key", []),
        (["key"], "", []),
    ],
)
def test_words_are_found_wherever_they_occur(
    words: list[str], text: str, found: list[str]
) -> None:
    assert WordSet(words).found_in(text) == found


@given(words=st.lists(SHORT, max_size=8), text=st.text(LETTERS, max_size=40))
def test_the_words_that_are_found_are_all_that_occur_in_their_order(
    words: list[str], text: str
) -> None:
    found = {
        word: [at for at in range(len(text)) if text[: at + 1].endswith(word)]
        for word in dict.fromkeys(words)
        if word in text
    }
    assert WordSet(words).found_in(text) == list(found)
    assert WordSet(words).found_in(text, words_in(text)) == list(found)
    ends = WordSet(words).ends_in(text)
    assert [(word, list(each)) for word, each in ends.items()] == list(found.items())


@given(words=st.lists(SHORT, max_size=8), text=st.text(LETTERS, max_size=40))
def test_words_in_lower_case_are_found_in_a_folded_text(
    words: list[str], text: str
) -> None:
    plain = [each.lower() for each in words if each.isascii()]
    lower = fold(text)
    found = WordSet(plain).found_in(lower)
    assert WordSet(plain).found_in(lower, words_in(text).lower()) == found


@given(text=st.text(LETTERS, max_size=40))
def test_identifiers_are_what_the_pattern_finds(text: str) -> None:
    assert sorted(split_identifiers(text)) == sorted(IDENTIFIER.findall(text))


def test_without_the_library_the_answer_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["pass", "bypass", "key", "key(", "word"]
    text = "a bypassed key(x)"
    with_library = WordSet(words).found_in(text, words_in(text))
    ends = WordSet(words).ends_in(text)
    monkeypatch.setitem(sys.modules, "ahocorasick", None)
    assert WordSet(words).found_in(text, words_in(text)) == with_library
    assert with_library == words[:4]
    assert WordSet(words).ends_in(text) == ends


@given(text=st.text(max_size=200))
def test_folding_keeps_every_offset(text: str) -> None:
    assert len(fold(text)) == len(text)


def test_folding_lowers_all_letters_but_the_one_that_would_grow() -> None:
    assert fold("A\u0130B\u1e9eC") == "a\u0130b\xdfc"
