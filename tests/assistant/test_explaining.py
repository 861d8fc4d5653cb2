"""Explanations of files, folders, names, commits and commands; and requests that only look like one for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import guard
from repositories import Repo, key
from watching import cpu_seconds

from cli_guard.assistant.explaining import MOST_LINES, explain, read_explained

SHOP = {
    "README.md": "# Shop\n\n[![badge](x)](y)\n\nA shop that sells tea to people.\n",
    "shop/__init__.py": '"""The shop."""\n\nfrom shop.cart import Cart\n',
    "shop/cart.py": "#!/usr/bin/env python3\n# Copyright 2026 Ada\n# Licensed under MIT.\n\n"
    '"""What a customer wants to buy.\n\nMore words.\n"""\n\nimport json\nfrom urllib.parse import urlsplit\n\n'
    "from shop.prices import price_of\n\ntry:\n    from fastlib import total\nexcept ImportError:\n\n"
    "    def total(items): ...\n\n\nLIMIT = 20\n\n\nclass Cart:\n"
    '    """Items with their number. It is never empty."""\n\n'
    '    def add(self, item: str,\n            count: int = 1) -> None:\n'
    '        """Add some of an item."""\n        if item == "gift-card":\n            raise ValueError(item)\n'
    "        self._store(item, price_of(item), urlsplit(item).path.get(item))\n\n"
    "    def _store(self, *what):\n        pass\n\n\n"
    "def _hidden():\n    pass\n\n\ndef load(path):\n    return Cart().add(json.load(path))\n",
    "shop/prices.py": '"""Prices of items."""\n\n\ndef price_of(item):\n    return 1\n\n\n'
    'def get(item):\n    return 2\n',
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_add():\n    Cart().add('a')\n",
    "web/index.js": "// Draws the page.\nimport { draw } from './draw.js'\nimport fs from 'node:fs'\n"
    "export function page(cart) {\n  return draw(cart)\n}\n",
    "web/draw.js": "/**\n * Draws one cart.\n */\nexport function draw(cart) {\n  return cart\n}\n",
    "go.mod": "module example.org/shop\n",
    "main.go": '// Command shop serves the shop.\npackage main\n\n'
    'import (\n\t"fmt"\n\n\t"example.org/shop/store"\n)\n\n'
    "func main() {\n\tfmt.Println(store.Open())\n}\n",
    "store/store.go": "// Package store keeps orders.\npackage store\n\n"
    "// Open opens it.\nfunc Open() int {\n\treturn 1\n}\n",
    "src/lib.rs": "//! Counts tea.\nmod leaf;\n\n/// Count all leaves.\npub fn count() -> u32 {\n    leaf::one()\n}\n",
    "src/leaf.rs": "pub fn one() -> u32 {\n    1\n}\n",
    "java/org/shop/Order.java": "package org.shop;\n\nimport org.shop.Line;\nimport java.util.List;\n\n"
    "/** An order. */\npublic class Order {\n    public Line first() { return new Line(); }\n}\n",
    "java/org/shop/Line.java": "package org.shop;\n\npublic class Line {}\n",
    "settings.toml": 'description = "Settings of the shop"\n[cart]\nlimit = 3\n',
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "shows", "never"),
    [
        (
            "shop/cart.py",
            "What a customer wants to buy.|line 25: class Cart - Items with their number.|methods: add, _store"
            "|LIMIT = 20"
            "|imports: shop/prices.py|from outside: json, urllib, fastlib|imported by: shop/__init__.py"
            "|tests: tests/test_cart.py",
            "def total|_hidden|Copyright|More words|never empty",
        ),
        ("cart.py", "shop/cart.py (", "prices of"),
        ("shop/__init__.py", "The shop.|re-exports: Cart", ""),
        ("shop", "shop/ (3 files): The shop.|shop/prices.py: Prices of items.", "java"),
        (".", "A shop that sells tea|web/|settings.toml: Settings of the shop", "badge"),
        ("web/index.js", "Draws the page.|imports: web/draw.js|from outside: node:fs|function page(cart)", ""),
        ("main.go", "Command shop serves the shop.|imports: store/store.go|from outside: fmt", ""),
        ("store/store.go", "Package store keeps orders.|func Open() int - Open opens it.|imported by: main.go", ""),
        ("src/lib.rs", "Counts tea.|imports: src/leaf.rs|Count all leaves.", ""),
        ("java/org/shop/Order.java", "An order.|imports: java/org/shop/Line.java|java.util", ""),
        (
            "Cart.add",
            "def add(self, item: str, count: int = 1) -> None  (in Cart)|Add some of an item."
            "|calls: Cart._store (line 35)"
            "|price_of (shop/prices.py:4)|from outside: urlsplit|raises: ValueError|compares with: gift-card"
            "|used in shop/cart.py: load (line 44)|tests: tests/test_cart.py",
            "get (",
        ),
        ("Cart", "class Cart|Items with their number. It is never empty.|not public: _store|load (line 44)", ""),
        ("draw", "web/draw.js:4-6|Draws one cart.|used in web/index.js: page (line 5)", ""),
        ("price_of", "used in shop/cart.py: Cart.add (line 33)", "compares"),
        ("nothing", "", "."),
        ("total", "", "."),
    ],
)  # fmt: skip
def test_explains(name: str, shows: str, never: str) -> None:
    out = "\n".join(explain(SHOP, name))
    for text in filter(None, shows.split("|")):
        assert text in out, out
    for text in filter(None, never.split("|")):
        assert text not in out, out


def test_the_definition_that_is_meant() -> None:
    both = {
        "a/one.py": "def merge(): ...\n",
        "b/settings.py": "def merge(): ...\n",
        "tests/t.py": "def merge(): ...\n",
    }
    assert explain(both, "merge")[0].startswith("a/one.py:1")
    assert explain(both, "merge", ("settings",))[0].startswith("b/settings.py:1")
    assert "also defined: b/settings.py:1, tests/t.py:1" in "\n".join(
        explain(both, "merge")
    )


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ("hey, could you explain src/a.py to me?", "src/a.py"),
        ("What does merge() in settings do, step by step", "merge"),
        ("walk me through App.dispatch", "App.dispatch"),
        ("explain the Signer class", "Signer"),
        ("what is setKey doing in index.js?", "setKey"),
        ("what is src/x.py for", "src/x.py"),
        ("derive_key: what is it for?", "derive_key"),
        ("What's Signer?", "Signer"),
        ("what is the timeout?", None),
        ("What does fetch return?", None),
        ("what is the default timeout of fetch()", None),
        ("what is the default of limits.files", None),
        ("explain how fetch retries", None),
        ("walk me through the checkout process", None),
        ("explain redact please", "redact"),
        ("explain the difference between get and put", None),
        ("Where is run defined?", None),
        ("what are the settings of the cache", None),
        ("rename slug to slugify", None),
    ],
)
def test_what_is_a_request_to_explain(request_: str, name: str | None) -> None:
    found = read_explained(request_)
    assert (found[0] if found else None) == name


@given(
    st.text(max_size=300), st.sampled_from(("explain ", "what does ", "", "x.py: what is "))
)
def test_any_request_is_read(text: str, start: str) -> None:
    read_explained(start + text)


@given(st.sampled_from(list(SHOP)), st.text(max_size=200))
def test_any_file_is_explained(path: str, text: str) -> None:
    lines = explain({**SHOP, path: text + SHOP[path]}, path)
    assert lines and len(lines) <= MOST_LINES


def test_hostile_files_are_explained_in_time() -> None:
    texts = {f"p/m{n}.py": f"import p.m{n - 1}\ndef f{n}(): ...\n" for n in range(2_000)}
    texts |= {
        "long.py": "x = '" + "a" * 1_000_000 + "'\n",
        "many.js": "import a from './b'\n" * 50_000,
    }
    texts |= {"c.py": "# \n" * 100_000, "d.py": '"""' + "word " * 200_000}
    with cpu_seconds(20):
        for name in ("long.py", "many.js", "c.py", "d.py", "p", "f7", "p/m7.py"):
            assert explain(texts, name)


def test_on_the_command_line(committed: Repo) -> None:
    committed.commit("Add the shop", {**SHOP})
    cases = (
        ("explain rm -rf ./build", "review  deletes|rm -r: remove folders"),
        ("explain git push --force", "--force-with-lease|replace the branch"),
        ("explain shop/cart.py", "What a customer wants"),
        ("explain --rev HEAD Cart.add", "Add some of an item"),
        ("explain HEAD", "Add the shop|files:"),
        ("explain secret-password", "Why it matters"),
    )
    for argv, shows in cases:
        with committed.unchanged():
            done = guard(committed, *argv.split())
        assert (done.code, done.err) == (0, ""), done.all
        assert all(text in done.out for text in shows.split("|")), done.out
    for argv in (
        "explain secret-pasword",
        "explain shop/cort.py",
        "explain ../x",
        "explain nothing at all",
    ):
        done = guard(committed, *argv.split())
        assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1), done.all
    assert "near: rule secret-password" in guard(committed, "explain", "secret-pasword").err
    assert "near: shop/cart.py" in guard(committed, "explain", "shop/cort.py").err


def test_ask_explains_or_answers_otherwise(committed: Repo) -> None:
    secret = key()
    committed.commit(
        "Add the shop", {**SHOP, "conf.py": f'"""Has {secret}."""\nTOKEN = "{secret}"\n'}
    )
    assert "Items with their number" in guard(committed, "ask", "what does Cart do?").out
    assert "-l  " in guard(committed, "ask", "explain `grep -rl x shop`").out
    assert "review: deletes" in guard(committed, "ask", "explain rm -rf ./build").out
    assert "price_of" in guard(committed, "ask", "where is price_of defined?").out
    shown = (
        guard(committed, "ask", "explain conf.py").all
        + guard(committed, "explain", "conf.py").all
    )
    assert "TOKEN" in shown and secret not in shown
