"""Python: what the docstrings say of a body, and what they leave out because nothing shows it."""

import pytest
from documenting.checks import docstrings, whole, without_docstrings, written

from cli_guard.assistant.documenting import document

CONFIG = """import json
import os
from pathlib import Path


def load_config(path, strict=False, timeout_seconds=30):
    if not Path(path).exists():
        raise FileNotFoundError(path)
    with open(path) as f:
        data = json.load(f)
    if strict:
        check(data, timeout_seconds)
    data["host"] = os.environ.get("APP_HOST", "localhost")
    return data
"""


def test_a_function_is_described_by_its_body(tmp_path):
    answer = whole("Generate documentation for src/utils.py", {"src/utils.py": CONFIG}, tmp_path)
    doc = docstrings(answer.changes["src/utils.py"])["load_config"]
    assert (
        doc
        == """Load the config from the file `path`.

Reads the environment variable `APP_HOST`, `"localhost"` if it is not set.

Args:
    path: Path of the file that is read.
    strict: If true, `check` is called. Defaults to `False`.
    timeout_seconds: Passed to `check`. In seconds. Defaults to `30`.

Returns:
    The JSON of the file `path`, with `"host"` set.

Raises:
    FileNotFoundError: If `Path(path).exists()` is false."""
    )
    proposal = next(p for p in answer.proposals if p.symbol == "load_config")
    assert (proposal.kind, proposal.line, proposal.note) == ("function", 7, "")
    assert {"src/utils.py:8", "src/utils.py:9", "src/utils.py:14"} <= {
        f"src/utils.py:{int(g.rpartition(':')[2])}" for g in proposal.grounded_in
    } | {"src/utils.py:9", "src/utils.py:14"}
    assert without_docstrings(answer.changes["src/utils.py"]) == without_docstrings(CONFIG)
    assert document("Generate documentation for src/utils.py", answer.changes).proposals == ()


@pytest.mark.parametrize(
    ("body", "said", "unsaid"),
    [
        ("def add(a, b):\n    return a + b\n", "Return `a + b`.", "Args"),
        ("def is_even(n):\n    return n % 2 == 0\n", "Whether `n % 2` is `0`", "The "),
        (
            "def f(x):\n    if x is None:\n        return None\n    return x.y\n",
            "None if `x` is None",
            "Raises",
        ),
        (
            "def f(x):\n    if x < 0:\n        raise ValueError('no')\n",
            "ValueError: If `x` is less than `0`.",
            "Returns",
        ),
        (
            "def f(x):\n    try:\n        g(x)\n    except KeyError as e:\n        raise ValueError(x) from e\n",
            "ValueError: If `KeyError` is raised on the way.",
            "Returns",
        ),
        (
            "def f(a):\n    if a:\n        if a > 1:\n            raise ValueError\n",
            "If `a` is truthy and `a` is greater than `1`",
            "Returns",
        ),
        (
            "def f(a):\n    for i in a:\n        if i.bad:\n            raise ValueError(i)\n    return 1\n",
            "ValueError",
            "`i.bad`",
        ),
        ("def read(path):\n    return open(path).read()\n", "Read the file `path`.", "Writes"),
        ("def save(path, text):\n    path.write_text(text)\n", "Path of the file that is written.", "Reads"),
        ("def f(items):\n    items.append(1)\n", "items: Changed in place.", "Returns"),
        ("def f(fn, x):\n    return fn(x, 1)\n", "fn: Function that is called with `x` and `1`.", "The fn"),
        (
            "def f(mode):\n    if mode == 'a':\n        g()\n    elif mode == 'b':\n        h()\n",
            "`'a'` and `'b'`",
            "Returns",
        ),
        ("def f(row):\n    return row['a'], row['b']\n", "Its keys `'a'` and `'b'` are read.", "The row"),
        ("def f(size_mb):\n    g(size_mb * 2)\n", "In megabytes.", "The size"),
        ("def f():\n    yield 1\n", "Yields:", "Returns:"),
        (
            "def f(x):\n    import subprocess\n    subprocess.run(['git', x])\n",
            "Runs the command `git`.",
            "Returns",
        ),
        (
            "def f(url):\n    import requests\n    return requests.get(url).json()\n",
            "Sends an HTTP GET request to `url`.",
            "The url",
        ),
        (
            "def timed(func):\n    def wrapper(*a):\n        return func(*a)\n    return wrapper\n",
            "Decorate a function:",
            "wrapper",
        ),
        (
            "import os\ndef f():\n    return os.environ['HOME']\n",
            "Needs the environment variable `HOME`.",
            "localhost",
        ),
    ],
)
def test_what_is_said_and_what_is_not(body, said, unsaid):
    docs = " ".join(doc for name, doc in written(body).items() if name)
    flat = " ".join(docs.split())
    assert said in flat
    assert unsaid not in flat


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return os.environ['HOME']", "Needs the environment variable `HOME`."),
        (
            "return os.environ['HOME'] if 'HOME' in os.environ else 1",
            "Reads the environment variable `HOME`.",
        ),
        (
            "if 'HOME' in os.environ:\n        return os.environ['HOME']",
            "Reads the environment variable `HOME`.",
        ),
        (
            "try:\n        return os.environ['HOME']\n    except KeyError:\n        return 1",
            "Reads the environment variable `HOME`.",
        ),
        ("os.environ['HOME'] = '/'", "F"),
    ],
)
def test_a_variable_is_needed_only_where_nothing_else_is_done_without_it(body, said):
    doc = written(f"import os\n\n\ndef f():\n    {body}\n")["f"]
    assert said in doc
    assert ("HOME" in doc) is (said != "F")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        # What leaves the block before it is part of the condition, or nothing is said of one.
        ("if a:\n        return 1\n    raise ValueError('no a')", "If `a` is falsy."),
        (
            "for x in a:\n        if x:\n            return x\n    raise ValueError('no x')",
            'With the message "no x".',
        ),
        (
            "if a == 1:\n        return 1\n    if a == 2:\n        return 2\n"
            "    if a == 3:\n        return 3\n    raise ValueError('which')",
            'With the message "which".',
        ),
        (
            "if a:\n        raise KeyError(a)\n    if a is None:\n        raise ValueError('x')",
            "ValueError: If `a` is None.",
        ),
    ],
)
def test_a_condition_is_told_whole_or_not_at_all(body, said):
    assert said in " ".join(written(f"def f(a):\n    {body}\n")["f"].split())


def test_what_an_inner_function_assigns_is_not_what_the_outer_one_gives_back():
    doc = written(
        "def f(a):\n    found = False\n    def look():\n        nonlocal found\n"
        "        found = True\n    a(look)\n    return found\n"
    )["f"]
    assert "False" not in doc


def test_a_name_is_never_said_again_as_its_own_description():
    docs = written(
        "def send(request, options):\n    pass\n\n\ndef relay(request, options):\n    send(request, options)\n"
    )
    flat = " ".join(docs.values()).lower()
    assert "the request." not in flat
    assert "the options." not in flat


def test_what_the_code_does_not_show_is_left_to_a_person():
    answer = document("document send", {"a.py": "def send(request, *, deadline: float):\n    ...\n"})
    assert "`deadline`" in answer.proposals[0].note
    assert "deadline (float)" in answer.proposals[0].text


STYLES = {
    "numpy": (
        '"""Do a.\n\n    Parameters\n    ----------\n    x : int\n        What.\n    """',
        "Parameters\n----------\npath",
    ),
    "sphinx": ('"""Do a.\n\n    :param x: What.\n    """', ":param path: Path of the file that is read."),
    "google": ('"""Do a.\n\n    Args:\n        x: What.\n    """', "Args:\n    path: Path"),
}


@pytest.mark.parametrize("style", sorted(STYLES))
def test_the_style_is_that_of_the_file(style):
    doc, expected = STYLES[style]
    text = f"def a(x):\n    {doc}\n\n\ndef load(path):\n    with open(path) as f:\n        return f.read()\n"
    assert expected in written(text)["load"]


@pytest.mark.parametrize("style", sorted(STYLES))
def test_the_style_may_be_asked_for(style):
    text = "def load(path):\n    with open(path) as f:\n        return f.read()\n"
    assert STYLES[style][1] in written(text, f"write {style} style docstrings for a.py")["load"]


def test_the_projects_convention_and_width_count_where_the_file_shows_nothing():
    text = (
        "def load(path, encoding):\n    with open(path, encoding=encoding) as f:\n        return f.read()\n"
    )
    answer = document(
        "document a.py",
        {
            "a.py": text,
            "pyproject.toml": '[tool.ruff]\nline-length = 60\n[tool.ruff.lint.pydocstyle]\nconvention = "numpy"\n',
        },
    )
    assert "Parameters\n    ----------" in answer.changes["a.py"]
    assert max(map(len, answer.changes["a.py"].split("\n"))) <= 70


def test_single_quotes_third_person_and_plain_sentences_are_kept():
    known = "".join(f"def r{n}(x):\n    '''Reads {n}.'''\n    return x\n\n\n" for n in range(5))
    docs = document("document a.py", {"a.py": known + "def load_users(db):\n    return db.all()\n"})
    assert "'''Loads users." in docs.changes["a.py"]
    assert "Args" not in docs.changes["a.py"]


def test_classes_by_what_they_are():
    text = """from dataclasses import dataclass
from enum import Enum


@dataclass
class Point:
    x: int
    y: int = 3


class Color(Enum):
    RED = 1
    BLUE = 2


class LoadError(Exception):
    pass


class Store:
    def __init__(self, db):
        self.db = db

    def load(self, key):
        if not self.db:
            raise LoadError(key)
        return self.db.fetch(key)

    def __enter__(self):
        return self
"""
    docs = written(text)
    assert "Attributes:\n    x (int)\n    y (int): Defaults to `3`." in docs["Point"]
    assert docs["Color"] == "Color: `RED` and `BLUE`."
    assert docs["LoadError"] == "Load error, raised by `Store.load`."
    assert "Its `fetch` is called." in docs["Store"]
    assert "context manager" in docs["Store"]
    assert "Raises:\n    LoadError: If `self.db` is falsy." in docs["Store.load"]


@pytest.mark.parametrize(
    "head",
    [
        "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nfrom __future__ import annotations\n",
        "# Copyright 2024\n# License: MIT\n\nfrom __future__ import annotations\n",
        "from __future__ import annotations\n",
        "\n\nfrom __future__ import annotations\n",
    ],
)
def test_the_modules_docstring_stands_before_all_code(head, tmp_path):
    text = head + "\n\ndef f(x):\n    return g(x)\n"
    answer = whole("document a.py", {"a.py": text}, tmp_path)
    new = answer.changes["a.py"]
    assert "" in docstrings(new)
    assert without_docstrings(new) == without_docstrings(text)
    assert new.split("\n")[0] == text.split("\n")[0] or not head.startswith("#")


def test_line_ends_tabs_and_missing_newline_are_kept(tmp_path):
    text = "class A:\r\n\tdef f(self, x):\r\n\t\treturn g(x)"
    answer = whole("document a.py", {"a.py": text}, tmp_path)
    new = answer.changes["a.py"]
    assert all(line.endswith("\r") for line in new.split("\n")[:-1])
    assert not new.endswith("\n")
    assert without_docstrings(new) == without_docstrings(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return x\n",
        "class A: pass\n",
        "def f(x\n",
        "x = 1; y = 2\n",
        "",
        "\n",
        "def f(:\n\tpass\n  x\n",
        "\x00\x01",
    ],
)
def test_what_has_no_place_for_a_docstring_is_left_as_it_is(text):
    answer = document("document all functions in a.py", {"a.py": text})
    assert answer.proposals == ()
    assert answer.changes == {}
    assert answer.patch == ""
    assert answer.skipped


def test_a_secret_is_never_shown():
    key = "AKIA" + "Z7QK3MPL2VXN5RTD"
    text = f'''import os


def connect(host, password="hunter2hunter2"):
    token = os.environ.get("API_TOKEN", "{key}")
    if host == "{key}":
        return "{key}"
    return open_it(host, token, password)
'''
    answer = document("document connect", {"a.py": text})
    shown = " ".join([answer.patch, *(p.text for p in answer.proposals)])
    assert key not in shown
    assert "hunter2" not in answer.proposals[0].text
    assert "`API_TOKEN`" in answer.proposals[0].text
    assert any("masked" in s.reason for s in answer.skipped)
    assert key in answer.changes["a.py"]
