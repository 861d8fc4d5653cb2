"""The plan for Python is carried out by a machine, and the program still does what it did."""

import ast
import textwrap

import pytest
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st
from reviewers.refactor.grown import carried_out

from cli_guard.code.symbols import Symbol, symbols_of
from cli_guard.code.syntax import Trees
from cli_guard.model import split_lines
from cli_guard.reviewers.refactor import extraction
from cli_guard.reviewers.refactor.extraction import extractions, parse_function
from cli_guard.reviewers.refactor.plan import plan, python_extractions, python_step


@pytest.fixture(autouse=True)
def short_runs_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a run is worth moving is another question than whether it can be moved."""
    limits = {"FEWEST_LINES": 2, "FEWEST_DECISIONS": 0, "MOST_IN": 9}
    for name, value in limits.items():
        monkeypatch.setattr(extraction, name, value)


def function_in(text: str) -> Symbol:
    return next(s for s in symbols_of(Trees(), "python", text) if s.is_function)


def answers(text: str, calls: list[tuple[object, ...]]) -> list[object]:
    names: dict[str, object] = {}
    exec(compile(text, "sample", "exec"), names)
    results: list[object] = []
    for call in calls:
        try:
            results.append(names["f"](*call))  # type: ignore[operator]
        except Exception as error:
            results.append((type(error), str(error)))
    return results


SAMPLES = {
    "accumulator in a loop": """
        def f(items, factor):
            total = 0
            seen = []
            for item in items:
                price = item * factor
                if price > 10:
                    price -= 1
                if price not in seen:
                    seen.append(price)
                total += price
            return total, seen
        """,
    "bound on one path only": """
        def f(items, flag):
            if flag:
                label = "x"
                count = 0
                for item in items:
                    count += item
            if flag:
                return label, count
            return None
        """,
    "carried to the next turn": """
        def f(items, flag):
            previous = None
            found = []
            for item in items:
                if previous is not None:
                    step = item - previous
                    found.append(step)
                    if step < 0:
                        found.append("back")
                previous = item
            return found
        """,
    "break and continue stay": """
        def f(items, flag):
            out = []
            for item in items:
                if item < 0:
                    out.append("end")
                    out.append(item)
                    out.append("-")
                    break
                if item == 3:
                    continue
                for part in range(item):
                    if part == 2:
                        break
                    out.append(part)
                    out.append(item)
            return out
        """,
    "always returns": """
        def f(items, flag):
            if flag:
                total = sum(items)
                if total > 3:
                    return total
                total *= 2
                return -total
            return len(items)
        """,
    "closure sees a later value": """
        def f(items, flag):
            label = "a"
            calls = []
            if flag:
                label = "b"
                for item in items:
                    calls.append(lambda: label)
                    calls.append(lambda: label)
            label = "c"
            return label, [call() for call in calls]
        """,
    "handler sees what was bound": """
        def f(items, flag):
            done = 0
            try:
                done = 1
                for item in items:
                    done += 1
                    if item == 3:
                        raise ValueError(item)
                done = 100
            except ValueError:
                return done
            return done
        """,
    "walrus, comprehension, star": """
        def f(items, flag):
            best, *rest = [*items, 0]
            names = [n for n in rest if n]
            if flag and (count := len(names)) > 1:
                best += count
                names = [best + n for n in names]
                while (last := names.pop()) and names:
                    best += last
            return best, names
        """,
    "names of a with and a match": """
        from contextlib import nullcontext
        def f(items, flag):
            with nullcontext(items) as inner:
                size = len(inner)
                kind = "many"
                if size < 2:
                    kind = "few"
            match inner:
                case [first, *others] if flag:
                    size += first
                    kind += "!"
                    for other in others:
                        size += other
                case _:
                    size = -1
            return size, kind
        """,
    "two results": """
        def f(items, flag):
            low = high = 0
            # find the span
            for item in items:
                low = min(low, item)
                high = max(high, item)
                if flag:
                    low -= 1

            return high - low
        """,
}
CALLS: list[tuple[object, ...]] = [
    (items, flag)
    for items in ([], [1], [4, 3, 2, 1], [5, -1, 3], [20, 3, 20])
    for flag in (0, 1, 3)
]


@table("text", SAMPLES.values(), ids=SAMPLES)
def test_every_single_run_can_be_moved(text: str) -> None:
    source = textwrap.dedent(text).lstrip("\n")
    symbol = function_in(source)
    lines = split_lines(source)
    function = parse_function(lines[symbol.top - 1 : symbol.end_line], symbol.top)
    assert function is not None
    for step in extractions(function, lines):
        assert answers(
            carried_out(source, symbol, [python_step(symbol, "_moved", step)]), CALLS
        ) == answers(source, CALLS)


@table(
    ("sample", "first", "parameters", "results"),
    [
        ("accumulator in a loop", 4, ("items", "factor", "total", "seen"), ("total",)),
        ("accumulator in a loop", 6, ("price",), ("price",)),
        ("always returns", 3, ("items",), ()),
    ],
)
def test_what_goes_in_and_out(
    sample: str, first: int, parameters: tuple[str, ...], results: tuple[str, ...]
) -> None:
    source = textwrap.dedent(SAMPLES[sample]).lstrip("\n")
    symbol = function_in(source)
    lines = split_lines(source)
    function = parse_function(lines, symbol.top)
    assert function is not None
    found = [(s.first, s.parameters, s.results) for s in extractions(function, lines)]
    assert (first, parameters, results) in found, found


@table(
    "sample",
    ["closure sees a later value", "handler sees what was bound"],
    ids=["closure", "handler"],
)
def test_what_cannot_be_moved_is_not_planned(sample: str) -> None:
    source = textwrap.dedent(SAMPLES[sample]).lstrip("\n")
    assert python_extractions(function_in(source), split_lines(source)) == []


@table(
    ("line", "planned"),
    [
        ("yield item", False),
        ("print(locals())", False),
        ("super().close()", False),
        ("warnings.warn('old', stacklevel=2)", False),
        ("print(inspect.stack())", False),
        ("print(sys._getframe(1))", False),
        ("logging.info('x', stacklevel=2)", False),
        ("return item", False),
        ("del item", False),
        ("await item", True),
        ("print(item)", True),
    ],
)
def test_constructs_that_mean_something_else_elsewhere(line: str, planned: bool) -> None:
    body = "        for item in self.rows:\n            if item:\n                self.a(item)\n"
    body += f"            {line}\n            self.send(item)\n"
    after = "".join(f"        self.{name}()\n" for name in "cdefg")
    source = f"class A:\n    async def f(self):\n{body}{after}"
    text = plan("python", function_in(source), split_lines(source)) or ""
    assert ("Move lines 3 to 7" in text) == planned
    assert (
        "async def _send_rows(self):" in text and "await self._send_rows()" in text
    ) == (line == "await item")


@table(("taken", "planned"), [("cls.a", True), ("cls._send_rows", False)])
def test_class_methods_and_names_in_use(taken: str, planned: bool) -> None:
    body = f"        for item in cls.rows:\n            if item:\n                {taken}(item)\n"
    body += "            cls.b(item)\n            cls.send(item)\n"
    source = f"class A:\n    @classmethod\n    def f(cls):\n{body}        cls.c()\n        cls.d()\n        cls.e()\n"
    text = plan("python", function_in(source), split_lines(source)) or ""
    assert ("class method `_send_rows`" in text) == planned
    assert ("`@classmethod def _send_rows(cls):`" in text) == planned


PIECES = st.sampled_from(
    [
        "x = a\n",
        "b += x\n",
        "if x:\n",
        "elif b:\n",
        "else:\n",
        "for x in a:\n",
        "while b:\n",
        "break\n",
        "return b\n",
        "try:\n",
        "except E as x:\n",
        "with a as b:\n",
        "lambda: x\n",
        "yield\n",
        "match a:\n",
        "case [x]:\n",
        "b = [x for x in a]\n",
        "async def g():\n",
        "nonlocal x\n",
        "'''\n",
        "(\n",
        "x: int\n",
        "# note here\n",
        "\n",
        "a; b\n",
        "\u2028x\n",
        "�\n",
    ]
)


@given(st.lists(st.tuples(st.integers(0, 4), PIECES), max_size=30), st.booleans())
@settings(max_examples=200, deadline=None)
def test_any_function_gives_a_plan_or_none(
    pieces: list[tuple[int, str]], method: bool
) -> None:
    body = "".join("    " * (depth + 1) + piece for depth, piece in pieces)
    source = f"def f(a, b):\n{body}    return a\n"
    for symbol in symbols_of(Trees(), "python", source):
        if symbol.is_function:
            steps = python_extractions(symbol, split_lines(source))
            assert all(symbol.line < s.first <= s.last <= symbol.end_line for _, s in steps)


def test_deep_nesting_gives_no_plan() -> None:
    source = (
        "def f(a):\n    if a:\n        x = "
        + "(" * 3000
        + ")" * 3000
        + "\n    return "
        + "-" * 50_000
        + "a\n"
    )
    assert plan("python", function_in(source), split_lines(source)) is None
    with pytest.raises((SyntaxError, RecursionError, MemoryError)):
        ast.parse(source)
