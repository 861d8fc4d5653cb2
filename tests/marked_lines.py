"""Programs whose lines say by themselves what a test expects: a line that ends with BAD is reached, and no other."""

from collections.abc import Iterable

from cli_guard.code.syntax import Trees
from cli_guard.code.taint.flows import Flow, find_flows
from cli_guard.code.taint.tables import tables_of


def flows_in_program(language: str, text: str) -> list[Flow]:
    """Return the flows that the tables of a language see in a program."""
    tables = tables_of(language)
    assert tables is not None
    return find_flows(Trees().root(language, text), language, text, tables)


def assert_marked(text: str, found: Iterable[Flow]) -> None:
    """Assert that flows end at the lines that are marked, and at no others."""
    lines = text.split("\n")
    reached = {lines[flow.line - 1] for flow in found}
    assert reached == {line for line in lines if line.endswith("BAD")}
