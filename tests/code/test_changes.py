"""What went, what came and what became looser, between two texts of one file."""

from collections.abc import Sequence

import pytest
from examples import table

from cli_guard.code.changes.difference import (
    ChangeDifference,
    FileDifference,
    compare_file,
)
from cli_guard.code.changes.facts import FactKind, words_of_name
from cli_guard.code.changes.loosening import looser_facts
from cli_guard.code.changes.touched import touched_lines
from cli_guard.code.syntax import Trees
from cli_guard.model import FileChange, Hunk, Status
from cli_guard.repository.between import hunks_between


def compared(path: str, old: str, new: str) -> FileDifference:
    change = FileChange(path, Status.MODIFIED, hunks=hunks_between(old, new))
    return compare_file(Trees(), change, old, new)


def gone(path: str, old: str, new: str) -> set[tuple[str, str, str]]:
    """Kind, name and unit of what went."""
    return {
        (str(each.kind), each.name, each.unit) for each in compared(path, old, new).went
    }


REMOVALS = (
    (
        "a.py",
        "@login_required('x')\ndef f(a):\n    return a\n",
        "def f(a):\n    return a\n",
        ("decorator", "login_required", "f"),
    ),
    (
        "a.py",
        "from lib import quote as q\ndef f(a):\n    return q(a)\n",
        "from lib import quote as q\ndef f(a):\n    return a\n",
        ("call", "lib.quote", "f"),
    ),
    (
        "a.go",
        "package a\nfunc f(x T) int {\n\tif !x.ok() {\n\t\treturn 1\n\t}\n\treturn 0\n}\n",
        "package a\nfunc f(x T) int {\n\treturn 0\n}\n",
        ("guard", "!x.ok()", "f"),
    ),
    (
        "a.rb",
        "class A\n  def f(x)\n    raise E unless ok?(x)\n    g(x)\n  end\nend\n",
        "class A\n  def f(x)\n    g(x)\n  end\nend\n",
        ("guard", "not (ok?(x))", "A.f"),
    ),
    (
        "a.php",
        "<?php\nclass A { function f($a) {\n if (bad($a)) { log(1); return; }\n return $this->g($a);\n}}\n",
        "<?php\nclass A { function f($a) {\n return $this->g($a);\n}}\n",
        ("guard", "bad($a)", "A.f"),
    ),
    (
        "A.java",
        'class A {\n  @Role("x")\n  int f() { return 1; }\n}\n',
        "class A {\n  int f() { return 1; }\n}\n",
        ("decorator", "Role", "A.f"),
    ),
    (
        "a.js",
        "app.post('/x',\n  requireLogin,\n  save);\n",
        "app.post('/x',\n  save);\n",
        ("argument", "requireLogin", ""),
    ),
    (
        "a.yml",
        "a:\n  b:\n    c: true\n    d: 1\n",
        "a:\n  b:\n    d: 1\n",
        ("option", "a.b.c", ""),
    ),
    (
        "a.tf",
        'resource "x" "y" {\n  encrypted = true\n  size = 1\n}\n',
        'resource "x" "y" {\n  size = 1\n}\n',
        ("option", "resource.encrypted", ""),
    ),
    (
        "a.ini",
        "[web]\nsecure = true\nport = 1\n",
        "[web]\nport = 1\n",
        ("option", "web.secure", ""),
    ),
    (
        "a.js",
        "h.set('X-Frame-Options', 'DENY');\nh.send();\n",
        "h.send();\n",
        ("option", "X-Frame-Options", ""),
    ),
    (
        "a.py",
        "def f():\n    with self._lock:\n        g()\n",
        "def f():\n    g()\n",
        ("call", "self._lock", "f"),
    ),
    (
        "A.cs",
        "class A { void F() {\n lock (gate) {\n  G();\n }\n} }\n",
        "class A { void F() {\n  G();\n} }\n",
        ("call", "lock", "A.F"),
    ),
    (
        "a.rb",
        "def f\n  begin\n    g(1)\n  rescue A, B => e\n    log e\n  end\nend\n",
        "def f\n  begin\n    g(1)\n  rescue C\n    log 1\n  end\nend\n",
        ("handler", "A B", "f"),
    ),
    (
        "a.js",
        "c.setHttpOnly(true);\nd();\n",
        "d();\n",
        ("option", "HttpOnly", ""),
    ),
    ("a.py", "# keep out\nx = 1\n", "x = 1\n", ("comment", "keep out", "")),
)


@table(("path", "old", "new", "fact"), REMOVALS)
def test_what_a_change_removes_is_read_as_what_it_is(
    path: str, old: str, new: str, fact: tuple[str, str, str]
) -> None:
    assert fact in gone(path, old, new)
    assert fact not in gone(path, new, old)
    assert gone(path, old, old) == set()


MOVES = (
    # Wrapped, moved within the file, indented, with other lines around.
    (
        "def f(a):\n    g(one=a, two=check(a))\n",
        "def f(a):\n    g(\n        one=a,\n        two=check(a),\n    )\n",
    ),
    (
        "def f(a):\n    check(a)\n\ndef g(a):\n    use(a)\n",
        "def f(a):\n    pass\n\ndef g(a):\n    check(a)\n    use(a)\n",
    ),
    ("def f(a):\n    check(a)\n", "def f(a):\n    if a:\n        check(a)\n"),
    ("g(\n    check(a),\n    b,\n    c,\n)\n", "g(\n    check(a),\n    c,\n)\n"),
)


@table(("old", "new"), MOVES)
def test_a_call_that_moves_or_is_wrapped_does_not_go(old: str, new: str) -> None:
    file = compared("a.py", old, new)
    names = {each.name for each in (*file.went, *file.came) if each.kind is FactKind.CALL}
    assert "check" not in names


LOOSER = (
    (
        "a.py",
        "def f(a, b):\n    if a or b:\n        return\n    g()\n",
        "def f(a, b):\n    if a:\n        return\n    g()\n",
        "condition",
    ),
    (
        "a.py",
        "def f(a, b):\n    if a and b:\n        g()\n",
        "def f(a, b):\n    if a:\n        g()\n",
        "condition",
    ),
    (
        "a.js",
        "function f(a, b) { if (!a) return; g(); }",
        "function f(a, b) { if (!a && !b) return; g(); }",
        "condition",
    ),
    ("a.js", "const x = a(u) && b;", "const x = (c || a(u)) && b;", "condition"),
    ("a.py", "p.startswith(root + os.sep)\n", "p.startswith(root)\n", "prefix"),
    (
        "a.go",
        'package a\nvar x = strings.HasPrefix(p, root+"/")\n',
        "package a\nvar x = strings.HasPrefix(p, root)\n",
        "prefix",
    ),
    ("a.py", "re.fullmatch(p, x)\n", "re.match(p, x)\n", "match"),
    ("a.js", "x.replaceAll('a', '')", "x.replace('a', '')", "match"),
    (
        "a.go",
        "package a\nfunc f() bool { return a && b || c }\n",
        "package a\nfunc f() bool { return a || c }\n",
        "comparison",
    ),
    (
        "a.go",
        "package a\nfunc f() bool { return a || c }\n",
        "package a\nfunc f() bool { return a && b || c }\n",
        "",
    ),
    ("a.js", "x.replace(/a/g, '')", "x.replace(/a/, '')", "match"),
    ("a.rb", "x =~ /\\Aab\\z/\n", "x =~ /\\Aab/\n", "match"),
    ("a.py", "FILE_MODE = 0o600\n", "FILE_MODE = 0o640\n", "value"),
    ("a.py", "ITERATIONS = 600_000\n", "ITERATIONS = 1000\n", "value"),
    ("a.js", "f({ verifyPeer: true })", "f({ verifyPeer: false })", "value"),
    (
        "a.py",
        "@needs('admin')\ndef f(): pass\n",
        "@needs('user')\ndef f(): pass\n",
        "member",
    ),
    ("a.py", "f(hash='sha256')\n", "f(hash='md5')\n", "algorithm"),
    (
        "a.go",
        "package a\nfunc f() { get(byOwner(a, b)) }\n",
        "package a\nfunc f() { get(by(b)) }\n",
        "",
    ),
    (
        "a.go",
        "package a\nfunc f() { GetLabelOfRepo(r, id) }\n",
        "package a\nfunc f() { GetLabel(id) }\n",
        "owner",
    ),
    # A guard that refuses no longer, a type that takes every text, a denial of two.
    (
        "a.py",
        "def f(a):\n    if a:\n        return\n    g()\n",
        "def f(a):\n    if a:\n        log(a)\n    g()\n",
        "condition",
    ),
    (
        "a.py",
        "def f(a, b):\n    if not (a and b):\n        raise E\n    g()\n",
        "def f(a, b):\n    if not a:\n        raise E\n    g()\n",
        "condition",
    ),
    (
        "a.js",
        "function f(a, b) { if (a) return true; g(); }",
        "function f(a, b) { if (a || b) return true; g(); }",
        "condition",
    ),
    ("a.py", "def f(a: UUID): pass\n", "def f(a: str): pass\n", "type"),
    ("a.ts", "function f(a: number) {}", "function f(a: any) {}", "type"),
    ("A.java", "class A { UUID a; }\n", "class A { String a; }\n", "type"),
    (
        "A.cs",
        "class A { void F(Guid a) { } }\n",
        "class A { void F(string a) { } }\n",
        "type",
    ),
    ("a.rs", "fn f(a: Uuid) { }\n", "fn f(a: String) { }\n", "type"),
    ("a.py", "def f(a: str): pass\n", "def f(a: UUID): pass\n", ""),
    ("a.py", "def f(a: int): pass\n", "def f(a: float): pass\n", ""),
    (
        "a.js",
        "if (!/^[a-z]+$/.test(x)) { throw e; }",
        "if (!/^[a-z.]+$/.test(x)) { throw e; }",
        "comparison",
    ),
    (
        "a.js",
        "if (/[\\r\\n]/.test(x)) { throw e; }",
        "if (/[\\n]/.test(x)) { throw e; }",
        "comparison",
    ),
    (
        "a.js",
        "if (/[\\n]/.test(x)) { throw e; }",
        "if (/[\\r\\n]/.test(x)) { throw e; }",
        "",
    ),
    ("a.hbs", "<p>{{name}}</p>\n", "<p>{{{name}}}</p>\n", "output"),
    ("a.blade.php", "<p>{{ $name }}</p>\n", "<p>{!! $name !!}</p>\n", "output"),
    ("a.twig", "<p>{{ name }}</p>\n", "<p>{{ name|raw }}</p>\n", "output"),
    ("a.ejs", "<p><%= name %></p>\n", "<p><%- name %></p>\n", "output"),
    ("a.html", "<p>{{ name }}</p>\n", "<p>{{ name|safe }}</p>\n", "output"),
    ("a.hbs", "<p>{{{name}}}</p>\n", "<p>{{name}}</p>\n", ""),
    # The other way round, and what nobody can say.
    (
        "a.py",
        "def f(a, b):\n    if a:\n        return\n    g()\n",
        "def f(a, b):\n    if a or b:\n        return\n    g()\n",
        "",
    ),
    (
        "a.py",
        "def f(a, b):\n    if a:\n        g()\n",
        "def f(a, b):\n    if a and b:\n        g()\n",
        "",
    ),
    (
        "a.py",
        "def f(a, b):\n    if a:\n        if b:\n            return\n",
        "def f(a, b):\n    if a and b:\n        return\n",
        "",
    ),
    ("a.py", "p.startswith(root)\n", "p.startswith(root + os.sep)\n", ""),
    ("a.py", "re.match(p, x)\n", "re.fullmatch(p, x)\n", ""),
    ("a.py", "FILE_MODE = 0o640\n", "FILE_MODE = 0o600\n", ""),
    ("a.py", "WIDTH = 600\n", "WIDTH = 10\n", ""),
    ("a.py", "x = '0319'\n", "x = '0320'\n", ""),
    ("a.sh", 'echo "$(( $a ))"\n', 'echo "$(( a ))"\n', ""),
)


@table(("path", "old", "new", "sort"), LOOSER)
def test_what_becomes_looser_is_said_and_what_becomes_stricter_is_not(
    path: str, old: str, new: str, sort: str
) -> None:
    file = compared(path, old, new)
    found = {each.sort for each in looser_facts(file.went, file.came)}
    assert found == ({sort} if sort else set())


def hunks(*pairs: tuple[int, int, Sequence[str], Sequence[str]]) -> tuple[Hunk, ...]:
    return tuple(
        Hunk(old, new, tuple(gone), tuple(added)) for old, new, gone, added in pairs
    )


def test_a_removal_touches_the_gap_that_it_leaves_however_its_place_is_counted() -> None:
    for new_start in (
        2,
        3,
    ):  # Git counts the line before, a comparison of ours the line after
        old, new = touched_lines(hunks((3, new_start, ["x"], []), (9, 8, ["y"], ["z"])))
        assert old.spans == ((3, 3), (9, 9))
        assert new.overlap(2, 3)
        assert not new.overlap(1, 2)
        assert not new.overlap(3, 4)
        assert new.overlap(8, 8)
        assert not new.overlap(9, 20)


def test_units_are_paired_by_name_then_elsewhere_then_by_likeness() -> None:
    body = "    one = first(a)\n    two = second(one)\n    return third(two, one)\n"
    old = f"def f(a):\n    check(a)\n{body}"
    for path, new_path, new_name in (
        ("a.py", "a.py", "f"),
        ("a.py", "b.py", "f"),
        ("a.py", "a.py", "renamed"),
    ):
        new = f"def {new_name}(a):\n{body}"
        files = [compared(path, old, new if path == new_path else "x = 1\n")]
        if new_path != path:
            files.append(compared(new_path, "", new))
        pair = ChangeDifference(files).pair_of(files[0], "f")
        assert pair is not None
        assert (pair.path, pair.name) == (new_path, new_name)
    other = compared("a.py", old, "def unlike(z):\n    print('nothing of it')\n")
    assert ChangeDifference([other]).pair_of(other, "f") is None


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("checkOwner", ("check", "owner")),
        ("get_HTMLText", ("get", "html", "text")),
        ("X-Frame-Options", ("x", "frame", "options")),
        ("sha256", ("sha", "256")),
    ],
)
def test_names_of_any_style_have_the_same_words(name: str, words: tuple[str, ...]) -> None:
    assert words_of_name(name) == words


def test_a_file_with_more_nodes_than_are_read_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("cli_guard.code.changes.reading.MOST_NODES", 20)
    lines = [f"f({number})" for number in range(30)]
    file = compared("a.py", "\n".join(lines), "\n".join(reversed(lines)))
    assert file.old.unread
    assert (file.went, file.came) == ((), ())
