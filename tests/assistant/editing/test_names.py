"""The places of a name in a Python file: the role of each, and the scope that binds it."""

from examples import table

from cli_guard.assistant.editing.modules import Python
from cli_guard.assistant.editing.sources import LineMap, Sources

# text, then (line, role, kind of the scope that binds it) of each place of `x`
PLACES: tuple[tuple[str, str, list[tuple[int, str, str]]], ...] = (
    ("assignment", "x = 1\nx\n", [(1, "binding", "module"), (2, "read", "module")]),
    ("unbound", "x\n", [(1, "read", "")]),
    (
        "function",
        "def x(x=x):\n    return x\n",
        [
            (1, "definition", "module"),
            (1, "parameter", "function"),
            (1, "read", "module"),
            (2, "read", "function"),
        ],
    ),
    (
        "global",
        "def f():\n    global x\n    x = 1\n",
        [(2, "global", "module"), (3, "binding", "module")],
    ),
    (
        "nonlocal",
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n",
        [
            (2, "binding", "function"),
            (4, "nonlocal", "function"),
            (5, "binding", "function"),
        ],
    ),
    (
        "class body",
        "class C:\n    x = 1\n    y = x\n    def f(self):\n        return x\n",
        [(2, "binding", "class"), (3, "read", "class"), (5, "read", "")],
    ),
    (
        "comprehension",
        "x = [1]\n[x for x in x]\n",
        [
            *[(1, "binding", "module"), (2, "read", "comprehension")],
            *[(2, "binding", "comprehension"), (2, "read", "module")],
        ],
    ),
    (
        "walrus in a comprehension",
        "def f(y):\n    [x := i for i in y]\n    return x\n",
        [(2, "binding", "function"), (3, "read", "function")],
    ),
    (
        "imports",
        "import x.y\nfrom m import x\nfrom m import x as z\nimport a as x\n",
        [
            (1, "import", "module"),
            (2, "import", "module"),
            (3, "imported", ""),
            (4, "import", "module"),
        ],
    ),
    (
        "attribute and keyword",
        "x = 1\na.x(x=x)\n",
        [
            (1, "binding", "module"),
            (2, "attribute", ""),
            (2, "keyword", ""),
            (2, "read", "module"),
        ],
    ),
    (
        "except and with",
        "try: ...\nexcept (A, B) as x:\n    x\nwith a as x: ...\n",
        [(2, "binding", "module"), (3, "read", "module"), (4, "binding", "module")],
    ),
    (
        "match",
        "match a:\n    case C(x=1) | {'k': 2, **x}:\n        x\n    case [*x] | (1 as x):\n        x\n",
        [
            *[(2, "attribute", ""), (2, "binding", "module"), (3, "read", "module")],
            *[(4, "binding", "module"), (4, "binding", "module"), (5, "read", "module")],
        ],
    ),
    (
        "types in strings",
        "class x: ...\ndef f(a: 'list[x]', b: Literal['x']) -> 'x': ...\nc = cast('x', 'x')\n",
        [
            (1, "definition", "module"),
            (2, "read", "module"),
            (2, "read", "module"),
            (3, "read", "module"),
        ],
    ),
    (
        "f-strings",
        "x = 1\nf'{x} {{x}} {x!r:>{x}} x {f\"{x}\"}'\n",
        [(1, "binding", "module"), *[(2, "read", "module")] * 4],
    ),
    (
        "f-string over lines",
        "x = 1\ny = f'''\n  {x}\n  {a[\n   x]}'''\n",
        [(1, "binding", "module"), (3, "read", "module"), (5, "read", "module")],
    ),
    (
        "lists of names",
        "x = 1\n__all__ = ['x']\n__all__ += ['x']\n__all__.extend(['x'])\ny = ['x']\n",
        [(1, "binding", "module"), *[(line, "listed", "module") for line in (2, 3, 4)]],
    ),
    (
        "names as strings",
        "x = TypeVar('x')\ngetattr(a, 'x')\nf('x')\n",
        [(1, "binding", "module"), (1, "listed", "module"), (2, "dynamic", "")],
    ),
    (
        "lambda",
        "lambda x, *, y=x: x\n",
        [(1, "parameter", "function"), (1, "read", ""), (1, "read", "function")],
    ),
    (
        "loop, delete, augmented",
        "for x in a: ...\nx += 1\ndel x\n",
        [(1, "binding", "module"), (2, "binding", "module"), (3, "binding", "module")],
    ),
    (
        "declared type alias",
        "x: TypeAlias = 'x'\n",
        [(1, "binding", "module"), (1, "read", "module")],
    ),
)


@table(("text", "wanted"), [row[1:] for row in PLACES], ids=[row[0] for row in PLACES])
def test_places_of_a_name(text: str, wanted: list[tuple[int, str, str]]) -> None:
    python = Python(Sources({"a.py": text}))
    found = []
    for each in python.places("a.py", "x"):
        assert text[each.start : each.end] == "x"
        kind = each.home.kind if each.home is not None else ""
        found.append((python.line("a.py", each.start), each.role, kind))
    assert found == wanted


@table(
    "text",
    [
        "\ufeffx = 1\nx\n",
        "é = 'ü'; x = 'ß'; x\nx\n",
        "'''\r\nü'''\r\nx\r\n",
        "a = 1\rx = 2\r",
        "async  def x(): ...\n@deco\nclass  \\\n  x: ...\n",
        "s = f'ü{x}' 'ä' f'{x}'\n",
    ],
)
def test_positions_hold_in_any_text(text: str) -> None:
    python = Python(Sources({"a.py": text}))
    starts = [each.start for each in python.places("a.py", "x")]
    assert starts == [at for at, sign in enumerate(text) if sign == "x"]


@table(
    ("text", "reason"),
    [
        ("def x(:\n", "not valid Python: invalid syntax (line 1)"),
        ("x = 1\x00\n", "not valid Python"),
        ("x = '\udcff'\n", "not valid Python"),
        ("x" + "(" * 500 + ")" * 500, "not valid Python"),
        ("x" + ".a" * 50_000, "nested too deeply"),
        ("x = 1\n" * 200_000, "longer than 1,000,000 characters"),
    ],
)
def test_what_is_no_python_is_skipped_with_its_reason(text: str, reason: str) -> None:
    sources = Sources({"a.py": text})
    assert Python(sources).places("a.py", "x") == []
    assert [each.reason.startswith(reason) for each in sources.skipped] == [True], (
        sources.skipped
    )


def test_lines_and_columns() -> None:
    lines = LineMap("aß\r\nb\rc\n")
    assert [lines.line_of(at) for at in range(8)] == [1, 1, 1, 1, 2, 2, 3, 3]
    assert [lines.start_of(line) for line in (1, 2, 3)] == [0, 4, 6]
    assert lines.start_of(9) == 8


MODULES = {
    "src/p/__init__.py": "from .a import f\n",
    "src/p/a.py": "import p.b\nfrom . import b as c\ndef f(): ...\n",
    "src/p/b.py": "from p import *\nfrom p.a import f as g\ng\nimport datetime as dt\ndt.datetime.utcnow\n",
    "tests/p/test_a.py": "import p.a\np.a.f\n",
}


def test_modules_are_found_from_where_they_are_imported() -> None:
    python = Python(Sources(MODULES))
    assert python.module_name("src/p/a.py") == "p.a"
    assert python.module_name("src/p/__init__.py") == "p"
    assert python.find("src/p/a.py", "p.b") == "src/p/b.py"
    assert python.find("src/p/a.py", ".") == "src/p/__init__.py"
    assert python.find("src/p/a.py", ".b") == "src/p/b.py"
    assert python.find("src/p/a.py", "...b") is None
    assert python.find("tests/p/test_a.py", "p.a") == "src/p/a.py"
    assert python.find("src/p/a.py", "nowhere") is None
    assert python.star_imports("src/p/b.py") == ["src/p/__init__.py"]
