"""Plans name blocks by their lines, in each language, and only those that bring a function within the limits."""

import pytest
from examples import table

from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.model import split_lines
from cli_guard.reviewers.refactor.metrics import measure
from cli_guard.reviewers.refactor.plan import plan

PYTHON = """\
def send(rows, peer):
    total = 0
    for row in rows:
        if row.a:
            total += 1
        if row.b:
            total += 2
        log(row)
    with peer:
        peer.begin()
        peer.write(total)
        peer.write(rows)
        peer.write("end")
        peer.end()
    if total:
        peer.close()
    return total
"""
IN_BRACES = """\
    let total = 0;
    for HEAD {
        if (a) {
            total = 1;
        }
        if (b) {
            total = 2;
        }
    }
    if (total) {
        close(total);
    }
    done(total);
}
"""
LOOP = ["Move lines 3 to 10 into"]


def function_in(language: str, text: str) -> Symbol:
    return next(s for s in symbols_of(Trees(), language, text) if s.is_function)


def braces(head: str, loop: str) -> str:
    return f"{head} {{\n{IN_BRACES.replace('HEAD', loop)}"


@table(
    ("language", "text", "paths", "says"),
    [
        pytest.param("python", PYTHON, 4, ["Move lines 3 to 8 into"], id="python"),
        pytest.param(
            "javascript",
            braces("function f(a, b, rows)", "(const row of rows)"),
            4,
            LOOP,
            id="javascript",
        ),
        pytest.param(
            "typescript",
            braces("function f(a: A, b: B, rows: C[])", "(const row of rows)"),
            4,
            LOOP,
            id="typescript",
        ),
        pytest.param(
            "go",
            "package x\n"
            + braces("func f(a bool, b bool, rows []int)", "_, row := range rows"),
            4,
            ["Move lines 4 to 11 into"],
            id="go",
        ),
        pytest.param(
            "rust", braces("fn f(a: bool, b: bool)", "row in rows"), 4, LOOP, id="rust"
        ),
        pytest.param(
            "java",
            "class A {\n" + braces("int f(boolean a)", "(Row row : rows)") + "}\n",
            4,
            ["Move lines 4 to 11 into"],
            id="java",
        ),
    ],
)
def test_the_block_with_most_paths(
    language: str, text: str, paths: int, says: list[str]
) -> None:
    symbol = function_in(language, text)
    said, is_enough = plan(
        language, symbol, split_lines(text), measure(language, symbol), paths, 80
    )
    assert said is not None and is_enough
    assert [part for part in says if part not in said] == []
    assert said.count("Move lines") == 1


@table(
    ("paths", "length", "is_enough", "steps"),
    [
        pytest.param(4, 80, True, 1, id="what is left is at the limit"),
        pytest.param(1, 80, False, 0, id="a block over the limit is no function"),
        pytest.param(9, 12, True, 1, id="too long"),
        pytest.param(9, 8, False, 1, id="longer than a block without decisions allows"),
    ],
)
def test_until_it_is_within_the_limits(
    paths: int, length: int, is_enough: bool, steps: int
) -> None:
    symbol = function_in("python", PYTHON.replace("if row.b", "while row.b"))
    now = measure("python", symbol)
    lines = split_lines(PYTHON)
    said, is_within = plan("python", symbol, lines, now, paths, length)
    assert is_within == is_enough
    assert (said or "").count("Move lines") == steps


def test_lower_lines_first_and_functions_within_stay() -> None:
    block = "    for a in b:\n        if a:\n            go(a)\n" + "        on(a)\n" * 4
    inner = "    def g(a):\n" + block.replace("    ", "        ")
    text = f"def f(b):\n{block}{block}{inner}    return g\n"
    symbol = function_in("python", text)
    said, is_enough = plan(
        "python", symbol, split_lines(text), measure("python", symbol), 3, 80
    )
    assert is_enough and said == (
        "1. Move lines 2 to 8 into a function of their own (2 of the 5 paths).\n"
        "2. Run the tests after each step; 3 paths stay in `f`."
    )


def test_an_else_if_is_no_block() -> None:
    branch = "if (a) {\n        b();\n        if (c) {\n            d();\n        }\n        e();\n    }"
    text = f"function f(a) {{\n    {branch} else {branch}\n    return a;\n}}\n"
    symbol = function_in("javascript", text)
    now = measure("javascript", symbol)
    assert plan("javascript", symbol, split_lines(text), now, 3, 80) == (None, False)
