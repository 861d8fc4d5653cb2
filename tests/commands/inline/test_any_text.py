"""Any text gives an answer, and soon."""

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.commands.inline import MOST, READERS, Act, acts
from cli_guard.commands.model import EffectKind

LANGUAGES = sorted(READERS)
PIECES = st.sampled_from(
    """import os ; os.system( 'rm ' "a" ) ( [ ] { } . , = == + - / | > < $x @{ % \\ # \n ` eval( exec open( 'w' s/a/b/ e
    w file print getline select from where ' " -- /* */ \\! .shell for x in y : def f lambda => -> function require(
    %w[ #{ $ENV env .env \\( ${ 1 0 _ !""".split(" ")
)


@pytest.mark.parametrize("language", LANGUAGES)
@settings(max_examples=150, deadline=None)
@given(
    text=st.one_of(
        st.text(),
        st.lists(PIECES, max_size=30).map(" ".join),
        st.lists(PIECES).map("".join),
    )
)
def test_any_text_gives_acts(language: str, text: str) -> None:
    found = acts(language, text)
    assert isinstance(found, tuple) and all(isinstance(act, Act) for act in found)


@table("language", LANGUAGES)
@table(
    "piece",
    ["(", "a.", "'", "{", "-> ", "x='a'+x;", "/*", "[[", "f(x)|", "\\", "$a$", "s{"],
)
def test_long_text_takes_no_long_time(language: str, piece: str) -> None:
    for length in (MOST, 5 * MOST):
        with cpu_seconds(4):
            acts(language, (piece * length)[:length])


@table("language", LANGUAGES)
def test_what_is_too_long_or_holds_a_nul_is_not_understood(language: str) -> None:
    for text in ("1" + " " * MOST, "1\0"):
        assert {act.kind for act in acts(language, text)} == {EffectKind.UNKNOWN}


def test_an_unknown_language_is_not_understood() -> None:
    assert {act.kind for act in acts("lua", "print(1)")} == {EffectKind.UNKNOWN}
