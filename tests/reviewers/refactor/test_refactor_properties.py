"""What holds for any text in any language: no failure, only touched lines, an ordered report."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.docs.before_after import changed, subject_of

from cli_guard.code.classify import LONGEST_LINE, has_long_line
from cli_guard.reviewers.refactor import review
from cli_guard.reviewers.refactor.metrics import may_exceed

DECISION = re.compile(
    r"\b(?:if|elif|for|foreach|while|and|or|except|catch|case|match|select|switch|when|else)\b"
    r"|&&|\|\||=>|\?"
)
PATHS = ["a.py", "a.js", "a.ts", "a.tsx", "a.go", "A.java", "a.c"]
WORDS = st.sampled_from(
    [
        "if (a && b) {\n",
        "for (;;) {\n",
        "}\n",
        "case 1:\n",
        "def f(a):\n",
        "    if a and b:\n",
        "func f(a int) {\n",
        "`",
        '"',
        "'",
        "function f(a) {\n",
        "class A {\n",
        "int f(int a) {\n",
        "=> {",
        "? : ",
        "x = y(z)\n",
        "/*",
        "//\n",
        "\\",
    ]
)


@pytest.mark.parametrize("path", PATHS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_any_text_is_reviewed(path: str, data: st.DataObject) -> None:
    texts = st.lists(st.one_of(WORDS, WORDS, st.text(max_size=6)), max_size=25).map("".join)
    before = data.draw(texts)
    after = data.draw(texts) * data.draw(st.integers(1, 12))
    if before == after:
        return
    report = review(subject_of({path: before} if before else {}, {path: after}))
    change = changed(path, before, after)
    for finding in report.findings:
        assert finding.line is not None and change.touches(finding.line, finding.end_line)
    assert list(report.findings) == sorted(
        report.findings, key=lambda f: (f.path, f.line or 0, f.rule)
    )


@given(
    text=st.lists(
        st.one_of(
            WORDS, st.sampled_from(["elif ", "else ", "foreach ", " or ", "format", "? "])
        ),
        max_size=30,
    ).map("".join)
)
@settings(max_examples=100, deadline=None)
def test_the_quick_look_at_a_function_never_lets_one_pass_that_the_rule_counts(
    text: str,
) -> None:
    counted = len(DECISION.findall(text))
    for most in range(1, 8):
        expected = len(text) > 2 * most and counted + 1 > most
        assert may_exceed(text, most, 10_000) == expected


@given(pieces=st.lists(st.integers(0, 12_000), max_size=6))
@settings(max_examples=100, deadline=None)
def test_a_long_line_is_found_wherever_it_stands(pieces: list[int]) -> None:
    assert has_long_line("\n".join("x" * size for size in pieces)) == any(
        size > LONGEST_LINE for size in pieces
    )
