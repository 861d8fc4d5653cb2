"""Which files a test runner collects, which are there for tests only, and what a test file is named after."""

from examples import table

from cli_guard.code.test_files import (
    is_named_after,
    is_test_code,
    is_test_file,
    is_test_or_example,
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
        ("test/unit/helpers/x.js", True, True),
        ("test/helpers/x.js", False, True),
        ("test/unit/fixtures/x.js", False, True),
        ("tests/helpers/mod.rs", False, True),
        ("spec/cart_spec.rb", True, True),
        ("tests/CartTest.php", True, True),
        ("CartTests.cs", True, False),
        ("test/cart_test.exs", True, True),
        ("tests/data.json", False, True),
        ("README.md", False, False),
    ],
)
def test_tests_are_known_by_name_and_folder(
    path: str, collected: bool, is_code: bool
) -> None:
    assert (is_test_file(path), is_test_code(path)) == (collected, is_code)


@table(
    ("path", "lowered"),
    [
        # Packages and modules of real projects that are called like folders of examples or tests.
        ("src/main/java/com/example/demo/DemoController.java", False),  # Spring Initializr
        (
            "src/main/java/org/springframework/samples/petclinic/owner/OwnerController.java",
            False,
        ),
        ("spring-test/src/main/java/org/springframework/test/web/Client.java", False),
        (
            "android/app/src/main/kotlin/com/example/my_app/MainActivity.kt",
            False,
        ),  # flutter create
        ("src/commonMain/kotlin/org/example/App.kt", False),  # Kotlin Multiplatform
        ("src/main/resources/static/demo/app.js", False),
        ("guava-testlib/src/com/google/common/testing/FakeTicker.java", False),
        ("java/org/example/Shop.java", False),
        ("numpy/testing/_private/utils.py", False),
        ("packages/testing/test.ts", False),  # NestJS
        ("src/cdk/testing/component-harness.ts", False),  # Angular
        ("Sources/Testing/Issues.swift", False),  # Swift Testing
        ("staging/src/k8s.io/client-go/testing/actions.go", False),
        ("pkg/testing/fake.go", False),
        ("lib/shop/demo/session.rb", False),
        ("app/Http/Controllers/Demo/PageController.php", False),
        ("app/docs/[slug]/page.tsx", False),  # a page of Next.js
        ("src/acme/example/views.py", False),
        ("src/latest.py", False),
        ("src/Contests/Ranking.cs", False),
        ("internal/attestation/verify.go", False),
        # Near misses: tests and examples.
        ("demo/app.py", True),
        ("demo/src/app.py", True),
        ("testing/test_assertion.py", True),
        ("testing/example_scripts/conftest.py", True),  # pytest
        ("testing/acceptance.py", True),
        ("examples/com/example/Main.java", True),
        ("samples/hello/src/main/java/com/acme/Hello.java", True),
        (
            "example/android/app/src/main/kotlin/com/example/plugin/MainActivity.kt",
            True,
        ),  # a Flutter plugin
        ("src/test/java/com/example/demo/Context.java", True),
        ("src/androidTest/java/com/example/Screen.kt", True),
        ("src/commonTest/kotlin/org/example/Clock.kt", True),
        ("src/testFixtures/java/com/acme/Orders.java", True),
        ("src/jmh/java/com/acme/Speed.java", True),
        ("src/main/java/com/acme/CartTest.java", True),
        ("src/cart/CartTest.kt", True),
        ("crates/net/examples/server.rs", True),
        ("src/shop/tests/helpers.py", True),
        ("src/examples/button.tsx", True),
        ("lib/shop/spec/helper.rb", True),
        ("docs/conf.py", True),
        ("docs/src/server.js", True),
        ("src/Shop.Tests/Orders.cs", True),
        ("ShopUITests/Login.swift", True),
        ("ShopTests/Login.swift", True),
        ("tests/Feature/Login.php", True),
        ("Tests/Login.swift", True),
        ("bench/run.go", True),
    ],
)
def test_a_package_called_example_is_no_folder_of_examples(
    path: str, lowered: bool
) -> None:
    assert is_test_or_example(path) is lowered


def test_a_bare_test_file_must_define_a_test() -> None:
    texts = {
        "b/tests.py": "def test_a(): ...",
        "a/test.py": "print()",
        "test_c.py": "",
        "src/d.py": "",
    }
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
def test_languages_are_divided_as_runners_divide_them(
    path: str, language: str | None
) -> None:
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
    stems = [
        source_stem(path)
        for path in ("web/index.d.ts", "shop/__init__.py", "main.go", "src/_base.py")
    ]
    assert stems == ["web", "shop", "main", "base"]
