"""Rules for the tests themselves."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from examples import examples, near_misses

TESTS = Path(__file__).parent
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time_ns"}

# Most files name none, and are not parsed.
CLOCK = re.compile(rf"\b(?:{'|'.join(CLOCKS)}|time\s*\.\s*time)\b")


def is_clock(node: ast.AST) -> bool:
    """Return whether a node is a call of a clock that runs on while a test waits for the processor."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func
    if isinstance(name, ast.Attribute):
        is_time = isinstance(name.value, ast.Name) and name.value.id == "time"
        return name.attr in CLOCKS or (is_time and name.attr == "time")
    return isinstance(name, ast.Name) and name.id in CLOCKS


def find_timed_assertions(text: str) -> Iterator[int]:
    """Yield the lines of assertions about a clock, or about a name that was set from one in the same function.

    Waiting with patience asserts nothing: see `watching.eventually`. Nor does `faulthandler_timeout`, which ends a
    test that hangs. `watching.cpu_seconds` is for work that must not grow.
    """
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = [*ast.walk(function)]
        read = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and any(map(is_clock, ast.walk(node.value)))
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Assert) and any(
                is_clock(each) or (isinstance(each, ast.Name) and each.id in read)
                for each in ast.walk(node.test)
            ):
                yield node.lineno


def test_no_test_asserts_a_time() -> None:
    found = [
        f"{path.relative_to(TESTS)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if CLOCK.search(text := path.read_text("utf-8"))
        for line in find_timed_assertions(text)
    ]
    assert not found, "count steps, or use watching.cpu_seconds"


BEGAN = "def f():\n    began = time.monotonic()\n    work()\n"


@examples(
    "text",
    [
        f"{BEGAN}    assert time.monotonic() - began < 5\n",
        f"{BEGAN}    took = time.perf_counter() - began\n    assert took < 5\n",
        "def f():\n    until = time.time() + 60\n    assert until\n",
        "async def f():\n    assert perf_counter() < 5, 'late'\n",
    ],
)
def test_a_time_is_found(text: str) -> None:
    assert list(find_timed_assertions(text)) == [text.count("\n")]


@near_misses(
    "text",
    [
        f"{BEGAN}    while time.monotonic() < began + 60:\n        assert holds()\n",
        "def f():\n    began = time.process_time()\n    assert time.process_time() - began < 5\n",
        "def f():\n    assert review.time() == commit.time\n",
    ],
)
def test_patience_is_no_assertion(text: str) -> None:
    assert list(find_timed_assertions(text)) == []
