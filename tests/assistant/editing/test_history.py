"""A history file says how things were called when they were released: a rename leaves that as it is."""

from examples import table

from cli_guard.assistant.editing import plan_refactor
from cli_guard.assistant.editing.usages import find_released

CODE = {"pkg/__init__.py": "", "pkg/core.py": "def load_all(): ...\n"}
MARKDOWN = """# Changelog

## [Unreleased]

- `load_all()` is faster

## [1.2.0] - 2024-05-01

### Added

- `load_all()` in pkg/core.py, of `pkg.core`
"""
RST = """Changes
=======

Version 2.0.0
-------------

Unreleased

-   ``pkg.core.load_all`` is faster

Version 1.9.1
-------------

Released 2024-01-01

-   :func:`pkg.core.load_all` came
"""


@table("name", ["CHANGELOG.md", "docs/changes.md", "HISTORY.md", "NEWS.md", "RELEASES.md"])
def test_only_what_is_not_released_is_renamed(name: str) -> None:
    text = MARKDOWN.replace("is faster", "of `pkg.core` is faster")
    plan = plan_refactor("rename module pkg.core to pkg.base", {**CODE, name: text})
    before = text.splitlines()
    after = plan.changes[name].splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ["- `load_all()` of `pkg.base` is faster"]


def test_a_version_that_is_called_unreleased_below_its_heading_may_change() -> None:
    plan = plan_refactor("rename module pkg.core to pkg.base", {**CODE, "CHANGES.rst": RST})
    assert plan.changes["CHANGES.rst"] == RST.replace(
        "``pkg.core.load_all``", "``pkg.base.load_all``"
    )


def test_a_history_of_releases_alone_stays_and_that_is_said() -> None:
    text = "# 1.0\n\n- `load_all` came\n"
    plan = plan_refactor(
        "rename load_all to read_all",
        {**CODE, "NEWS.md": text, "README.md": "`load_all`\n"},
    )
    assert set(plan.changes) == {"pkg/core.py"}
    assert (
        "load_all is also named in documents that the patch leaves: README.md" in plan.risks
    )
    assert "released entries of a history that the patch leaves: NEWS.md" in "\n".join(
        plan.risks
    )


def test_a_moved_module_keeps_its_old_name_in_the_history() -> None:
    plan = plan_refactor(
        "rename module pkg.core to pkg.base",
        {**CODE, "CHANGELOG.md": MARKDOWN, "docs/a.md": "pkg.core"},
    )
    assert set(plan.changes) == {"pkg/base.py", "docs/a.md"}


def test_a_new_version_leaves_the_history() -> None:
    texts = {
        "pyproject.toml": '[project]\nversion = "1.2.0"\n',
        "CHANGELOG.md": "## 1.2.0\n\nversion: 1.2.0\n",
    }
    assert set(plan_refactor("bump version to 1.3.0", texts).changes) == {"pyproject.toml"}


@table(
    ("path", "text", "released"),
    [
        ("CHANGELOG.md", "intro\n## 1.0\na\n", ["## 1.0\n", "a\n"]),
        (
            "CHANGELOG.md",
            "## Unreleased\na\n## 1.0\nb\n### Fixed\nc\n",
            ["## 1.0\n", "b\n", "### Fixed\n", "c\n"],
        ),
        ("CHANGELOG.md", "## 2.0 (unreleased)\na\n", []),
        ("CHANGELOG.md", "## v2.0\n_Unreleased_\na\n## v1.0\n", ["## v1.0\n"]),
        ("CHANGELOG.md", "## 2024-05-01\na\n", ["## 2024-05-01\n", "a\n"]),
        (
            "CHANGES",
            "1.0 (2024-01-01)\n================\na\n",
            ["1.0 (2024-01-01)\n", "================\n", "a\n"],
        ),
        ("changelog.py", "# 1.0\n", []),
        ("README.md", "## 1.0\na\n", []),
        ("docs/newsletter.md", "## 1.0\n", []),
    ],
)
def test_released_parts(path: str, text: str, released: list[str]) -> None:
    assert [text[start:end] for start, end in find_released(path, text)] == released
