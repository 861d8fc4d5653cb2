"""Python: a skeleton has what stands in the signature and in the code, in the style of the file, and no words."""

import docstring_parser
from assistant.documenting.checks import (
    docstrings,
    fill_nothing,
    whole,
    without_docstrings,
    written,
)
from examples import table

from cli_guard.assistant.documenting.source import TODO
from cli_guard.assistant.tools import proposal_output
from cli_guard.graph.tools.tool import World

LOAD = """import json
from collections.abc import Iterator


def load(path, strict: bool = False, *names: str, mode="r", **rest) -> dict[str, int]:
    if not path:
        raise FileNotFoundError(path)
    if strict:
        raise errors.Broken(f"{path}")
    return json.loads(path)


def walk(depth: int = 3) -> Iterator[int]:
    yield depth
"""


def test_a_skeleton_says_what_the_signature_and_the_code_say(tmp_path):
    answer = whole(
        "Generate documentation for src/utils.py", {"src/utils.py": LOAD}, tmp_path
    )
    docs = docstrings(answer.changes["src/utils.py"])
    assert (
        docs["load"]
        == """TODO: describe.

Args:
    path: TODO: describe.
    strict (bool): TODO: describe. Defaults to False.
    *names (str): TODO: describe.
    mode: TODO: describe. Defaults to "r".
    **rest: TODO: describe.

Returns:
    dict[str, int]: TODO: describe.

Raises:
    FileNotFoundError: TODO: describe.
    errors.Broken: TODO: describe."""
    )
    assert docs["walk"].endswith("Yields:\n    TODO: describe.")
    assert docs[""] == TODO
    proposal = answer.proposals[1]
    assert (proposal.symbol, proposal.kind, proposal.line, proposal.note) == (
        "load",
        "function",
        6,
        LOAD.splitlines()[4],
    )
    assert without_docstrings(answer.changes["src/utils.py"]) == without_docstrings(LOAD)
    assert (
        fill_nothing("Generate documentation for src/utils.py", answer.changes).proposals
        == ()
    )


@table(
    ("body", "said", "unsaid"),
    [
        ("def f(a, b):\n    return a + b\n", "Returns:\n    TODO: describe.", "Raises"),
        ("def f(a) -> None:\n    return g(a)\n", "a: TODO", "Returns"),
        ("def f(a):\n    return None\n", "a: TODO", "Returns"),
        ("def f(a):\n    def g():\n        return 1\n    a(g)\n", "a: TODO", "Returns"),
        (
            "def f(a):\n    def g():\n        raise ValueError(a)\n    a(g)\n",
            "a: TODO",
            "Raises",
        ),
        ("def f(a):\n    a(lambda: (yield))\n", "a: TODO", "Yields"),
        ("def f() -> 'dict[str, int]':\n    return g()\n", "dict[str, int]: TODO", "'dict"),
        ("def f(a):\n    raise\n", "a: TODO", "Raises"),
        ("def f(a):\n    raise a\n", "a: TODO", "Raises"),
        ("def f(a):\n    raise NotImplementedError\n", "a: TODO", "Raises"),
        ("def f(a):\n    raise make_error(a)\n", "a: TODO", "Raises"),
        ("def f(a):\n    raise ValueError\n", "Raises:\n    ValueError: TODO", "Returns"),
        (
            "def f(a):\n    try:\n        raise KeyError(a)\n    except LookupError:\n        pass\n",
            "a: TODO",
            "Raises",
        ),
        (
            "def f(a):\n    try:\n        g(a)\n    except KeyError as e:\n        raise ValueError(a) from e\n",
            "ValueError: TODO",
            "KeyError",
        ),
        ("def f():\n    yield 1\n", "Yields:\n    TODO: describe.", "Returns"),
        (
            "def f(a=None, b=1_000, c=-1):\n    g(a)\n",
            "Defaults to None.",
            "a: TODO: describe.\n",
        ),
        (
            "def f(a=compute(1, 2, 3, 4, 5, 6, 7, 8, 9)):\n    g(a)\n",
            "a: TODO: describe.",
            "Defaults",
        ),
        ("def f(a='\\n'):\n    g(a)\n", "a: TODO: describe.", "Defaults"),
        ('def f(a=\'"""\'):\n    g(a)\n', "a: TODO: describe.", "Defaults"),
        (f"def f(a: {'x' * 80}):\n    g(a)\n", "a: TODO: describe.", "xx"),
        ("class A:\n    def f(self, x): \n        g(x)\n", "x: TODO", "self"),
        (
            "class A:\n    @classmethod\n    def f(cls, x): \n        g(x)\n",
            "x: TODO",
            "cls",
        ),
        (
            "class A:\n    @staticmethod\n    def f(x): \n        g(x)\n",
            "x: TODO",
            "Returns",
        ),
        (
            "class A:\n    @property\n    def f(self) -> int: \n        return 1\n",
            TODO,
            "Returns",
        ),
    ],
)
def test_what_is_said_and_what_is_not(body, said, unsaid):
    docs = "\n".join(doc for name, doc in written(body).items() if name)
    assert said in docs
    assert unsaid not in docs


STYLES = {
    "numpy": (
        '"""Do a.\n\n    Parameters\n    ----------\n    x : int\n        What.\n    """',
        "\n\nParameters\n----------\npath : str\n    TODO: describe. Defaults to 'a'.\n\n"
        "Returns\n-------\nTODO: type\n    TODO: describe.\n\nRaises\n------\nOSError\n    TODO: describe.",
    ),
    "sphinx": (
        '"""Do a.\n\n    :param int x: What.\n    """',
        "\n\n:param str path: TODO: describe. Defaults to 'a'.\n:returns: TODO: describe.\n"
        ":raises OSError: TODO: describe.",
    ),
    "google": (
        '"""Do a.\n\n    Args:\n        x (int): What.\n    """',
        "\n\nArgs:\n    path (str): TODO: describe. Defaults to 'a'.\n\nReturns:\n    TODO: describe.\n\n"
        "Raises:\n    OSError: TODO: describe.",
    ),
}
READ = "def load(path: str = 'a'):\n    if not path:\n        raise OSError\n    return open(path)\n"


@table("style", sorted(STYLES))
def test_the_style_is_that_of_the_file(style):
    doc, expected = STYLES[style]
    assert written(f"def a(x):\n    {doc}\n\n\n{READ}")["load"] == TODO + expected


@table("style", sorted(STYLES))
def test_the_style_may_be_asked_for(style):
    assert (
        written(READ, f"write {style} style docstrings for a.py")["load"]
        == TODO + STYLES[style][1]
    )


@table("style", sorted(STYLES))
def test_another_reader_finds_the_signature_in_the_skeleton(style):
    doc = written(LOAD, f"write {style} style docstrings for a.py")["load"]
    parsed = docstring_parser.parse(doc)
    assert [p.arg_name.lstrip("*") for p in parsed.params] == [
        "path",
        "strict",
        "names",
        "mode",
        "rest",
    ]
    assert parsed.params[1].type_name == "bool"
    assert [each.type_name or each.args[1] for each in parsed.raises] == [
        "FileNotFoundError",
        "errors.Broken",
    ]
    assert parsed.returns is not None


def test_the_types_stay_away_where_the_file_writes_none():
    text = f'def a(x):\n    """Do.\n\n    Args:\n        x: What.\n    """\n\n\n{READ}'
    assert "path: TODO" in written(text)["load"]


def test_quotes_and_plain_sentences_are_kept():
    known = "".join(
        f"def r{n}(x):\n    '''Reads {n}.'''\n    return x\n\n\n" for n in range(5)
    )
    docs = fill_nothing(
        "document a.py", {"a.py": known + "def load_users(db):\n    return db.all()\n"}
    )
    assert "    '''TODO: describe.'''\n" in docs.changes["a.py"]
    assert "Args" not in docs.changes["a.py"]


def test_the_first_line_stands_below_the_quotes_where_it_does_in_the_file():
    known = "".join(
        f'def r{n}(x):\n    """\n    Read.\n\n    Args:\n        x: It.\n    """\n\n\n'
        for n in range(3)
    )
    assert (
        '    """\n    TODO: describe.\n\n    Args:'
        in fill_nothing("document a.py", {"a.py": known + READ}).changes["a.py"]
    )


@table(
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
    assert "\r\n\t\tArgs:\r\n\t\t\tx: TODO" in new
    assert not new.endswith("\n")
    assert without_docstrings(new) == without_docstrings(text)


@table(
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
        "x = '\ud800'\ndef f(x):\n    return x\n",
    ],
)
def test_what_has_no_place_for_a_docstring_is_left_as_it_is(text):
    answer = fill_nothing("document all functions in a.py", {"a.py": text})
    assert answer.proposals == ()
    assert answer.changes == {}
    assert answer.patch == ""
    assert answer.skipped


def test_a_secret_is_never_shown():
    key = "AKIA" + "Z7QK3MPL2VXN5RTD"
    text = f'''def connect(host, password="hunter2hunter2", key="{key}"):
    if host == "{key}":
        return "{key}"
    return open_it(host, password)
'''
    made = fill_nothing("document connect", {"a.py": text})
    output = proposal_output(World(snapshot={"a.py": text}), made, made.changes)
    shown = repr(output.data)
    assert "host: TODO" in shown
    assert "password: TODO" in shown
    assert key not in shown
    assert "hunter2" not in shown
    assert key in output.proposal["patch"], "what is written is exact"
