"""When a missing documentation is worth a word, and how many words."""

import pytest
from examples import examples, near_misses, table
from reviewers.docs.before_after import found, subject_of

from cli_guard.model import Confidence, Skipped
from cli_guard.reviewers.docs import review
from cli_guard.reviewers.docs.sources import has_gap_signs
from cli_guard.reviewers.review_input import Limits

BODY = "    if not a:\n        raise ValueError(a)\n    return a + 1\n"
DOCUMENTED = "".join(f'def known_{n}(a):\n    """Say {n}."""\n{BODY}\n\n' for n in range(4))
BARE = "".join(f"def bare_{n}(a):\n{BODY}\n\n" for n in range(4))


def functions(*names: str) -> str:
    return "".join(f"def {name}(a):\n{BODY}\n\n" for name in names)


@table(
    ("before", "added", "count"),
    [
        pytest.param(
            DOCUMENTED, functions("one", "two"), 1, id="documented file: both in one"
        ),
        pytest.param(
            DOCUMENTED, functions(*"abcdef"), 1, id="documented file: many in one"
        ),
        pytest.param(
            BARE, functions("one", "two"), 0, id="file without documentation: silent"
        ),
        pytest.param(
            DOCUMENTED + BARE + BARE.replace("bare", "more"),
            functions("one"),
            0,
            id="a third of it: silent",
        ),
        pytest.param(DOCUMENTED, functions("_one"), 0, id="private"),
        pytest.param(
            DOCUMENTED,
            "class _A:\n" + "    def one(self):\n        x = 1\n        return x\n",
            0,
            id="of private",
        ),
        pytest.param(
            DOCUMENTED,
            "def outer():\n    '''Do.'''\n    def one(a):\n        a += 1\n        return a\n",
            0,
            id="nested",
        ),
        pytest.param(DOCUMENTED, "@overload\n" + functions("one"), 0, id="overload"),
        pytest.param(DOCUMENTED, "@typing.override\n" + functions("one"), 0, id="override"),
        pytest.param(DOCUMENTED, functions("main", "__getattr__"), 0, id="known names"),
        pytest.param(DOCUMENTED, "def one(a):\n    return a\n", 0, id="one line"),
        pytest.param(DOCUMENTED, "def one(a): ...\n", 0, id="stub"),
        pytest.param(
            DOCUMENTED,
            "class A(Base):\n    '''A.'''\n\n    def one(self):\n        x = 1\n        return x\n",
            0,
            id="may override",
        ),
    ],
)
def test_how_much_is_said(before: str, added: str, count: int) -> None:
    assert len(found("shop/a.py", before + added, before)) == count


def test_function_that_was_undocumented_before_is_silent() -> None:
    before = DOCUMENTED + functions("one")
    assert found("a.py", before.replace("def one(a)", "def one(a, b)"), before) == []
    assert (
        found("a.py", before.replace("a + 1\n\n\ndef one", "a + 2\n\n\ndef one"), before)
        == []
    )


def test_removed_documentation_is_missed() -> None:
    before = DOCUMENTED + 'def one(a):\n    """Say one."""\n' + BODY
    after = DOCUMENTED + "def one(a, b=1):\n" + BODY
    assert [f.rule for f in found("a.py", after, before)] == ["docs-missing"]


def test_moved_function_is_silent() -> None:
    before = {"a.py": DOCUMENTED + functions("one"), "b.py": DOCUMENTED}
    after = {"a.py": DOCUMENTED, "b.py": DOCUMENTED + functions("one")}
    assert review(subject_of(before, after)).findings == ()


def test_new_code_without_a_habit_gets_one_finding() -> None:
    (finding,) = review(
        subject_of({}, {f"p/m{n}.py": functions("one", "two") for n in range(8)})
    ).findings
    assert (
        finding.confidence is Confidence.MEDIUM and "`one`, `two`, `one`" in finding.message
    )
    assert (
        "and 5 more" in finding.message
        and finding.suggestion == '    """Raise ValueError if `not a`."""'
    )


@table(
    ("package", "count"),
    [
        pytest.param("from ._private import one\n", 1, id="exported"),
        pytest.param(
            "from . import other\nfrom p._private import (\n    zero,\n    one as two,\n)\n",
            1,
            id="renamed",
        ),
        pytest.param("from ._private import *\n", 1, id="all of it"),
        pytest.param(
            "from ._private import one as _one\n", 0, id="exported under a private name"
        ),
        pytest.param("from ._private import zero\n", 0, id="another name"),
        pytest.param("from ._other import one\n", 0, id="another module"),
        pytest.param("", 0, id="nothing"),
    ],
)
@table("path", ["p/_private.py", "p/_private/deep.py"], ids=["module", "folder"])
def test_private_module_is_public_as_far_as_its_package_exports_it(
    path: str, package: str, count: int
) -> None:
    files = {"p/__init__.py": package, path: DOCUMENTED + functions("one")}
    assert (
        len(review(subject_of({**files, path: DOCUMENTED}, files)).findings) == 0
    )  # the package is not in it
    assert len(review(subject_of({path: DOCUMENTED}, files)).findings) == count


@near_misses(
    "path",
    [
        "tests/a.py",
        "test_a.py",
        "pkg/_private.py",
        "setup.py",
        "docs/conf.py",
        "a.pyi",
        "vendor/x/a.py",
        "a_pb2.py",
    ],
)
def test_places_that_are_left_alone(path: str) -> None:
    assert found(path, DOCUMENTED + functions("one")) == []


def test_what_is_not_read_is_said() -> None:
    generated = "# Code generated by tool. DO NOT EDIT.\n" + functions("one")
    report = review(
        subject_of(
            {},
            {"g.py": generated, "long.py": functions("one") * 50},
            Limits(file_chars=500),
        )
    )
    assert report.skipped == (
        Skipped("g.py", "docs: generated, by its header"),
        Skipped("long.py", "docs: longer than 500 characters"),
    )


FACTS = [
    ("if a < 1:\n    raise KeyError(a)", "Raise KeyError if `a < 1`."),
    (
        "if a < 1:\n    raise errors.Full\nif b:\n    raise errors.Full",
        "Raise errors.Full if `a < 1` or if `b`.",
    ),
    ("if len(a) > LIMIT:\n    raise KeyError(a)", "Raise KeyError if `len(a) > LIMIT`."),
    (
        "if a < 1:\n    raise KeyError(a)\nraise KeyError(b)",
        "Raise KeyError, for example if `a < 1`.",
    ),
    (
        "if a < 1:\n    raise KeyError(a)\nif x:\n    raise KeyError",
        "Raise KeyError, for example if `a < 1`.",
    ),
    ("if not a:\n    return None", "Return None if `not a`."),
    ("if b is None:\n    b = Path.cwd()", "`b` defaults to `Path.cwd()`."),
    ("b = b or 30", "`b` defaults to `30`."),
    ("time.sleep(b)", "`b` is in seconds."),
    ("x = timedelta(days=b)", "`b` is in days."),
    ("b = b or 30\ntime.sleep(b)", "`b` defaults to `30` and is in seconds."),
    ("a.append(1)", "Change `a` in place."),
    ("a[1] = 1", "Change `a` in place."),
    ("a.size += 1", "Change `a` in place."),
]
SILENT = [
    "x = a",
    "raise KeyError(a)",
    "x = len(a)\nif x:\n    raise KeyError(a)",
    "if self._open:\n    raise KeyError(a)",
    "if a:\n    raise NotImplementedError",
    "if a:\n    pass\nelse:\n    raise KeyError(a)",
    "try:\n    if a:\n        raise KeyError(a)\nexcept KeyError:\n    pass",
    "def inner():\n    if a:\n        raise KeyError(a)\nuse(inner)",
    "if a == '`':\n    raise KeyError(a)",
    "if a == '\\n':\n    raise KeyError(a)",
    "if a:\n    return True",
    "a = [*a]\na.append(1)",
    "x = []\nx.append(a)",
    "time.sleep(x)",
    "b = b + 1",
    "b = c or 1",
    "self.a = a",
    "os.remove(a)",
    "print(a)",
]


def test_rest_of_the_arguments_is_no_object_of_the_caller() -> None:
    head = "def one(a, *rest, **options):\n    options['a'] = rest\n"
    assert found("a.py", f"{DOCUMENTED}{head}    return a + 1\n", DOCUMENTED) == []
    (finding,) = found(
        "a.py", f"{DOCUMENTED}{head}    if rest:\n        raise KeyError(a)\n", DOCUMENTED
    )
    assert (finding.suggestion or "").strip() == '"""Raise KeyError if `rest`."""'


def with_body(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{DOCUMENTED}def one(a, b=None):\n{lines}    return a + 1\n"


@examples(("body", "sentence"), FACTS)
def test_suggestion_says_what_the_code_shows(body: str, sentence: str) -> None:
    (finding,) = found("a.py", with_body(body), DOCUMENTED)
    assert (finding.suggestion or "").strip() == f'"""{sentence}"""'


@near_misses("body", SILENT)
def test_code_that_shows_no_more_than_the_name_is_left_alone(body: str) -> None:
    assert found("a.py", with_body(body), DOCUMENTED) == []


def test_names_of_tests_are_told() -> None:
    tests = "def test_one_rejects_an_empty_list(): ...\ndef test_two_is_other(): ...\ndef test_one_ok(): ...\n"
    after = {"a.py": DOCUMENTED + functions("one"), "tests/test_a.py": tests}
    (finding,) = review(subject_of({"a.py": DOCUMENTED}, after)).findings
    assert "    Tested: rejects an empty list.\n" in (finding.suggestion or "")


@table(
    ("known", "expected"),
    [
        (
            '"""Do it."""',
            '    """Return None if `not a`.\n\n    Raise KeyError if `b`.\n    """',
        ),
        (
            "'''Do it.'''",
            "    '''Return None if `not a`.\n\n    Raise KeyError if `b`.\n    '''",
        ),
        (
            '"""\n    Do it.\n\n    More.\n    """',
            '    """\n    Return None if `not a`.\n\n    Raise KeyError if `b`.\n    """',
        ),
    ],
)
def test_suggestion_has_the_quotes_of_the_file(known: str, expected: str) -> None:
    before = "".join(f"def known_{n}(a):\n    {known}\n{BODY}\n\n" for n in range(4))
    added = "def one(a, b):\n    if not a:\n        return None\n    if b:\n        raise KeyError(b)\n    return a\n"
    assert found("a.py", before + added, before)[0].suggestion == expected


@pytest.mark.parametrize(
    ("language", "text", "may_be"),
    [
        ("python", 'def f(a: int) -> str:\n    r"""Return a."""\n', False),
        ("python", "def _f(a):\n    return a\n", False),
        ("python", 'def f(a="):"):\n    """Return a."""\n', True),
        ("python", 'def f(a):  # "\n    return a\n', True),
        ("python", 'def f(a):\n    """Return a."""\n\ndef g(a):\n    return a\n', True),
        ("javascript", "function f(a) { return a; }\n", False),
        ("javascript", "exports.f = function (a) { return a; };\n", True),
        ("go", "package a\n\ntype T struct{}\n", False),
    ],
)
def test_most_texts_need_no_tree(language: str, text: str, may_be: bool) -> None:
    assert has_gap_signs(language, text) is may_be
