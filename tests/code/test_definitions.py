"""What each language defines, and where; broken and foreign text; and that the table names kinds its grammars have."""

from examples import table

from cli_guard.code.definitions import definition_nodes, find_definitions
from cli_guard.code.syntax import Trees

SAMPLES = [
    (
        "a.py",
        "X = 3\nclass A:\n    y: int = 2\n    @cached\n    def f(self):\n        z = 1\n",
        ["X:1", "A:2", "A.y:3", "A.f:5"],
    ),
    (
        "a.js",
        "exports.f = function (a) {};\nconst X = 3;\nclass C { m() { const z = 1; } }\n",
        ["f:1", "X:2", "C:3", "C.m:3"],
    ),
    (
        "a.ts",
        "interface I { g(): void }\nenum E { A }\nexport const h = () => 1;\n",
        ["I:1", "I.g:1", "E:2", "h:3"],
    ),
    (
        "a.go",
        "package a\nconst X = 3\ntype T struct{}\nfunc (t *T) F() int { y := 1; return y }\n",
        ["X:2", "T:3", "T.F:4"],
    ),
    (
        "A.java",
        "class A {\n  static final int X = 3;\n  @Override\n  public int f() { return 1; }\n}\n",
        ["A:1", "A.X:2", "A.f:4"],
    ),
    (
        "a.rs",
        "pub struct A;\nimpl B for A { fn f(&self) {} }\nconst C: u32 = 3;\n",
        ["A:1", "A.f:2", "C:3"],
    ),
    (
        "a.c",
        "#define M 3\nstatic int\n*foo(int a)\n{ int z = 1; return 0; }\n",
        ["M:1", "foo:3"],
    ),
    (
        "a.cpp",
        "namespace n { class A { int f() { return 1; } }; }\nint A::g() { return 2; }\n",
        ["n.A:1", "n.A.f:1", "A.g:2"],
    ),
    ("a.cs", "class A { const int X = 3; void F() {} }\n", ["A:1", "A.X:1", "A.F:1"]),
    (
        "a.rb",
        "module M\n  class A\n    X = 3\n    def f; end\n  end\nend\n",
        ["M:1", "M.A:2", "M.A.X:3", "M.A.f:4"],
    ),
    (
        "a.php",
        "<?php\nclass B { const X = 3; function f() {} }\n",
        ["B:2", "B.X:2", "B.f:2"],
    ),
    ("a.kt", "class A {\n  fun f(): Int = 3\n}\nval top = 4\n", ["A:1", "A.f:2", "top:4"]),
    ("a.swift", "struct S {\n  let x = 3\n  func f() {}\n}\n", ["S:1", "S.x:2", "S.f:3"]),
    (
        "a.scala",
        "object O {\n  val x = 3\n  def f: Int = 1\n}\n",
        ["O:1", "O.x:2", "O.f:3"],
    ),
    ("a.lua", "local function a() end\nfunction M:c() end\n", ["a:1", "M.c:2"]),
    ("a.lua", "M.b = function() end\nlocal n = 3\n", ["M.b:1", "n:2"]),
    ("a.sh", "X=3\nfoo() { local z=1; }\n", ["X:1", "foo:2"]),
    ("a.ex", "defmodule A.B do\n  def f(a), do: a\nend\n", ["A.B:1", "A.B.f:2"]),
    ("a.hs", "data A = B Int\nf :: Int -> Int\nf x = x\n", ["A:1", "f:2"]),
    (
        "a.tf",
        'resource "aws_x" "y" {\n  a = 3\n}\n',
        ["resource.aws_x.y:1", "resource.aws_x.y.a:2"],
    ),
    ("a.css", ".a { color: red; --v: 3; }\n", [".a:1", ".a.--v:1"]),
    ("a.html", '<div id="x"><p>y</p></div>\n', ["x:1"]),
    ("a.json", '{"a": {"b": 1}}\n', ["a:1", "a.b:1"]),
    ("a.yaml", "a:\n  b: 1\n", ["a:1", "a.b:2"]),
    ("a.toml", "[tool.x]\nkey = 1\n", ["tool.x:1", "tool.x.key:2"]),
    ("Makefile", "CC = gcc\ntest: build\n\tpytest\n", ["CC:1", "test:2"]),
    ("a.md", "# One\n```\n# no heading\n```\n## Two\n", ["One:1", "Two:5"]),
    ("a.rst", "One\n===\n\ntext\n", ["One:1"]),
    ("a.unknown", "def f(): pass\n", []),
]


@table(("path", "text", "expected"), SAMPLES, ids=[path for path, _, _ in SAMPLES])
def test_definitions_of_each_language(path: str, text: str, expected: list[str]) -> None:
    found = [(symbol.qualname, symbol.line) for symbol in find_definitions(path, text)]
    assert sorted(f"{name}:{line}" for name, line in found) == sorted(expected)


@table(
    ("path", "text", "expected"),
    [
        ("a.py", "f = lambda x: x\nX = 3\n", ["function f", "constant X"]),
        ("a.rb", "F = ->(x) { x }\nx = 3\nX = 3\n", ["function F", "constant X"]),
        (
            "a.js",
            "const f = () => 1, {a} = b, X = 3;\nconst r = require('r');\nlet g = function () {};\n",
            ["function f", "constant X", "function g"],
        ),
        (
            "a.ts",
            "interface I {}\ntype T = string;\nenum E { A }\n",
            ["class I", "type T", "class E"],
        ),
        (
            "setup.cfg",
            "; c\n# d\n[a]\nkey = 1\n  more\n\n[b]\nkey: 2\n",
            ["section a", "key a.key", "section b", "key b.key"],
        ),
        (
            ".editorconfig",
            "root = true\n[*]\nindent = 2\n",
            ["key root", "section *", "key *.indent"],
        ),
        ("rules.mk", "all: a\n", ["target all"]),
        (".env", "A=1\nexport B=2\n# C=3\n", ["key A", "key B"]),
        ("prod.env", "A=1\n", ["key A"]),
        ("Dockerfile.dev", "FROM a\nRUN b\n", ["key a", "key b"]),
        ("x.dockerfile", "FROM a\n", ["key a"]),
        ("a.txt", "A\n===\n", ["heading A"]),
    ],
)
def test_the_kind_of_each_definition(path: str, text: str, expected: list[str]) -> None:
    found = [f"{each.kind} {each.qualname}" for each in find_definitions(path, text)]
    assert found == expected


@table("language", sorted(definition_nodes()))
def test_each_kind_is_one_of_its_grammar(language: str) -> None:
    root = Trees().root(language, "a")
    for kind in definition_nodes()[language]:
        root.find_all(
            any=[{"kind": kind}]
        )  # ast-grep raises for a kind that the grammar does not have


def test_broken_syntax_gives_what_can_be_told() -> None:
    names = [
        symbol.name
        for symbol in find_definitions(
            "a.py", "def good():\n    pass\n\ndef bad(:\n\nclass Also:\n    pass\n"
        )
    ]
    assert "good" in names


def test_indentation_that_aborts_a_scanner_has_no_tree() -> None:
    deep = "".join(f"{' ' * n}k{n}:\n" for n in range(600))
    assert find_definitions("a.yaml", deep) == ()
    assert find_definitions("a.yaml", "- " * 600 + "x: 1") == ()
    assert [symbol.name for symbol in find_definitions("a.yaml", "- - - x: 1\n")] == ["x"]
