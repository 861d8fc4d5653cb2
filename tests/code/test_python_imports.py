"""Which files of a repository a Python file imports, in each form that an import can be written."""

from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.code.python_imports import Imported, ImportStatement, PythonImports

TEXTS = {
    "src/shop/__init__.py": "from .cart import Cart as Basket\nfrom shop.tax import *\nfrom . import cart\n",
    "src/shop/cart.py": "class Cart:\n    pass\n",
    "src/shop/tax.py": "RATE: float = 0.2\ndef add_tax(x): ...\n_hidden = 1\n",
    "src/shop/deep/inner.py": "",
    "tests/helpers.py": "",
}


def imported(
    text: str, path: str = "tests/test_shop.py"
) -> dict[str, tuple[set[str], str]]:
    found = PythonImports(TEXTS | {path: text}).imports_of(path)
    return {each.path: (set(each.names), each.through) for each in found}


@table(
    ("text", "path", "names"),
    [
        ("import shop.cart\nshop.cart.Cart()", "src/shop/cart.py", {"Cart"}),
        ("import shop.cart as c, json\nc.Cart(); abc.No", "src/shop/cart.py", {"Cart"}),
        ("from shop import cart\ncart.Cart", "src/shop/cart.py", {"Cart"}),
        ("from shop.cart import Cart", "src/shop/cart.py", {"Cart"}),
        ("from shop.tax import (\n    add_tax,  # one\n    RATE as r,\n)", "src/shop/tax.py", {"add_tax", "RATE"}),
        ("from shop.tax import add_tax, \\\n    RATE", "src/shop/tax.py", {"add_tax", "RATE"}),
        ("def f():\n    from src.shop.tax import RATE", "src/shop/tax.py", {"RATE"}),
        ("from .helpers import x", "tests/helpers.py", {"x"}),
        ("from ..src.shop.deep import inner", "src/shop/deep/inner.py", set()),
        ("from shop.cart import *", "src/shop/cart.py", {"*"}),
    ],
)  # fmt: skip
def test_an_import_leads_to_its_file(text: str, path: str, names: set[str]) -> None:
    assert imported(text)[path] == (names, "")


@table(
    "text",
    [
        "import json",
        "from ....x import y",
        "from shopping import cart",
        "important = shop.cart",
        "",
    ],
)
def test_what_is_not_of_the_repository_is_left_out(text: str) -> None:
    assert imported(text) == {}


def test_a_name_that_a_package_hands_on_leads_to_both_files() -> None:
    assert imported("from shop import Basket, add_tax") == {
        "src/shop/__init__.py": ({"Basket", "add_tax"}, ""),
        "src/shop/cart.py": ({"Basket"}, "src/shop/__init__.py"),
        "src/shop/tax.py": ({"add_tax"}, "src/shop/__init__.py"),
    }
    assert imported("import shop\nshop.RATE")["src/shop/tax.py"] == (
        {"RATE"},
        "src/shop/__init__.py",
    )


def test_exports_are_what_the_package_takes_and_no_submodule() -> None:
    exports = PythonImports(TEXTS).exports_of("src/shop/__init__.py")
    assert exports == {
        "Basket": "src/shop/cart.py",
        "RATE": "src/shop/tax.py",
        "add_tax": "src/shop/tax.py",
    }


def test_of_two_files_of_one_name_the_nearest_is_meant() -> None:
    imports = PythonImports(
        TEXTS | {"tools/shop/__init__.py": "", "tools/shop/cart.py": ""}
    )
    assert imports.find_module("shop.cart", "tools/run.py") == "tools/shop/cart.py"
    assert imports.find_module("shop.cart", "src/shop/tax.py") == "src/shop/cart.py"
    assert imports.find_module("shop.none", "src/shop/tax.py") is None


def test_packages_that_import_each_other_end() -> None:
    texts = {
        "a/__init__.py": "from b import *\nfrom b import x\n",
        "b/__init__.py": "from a import *\nx = 1\n",
    }
    found = PythonImports(texts | {"t.py": "from a import x"}).imports_of("t.py")
    assert Imported("b/__init__.py", frozenset({"x"}), "a/__init__.py") in found


def test_statements_are_given_as_they_are_written() -> None:
    texts = {"p/m.py": "import a.b as c\nfrom . import (x as y)\n"}
    assert PythonImports(texts).statements_of("p/m.py") == [
        ImportStatement("a.b", None, "c"),
        ImportStatement("p", (("x", "y"),)),
    ]


@settings(max_examples=200, deadline=None)
@given(st.text("import from as.\n\t(),;#\\*ab", max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    imports = PythonImports(TEXTS | {"src/shop/new.py": text})
    assert all(each.path in imports.texts for each in imports.imports_of("src/shop/new.py"))
