"""What is advised for what developers ask, over one small repository, and where the repository tells nothing."""

from examples import table
from repositories import Repo

from cli_guard.assistant import projects
from cli_guard.assistant.request_command import recipes
from cli_guard.commands import judge

REPOSITORY = {
    "pyproject.toml": (
        "[build-system]\nrequires = ['hatchling']\n[project]\nname = 'shop'\n[project.optional-dependencies]\n"
        "dev = ['pytest']\n[tool.pytest.ini_options]\n[tool.mypy]\nfiles = ['src']\n"
    ),
    "Makefile": (
        "test:\n\tpytest -q\nlint:\n\truff check src\nserve:\n\tuvicorn shop.app:app --reload\n"
        "docs:\n\tmkdocs build\nclean:\n\trm -rf build\n"
        "release:\n\ttwine upload dist/*\ntest-integration:\n\tpytest it\n"
    ),
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "def total(items):\n    return sum(items)\n",
    "src/shop/lonely.py": "def alone():\n    return 1\n",
    "tests/test_cart.py": "from shop.cart import total\n\n\ndef test_total():\n    assert total([1]) == 1\n",
}


def command(request: str, texts: dict[str, str] | None = None) -> str | None:
    return projects.advise(request, REPOSITORY if texts is None else texts).command


@table(
    ("request_text", "expected"),
    [
        ("How do I run the tests?", "make test"),
        ("whats the command to verify my change with the test suite", "make test"),
        ("run the integration tests", "make test-integration"),
        ("How do I lint the code?", "make lint"),
        ("check the code style", "make lint"),
        ("how can I start the server", "make serve"),
        ("run the app locally", "make serve"),
        ("build the docs", "make docs"),
        ("build a wheel", "python -m build"),
        ("type-check everything", "mypy"),
        ("how do I set up a development environment", "pip install -e '.[dev]'"),
        ("install the test dependencies", "pip install -e '.[dev]'"),
        ("clean the build artefacts", "make clean"),
        ("how do I make a release", "make release"),
        ("how do I run one test", "pytest tests/test_cart.py::test_total"),
        ("run the test test_total", "pytest tests/test_cart.py::test_total"),
        ("run only the tests of src/shop/cart.py", "pytest tests/test_cart.py"),
        ("how do I run tests/test_cart.py as a test", "pytest tests/test_cart.py"),
        (
            "run test tests/test_cart.py::test_total",
            "pytest tests/test_cart.py::test_total",
        ),
        ("format the code", None),
        ("how do I migrate the database", None),
        ("tell me a joke", None),
        ("", None),
    ],
)
def test_what_is_asked_for_is_advised(request_text: str, expected: str | None) -> None:
    assert command(request_text) == expected


NODE = {
    "package.json": '{"scripts": {"deploy": "fly deploy", "ship": "npm publish", "ui": "start-storybook -p 1"}}'
}
JOBS = {
    ".github/workflows/ci.yml": "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n"
    "      - run: pip install tox\n      - run: tox -e typing\n      - run: |\n          ./tools/bench.sh\n"
    "          pytest -n ${{ matrix.jobs }}\n      - run: twine upload dist/*\n",
    "tools/bench.sh": "asv run\n",
}
GO = {
    "go.mod": "module example.org/x\n",
    "pkg/a_test.go": "package pkg\n\nfunc TestAdd(t *testing.T) {\n}\n\nfunc TestAddMany(t *testing.T) {\n}\n",
}


@table(
    ("texts", "request_text", "expected"),
    [
        (NODE, "deploy to production", "npm run deploy"),
        (NODE, "publish the package", "npm run ship"),
        (NODE, "how do I run storybook", "npm run ui"),
        (NODE, "how do I run the frobnicator", None),
        (JOBS, "How do I run the type checker?", "tox -e typing"),
        (JOBS, "run the benchmarks", "./tools/bench.sh"),
        # What a job alone can fill in, and what it does to its machine or to others.
        (JOBS, "how do I run the tests", None),
        (JOBS, "how do I install it", None),
        (JOBS, "publish the package", None),
        (GO, "How do I run only TestAdd?", "go test ./pkg -run '^TestAdd$'"),
        (GO, "run the test TestAddMany", "go test ./pkg -run '^TestAddMany$'"),
        (GO, "run TestNothing", None),
    ],
)
def test_what_is_written_down_is_found(
    texts: dict[str, str], request_text: str, expected: str | None
) -> None:
    assert command(request_text, texts) == expected


@table(
    ("request_text", "expected"),
    [
        ("undo the last commit but keep the changes", "git reset --soft HEAD~1"),
        ("I committed too early, how do I undo my last commit", "git reset --soft HEAD~1"),
        ("how do I revert a pushed commit abc1234", "git revert <sha>"),
        ("recover a lost commit", "git reflog"),
        ("I did git reset --hard by accident, can I recover my commit", "git reflog"),
        ("restore a deleted branch feature/login", "git branch <name> <sha>"),
        ("my branch topic was deleted, bring it back", "git branch <name> <sha>"),
        ("unstage src/shop/cart.py", "git restore --staged src/shop/cart.py"),
        ("how do I unstage a file", "git restore --staged <file>"),
        ("see who changed line 2 of src/shop/cart.py", "git blame src/shop/cart.py"),
        ("find the commit that broke the tests", "git bisect start HEAD <good-revision>"),
        ("squash my last three commits", "git rebase -i HEAD~<count>"),
        ("change the message of the last commit", "git commit --amend"),
        ("stop tracking .env", "git rm --cached .env"),
        ("discard my changes to src/shop/cart.py", "git stash push -- src/shop/cart.py"),
        ("rename the branch to better", "git branch -m <new-name>"),
        ("show the history of src/shop/cart.py", "git log --follow -p -- src/shop/cart.py"),
        (
            "I want to remove a password from the git history",
            "git log --all --oneline -- <file>",
        ),
    ],
)
def test_git_questions_have_their_recipe(request_text: str, expected: str) -> None:
    assert command(request_text) == expected


@table(
    "request_text",
    ["how do I test a branch condition", "run the tests of the commit parser"],
)
def test_words_that_git_uses_too_are_no_git_questions(request_text: str) -> None:
    assert not (command(request_text) or "").startswith("git ")


def test_no_recipe_is_denied_or_breaks_an_undo() -> None:
    for recipe in recipes():
        for each in (recipe.command, *recipe.alternatives):
            filled = each.replace("<", "").replace(">", "")
            assert judge(filled).verdict != "deny", filled
            assert "--hard" not in filled
            assert "--force" not in filled


def test_the_answer_names_its_source_and_explains_the_task() -> None:
    advice = projects.advise("How do I run the tests?", REPOSITORY)
    assert advice.source == ("Makefile", 1)
    assert advice.setup == "pip install -e '.[dev]'"
    assert [(part.text, part.meaning) for part in advice.parts] == [
        ("make test", "defined in Makefile:1: pytest -q")
    ]
    assert [each.command for each in advice.alternatives] == [
        "make test-integration",
        "pytest",
    ]
    assert {"Makefile", "pyproject.toml"} <= set(advice.looked_at)


def test_nothing_known_says_what_was_looked_at() -> None:
    advice = projects.advise(
        "How do I run the tests?", {"README.md": "Hello.\n", "Makefile": "VERSION = 1\n"}
    )
    assert (advice.command, advice.source, advice.parts) == (None, None, ())
    assert advice.looked_at == ("Makefile", "README.md")


def test_a_path_without_tests_is_said_to_have_none() -> None:
    advice = projects.advise("run the tests of src/shop/lonely.py", REPOSITORY)
    assert advice.command == "make test"
    assert (
        advice.assumed == "no test for src/shop/lonely.py was found: this runs all of them"
    )


@table(
    ("request_text", "expected"),
    [
        ("what does `make test` do?", "make test"),
        ("What does make lint do?", "make lint"),
        ("explain `git rebase -i HEAD~3`", "git rebase -i HEAD~3"),
        ('explain "git log --oneline"', "git log --oneline"),
        ("explain git stash pop", "git stash pop"),
        ("what does pytest -x do", "pytest -x"),
        ("what would `frobnicate --all` do", "frobnicate --all"),
    ],
)
def test_a_given_command_is_explained_and_not_replaced(
    request_text: str, expected: str
) -> None:
    advice = projects.advise(request_text, REPOSITORY)
    assert advice.command == expected


def test_a_task_that_nobody_defined_is_not_explained_away() -> None:
    advice = projects.advise("what does `make deploy` do?", REPOSITORY)
    assert advice.parts == ()
    assert advice.assumed == "the files of the repository do not define make deploy"


def test_no_secret_of_the_request_comes_back() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    advice = projects.advise(
        f"explain `curl -H 'Authorization: token {token}' https://example.org`", REPOSITORY
    )
    assert advice.command is not None
    assert token not in repr(advice)


def test_the_recipes_do_in_git_what_they_say(committed: Repo) -> None:
    committed.write("app.py", "x = 2\n")
    committed.git("commit", "-aqm", "Change")
    lost = committed.git("rev-parse", "HEAD").strip()
    run(committed, "undo the last commit but keep the changes")
    assert "+x = 2" in committed.git("diff", "--staged")
    run(committed, "unstage app.py")
    assert committed.git("diff", "--staged") == ""
    assert "+x = 2" in committed.git("diff")
    assert lost[:7] in run(committed, "recover a lost commit")
    run(committed, "restore a deleted branch", name="rescue", sha=lost)
    assert committed.git("rev-parse", "rescue").strip() == lost
    run(committed, "discard my changes to app.py")
    assert committed.git("diff") == ""
    assert committed.git("stash", "list")


def run(repo: Repo, request_text: str, **words: str) -> str:
    advised = command(request_text, {"app.py": "x = 1\n"}) or ""
    for name, word in words.items():
        advised = advised.replace(f"<{name}>", word)
    return repo.git(*advised.split()[1:])


@table(
    ("request_", "command"),
    [
        ("git commit -am wip", "git commit -am wip"),
        ("git status", "git status"),
        ("is `git push --force` dangerous?", "git push --force"),
        ("is the parser safe?", None),
        ("go through the code", None),
        ("git command to undo the last commit", "git reset --soft HEAD~1"),
    ],
)
def test_a_command_alone_is_explained(request_: str, command: str | None) -> None:
    assert projects.advise(request_, {"a.txt": ""}).command == command
