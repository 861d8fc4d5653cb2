"""What the files of a repository say one can run: one small repository a case, with the near misses beside it."""

import json

from examples import examples, near_misses

from cli_guard.assistant import projects

PACKAGE = json.dumps(
    {"scripts": {"test": "vitest run", "lint:fix": "eslint . --fix", "prepare": "husky"}},
    indent=1,
)
NOX = "import nox\n@nox.session\ndef lint(session):\n    session.run('ruff')\n"
INVOKE = "from invoke import task\n@task\ndef build_docs(c):\n    c.run('mkdocs build')\n"
HATCH = "[tool.hatch.envs.test.scripts]\ncov = 'pytest --cov'\n"
GUIDE = "Run `make` first.\n\n```sh\n$ python -m pytest tests\n```\n"
PYTEST = "[tool.pytest.ini_options]\naddopts = '-q'\n"


def found(texts: dict[str, str], purpose: str) -> list[str]:
    return [each.command for each in projects.commands_of(texts) if each.purpose == purpose]


def one(texts: dict[str, str], command: str) -> projects.ProjectCommand:
    return next(each for each in projects.commands_of(texts) if each.command == command)


@examples(
    ("texts", "purpose", "command"),
    [
        ({"Makefile": "test:\n\tpytest -q\n"}, "test", "make test"),
        ({"Makefile": "check: a.c\n\t./run && ruff check .\n"}, "lint", "make check"),
        ({"Makefile": "check:\n\tpython -m pytest\n"}, "test", "make check"),
        ({"Makefile": "check:\nifdef CI\n\tpython -m pytest\nendif\n"}, "test", "make check"),
        ({"sub/Makefile": "test:\n\tpytest\n"}, "test", "make -C sub test"),
        ({"justfile": "build target='all':\n    cargo build\n"}, "build", "just build"),
        ({"Taskfile.yml": "tasks:\n  lint:\n    cmds:\n      - golangci-lint run\n"}, "lint", "task lint"),
        ({"mise.toml": "[tasks.docs]\nrun = 'mkdocs build'\n"}, "docs", "mise run docs"),
        ({"Rakefile": "Rake::TestTask.new\n", "Gemfile": "gem 'x'\n"}, "test", "bundle exec rake test"),
        ({"Procfile": "web: gunicorn app:app\n"}, "run", "gunicorn app:app"),
        ({"package.json": PACKAGE}, "test", "npm test"),
        ({"package.json": PACKAGE, "pnpm-lock.yaml": "x: 1\n"}, "test", "pnpm test"),
        ({"package.json": PACKAGE, "yarn.lock": "# x\n"}, "lint", "yarn lint:fix"),
        ({"package.json": PACKAGE, "bun.lock": "{}\n"}, "test", "bun run test"),
        ({"package.json": PACKAGE, "package-lock.json": "{}"}, "install", "npm ci"),
        ({"package.json": PACKAGE}, "install", "npm install"),
        ({"web/package.json": PACKAGE}, "test", "cd web && npm test"),
        ({"deno.json": '{"tasks": {"dev": "deno run main.ts"}}'}, "run", "deno task dev"),
        ({"composer.json": '{"scripts": {"test": ["phpunit"]}}'}, "test", "composer test"),
        ({"tox.ini": "[testenv]\ncommands = pytest\n[testenv:lint]\ncommands = ruff check\n"}, "lint", "tox -e lint"),
        ({"tox.ini": "[testenv]\ncommands = pytest\n"}, "test", "tox"),
        ({"tox.toml": "[env.type]\ncommands = [['mypy', 'src']]\n"}, "typecheck", "tox -e type"),
        ({"noxfile.py": NOX}, "lint", "nox -s lint"),
        ({"tasks.py": INVOKE}, "docs", "inv build-docs"),
        ({"pyproject.toml": HATCH}, "coverage", "hatch run test:cov"),
        ({"pyproject.toml": "[tool.poe.tasks]\nfmt = 'black .'\n", "uv.lock": "x"}, "format", "uv run poe fmt"),
        ({"pyproject.toml": "[tool.pdm.scripts]\nserve = {cmd = 'flask run'}\n"}, "run", "pdm run serve"),
        ({"pyproject.toml": PYTEST}, "test", "pytest"),
        ({"pyproject.toml": PYTEST, "uv.lock": "version = 1\n"}, "test", "uv run pytest"),
        ({"pyproject.toml": PYTEST, "poetry.lock": "x"}, "test", "poetry run pytest"),
        ({"pyproject.toml": "[tool.mypy]\nfiles = ['src']\n"}, "typecheck", "mypy"),
        ({"pyproject.toml": "[tool.mypy]\nstrict = true\n", "src/a/b.py": ""}, "typecheck", "mypy src"),
        ({"pyproject.toml": "[project.optional-dependencies]\ndev = ['x']\n"}, "install", "pip install -e '.[dev]'"),
        ({"pyproject.toml": "[dependency-groups]\ntest = ['x']\n"}, "install", "pip install -e . --group test"),
        ({"requirements-dev.txt": "x\n"}, "install", "pip install -r requirements-dev.txt"),
        ({"setup.py": "from setuptools import setup\n"}, "build", "python -m build"),
        ({"manage.py": "import django\n"}, "migrate", "python manage.py migrate"),
        ({"tests/test_a.py": "def test_a():\n    pass\n"}, "test", "pytest"),
        ({"tests/test_a.py": "import unittest\n"}, "test", "python -m unittest"),
        ({"Cargo.toml": "[package]\nname = 'x'\n"}, "test", "cargo test"),
        ({"Cargo.toml": "[workspace]\nmembers = []\n"}, "test", "cargo test --workspace"),
        ({"Cargo.toml": "[package]\n", "src/main.rs": "fn main() {}\n"}, "run", "cargo run"),
        ({"go.mod": "module x\n"}, "test", "go test ./..."),
        ({"go.mod": "module x\n", "cmd/api/main.go": "package main\n"}, "run", "go run ./cmd/api"),
        ({"build.gradle.kts": "x", "gradlew": "#!/bin/sh\n"}, "test", "./gradlew test"),
        ({"build.gradle": "x"}, "test", "gradle test"),
        ({"pom.xml": "<project/>"}, "test", "mvn test"),
        ({"pom.xml": "<project/>", "mvnw": "#!/bin/sh\n"}, "build", "./mvnw package"),
        ({"App.sln": "x"}, "test", "dotnet test"),
        ({"Gemfile": "gem 'rspec'\n", "spec/a_spec.rb": ""}, "test", "bundle exec rspec"),
        ({"mix.exs": "defmodule X do\nend\n"}, "test", "mix test"),
        ({"CMakeLists.txt": "enable_testing()\n"}, "test", "ctest --test-dir build --output-on-failure"),
        ({"MODULE.bazel": "module(name='x')\n"}, "build", "bazel build //..."),
        ({"compose.yaml": "services: {}\n"}, "run", "docker compose up"),
        ({".pre-commit-config.yaml": "repos: []\n"}, "lint", "pre-commit run --all-files"),
        ({"docs/conf.py": "extensions = []\n"}, "docs", "sphinx-build -b html docs docs/_build/html"),
        ({"mkdocs.yml": "site_name: x\n"}, "docs", "mkdocs build"),
        ({"CONTRIBUTING.md": GUIDE}, "test", "python -m pytest tests"),
    ],
)  # fmt: skip
def test_a_command_is_found(texts: dict[str, str], purpose: str, command: str) -> None:
    assert command in found(texts, purpose)


@near_misses(
    ("texts", "command"),
    [
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, "npm test"),
        ({"Makefile": "%.o: %.c\n\tcc -c $<\n"}, "make %.o"),
        ({"Makefile": "build/app.o: app.c\n\tcc\n"}, "make build/app.o"),
        ({"Makefile": "VERSION := 1\nCC ?= gcc\n"}, "make VERSION"),
        ({"justfile": "_hidden:\n    pytest\nset shell := ['sh']\n"}, "just _hidden"),
        ({"node_modules/x/package.json": PACKAGE}, "cd node_modules/x && npm test"),
        ({"tests/fixtures/app/Makefile": "test:\n\tpytest\n"}, "make -C tests/fixtures/app test"),
        ({"conf.py": "DEBUG = True\n"}, "sphinx-build -b html . ./_build/html"),
        ({"README.md": "```sh\npip install requests\n```\n"}, "pip install requests"),
        ({"README.md": "```python\npytest.main()\n```\n"}, "pytest.main()"),
        ({"CONTRIBUTING.md": "Needs `black>=25` and `pytest.ini`.\n"}, "black>=25"),
        ({"CONTRIBUTING.md": "```sh\npytest <path>\npytest $FILE\npytest tests/...\n```\n"}, "pytest <path>"),
        ({"CONTRIBUTING.md": "```sh\nmake test\n```\n"}, "make test"),
        ({"pyproject.toml": "[project]\nname = 'x'\n"}, "pytest"),
        ({"package.json": PACKAGE, "yarn.lock": "# x\n"}, "yarn prettier --write ."),
    ],
)  # fmt: skip
def test_a_near_miss_is_none(texts: dict[str, str], command: str) -> None:
    assert command not in [each.command for each in projects.commands_of(texts)]


def test_where_and_what_are_told() -> None:
    texts = {
        "Makefile": "PY = python3\n\n.PHONY: test\n# tests\ntest: venv ## run them\n\t@$(PY) -m pytest \\\n\t  -q\n"
    }
    command = one(texts, "make test")
    assert (command.path, command.line, command.name) == ("Makefile", 5, "test")
    assert command.detail == "$(PY) -m pytest -q"


def test_lines_are_right_behind_escaped_line_ends() -> None:
    texts = {
        "Makefile": "a = 1 \\\n  2 \\\n  3\nlint: x \\\n  y\n\truff check\ntest:\n\tpytest\n"
    }
    assert [one(texts, name).line for name in ("make lint", "make test")] == [4, 7]


def test_people_come_first_then_tasks_then_tools() -> None:
    texts = {
        "pyproject.toml": PYTEST,
        "Makefile": "test:\n\tpytest\ntests-slow:\n\tpytest -m slow\n",
        "CONTRIBUTING.md": "# Tests\n\n```sh\ntox -e py\n```\n",
    }
    assert found(texts, "test") == [
        "tox -e py",
        "make test",
        "make tests-slow",
        "pytest",
    ]


def test_what_only_checks_the_documentation_comes_after_what_checks_the_code() -> None:
    texts = {
        "docs/Makefile": "check:\n\tsphinx-lint\n",
        "CONTRIBUTING.md": "```sh\ncd docs\nmake check\n```\n",
        "tox.ini": "[testenv:flake8]\ncommands = flake8 .\n",
    }
    assert found(texts, "lint")[0] == "tox -e flake8"


def test_a_documented_task_keeps_its_definition() -> None:
    texts = {
        "Makefile": "check:\n\tpytest\n",
        "CONTRIBUTING.md": "Please run `make check`.\n",
    }
    command = one(texts, "make check")
    assert (command.path, command.line, command.documented) == (
        "Makefile",
        1,
        ("CONTRIBUTING.md", 1),
    )


def test_a_document_that_goes_to_a_folder_is_followed() -> None:
    guide = "Then::\n\n    $ cd tests\n    $ ./runtests.py\n"
    texts = {"CONTRIBUTING.rst": guide, "tests/runtests.py": "#!/usr/bin/env python\n"}
    assert found(texts, "test")[0] == "cd tests && ./runtests.py"


def test_no_secret_is_shown() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    texts = {
        "Makefile": f"release:\n\tcurl -H 'Authorization: token {token}' https://example.org\n"
    }
    command = one(texts, "make release")
    assert token not in command.detail
    assert "curl" in command.detail


def test_the_same_files_give_the_same_answer_in_any_order() -> None:
    texts = {
        "Makefile": "test:\n\tpytest\n",
        "package.json": PACKAGE,
        "tox.ini": "[testenv]\ncommands = pytest\n",
    }
    assert projects.commands_of(texts) == projects.commands_of(
        dict(reversed(texts.items()))
    )


def test_what_stands_behind_several_spaces_is_no_part_of_a_command() -> None:
    texts = {
        "CONTRIBUTING.md": "```\nmake test     the tests, in .venv\npytest -k 'a  b'\n```\n",
        "Makefile": "test:\n\tpytest\n",
    }
    commands = {each.command for each in projects.commands_of(texts)}
    assert {"make test", "pytest -k 'a  b'"} <= commands
    assert not any("the tests" in each for each in commands)


def test_a_special_environment_that_a_guide_names_is_not_the_way_to_run_the_tests() -> None:
    texts = {
        "CONTRIBUTING.md": "To look for races:\n\n```\ntox -e stress\n```\n",
        "tox.ini": "[testenv]\ncommands = pytest\n[testenv:stress]\ncommands = pytest -m stress\n",
    }
    tests = [each for each in projects.commands_of(texts) if each.purpose == "test"]
    assert [each.command for each in tests][:2] == ["tox", "tox -e stress"]
    assert tests[1].documented == ("CONTRIBUTING.md", 4)
