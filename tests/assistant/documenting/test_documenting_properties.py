"""What holds for any text and any request, and for packages that other people wrote."""

import importlib.util
from pathlib import Path

import pytest
from assistant.documenting.checks import git_applies, without_docstrings
from hypothesis import given, settings
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.assistant.documenting import document

# What the development dependencies bring along: code of many hands, installed wherever the tests run.
PACKAGES = [
    *(
        "attr",
        "click",
        "docstring_parser",
        "git",
        "httpx",
        "hypothesis/internal",
        "jsonschema",
    ),
    *("pluggy", "pydantic/_internal", "yaml"),
]
MOST_FILES = 9


def package(name: str) -> dict[str, str]:
    top, _, below = name.partition("/")
    spec = importlib.util.find_spec(top)
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / below
    files = sorted(folder.rglob("*.py"), key=lambda p: (p.stat().st_size, p.name))
    chosen = [p for p in files if p.stat().st_size > 1500][:MOST_FILES]
    return {f"pkg/{p.relative_to(folder).as_posix()}": p.read_text("utf-8") for p in chosen}


@pytest.mark.parametrize("name", PACKAGES)
def test_the_repairs_of_real_docstrings_touch_no_other_line(name, tmp_path):
    texts = package(name)
    answer = document("fix the stale parameters in pkg/", texts)
    if answer.changes:
        git_applies(
            answer.patch, {p: texts[p] for p in answer.changes}, answer.changes, tmp_path
        )
    for path, text in answer.changes.items():
        assert without_docstrings(text) == without_docstrings(texts[path])
    for proposal in answer.proposals:
        lines = texts[proposal.path].split("\n")
        kept = [line for line in proposal.text.split("\n") if line in lines]
        changed = len(proposal.text.split("\n")) - len(kept)
        assert changed <= 3 * (
            proposal.note.count("`") // 2 + proposal.note.count("result")
        ), proposal
    again = document("fix the stale parameters in pkg/", texts | answer.changes)
    assert {(p.path, p.symbol) for p in again.proposals}.isdisjoint(
        (p.path, p.symbol) for p in answer.proposals
    )


PIECES = [
    "def f(a, b: int = 1, *c, **d):\n",
    "    return a\n",
    "    if not a:\n",
    "        raise X('m')\n",
    "class A(B):\n",
    "    def g(self, x):\n",
    "        return self.y\n",
    "        yield x\n",
    '    """D.\n',
    '    """\n',
    "    Args:\n        a: A.\n        z (int): Z.\n",
    "    Parameters\n    ----------\n    a : int\n        A.\n    z\n",
    "    :param a: A.\n    :param int z: Z.\n",
    "    :returns: R.\n",
    "    Returns:\n        int: R.\n",
    " * @param a A.\n * @param {b} z - Z.\n",
    "@d\n",
    "async def h(p):\n",
    "    with open(p) as q:\n",
    "        pass\n",
    "x = 1\n",
    "# c\n",
    "\\\n",
    "\t",
    "\r\n",
    "    for i in a:\n",
    "    try:\n",
    "    except E:\n",
    "export function f(a, {b}, ...c) {\n",
    "}\n",
    "throw new E(`${a}`);\n",
    "if (a) return;\n",
    "/** x\n",
    "*/\n",
    "func (s *S) F(a int) error {\n",
    "package p\n",
    "type T struct {\n",
    "public class A {\n",
    "public int f(int a) {\n",
    "@Override\n",
    "\u2028",
    "\ud800",
    "\x0c",
    "'''",
    "`",
]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.sampled_from(["a.py", "a.js", "a.ts", "a.tsx", "a.go", "A.java"]),
)
def test_no_text_makes_it_fail_and_code_is_never_changed(text, path):
    answer = document(f"document {path}", {path: text})
    assert answer == document(f"document {path}", {path: text})
    for request in (f"fix the docstrings in {path}", "document f", "document the class A"):
        other = document(request, {path: text})
        if path == "a.py" and other.changes:
            assert without_docstrings(other.changes[path]) == without_docstrings(text)
    assert answer.changes == {}, "what has no documentation is only named"


@settings(max_examples=150, deadline=None)
@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from(
            [
                "document",
                "README",
                "section on",
                "usage",
                "a.py",
                "src/",
                "`f`",
                "class",
                "Foo",
                "update",
                "all",
                "..",
                "/",
                "../a.py",
                "f()",
                "\x00",
                "'",
                "private",
            ]
        )
    ).map(" ".join)
)
def test_no_request_makes_it_fail(request_text):
    texts = {"a.py": "def f(x):\n    return g(x)\n", "src/b.py": "class Foo:\n    x = 1\n"}
    answer = document(request_text, texts)
    assert set(answer.changes) <= set(texts)


HOSTILE = {
    "a line of 1 MB": "x = '" + "a" * 1_000_000 + "'\ndef f(a):\n    return a\n",
    "deep brackets": "def f(a):\n    return " + "(" * 3000 + "a" + ")" * 3000 + "\n",
    "deep blocks": "def f(a):\n"
    + "".join(" " * n + "if a:\n" for n in range(1, 300))
    + " " * 300
    + "return a\n",
    "many functions": "".join(
        f"def f{n}(a, b):\n    return g(a, b)\n" for n in range(5000)
    ),
    "a huge function": "def f(a):\n"
    + "".join(f"    x{n} = g(a, {n})\n" for n in range(20_000)),
    "huge names": f"def {'f' * 50_000}({'a' * 50_000}):\n    raise {'E' * 50_000}({'a' * 50_000})\n",
    "many conditions": "def f(a):\n"
    + "".join(f"    if a == {n}:\n        raise ValueError({n})\n" for n in range(3000)),
    "many returns": "def f(a):\n"
    + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(3000)),
    "a long elif": "def f(a):\n    if a:\n        pass\n"
    + "".join(f"    elif a == {n}:\n        return {n}\n" for n in range(3000)),
    "many parameters": "def f({0}):\n    return g({0})\n".format(
        ", ".join(f"a{n}" for n in range(3000))
    ),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_hostile_text_is_answered_in_bounded_time(name):
    with cpu_seconds(10):
        document("document a.py", {"a.py": HOSTILE[name]})


@pytest.mark.parametrize("path", ["pyproject.toml", "setup.cfg", ".flake8"])
def test_settings_of_blank_lines_are_read_in_bounded_time(path):
    texts = {
        path: "\n" * 60_000 + "x\n",
        "a.py": "def f(x):\n    return x\n",
        "README.md": "# X\n",
    }
    with cpu_seconds(5):
        document("document a.py", texts)


def test_a_large_repository_is_answered_in_bounded_time():
    body = (
        "def f{0}(a):\n    return g{0}(a)\n\n\nclass K{0}:\n    x = 1\n"
        + "# remark\n" * 800
    )
    texts = {f"src/p{n % 50}/m{n}.py": body.format(n) for n in range(5000)}
    with cpu_seconds(20):
        assert document("document f4999", texts).proposals
        assert document("document all functions in src/", texts).proposals
        assert document("write a README section on configuration", texts).by_hand
