"""What a request names, and what is answered when that is there twice, elsewhere, or not at all."""

from examples import table

from cli_guard.assistant.documenting import document
from cli_guard.assistant.request import read_request

TEXTS = {
    "src/utils.py": "def load(path):\n    return open(path).read()\n\n\n"
    "class Foo:\n    def bar(self, x):\n        return g(x)\n",
    "src/app/config.py": "def load_config(path):\n    return open(path).read()\n\n\ndef _hidden(x):\n    return g(x)\n",
    "src/other/config.py": "def load_config(name):\n    return g(name)\n",
    "tests/test_utils.py": "def load_config(x):\n    return g(x)\n",
    "web/api.ts": "export function load(id: string) {\n  return get(id);\n}\n",
    "pkg/server/a.go": "package server\n\nfunc Load(path string) int {\n\treturn parse(path) + 1\n}\n",
    "UserService.java": "public class UserService {\n"
    "    public int count(Db db) {\n        return db.count() + 1;\n    }\n}\n",
    "data.bin.txt": "load\n",
}


@table(
    ("request_text", "symbols"),
    [
        (
            "Generate documentation for src/utils.py",
            [
                "src/utils.py:",
                "src/utils.py:load",
                "src/utils.py:Foo",
                "src/utils.py:Foo.bar",
            ],
        ),
        ("document the class Foo", ["src/utils.py:Foo", "src/utils.py:Foo.bar"]),
        ("Document Foo.bar please", ["src/utils.py:Foo.bar"]),
        (
            "Document Foo.bar and the class Foo",
            ["src/utils.py:Foo.bar", "src/utils.py:Foo"],
        ),
        (
            "write a docstring for load_config in src/app/config.py",
            ["src/app/config.py:load_config"],
        ),
        ("write a docstring for `_hidden`", ["src/app/config.py:_hidden"]),
        ("document load_config", ["src/app/config.py:load_config"]),
        ("document load_config()", ["src/app/config.py:load_config"]),
        (
            "docstring for load_config in other/config.py",
            ["src/other/config.py:load_config"],
        ),
        (
            "Javadoc for UserService",
            ["UserService.java:UserService", "UserService.java:UserService.count"],
        ),
        ("JSDoc for web/api.ts", ["web/api.ts:load"]),
        ("write the JSDoc for load in web/api.ts", ["web/api.ts:load"]),
        ("godoc for pkg/server", ["pkg/server/a.go:Load"]),
        ("document all functions in src/app/", ["src/app/config.py:load_config"]),
        ("document all classes in src/", ["src/utils.py:Foo"]),
        ("write the module docstring of src/utils.py", ["src/utils.py:"]),
        (
            "document all private functions in src/app/config.py",
            ["src/app/config.py:load_config", "src/app/config.py:_hidden"],
        ),
    ],
)
def test_what_is_named_is_what_is_documented(request_text, symbols):
    answer = document(request_text, TEXTS)
    assert [f"{p.path}:{p.symbol}" for p in answer.proposals] == symbols
    assert answer.missing == ()
    assert answer.changes == {}


def test_a_name_that_is_there_twice_is_assumed_to_be_one_of_them():
    answer = document("document load_config", TEXTS)
    assert answer.assumed == (
        "load_config is taken as src/app/config.py:1, not src/other/config.py:1, tests/test_utils.py:1"
    )
    assert document("document load_config in src/app/config.py", TEXTS).assumed is None
    twice = document("Generate documentation for config.py", TEXTS)
    assert (
        twice.assumed == "config.py is taken as src/app/config.py, not src/other/config.py"
    )


@table(
    ("request_text", "named"),
    [
        ("document no_such_thing", "no_such_thing"),
        ("document load_config in src/gone.py", "src/gone.py"),
        ("Generate documentation for src/gone.py", "src/gone.py"),
        ("document the class Missing in src/utils.py", "Missing"),
        ("document ../../etc/passwd.py", "passwd"),
        ("please", "name a file"),
        ("", "name a file"),
        ("   \n", "name a file"),
        ("document no_such_thing and load_config", "no_such_thing"),
        ("document a_load", "a_load"),
        ("document loader", "loader"),
        ("document Foo.baz in src/utils.py", "Foo.baz"),
    ],
)
def test_what_is_not_there_is_named(request_text, named):
    answer = document(request_text, TEXTS)
    assert any(named in line for line in answer.missing), answer
    assert all("\n" not in line for line in answer.missing)


def test_a_definition_with_documentation_is_named_and_left():
    answer = document(
        "document f", {"a.py": 'def f(x):\n    """Done."""\n    return g(x)\n'}
    )
    assert answer.proposals == answer.by_hand == ()


def test_many_gaps_are_named_up_to_a_bound_and_the_rest_is_counted():
    texts = {
        f"src/m{n}.py": '"""M."""\n'
        + "".join(f"def f{i}(x):\n    return g(x)\n" for i in range(30))
        for n in range(3)
    }
    answer = document("document all functions in src/", texts)
    assert len(answer.proposals) == 40
    assert [(s.path, s.reason.split(" more")[0]) for s in answer.skipped] == [
        ("src/m1.py", "20"),
        ("src/m2.py", "1"),
    ]
    assert all(s.asks for s in answer.skipped)


@table(
    "request_text",
    [
        "write a README",
        "write a README section on configuration",
        "add a section about middleware to the README",
        "update README.md with a section on usage",
        "write docs/guide.md",
        "write a tutorial",
    ],
)
def test_prose_is_left_to_a_person_and_what_can_be_given_is_said(request_text):
    answer = document(request_text, {**TEXTS, "README.md": "# Shop\n"})
    assert (answer.proposals, answer.patch, answer.changes) == ((), "", {})
    assert len(answer.by_hand) == 1
    for given in (
        "names without documentation",
        "parameters",
        "missing and stale",
        "name a file",
    ):
        assert given in answer.by_hand[0]


def test_prose_about_a_file_names_its_gaps_and_leaves_the_prose():
    answer = document("write a tutorial for src/app/config.py", TEXTS)
    assert [p.symbol for p in answer.proposals] == ["", "load_config"]
    assert answer.by_hand


def test_a_test_is_documented_only_if_it_is_named():
    texts = {
        "src/a.py": "def f(x):\n    return g(x)\n",
        "src/tests/test_a.py": "def h(x):\n    return g(x)\n",
    }
    for request, paths in (
        ("document src/", {"src/a.py"}),
        ("document src/tests/test_a.py", {"src/tests/test_a.py"}),
        ("document src/a.py and src/tests/test_a.py", set(texts)),
        ("document everything", {"src/a.py"}),
    ):
        assert {each.path for each in document(request, texts).proposals} == paths


@table(
    ("request_text", "field", "value"),
    [
        ("Document `a.b.c`", "names", ("a.b.c",)),
        ("document the google_client function", "names", ("google_client",)),
        ("document the class Foo", "names", ("Foo",)),
        ("write a README", "prose", True),
        ("document the readme_writer function", "prose", False),
        ("document src/readme_parser.py", "prose", False),
        ("update the outdated docstring of f", "update", True),
        ("update the outdated docstring of f", "maybe", ("f",)),
        ("document src/fixups/update.py", "update", False),
        ("document update_user", "update", False),
        ("document `update`", "names", ("update",)),
        ("document `update`", "update", False),
        ("document x.y in src/a.py", "names", ("x.y",)),
        ("document x.y in src/a.py", "missing", ("src/a.py",)),
        ("document everything", "maybe", ()),
        ("Add docstrings to src/utils.py", "paths", ("src/utils.py",)),
        ("Add docstrings to src/utils.py", "maybe", ()),
        ("document all private functions", "private", True),
        ("document all functions", "kinds", frozenset({"function", "method"})),
        ("write the module docstring of src/utils.py", "kinds", frozenset({"module"})),
    ],
)
def test_the_reading_of_a_request(request_text, field, value):
    assert getattr(read_request(request_text, TEXTS).documentation, field) == value


@table(
    ("path", "text"),
    [
        ("a.js", "/** Done. */\nexport function f(a) {\n  return g(a);\n}\n"),
        ("a.js", "function inner(a) {\n  return g(a);\n}\n"),
        ("a.go", "package main\n\nfunc Run(a int) {\n\tg(a)\n}\n"),
        ("a.go", "// Package a is.\npackage a\n\nfunc run(a int) {\n\tg(a)\n}\n"),
        ("A.java", "class A {\n    int f(int a) { return g(a); }\n}\n"),
        (
            "A.java",
            "/** Done. */\npublic class A {\n    @Override\n    public int f(int a) { return g(a); }\n}\n",
        ),
    ],
)
def test_what_is_private_or_documented_is_left(path, text):
    answer = document(f"document {path}", {path: text})
    assert answer.proposals == ()
