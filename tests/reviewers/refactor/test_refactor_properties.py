"""What holds for any text in any language: no failure, only touched lines, an ordered report."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.docs.before_after import changed, subject_of

from cli_guard.reviewers.refactor import review

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
        "#lizard forgives\n",
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
    before, after = data.draw(texts), data.draw(texts) * data.draw(st.integers(1, 12))
    if before == after:
        return
    report = review(subject_of({path: before} if before else {}, {path: after}))
    change = changed(path, before, after)
    for finding in report.findings:
        assert finding.line is not None and change.touches(finding.line, finding.end_line)
    assert list(report.findings) == sorted(report.findings, key=lambda f: (f.path, f.line or 0, f.rule))
