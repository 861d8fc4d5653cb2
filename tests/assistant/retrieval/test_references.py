"""Where a name is defined, imported, called, used and mentioned."""

import pytest
from examples import table

from cli_guard.assistant.retrieval import find_references
from cli_guard.errors import UsageError

TEXTS = {
    "a.py": "class Box:\n    def open(self):\n        return self.shut()\n    def shut(self): pass\n",
    "b.py": "from a import Box\n# Box is a box\nbox = Box()\nother = Box\nbox.open()\nopen('x')\ntext = 'Box'\n",
    "c.go": "package c\nfunc Box() int { return 1 }\nvar x = Box()\n",
    "d.md": "Use `Box` to hold things. Boxes are not it.\n",
}


def found(name: str) -> list[tuple[str, int, str]]:
    return [
        (each.path, each.line, each.kind)
        for each in find_references(name, TEXTS).references
    ]


def test_definitions_come_first_then_imports_calls_uses_mentions() -> None:
    assert found("Box") == [
        ("a.py", 1, "definition"),
        ("c.go", 2, "definition"),
        ("b.py", 1, "import"),
        ("b.py", 3, "call"),
        ("c.go", 3, "call"),
        ("b.py", 4, "use"),
        ("b.py", 2, "mention"),
        ("b.py", 7, "mention"),
        ("d.md", 1, "mention"),
    ]


def test_a_dotted_name_asks_for_its_owner() -> None:
    assert found("Box.shut") == [("a.py", 4, "definition"), ("a.py", 3, "call")]
    assert ("b.py", 6, "call") not in found("Box.open")


def test_columns_count_characters_from_one() -> None:
    (first, *_) = find_references("f", {"a.py": "é = 'é'; f = 1\n"}).references
    assert (first.line, first.column) == (1, 10)


@table("name", ["", "a b", "a.", "1x", "rm -rf", "x" * 10 + "()"])
def test_what_is_no_name_is_an_error(name: str) -> None:
    with pytest.raises(UsageError):
        find_references(name, TEXTS)


def test_what_a_bound_leaves_out_is_named() -> None:
    looked = find_references("f", {"a.py": "f()\n" * 2_000, "b.py": "f()\n"})
    assert [each.path for each in looked.skipped] == ["a.py"]
    many = {f"{at}.py": "f()\n" + "# long\n" * 50_000 for at in range(30)}
    assert find_references("f", many).skipped[0].asks
