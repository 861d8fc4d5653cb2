"""Path patterns, compared with a reference that is written another way."""

import fnmatch

from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.policy.globs import matches, rule_matches


@table(
    ("pattern", "path", "fits"),
    [
        ("**", "a/b.py", True),
        ("*.py", "a.py", True),
        ("*.py", "deep/down/a.py", True),
        ("a.py", "deep/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("src/**", "src/b/a.py", True),
        ("src/**", "src", False),
        ("src/**", "srcs/a.py", False),
        ("**/a.py", "a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("**/a.py", "x/ya.py", False),
        ("src/**/a.py", "src/a.py", True),
        ("src/**/a.py", "src/x/y/a.py", True),
        ("a?.py", "ab.py", True),
        ("a?.py", "a.py", False),
        ("s/a?b", "s/a/b", False),
        ("[ab].py", "a.py", False),
        ("[ab].py", "[ab].py", True),
        ("a.py", "axpy", False),
        ("(a|b)+", "(a|b)+", True),
        ("*", "with\nnewline", True),
        ("release/*", "release/1.2", True),
        ("release/*", "release/1/2", False),
        ("main", "topic/main", True),
        ("", "", True),
        ("/a.py", "a.py", True),
        ("/a.py", "deep/a.py", False),
        ("/deep/*.py", "deep/a.py", True),
        ("/", "", True),
        ("/", "a.py", False),
        ("x/*", "x/\udce9", True),
    ],
)
def test_matches(pattern: str, path: str, fits: bool) -> None:
    assert matches(pattern, path) is fits


NAMES = st.text("ab.", min_size=1, max_size=3)
PATHS = st.lists(NAMES, min_size=1, max_size=4)
PARTS = st.lists(
    st.sampled_from(["**", "*", "a", "b*", "?", "ab", "*.a"]), min_size=1, max_size=4
)


def reference(pattern: list[str], path: list[str]) -> bool:
    """Part by part, as `pathlib`'s full_match has it: `**` stands for any number of folders.

    At the end ours wants at least one name behind `**`: `src/**` is what lies under src.
    """
    if not pattern:
        return not path
    if pattern[0] == "**":
        if len(pattern) == 1:
            return bool(path)
        return any(reference(pattern[1:], path[n:]) for n in range(len(path) + 1))
    return (
        bool(path)
        and fnmatch.fnmatchcase(path[0], pattern[0])
        and reference(pattern[1:], path[1:])
    )


@given(PARTS, PATHS)
def test_matches_what_the_reference_matches(pattern: list[str], path: list[str]) -> None:
    wanted = reference(pattern if len(pattern) > 1 else ["**", *pattern], path)
    assert matches("/".join(pattern), "/".join(path)) is wanted


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_a_pattern(pattern: str, path: str) -> None:
    assert matches(pattern, path) in (True, False)
    plain = not set(pattern) & set("*?")
    if plain:
        assert matches(pattern, pattern)


def test_many_stars_take_no_time() -> None:
    assert not matches("a/" + "*a" * 12 + "/b", "a/" + "a" * 60 + "/c")


@table(
    ("pattern", "rule", "fits"),
    [
        ("secret-a", "secret-a", True),
        ("secret-a", "secret-ab", False),
        ("secret-*", "secret-ab", True),
        ("*", "anything", True),
        ("secret-*b", "secret-ab", False),
    ],
)
def test_rule_patterns(pattern: str, rule: str, fits: bool) -> None:
    assert rule_matches(pattern, rule) is fits
