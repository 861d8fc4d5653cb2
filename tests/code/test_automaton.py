"""How long a pattern takes is decided by its automaton, and the machine that checks it matches as Python does."""

import re

from examples import examples, near_misses, table

from cli_guard.code.automaton import EXPONENTIAL, POLYNOMIAL, find_attack
from cli_guard.code.automaton_run import Machine
from cli_guard.code.automaton_syntax import UnreadableError, read_pattern

FLAGS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X}


@examples(
    ("pattern", "growth"),
    [
        (r"(a+)+$", EXPONENTIAL),
        (r"(a*)*b", EXPONENTIAL),
        (r"(a|a)*b", EXPONENTIAL),
        (r"(a|b|ab)*c", EXPONENTIAL),
        (r"(\d{1,3})+$", EXPONENTIAL),
        (r"(x+x+)+y", EXPONENTIAL),
        (r"^(?:(a+)b?)+$", EXPONENTIAL),
        (r"(?:\[(?:\\.|[^\[\]])*\]|[^\[\]])*x", EXPONENTIAL),
        (r"^(\w+\s?)*(?=!)", EXPONENTIAL),
        (r"(?<!x)(é|[à-ý])+$", EXPONENTIAL),
        (r"\s+$", POLYNOMIAL),
        (r"^\s+|\s+$", POLYNOMIAL),
        (r"<!--.*?-->", POLYNOMIAL),
        (r"(.*) <(.*?)>", POLYNOMIAL),
        (r"^\d+\d+$", POLYNOMIAL),
        (r"^\s*(.*?)\s*;", POLYNOMIAL),
        (r"""(['"])\w*-\w*\w*\1""", POLYNOMIAL),
    ],
)
def test_a_pattern_takes_more_than_linear_time(pattern: str, growth: str) -> None:
    attack = find_attack(pattern, "python")
    assert attack is not None
    assert attack.growth == growth
    assert re.search(pattern, attack.text(4)) is None


@near_misses(
    ("pattern", "part"),
    [
        (r"\s+$", "first"),
        (r"[a-z]+", "whole"),
        (r"^[a-z0-9]+(?:[._-][a-z0-9]+)*@[a-z]+$", ""),
        (r"^([a-z0-9-]+\.)+[a-z]+$", ""),
        (r"^\d{1,3}(\.\d{1,3}){3}$", ""),
        # What matches any text never fails.
        (r"(a+)*", ""),
        (r"(.|\n)*", ""),
        (r"^.*$", ""),
        # What an atomic group or possessive repetition has read it gives back to nobody.
        (r"^(?>[a-z]+)*!", ""),
        (r"^(?:a++)+!", ""),
        # A look-around keeps the parts apart.
        (r"<!--(?:(?!<!--).)*-->", ""),
        (r"^(?:(?!b)\w|b)*!", ""),
        (r"/?/$", ""),
        # Not understood, or too large: no verdict.
        (r"(a+)+(?(1)x|y)$", ""),
        (r"(a+)+[", ""),
        ("(" * 50 + "a+" + ")+" * 50 + "$", ""),
        ("([a-z]{1,200}x){1,200}(a+)+$", ""),
        ("(a|b)+" * 700 + "$", ""),
    ],
)
def test_a_pattern_takes_linear_time(pattern: str, part: str) -> None:
    assert find_attack(pattern, "python", part=part) is None


@table(
    ("language", "pattern", "flags", "growth"),
    [
        ("javascript", r"^[^]*x[^]*y$", "", POLYNOMIAL),
        ("javascript", r"^(?<name>a+)+\k<name>!", "", EXPONENTIAL),
        ("ruby", r"\A(\h+)+\z", "", EXPONENTIAL),
        ("ruby", r"\A(\h++)+\z", "", None),
        ("ruby", r"\A(.|\n)*!", "m", EXPONENTIAL),
        ("ruby", r"\A(.|\n)*!", "", None),
        ("java", r"^([a-c[d-f]]|d)*!", "", EXPONENTIAL),
        ("java", r"^(\p{Alpha}|1)*!", "", None),
        ("csharp", r"^(A|a)*!", "i", EXPONENTIAL),
        ("csharp", r"^(A|a)*!", "", None),
        ("csharp", "^( a # one\n | a )*!", "x", EXPONENTIAL),
        ("python", r"^(?i:(A|a))*!", "", EXPONENTIAL),
    ],
)
def test_a_dialect_is_read_as_what_it_is(
    language: str, pattern: str, flags: str, growth: str | None
) -> None:
    attack = find_attack(pattern, language, flags)
    assert (attack.growth if attack else None) == growth


@table(
    ("pattern", "flags"),
    [
        (r"a(b|c)*?d", ""),
        (r"^\w+@\w+\.(com|de)$", "m"),
        (r"(['\"]).*?\1", ""),
        (r"\bfoo\B|o\b", "i"),
        (r"(?<=a)b(?!c)|(?=ab)a", ""),
        (r"(?>a*)b|(?:ab?)++c", ""),
        (r"a{2,3}b{2}c{,1}$", ""),
        (r"(?s:a.b)|a.d", ""),
        (r"[^\w\s-]+|[]a-c-]x", ""),
        (r"(a*|b)*\Z", ""),
        (r" a [ ] b # c", "x"),
        (r"\x61\u0062|\.\\", ""),
        (r"(?P<q>a)(?P=q)", ""),
    ],
)
def test_the_machine_matches_as_python_does(pattern: str, flags: str) -> None:
    node, alphabet = read_pattern(pattern, flags, "python")
    machine = Machine(node, alphabet, is_anchored=False)
    known = re.compile(pattern, sum(FLAGS[each] for each in flags))
    texts = [
        "",
        "ab",
        "abd",
        "acbcd",
        "x\nme@x.com\ny",
        "'a\"b'",
        "a\nb",
        "a\nd",
        "foo FOOT",
        "aab",
        "aaabbc",
        "abac",
        "aba",
        "a b",
        "-x !",
        "\\ .",
        "]x",
        "bc",
    ]
    for text in texts:
        _, is_match = machine.search(text, 5_000)
        assert is_match == bool(known.search(text)), (pattern, text)


def test_what_is_too_much_is_refused() -> None:
    node, alphabet = read_pattern("(a+)+$", "", "python")
    machine = Machine(node, alphabet, is_anchored=True)
    steps, is_match = machine.search("a" * 60 + "!", 1_000)
    assert steps == 1_001 and not is_match
    try:
        for _ in range(1_000):
            machine.search("a" * 60 + "!", 1_000)
    except UnreadableError:
        return
    raise AssertionError("steps without end")
