"""One module answers each question about a file, and no other room answers it again."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_guard.code.test_files import has_test_words, is_test_code, is_test_file, is_test_or_example

PACKAGE = Path(__file__).parents[2] / "cli_guard"
OWNERS = {
    "the language of a path": ("code/languages.py", r"language_(?:of|for)(?:_path)?|suffix_of"),
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


def functions() -> Iterator[tuple[str, str]]:
    """Every function at the top of a module that is not about a text, as (path below the package, name)."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and [each.arg for each in node.args.args] != ["text"]:
                yield path.relative_to(PACKAGE).as_posix(), node.name


@pytest.mark.parametrize("concept", OWNERS)
def test_one_module_owns_each_concept(concept: str) -> None:
    owner, names = OWNERS[concept]
    others = [f"{path}: {name}" for path, name in functions() if path != owner and re.fullmatch(names, name)]
    assert others == []
    assert any(path == owner and re.fullmatch(names, name) for path, name in functions())


def test_no_reviewer_has_a_table_of_endings_by_language() -> None:
    rooms = [PACKAGE / room for room in ("reviewers", "secrets", "graph", "review", "policy", "git", "code")]
    tables = [
        path.relative_to(PACKAGE).as_posix()
        for room in rooms
        for path in room.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Dict)
        and any(isinstance(key, ast.Constant) and key.value in (".go", "go", ".py") for key in node.keys)
        and any(isinstance(value, ast.Constant) and value.value in ("go", "python") for value in node.values)
    ]
    assert tables == []
    owner = tomllib.loads((PACKAGE / "rules/languages/files.toml").read_text())
    assert owner["reviewed"]["go"] == ".go" and owner["reviewed"]["python"].startswith(".py ")


@pytest.mark.parametrize(
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
    answers = (is_test_file(path), is_test_code(path), is_test_or_example(path), has_test_words(path))
    assert answers == (collected, test_code, test_or_example, test_words)
