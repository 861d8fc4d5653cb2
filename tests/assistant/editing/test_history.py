"""A history file says how things were called when they were released: a rename leaves that as it is."""

from examples import table

from cli_guard.assistant.editing import plan_refactor

CODE = {"pkg/__init__.py": "", "pkg/core.py": "def load_all(): ...\n"}
MARKDOWN = """# Changelog

## [Unreleased]

- `load_all()` is faster

## [1.2.0] - 2024-05-01

### Added

- `load_all()` in pkg/core.py, of `pkg.core`
"""


@table("name", ["CHANGELOG.md", "docs/changes.md", "HISTORY.md", "NEWS.md", "RELEASES.md"])
def test_a_history_stays_and_that_is_said(name: str) -> None:
    plan = plan_refactor("rename load_all to read_all", {**CODE, name: MARKDOWN})
    said = f"load_all is also named in a history of releases that the patch leaves: {name}"
    assert said in plan.risks


def test_a_new_version_leaves_the_history() -> None:
    texts = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CHANGELOG.md": "## 1.2.0\n\nversion: 1.2.0\n",
    }
    assert set(plan_refactor("bump version to 1.3.0", texts).changes) == {"pyproject.toml"}
