"""Which files a test runner collects, which are there for tests only, and what a test file is named after."""

from examples import table

from cli_guard.code.test_files import (
    is_named_after,
    is_test_code,
    is_test_file,
    list_test_files,
    runner_language,
    source_stem,
)


@table(
    ("path", "collected", "is_code"),
    [
        ("tests/test_cart.py", True, True),
        ("src/cart_test.py", True, True),
        ("tests/conftest.py", False, True),
        ("src/testing_tools.py", False, False),
        ("src/latest.py", False, False),
        ("node_modules/a/test_a.py", False, True),
        ("src/cart.test.ts", True, True),
        ("src/__tests__/cart.js", True, True),
        ("src/__tests__/fixtures/cart.js", False, True),
        ("types/cart.test.d.ts", False, False),
        ("src/Cart.stories.tsx", False, True),
        ("pkg/cart_test.go", True, True),
        ("pkg/testdata/cart_test.go", False, True),
        ("src/CartTest.java", True, True),
        ("src/CartTest.kt", True, False),
        ("src/Contest.java", False, False),
        ("tests/cart.rs", True, True),
        ("tests/helpers/mod.rs", False, True),
        ("spec/cart_spec.rb", True, True),
        ("tests/CartTest.php", True, True),
        ("CartTests.cs", True, False),
        ("test/cart_test.exs", True, True),
        ("tests/data.json", False, True),
        ("README.md", False, False),
    ],
)
def test_tests_are_known_by_name_and_folder(path: str, collected: bool, is_code: bool) -> None:
    assert (is_test_file(path), is_test_code(path)) == (collected, is_code)


def test_a_bare_test_file_must_define_a_test() -> None:
    texts = {"b/tests.py": "def test_a(): ...", "a/test.py": "print()", "test_c.py": "", "src/d.py": ""}
    assert list_test_files(texts) == ("b/tests.py", "test_c.py")


@table(
    ("path", "language"),
    [
        ("a.py", "python"),
        ("a.tsx", "javascript"),
        ("a.vue", "javascript"),
        ("A.kt", "java"),
        ("a.exs", "elixir"),
        ("a.c", None),
        ("a.yaml", None),
        ("Makefile", None),
    ],
)
def test_languages_are_divided_as_runners_divide_them(path: str, language: str | None) -> None:
    assert runner_language(path) == language


@table(
    ("test", "path", "named"),
    [
        ("tests/test_cart_item.py", "src/cart_item.py", True),
        ("src/CartItemTest.java", "src/CartItem.java", True),
        ("tests/cart-item.spec.ts", "src/CartItem.ts", True),
        ("tests/test_shop.py", "shop/__init__.py", True),
        ("src/shop.test.ts", "src/shop/index.ts", True),
        ("tests/test_base.py", "src/_base.py", True),
        ("tests/test_cart.py", "src/cart_item.py", False),
        ("tests/cart.e2e.spec.ts", "src/cart.ts", True),
        ("src/CartTestCase.java", "src/Cart.java", True),
        ("tests/test.py", "src/.py", False),
    ],
)
def test_a_test_is_named_after_a_source_file(test: str, path: str, named: bool) -> None:
    assert is_named_after(test, path) is named


def test_the_stem_of_a_main_file_is_its_folder() -> None:
    stems = [source_stem(path) for path in ("web/index.d.ts", "shop/__init__.py", "main.go", "src/_base.py")]
    assert stems == ["web", "shop", "main", "base"]
