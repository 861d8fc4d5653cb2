"""The tests that a request describes in words, and the command that runs no more than these."""

from examples import table

from cli_guard.assistant import projects

PYTHON = {
    "tox.ini": "[tox]\nenvlist = py3\n[testenv]\ncommands = pytest {posargs}\n",
    "src/shop/parser.py": "def parse(text):\n    return text\n",
    "tests/test_parser.py": (
        "from shop.parser import parse\n\n\ndef test_parse_empty():\n    assert parse('') == ''\n\n\n"
        "def test_trailing_comma_is_refused():\n    pass\n"
    ),
    "tests/integration/test_web.py": "def test_web():\n    pass\n",
    "tests/test_till.py": "import pytest\n\n\n@pytest.mark.slow\ndef test_till():\n    pass\n",
}
EXPRESS = {
    "package.json": '{"scripts": {"test": "mocha --require test/support/env --check-leaks test/ test/acceptance/"},'
    ' "devDependencies": {"mocha": "10"}}',
    "lib/response.js": "res.redirect = function redirect(url) { return url }\nres.json = function json(o) {}\n",
    "test/res.redirect.js": "describe('res', function () { it('should default to a 302', function () {}) })\n",
    "test/res.json.js": "describe('res.json', function () { it('should send JSON', () => {}) })\n",
    "test/app.router.js": "describe('router', () => { it('should allow escaped regexp', () => {}) })\n",
}
GO = {
    "go.mod": "module example.org/shop\n",
    "Makefile": "test:\n\tgo test ./...\n",
    "parser/parser_test.go": "package parser\n\nfunc TestParse(t *testing.T) {}\n\n"
    "func TestRejectsTrailingComma(t *testing.T) {}\n",
    "till/till_test.go": "package till\n\nfunc TestTill(t *testing.T) {}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "shop"\n',
    "src/parser.rs": "pub fn parse() {}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn comma() {}\n}\n",
    "tests/orders.rs": "#[test]\nfn order_is_kept() {}\n",
}
JAVA = {
    "pom.xml": "<project/>",
    "src/main/java/shop/OrderService.java": "package shop;\npublic class OrderService {}\n",
    "src/test/java/shop/OrderServiceTest.java": "package shop;\nclass OrderServiceTest { @Test void places() {} }\n",
    "src/test/java/shop/TillTest.java": "package shop;\nclass TillTest { @Test void opens() {} }\n",
}
MOCHA = "npx mocha --require test/support/env --check-leaks "


@table(
    ("texts", "request_text", "command"),
    [
        (PYTHON, "run the tests for the parser", "pytest tests/test_parser.py"),
        (
            PYTHON,
            "run the trailing comma tests",
            "pytest tests/test_parser.py::test_trailing_comma_is_refused",
        ),
        (PYTHON, "run the integration tests", "pytest tests/integration/test_web.py"),
        # Nothing is named so: all of them.
        (PYTHON, "run the tests for the database", "tox"),
        (PYTHON, "run all tests", "tox"),
        (EXPRESS, "run the redirect tests", f"{MOCHA}test/res.redirect.js"),
        (EXPRESS, "run the router tests", f"{MOCHA}test/app.router.js"),
        (EXPRESS, "run the billing tests", "npm test"),
        (GO, "run the till tests", "go test ./till"),
        (
            GO,
            "run the trailing comma test",
            "go test ./parser -run '^TestRejectsTrailingComma$'",
        ),
        (GO, "run the invoice tests", "make test"),
        (RUST, "run the tests of the parser module", "cargo test parser::"),
        (RUST, "run the order tests", "cargo test --test orders"),
        (JAVA, "run the order service tests", "mvn -Dtest=OrderServiceTest test"),
        (JAVA, "run the invoice tests", "mvn test"),
    ],
)
def test_the_narrowest_command(
    texts: dict[str, str], request_text: str, command: str
) -> None:
    assert projects.advise(request_text, texts).command == command


@table(
    ("texts", "paths", "symbols", "command"),
    [
        (
            EXPRESS,
            ["lib/response.js"],
            [],
            f"{MOCHA}test/res.json.js test/res.redirect.js",
        ),
        (EXPRESS, [], ["res.redirect"], f"{MOCHA}test/res.redirect.js"),
        (RUST, ["src/parser.rs"], [], "cargo test parser::"),
        (
            JAVA,
            ["src/main/java/shop/OrderService.java"],
            ["OrderService"],
            "mvn -Dtest=OrderServiceTest test",
        ),
        (PYTHON, [], ["invoice"], None),
    ],
)
def test_tests_that_are_named_after_code(
    texts: dict[str, str], paths: list[str], symbols: list[str], command: str | None
) -> None:
    assert projects.tests_for(paths, symbols, texts).command == command
