"""Sections of a README: each line from a file, at the place where a reader looks for it, never twice."""

import pytest
from documenting.checks import whole

from cli_guard.assistant.documenting import document

PYPROJECT = """[project]
name = "shipper"
version = "1.0"
requires-python = ">=3.11"
dependencies = ["click"]

[project.optional-dependencies]
dev = ["pytest"]
fast = ["uvloop"]

[project.scripts]
shipper = "shipper.cli:main"

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
CLI = """import argparse
import os

URL = os.environ.get("SHIPPER_URL", "http://localhost")
KEY = os.environ.get("SHIPPER_API_KEY", "swordfish-swordfish")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--verbose", "-v", help="say more")
    parser.add_argument("--retries", type=int, default=3, help="how often to try")
    os.environ["SHIPPER_HOME"]
"""
README = "# Shipper\n\nShips.\n\n## Usage\n\nRun it.\n\n## License\n\nMIT\n"
TEXTS = {
    "pyproject.toml": PYPROJECT,
    "src/shipper/__init__.py": '__all__ = ["Ship"]\n',
    "src/shipper/cli.py": CLI,
    "tests/test_cli.py": "import pytest\n",
    "Makefile": "test: build  ## run all tests\n\tpytest -q\n\nbuild:\n\tpython -m build\n",
    "README.md": README,
}


def section(request: str, texts: dict[str, str], folder) -> str:
    answer = whole(request, texts, folder)
    assert len(answer.proposals) == 1, answer
    assert answer.proposals[0].kind == "readme section"
    for ground in answer.proposals[0].grounded_in:
        path, _, line = ground.rpartition(":")
        assert 1 <= int(line) <= texts[path].count("\n") + 1
    return answer.proposals[0].text


@pytest.mark.parametrize(
    ("topic", "said", "unsaid"),
    [
        (
            "installation",
            ["Needs Python `>=3.11`", "python -m pip install .", "'.[fast]'"],
            ["pip install shipper"],
        ),
        ("usage", ["shipper --help", "`--verbose`, `-v`", "say more", "from shipper import Ship"], ["npm"]),
        (
            "configuration",
            [
                "`SHIPPER_URL`",
                '`"http://localhost"`',
                "`SHIPPER_API_KEY`",
                "src/shipper/cli.py:4",
                "required",
            ],
            ["swordfish"],
        ),
        ("the command line", ["shipper --help", "how often to try", "`3`"], ["SHIPPER"]),
        ("testing", ["-e '.[dev]'", "pytest", "make test"], ["tox"]),
        (
            "development",
            ["pip install -e '.[dev]'", "`make build`", "`python -m build`", "run all tests"],
            ["npm"],
        ),
    ],
)
def test_a_section_says_what_the_files_say(topic, said, unsaid, tmp_path):
    text = section(f"write a README section on {topic}", TEXTS, tmp_path)
    for words in said:
        assert words in text
    for words in unsaid:
        assert words not in text


@pytest.mark.parametrize(
    ("topic", "before", "after"),
    [
        ("installation", "Ships.", "## Usage"),
        ("configuration", "Run it.", "## License"),
        ("testing", "Run it.", "## License"),
        ("development", "Run it.", "## License"),
    ],
)
def test_a_section_stands_where_a_reader_looks(topic, before, after, tmp_path):
    answer = whole(f"write a README section on {topic}", TEXTS, tmp_path)
    new = answer.changes["README.md"]
    heading = f"## {topic.capitalize()}"
    assert new.index(before) < new.index(heading) < new.index(after)
    line = answer.proposals[0].line
    assert README.split("\n")[line - 1] == after
    assert document(f"write a README section on {topic}", {**TEXTS, **answer.changes}).proposals == ()


def test_a_known_section_is_extended_and_not_doubled(tmp_path):
    text = section("write a README section on usage", TEXTS, tmp_path)
    assert "## Usage" not in text
    answer = document("write a README section on usage", TEXTS)
    assert answer.changes["README.md"].count("## Usage") == 1
    assert answer.changes["README.md"].index("Run it.") < answer.changes["README.md"].index("shipper --help")
    table = (
        "# S\n\n## Configuration\n\n| Variable | Default |\n| --- | --- |\n"
        "| `SHIPPER_URL` | x |\n| `SHIPPER_HOME` | |\n"
    )
    text = section("write a README section on configuration", {**TEXTS, "README.md": table}, tmp_path / "b")
    assert "SHIPPER_API_KEY" in text
    assert "SHIPPER_URL" not in text


@pytest.mark.parametrize(
    ("name", "readme", "heading"),
    [
        (
            "README.md",
            "Shipper\n=======\n\nUsage\n-----\n\nx\n\nLicense\n-------\n\nMIT\n",
            "Testing\n-------\n",
        ),
        ("README.md", "# S #\n\n## Usage ##\n\nx\n", "## Testing ##\n"),
        ("README.md", "# S\n\n### Usage\n\nx\n\n### License\n\nMIT\n", "### Testing\n"),
        ("README.rst", "Shipper\n=======\n\nUsage\n~~~~~\n\nx\n", "Testing\n~~~~~~~\n"),
        ("readme.md", "# S\r\n\r\n## Usage\r\n\r\nx\r\n", "## Testing\r\n"),
        ("README.md", "# S\n\n```\n## License\n```\n", "## Testing\n"),
    ],
)
def test_headings_are_written_as_this_file_writes_them(name, readme, heading, tmp_path):
    texts = {**{p: t for p, t in TEXTS.items() if p != "README.md"}, name: readme}
    answer = whole("write a README section on testing", texts, tmp_path)
    new = answer.changes[name]
    assert heading in new
    assert ("\r\n" in new) is ("\r\n" in readme)
    if name.endswith(".rst"):
        assert ".. code-block:: sh\n\n   pytest\n" in new


def test_no_readme_gives_a_new_one(tmp_path):
    texts = {p: t for p, t in TEXTS.items() if p != "README.md"}
    answer = whole("write a README", texts, tmp_path)
    new = answer.changes["README.md"]
    assert new.startswith("# shipper\n\n## Installation\n")
    order = [new.index(f"## {t}") for t in ("Installation", "Usage", "Configuration", "Testing")]
    assert order == sorted(order)
    assert "new file mode" in answer.patch
    assert [p.line for p in answer.proposals] == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("texts", "topic", "said"),
    [
        (
            {
                "package.json": '{"name": "web", "scripts": {"test": "vitest"}, "engines": {"node": ">=20"}}',
                "pnpm-lock.yaml": "",
            },
            "installation",
            "pnpm install",
        ),
        ({"package.json": '{"name": "web", "scripts": {"test": "vitest"}}'}, "testing", "npm test"),
        ({"package.json": '{"name": "web", "bin": {"webber": "x.js"}}'}, "usage", "npx webber"),
        (
            {
                "Cargo.toml": '[package]\nname = "ox"\nrust-version = "1.80"\n',
                "src/main.rs": "fn main() {}\n",
            },
            "installation",
            "cargo install --path .",
        ),
        ({"Cargo.toml": '[package]\nname = "ox"\n'}, "testing", "cargo test"),
        (
            {"go.mod": "module example.com/ox\n\ngo 1.22\n", "cmd/ox/main.go": "package main\n"},
            "installation",
            "go install ./cmd/ox",
        ),
        ({"go.mod": "module example.com/ox\n", "a_test.go": "package ox\n"}, "testing", "go test ./..."),
        (
            {
                "src/a.js": 'const u = process.env.APP_URL;\nconst k = process.env.APP_SECRET || "sesame-open-9";\n'
            },
            "configuration",
            "`APP_SECRET`",
        ),
        (
            {"a.go": 'package a\n\nimport "os"\n\nvar x = os.Getenv("OX_HOME")\n'},
            "configuration",
            "`OX_HOME`",
        ),
        ({"tox.ini": "[tox]\n"}, "testing", "tox"),
        ({"tests/test_a.py": "import unittest\n"}, "testing", "python -m unittest"),
    ],
)
def test_other_kinds_of_projects(texts, topic, said, tmp_path):
    text = section(f"write a README section on {topic}", texts, tmp_path)
    assert said in text
    assert "sesame" not in text


@pytest.mark.parametrize("manifest", ["pyproject.toml", "package.json", "Cargo.toml", "go.mod", "Makefile"])
@pytest.mark.parametrize(
    "text", ["", "\x00", "[[[[", "{" * 5000, "x" * 100_000, '{"name": {"a": 1}}', "[project]\nname = 3\n"]
)
def test_a_broken_manifest_says_nothing(manifest, text):
    for topic in ("installation", "usage", "testing", "development"):
        answer = document(f"write a README section on {topic}", {manifest: text})
        assert answer.missing or answer.proposals
