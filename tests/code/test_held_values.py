"""What can only be a number is told from what could be text; a text is written out where it is handed over."""

import pytest
from ast_grep_py import SgRoot

from cli_guard.code.held_values import HeldValues

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
    return HeldValues(root, language).write_out_numbers([root])


@pytest.mark.parametrize(("language", "text", "read"), WRITTEN)
def test_numbers(language: str, text: str, read: str) -> None:
    assert write_out(language, text) == read


@pytest.mark.parametrize(("language", "text"), KEPT)
def test_what_may_be_text(language: str, text: str) -> None:
    assert write_out(language, text) == text


HANDED_OVER = [
    # A piece is added to it later.
    (
        "python",
        "def g(x):\n    q = ('a %s'\n         % x)\n    q += 'c'\n    f(q)\n",
        "    f(('a %s'          % x))",
        2,
    ),
    ("php", '<?php $line = "ls $x"; exec($line, $out);', 'exec("ls $x", $out);', 1),
    (
        "java",
        'class A { static final String T = "DES"; void f() { g(T); } }',
        'g("DES");',
        1,
    ),
    (
        "java",
        'class A { void f(String h) { String l = "a" + h; g(List.of("b", l)); } }',
        'List.of("b", "a" + h)',
        1,
    ),
    ("go", 'package a\nfunc f() { q := "a" + x; g(q) }', 'g("a" + x)', 2),
    ("csharp", 'class A { void F() { var q = $"a{b}"; G(q); } }', 'G($"a{b}");', 1),
    (
        "javascript",
        "const q = `a ${b}`; page.innerHTML = q;",
        "page.innerHTML = `a ${b}`;",
        1,
    ),
    (
        "javascript",
        "const q = '<b>' +\n  // what it says\n  b;\ng(q);",
        "g('<b>' +      b);",
        1,
    ),
    (
        "ruby",
        'def f\n  t = "a#{b}"\n  (t + c).html_safe\nend\n',
        '("a#{b}" + c).html_safe',
        2,
    ),
]


@pytest.mark.parametrize(("language", "text", "read", "line"), HANDED_OVER)
def test_texts_that_are_handed_over(language: str, text: str, read: str, line: int) -> None:
    written, given_at, _ = HeldValues(
        SgRoot(text, language).root(), language
    ).write_out_texts()
    assert read in written
    assert written.count("\n") == text.count("\n")
    assert line in given_at.values()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        # It may be what the caller gave, what another call returned, or one of two texts.
        ("python", "def f(q):\n    if not q:\n        q = 'a' + b\n    g(q)\n"),
        ("php", '<?php $q = "a $x"; $q = clean($q); exec($q);'),
        ("java", 'class A { void f() { String q = "a"; if (b) { q = "c"; } g(q); } }'),
        # It is only named, asked for a member, or another one's key.
        ("python", "def f():\n    q = 'a' + b\n    return q.strip()\n"),
        ("python", "def f():\n    q = 'a' + b\n    g(q=1)\n"),
        ("go", 'package a\nfunc f() { q[0], err = "a" + x, nil; g(q) }'),
        ("javascript", "function f() { const q = 'a' + b; }\nfunction h() { g(q); }"),
        # A mark of the grammar, and no name.
        ("php", "<?php /* self = 'a' */ class A { function f() { self::g(1); } }"),
    ],
)
def test_what_may_hold_something_else(language: str, text: str) -> None:
    root = SgRoot(text, language).root()
    assert HeldValues(root, language).write_out_texts() == (text, {}, False)


@pytest.mark.parametrize(("names", "uses"), [(1_200, 1), (50, 150)])
def test_a_text_at_the_end_of_a_long_file_is_written_out(names: int, uses: int) -> None:
    before = "".join(
        f"def f{at}(x):\n    t{at} = 'a' + x\n" + f"    print(t{at})\n" * uses
        for at in range(names)
    )
    text = f"{before}def last(x):\n    query = 'b' + x\n    run(query)\n"
    written, _, is_partial = HeldValues(
        SgRoot(text, "python").root(), "python"
    ).write_out_texts()
    assert not is_partial
    assert written.endswith("run('b' + x)\n")
