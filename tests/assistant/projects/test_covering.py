"""Which tests cover what, why, and with which command: one language a table, with the tests that must stay out."""

import json

from examples import table

from cli_guard.assistant import projects

PYTHON = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "src/app/__init__.py": "from .config import load_config\nfrom app.core import *\n",
    "src/app/config.py": "def load_config():\n    return {}\n\n\ndef save_config():\n    return 1\n",
    "src/app/core.py": "class Engine:\n    pass\n",
    "src/app/deep/inner.py": "from ..config import load_config\n\n\ndef use():\n    return load_config()\n",
    "src/app/alone.py": "def nothing():\n    return 0\n",
    "src/app/empty.py": "",
    "tests/__init__.py": "",
    "tests/test_config.py": (
        "from app.config import (\n    load_config,  # one\n    save_config,\n)\n\n\n"
        "def test_load():\n    assert load_config() == {}\n\n\n"
        "class TestSave:\n    def test_save(self):\n        assert save_config()\n"
    ),
    "tests/test_package.py": "import app\n\n\ndef test_it():\n    assert app.load_config() == {}\n",
    "tests/test_star.py": "from app import Engine\n\n\ndef test_engine():\n    assert Engine()\n",
    "tests/test_inner.py": "import app.deep.inner as inner\n\n\ndef test_use():\n    assert inner.use() == {}\n",
    "tests/helpers.py": "from app.config import load_config\n",
    "tests/unrelated/test_other.py": "import json\n\n\ndef test_json():\n    assert 'configuration'\n",
}  # fmt: skip
SCRIPT = {
    "package.json": json.dumps({"devDependencies": {"vitest": "1"}}),
    "src/lib/index.ts": "export { parse } from './parse.js'\nexport * from './format'\n",
    "src/lib/parse.ts": "export function parse(text: string) { return text }\n",
    "src/lib/format.ts": "export const format = (x: number) => x\n",
    "src/app.ts": "import { format } from './lib/format'\n",
    "src/lib/parse.test.ts": (
        "import { parse } from './parse'\n\nit('parses', () => { parse('x') })\ntest('more', () => {})\n"
    ),
    "test/format.spec.ts": (
        "import { format } from '@/lib/index'\nimport x from 'format'\n\ntest(\"formats\", () => format(1))\n"
    ),
    "test/app.test.ts": "const app = require('../src/app')\n\ntest('runs', () => app)\n",
}  # fmt: skip
GO = {
    "go.mod": "module example.org/shop\n",
    "cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\nfunc Empty() bool { return true }\n",
    "cart/tax.go": "package cart\n\nfunc Tax() int { return 2 }\n",
    "cart/cart_test.go": (
        'package cart\n\nimport "testing"\n\nfunc TestTotal(t *testing.T) { Total() }\n\n'
        "func TestEmpty(t *testing.T) { Empty() }\n"
    ),
    "other/other_test.go": 'package other\n\nimport "testing"\n\nfunc TestOther(t *testing.T) {}\n',
}  # fmt: skip
JAVA = {
    "pom.xml": "<project/>",
    "src/main/java/org/shop/Cart.java": "package org.shop;\n\npublic class Cart { }\n",
    "src/test/java/org/shop/CartTest.java": (
        "package org.shop;\n\nclass CartTest {\n  @Test void adds() { new Cart(); }\n}\n"
    ),
    "src/test/java/org/shop/CartographyTest.java": "package org.shop;\n\nclass CartographyTest { }\n",
}  # fmt: skip
RUST = {
    "Cargo.toml": '[package]\nname = "my-shop"\n',
    "src/cart.rs": "pub fn total() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {}\n}\n",
    "src/tax.rs": "pub fn tax() {}\n",
    "tests/tax.rs": "use my_shop::tax::tax;\n\n#[test]\nfn taxes() { tax(); }\n",
    "tests/none.rs": "use std::collections::HashMap;\n\n#[test]\nfn maps() {}\n",
}


def covering(
    texts: dict[str, str], *paths: str, symbols: tuple[str, ...] = ()
) -> projects.Covering:
    return projects.tests_for(paths, symbols, texts)


@table(
    ("texts", "path", "expected"),
    [
        (PYTHON, "src/app/config.py", {"tests/test_config.py": "strong", "tests/test_package.py": "medium"}),
        (PYTHON, "src/app/core.py", {"tests/test_star.py": "medium"}),
        (PYTHON, "src/app/deep/inner.py", {"tests/test_inner.py": "strong"}),
        (PYTHON, "src/app/alone.py", {}),
        (PYTHON, "src/app/empty.py", {}),
        (PYTHON, "tests/test_star.py", {"tests/test_star.py": "strong"}),
        (SCRIPT, "src/lib/parse.ts", {"src/lib/parse.test.ts": "medium"}),
        (SCRIPT, "src/lib/format.ts", {"test/format.spec.ts": "medium"}),
        (SCRIPT, "src/app.ts", {"test/app.test.ts": "medium"}),
        (GO, "cart/cart.go", {"cart/cart_test.go": "strong"}),
        (GO, "cart/tax.go", {"cart/cart_test.go": "medium"}),
        (JAVA, "src/main/java/org/shop/Cart.java", {"src/test/java/org/shop/CartTest.java": "medium"}),
        (RUST, "src/cart.rs", {"src/cart.rs": "strong"}),
        (RUST, "src/tax.rs", {"tests/tax.rs": "medium"}),
    ],
)  # fmt: skip
def test_the_tests_of_a_file(
    texts: dict[str, str], path: str, expected: dict[str, str]
) -> None:
    found = covering(texts, path)
    assert {each.path: each.strength for each in found.tests} == expected
    assert found.uncovered == (() if expected or not texts[path] else (path,))


# The name of the function is that of its file; what was built has it too.
DEFAULT_EXPORT = {
    "package.json": '{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "1"}}',
    "lib/readHeaders.js": "export default raw => raw.split();\n",
    "dist/shop.js": "const readHeaders = raw => raw.split();\n",
    "test/shop.js": "import '../dist/shop.js';\n",
    "test/readHeaders.spec.js": "import read from '../lib/readHeaders.js';\nit('reads', () => read('a'));\n",
}


@table(
    ("texts", "path", "command"),
    [
        (PYTHON, "src/app/config.py", "pytest tests/test_config.py tests/test_package.py"),
        (SCRIPT, "src/lib/parse.ts", "npx vitest run src/lib/parse.test.ts"),
        (GO, "cart/cart.go", "go test ./cart"),
        (JAVA, "src/main/java/org/shop/Cart.java", "mvn -Dtest=CartTest test"),
        (RUST, "src/tax.rs", "cargo test --test tax"),
        (PYTHON, "src/app/alone.py", None),
    ],
)
def test_the_command_runs_exactly_these(
    texts: dict[str, str], path: str, command: str | None
) -> None:
    assert covering(texts, path).command == command


@table(
    ("texts", "symbol", "command"),
    [
        (PYTHON, "save_config", "pytest tests/test_config.py::TestSave::test_save"),
        (
            PYTHON,
            "load_config",
            "pytest tests/test_config.py::test_load tests/test_package.py",
        ),
        (GO, "Empty", "go test ./cart -run '^TestEmpty$'"),
        (SCRIPT, "parse", "npx vitest run src/lib/parse.test.ts"),
        (DEFAULT_EXPORT, "readHeaders", "npx mocha test/readHeaders.spec.js"),
        (DEFAULT_EXPORT, "skipRows", None),
        (PYTHON, "nothing", None),
    ],
)
def test_a_symbol_narrows_to_the_tests_that_call_it(
    texts: dict[str, str], symbol: str, command: str | None
) -> None:
    assert covering(texts, symbols=(symbol,)).command == command


@table(
    ("files", "command"),
    [
        ({"uv.lock": "x"}, "uv run pytest tests/test_a.py"),
        ({"poetry.lock": "x"}, "poetry run pytest tests/test_a.py"),
        ({"tests/test_a.py": "import unittest\nimport a\n\n\nclass T(unittest.TestCase):\n    def test_a(self): a\n"},
         "python -m unittest tests/test_a.py"),
        ({"manage.py": "import django\n"}, "python manage.py test tests.test_a"),
    ],
)  # fmt: skip
def test_python_runs_as_the_project_does(files: dict[str, str], command: str) -> None:
    texts = {
        "a.py": "x = 1\n",
        "tests/test_a.py": "import a\n\n\ndef test_a():\n    assert a.x\n",
    } | files
    assert covering(texts, "a.py").command == command


@table(
    ("dependencies", "lock", "command"),
    [
        ({"jest": "1"}, "yarn.lock", "yarn jest a.test.js"),
        ({"mocha": "1"}, "pnpm-lock.yaml", "pnpm exec mocha a.test.js"),
        ({}, "x", "node --test a.test.js"),
    ],
)
def test_javascript_runs_as_the_package_does(
    dependencies: dict[str, str], lock: str, command: str
) -> None:
    texts = {"a.js": "x\n", "a.test.js": "require('./a')\n", lock: "x\n"}
    texts["package.json"] = json.dumps({"devDependencies": dependencies})
    assert covering(texts, "a.js").command == command


def test_a_step_further_is_weaker_and_taken_only_if_nothing_is_nearer() -> None:
    texts = {
        "app/low.py": "x = 1\n",
        "app/high.py": "from app.low import x\n",
        "tests/test_high.py": "from app import high\n\n\ndef test_high():\n    assert high\n",
    }
    (test,) = covering(texts, "app/low.py").tests
    assert (test.strength, test.reason) == (
        "weak",
        "imports app.high, which imports app.low",
    )


def test_reasons_name_what_is_imported() -> None:
    reasons = {
        each.path: each.reason for each in covering(PYTHON, "src/app/config.py").tests
    }
    assert reasons == {
        "tests/test_config.py": "imports app.config, and is named after it",
        "tests/test_package.py": "uses load_config, which src/app/__init__.py takes from src/app/config.py",
    }


def test_a_folder_stands_for_its_files() -> None:
    found = covering(PYTHON, "src/app")
    assert {each.path for each in found.tests} == {
        *(
            "tests/test_config.py",
            "tests/test_package.py",
            "tests/test_star.py",
            "tests/test_inner.py",
        ),
    }
    assert found.uncovered == ("src/app/alone.py",)


def test_a_path_that_is_not_there_is_uncovered_unless_a_test_has_its_name() -> None:
    assert covering(PYTHON, "src/gone.py").uncovered == ("src/gone.py",)
    assert [each.path for each in covering(PYTHON, "old/config.py").tests] == [
        "tests/test_config.py"
    ]


def test_a_data_file_is_covered_by_who_names_it() -> None:
    texts = {
        "data/rates.json": "{}",
        "tests/test_rates.py": "P = 'data/rates.json'\n\n\ndef test_p():\n    assert P\n",
    }
    (test,) = covering(texts, "data/rates.json").tests
    assert (test.reason, test.strength) == ("names data/rates.json", "medium")


def test_many_tests_are_bounded_and_counted() -> None:
    texts = {"a.py": "x = 1\n"} | {
        f"tests/test_{n:03}.py": "import a\n\n\ndef test_x():\n    a\n" for n in range(60)
    }
    found = covering(texts, "a.py")
    assert (len(found.tests), found.left_out) == (40, 20)
