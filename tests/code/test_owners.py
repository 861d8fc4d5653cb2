"""One module answers each question about a file, and no other room answers it again."""

import ast
import functools
import re
import tomllib
from collections.abc import Iterator

from examples import table
from sources import FILES, ROOT, nodes_of, tree_of

from cli_guard.code.test_files import (
    has_test_words,
    is_test_code,
    is_test_file,
    is_test_or_example,
)

OWNERS = {
    "the language of a path": (
        "code/languages.py",
        r"language_(?:of|for)(?:_path)?|suffix_of",
    ),
    "a test file": (
        "code/test_files.py",
        r"is_tests?|is_test_(?:file|code|path|or_example)|has_test_words|list_test_files|tests_among",
    ),
    "a generated, vendored or minified file": (
        "code/classify.py",
        r"is_(?:generated|vendored|minified)(?:_file)?|says_generated",
    ),
    "the plain data of a finding": ("model.py", r"finding_(?:data|of|from_data|to_data)"),
    "syntax trees": ("code/syntax.py", r"indents_too_deep"),
}


@functools.cache
def functions() -> list[tuple[str, str]]:
    """Every function at the top of a module that is not about a text, as (path below the package, name)."""
    return [
        (path.relative_to(ROOT).as_posix(), node.name)
        for path in FILES
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef)
        and [each.arg for each in node.args.args] != ["text"]
    ]


@table("concept", OWNERS)
def test_one_module_owns_each_concept(concept: str) -> None:
    owner, names = OWNERS[concept]
    others = [
        f"{path}: {name}"
        for path, name in functions()
        if path != owner and re.fullmatch(names, name)
    ]
    assert others == []
    assert any(path == owner and re.fullmatch(names, name) for path, name in functions())


def test_no_reviewer_has_a_table_of_endings_by_language() -> None:
    rooms = [
        ROOT / room
        for room in ("reviewers", "secrets", "graph", "review", "policy", "git", "code")
    ]
    tables = [
        path.relative_to(ROOT).as_posix()
        for room in rooms
        for path in room.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Dict)
        and any(
            isinstance(key, ast.Constant) and key.value in (".go", "go", ".py")
            for key in node.keys
        )
        and any(
            isinstance(value, ast.Constant) and value.value in ("go", "python")
            for value in node.values
        )
    ]
    assert tables == []
    owner = tomllib.loads((ROOT / "rules/languages/files.toml").read_text())
    assert owner["reviewed"]["go"] == ".go" and owner["reviewed"]["python"].startswith(
        ".py "
    )


@table(
    ("path", "collected", "test_code", "test_or_example", "test_words"),
    [
        ("tests/test_a.py", True, True, True, True),
        ("tests/helpers.py", False, True, True, True),
        ("conftest.py", False, True, True, True),
        ("tests/fixtures/key.pem", False, True, True, True),
        ("docs/conf.py", False, False, True, False),
        ("examples/app.py", False, False, True, True),
        ("benchmarks/run.py", False, False, True, False),
        ("cypress/run.py", False, False, False, True),
        ("src/app.spec.ts", True, True, True, True),
        ("lib/latest.py", False, False, False, True),
        ("lib/contest/app.py", False, False, False, False),
        ("src/app.py", False, False, False, False),
        ("Tests/app.py", False, False, True, True),
        ("node_modules/a/test.js", False, False, False, True),
    ],
)
def test_the_four_answers_about_tests_and_where_they_differ(
    path: str, collected: bool, test_code: bool, test_or_example: bool, test_words: bool
) -> None:
    answers = (
        is_test_file(path),
        is_test_code(path),
        is_test_or_example(path),
        has_test_words(path),
    )
    assert answers == (collected, test_code, test_or_example, test_words)


# What applies a regular expression or a table of words to a text, as a method of the expression or of the text.
EXPRESSIONS = {
    "search",
    "match",
    "fullmatch",
    "findall",
    "finditer",
    "sub",
    "subn",
    "split",
}
WORDS = {
    "split",
    "lower",
    "casefold",
    "startswith",
    "endswith",
    "partition",
    "rpartition",
    "replace",
    "count",
}
VOCABULARY = {
    "pattern",
    "tables",
    "word_set",
    "vocabulary",
    "phrases_by_first_word",
    "read_words",
}


def is_request(node: ast.expr) -> bool:
    """Is an expression the text of a developer's request, by the names that it has?"""
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name in ("request", "question", "normalized_input")
        case ast.Subscript(slice=ast.Constant(name)):
            return name in ("request", "question", "normalized_input")
        case _:
            return False


def readings(source: str) -> Iterator[str]:
    """The places where a module reads the words of a request."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            by_expression = node.func.attr in EXPRESSIONS and any(
                map(is_request, node.args)
            )
            if by_expression or (node.func.attr in WORDS and is_request(node.func.value)):
                yield ast.unparse(node)
        elif (
            isinstance(node, ast.ImportFrom)
            and node.module == "cli_guard.assistant.request_words"
        ):
            yield from (each.name for each in node.names if each.name in VOCABULARY)
        elif isinstance(node, ast.Constant) and node.value == "requests.toml":
            yield "requests.toml"


def test_only_the_request_reader_reads_the_words_of_a_request() -> None:
    sample = "A.search(request)\nre.sub('a', '', x.request)\nstate['normalized_input'].lower()\nf(request)"
    assert len(list(readings(sample))) == 3
    found = {
        path.relative_to(ROOT).as_posix(): list(readings(path.read_text()))
        for path in sorted((ROOT / "assistant").rglob("*.py"))
    }
    others = {
        path: read
        for path, read in found.items()
        if read and "assistant/request" not in path
    }
    assert others == {}
    assert all(
        found[f"assistant/request{part}.py"]
        for part in ("", "_change", "_command", "_documentation")
    )
