"""Complexity and length of one function: what counts in each language, and what does not."""

import pytest
from examples import table

from cli_guard.code.symbols import symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.reviewers.refactor.metrics import may_exceed, measure


def body(*lines: str) -> str:
    return "def f(a, b):\n" + "".join(f"    {line}\n" for line in lines)


@table(
    ("language", "text", "complexity", "length"),
    [
        pytest.param("python", body("return a"), 1, 2, id="one path"),
        pytest.param("python", body("if a and b or c:", "    pass"), 4, 3, id="and, or"),
        pytest.param(
            "python",
            body("return [x if x else 0 for x in a if x]"),
            4,
            2,
            id="comprehension",
        ),
        pytest.param(
            "python",
            body(
                "try:",
                "    a()",
                "except A:",
                "    b()",
                "else:",
                "    c()",
                "finally:",
                "    d()",
            ),
            2,
            9,
            id="else and finally are no decisions",
        ),
        pytest.param(
            "python",
            body(
                "match a:", "    case 1 if b:", "        c()", "    case _:", "        d()"
            ),
            3,
            6,
            id="a case and its guard, not the default",
        ),
        pytest.param(
            "python",
            body('"""Add.', "", "For if and while.", '"""', "#no", "", "return a  # if b"),
            1,
            2,
            id="docstring, comments and blanks",
        ),
        pytest.param(
            "python",
            body("def g():", "    return a if b else c", "", "return g() or 1"),
            2,
            2,
            id="a function within has its own",
        ),
        pytest.param(
            "python", body("return 'if a and b or c'"), 1, 2, id="words in a string"
        ),
        pytest.param(
            "javascript",
            "function f(a) {\n  /* if\n  while */\n  for (const b of a) { b?.c ?? d }\n}\n",
            3,
            3,
            id="javascript: a chain is no decision",
        ),
        pytest.param(
            "javascript",
            "function f(a) {\n  switch (a) {\n    case 1: b();\n    default: c();\n  }\n"
            "  a.map((x) => {\n    if (x) d();\n  });\n}\n",
            2,
            7,
            id="javascript: a callback has its own",
        ),
        pytest.param(
            "typescript",
            "function f(a?: A): a is B {\n  type C = A extends B ? 1 : 2;\n  return a ? 1 : 2;\n}\n",
            2,
            4,
            id="typescript: types are no decisions",
        ),
        pytest.param(
            "tsx",
            "const F = (a: A) => {\n  return a && <b>{a}</b>;\n};\n",
            2,
            3,
            id="tsx",
        ),
        pytest.param(
            "go",
            "package a\nfunc f(a int) {\n\tswitch a {\n\tcase 1, 2:\n\tdefault:\n\t}\n"
            "\tselect {\n\tcase <-c:\n\t}\n\tgo func() { if a {} }()\n}\n",
            3,
            10,
            id="go",
        ),
        pytest.param(
            "java",
            "class A {\n  int f(int a) {\n    do { a--; } while (a > 0 && b);\n"
            "    return switch (a) { case 1, 2 -> 3; case B c when c.d -> 4; default -> 5; };\n"
            "  }\n}\n",
            6,
            4,
            id="java",
        ),
        pytest.param(
            "rust",
            "fn f<T>(a: T) -> R where T: for<'a> S {\n    let Some(b) = a else { return c };\n"
            "    match b {\n        1 | 2 => d?,\n        // if\n        x if x > 3 => 4,\n"
            "        _ => 5,\n    }\n}\n",
            6,
            8,
            id="rust: arms before the last, guards, let-else, ?",
        ),
    ],
)
def test_what_counts(language: str, text: str, complexity: int, length: int) -> None:
    symbols = symbols_of(Trees(), language, text)
    function = next(each for each in symbols if each.is_function)
    found = measure(language, function)
    assert (found.complexity, found.length) == (complexity, length)
    for most in range(1, complexity):
        long_enough = text + " " * 100
        assert may_exceed(long_enough, most, 10_000)


@pytest.mark.parametrize(
    "text", ["def f(:\n  if a and\n", "def f():\n" + "  if a:\n" * 400]
)
def test_broken_code_is_measured(text: str) -> None:
    for symbol in symbols_of(Trees(), "python", text):
        assert measure("python", symbol).complexity >= 1
