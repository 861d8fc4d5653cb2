"""A request in the plural is about a set of definitions: each of them is proposed, and what is left is counted."""

import pytest

from cli_guard.assistant.documenting import document
from cli_guard.assistant.documenting.document import MOST

FILES = {
    "src/a.py": "def join(x):\n    pass\n\n\nclass Page:\n    def show(self):\n        ...\n\nclass _Cell:\n    pass\n",
    "src/signer/keys.py": "class Key:\n    def sign(self, text):\n        return text\n",
    "lib/date.ts": "export function parse(a: string): number { return 1 }\nfunction hidden() {}\n",
    "tests/test_a.py": "class TestJoin:\n    def test_one(self):\n        pass\n",
}
FUNCTIONS = {"join", "Page.show", "Key.sign", "parse"}


@pytest.mark.parametrize(
    ("request_", "symbols"),
    [
        ("add docstrings to exported functions that lack them", FUNCTIONS),
        ("document the public functions", FUNCTIONS),
        ("document all public classes in src/", {"Page", "Key"}),
        ("docstrings for whatever public class has none in src", {"Page", "Key"}),
        ("document every class", {"Page", "Key"}),
        ("all exported functions in lib/date.ts want doc comments", {"parse"}),
        ("write docs for the signer module's public classes", {"Key"}),
        ("document the signer package", {"", "Key", "Key.sign"}),
        # One definition, a class with its methods, a name that is not there.
        ("document the function join", {"join"}),
        ("document the methods of Page", {"Page", "Page.show"}),
        ("document the function missing_one", set()),
        ("document the sparkling module", set()),
    ],
)
def test_the_set_that_is_asked_for(request_: str, symbols: set[str]) -> None:
    assert {each.symbol for each in document(request_, FILES).proposals} == symbols


def test_a_big_set_is_cut_and_counted() -> None:
    text = "".join(
        f"def function_{number}():\n    return {number}\n\n\n"
        for number in range(MOST + 25)
    )
    made = document("document all functions", {"a.py": text, "b.py": text})
    assert len(made.proposals) == MOST
    reasons = [each.reason for each in made.skipped]
    assert any(each.startswith("25 more without documentation") for each in reasons)
    assert any(each.startswith("1 more files from here on") for each in reasons)
