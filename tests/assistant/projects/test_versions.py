"""Which version of something the repository states, in manifests of several languages; near misses."""

from examples import table

from cli_guard.assistant.projects.versions import describe_versions
from cli_guard.graph import build_graph

PYTHON = {
    "pyproject.toml": "[project]\nname = 'shop'\nversion = '2.0.1'\nrequires-python = '>=3.10'\n"
    "dependencies = [\n  'click>=8.1',\n]\n",
    "shop/client.py": "import click\n\n\ndef version():\n    return '0'\n",
}
SCRIPT = {
    "package.json": '{\n  "name": "axe",\n  "version": "1.4.0",\n  "engines": {"node": ">=18"},\n'
    '  "dependencies": {\n    "@scope/core": "^7.1.0"\n  }\n}\n',
    ".nvmrc": "20.1\n",
}
GO = {
    "go.mod": "module example.org/x\n\ngo 1.21\n\nrequire github.com/spf13/cobra v1.8.0\n"
}


@table(
    ("texts", "question", "first"),
    [
        (PYTHON, "What version is this?", "pyproject.toml:3: version 2.0.1"),
        (PYTHON, "What is the current version of shop?", "pyproject.toml:3: version 2.0.1"),
        (PYTHON, "Which version of click is needed?", "pyproject.toml:6: click >=8.1"),
        (
            PYTHON,
            "Which Python versions are supported?",
            "pyproject.toml:4: python >=3.10",
        ),
        (SCRIPT, "What version is the package?", "package.json:3: version 1.4.0"),
        (SCRIPT, "Which Node.js version do we use?", "package.json:4: node >=18"),
        (SCRIPT, "which version of core is used", "package.json:6: @scope/core ^7.1.0"),
        (GO, "Which Go version is required?", "go.mod:3: go 1.21"),
        (GO, "Which version of cobra?", "go.mod:5: github.com/spf13/cobra v1.8.0"),
        (PYTHON, "Which version of flask is needed?", None),
        (PYTHON, "Which function returns the version?", None),
        (PYTHON, "How does versioning work?", None),
        (PYTHON, "Which Go version is required?", None),
        (PYTHON, "Bump the version of click", None),
        ({}, "What version is this?", None),
        ({"package.json": "{"}, "What version is this?", None),
    ],
)
def test_a_version_is_read_where_it_is_stated(
    texts: dict[str, str], question: str, first: str | None
) -> None:
    lines = describe_versions(question, texts)
    assert (lines[0] if lines else None) == first


def test_an_answer_names_the_file_and_a_miss_is_searched_for() -> None:
    found = build_graph().invoke(
        {"input": "What version is this?", "repo_snapshot": PYTHON}
    )
    assert "Confidence: high (stated in pyproject.toml)." in found["final_output"]
    missed = build_graph().invoke(
        {"input": "Which version does the client return?", "repo_snapshot": PYTHON}
    )
    assert "search_repository" in [each["tool"] for each in missed["plan"]]
    assert "stated in" not in missed["final_output"]
