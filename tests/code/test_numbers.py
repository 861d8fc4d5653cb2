"""What can only be a number is told from what could be text."""

import pytest
from ast_grep_py import SgRoot

from cli_guard.code.numbers import Numbers

WRITTEN = [
    (
        "java",
        'class A { String f(int id, String n) { return "a" + id + n; } }',
        'class A { String f(int id, String n) { return "a" + 0 + n; } }',
    ),
    (
        "java",
        'enum Kind { A } class B { long id; String f(Kind k, UUID u) { return "a" + k + id + u; } }',
        'enum Kind { A } class B { long id; String f(Kind k, UUID u) { return "a" + 0 + 0 + 0; } }',
    ),
    (
        "go",
        'package a\nfunc q(id int, s string) { n, err := strconv.Atoi(s); f("a" + strconv.Itoa(id) + s + n + err) }',
        'package a\nfunc q(id int, s string) { n, err := 0; f("a" + 0 + s + 0 + err) }',
    ),
    (
        "csharp",
        'class A { void Q(int id, string s) { F("a" + id + s); } }',
        'class A { void Q(int id, string s) { F("a" + 0 + s); } }',
    ),
    (
        "php",
        '<?php function f(int $id, $s) { g("a $id $s" . (int)$s . intval($s)); }',
        '<?php function f(int $id, $s) { g("a 0 $s" . 0 . 0); }',
    ),
    (
        "typescript",
        "function f(id: number, s: string) { const n = Number(s); g(`a ${id} ${s} ${n}`) }",
        "function f(id: number, s: string) { const n = 0; g(`a ${0} ${s} ${0}`) }",
    ),
    (
        "kotlin",
        'fun f(id: Int, s: String) { val n = s.toInt(); g("a $id $s $n") }',
        'fun f(id: Int, s: String) { val n = 0; g("a $0 $s $0") }',
    ),
    (
        "rust",
        'fn f(id: i32, s: &str) { let q = format!("a {} {}", id, s); }',
        'fn f(id: i32, s: &str) { let q = format!("a {} {}", 0, s); }',
    ),
    (
        "ruby",
        'def f(id)\n  id = id.to_i\n  g("a = #{id}")\nend\n',
        'def f(id)\n  id = 0\n  g("a = #{0}")\nend\n',
    ),
    (
        "python",
        "def q(id, n):\n    id = int(id)\n    f(f'{id} {n} {len(n)}')\n",
        "def q(id, n):\n    id = 0\n    f(f'{0} {n} {0}')\n",
    ),
    ("python", "def q(id: int):\n    f(f'{id}')\n", "def q(id: int):\n    f(f'{0}')\n"),
    (
        "java",
        'class A { long id; void f(U u) { g("a" + id); } }',
        'class A { long id; void f(U u) { g("a" + 0); } }',
    ),
    (
        "python",
        "class Kind(StrEnum):\n    A = 'a'\n\n\ndef q(kind: Kind):\n    f(f'{kind}')\n",
        "class Kind(StrEnum):\n    A = 'a'\n\n\ndef q(kind: Kind):\n    f(f'{0}')\n",
    ),
]
# The number is not what is used.
KEPT = [
    ("java", '// enum String\nclass A { String f(String n) { return "a" + n; } }'),
    ("python", "# class Kind(Enum):\ndef q(kind: Kind):\n    f(f'{kind}')\n"),
    ("javascript", "f('a' + Number(x).toString().concat(n))"),
    ("java", 'class A { int id; void f(L l) { for (String id : l) { g("a" + id); } } }'),
    ("java", 'class A { int id; void f(L l) { l.forEach(id -> g("a" + id)); } }'),
    (
        "csharp",
        'class A { int id; void F(L l) { foreach (var id in l) { G("a" + id); } } }',
    ),
    (
        "go",
        'package a\nfunc p(id int) {}\nfunc q(s S) { for _, id := range s { g("a" + id) } }',
    ),
    ("go", 'package a\nfunc p(id int) {}\nfunc q() { r(func() { g("a" + id) }) }'),
    ("python", "def q(id, n):\n    if n:\n        id = 5\n    f(f'{id}')\n"),
    ("python", "def q(id: int, n):\n    id = n\n    f(f'{id}')\n"),
    ("python", "id = 5\n\n\ndef q(id):\n    f(f'{id}')\n"),
    ("python", "def q(ids):\n    id = 3\n    for id in ids:\n        f(f'{id}')\n"),
    ("python", "def q(id):\n    f(f'{id}')\n    id = 3\n"),
    ("javascript", "const id = 3; function f(id) { g('a' + id) }"),
    ("java", 'class A { int id; String f(String id) { return "a" + id; } }'),
    ("java", 'class A { String f(List<Integer> ids) { return "a" + ids; } }'),
    ("go", 'package a\nfunc q(s string) { s, n := h(s), 1; f("a" + s) }'),
]


def write_out(language: str, text: str) -> str:
    root = SgRoot(text, language).root()
    return Numbers(root, language).write_out([root])


@pytest.mark.parametrize(("language", "text", "read"), WRITTEN)
def test_numbers(language: str, text: str, read: str) -> None:
    assert write_out(language, text) == read


@pytest.mark.parametrize(("language", "text"), KEPT)
def test_what_may_be_text(language: str, text: str) -> None:
    assert write_out(language, text) == text
