"""What README.md and docs/ show of the assistant is what happens."""

import re
from pathlib import Path

import pytest
from in_process import guard
from repositories import Repo

ROOT = Path(__file__).parents[2]
FILES: dict[str, str | bytes] = {
    "pyproject.toml": '[project]\nname = "shop"\n\n[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
    "Makefile": "lint:\n\truff check .\n",
    "src/config.py": 'import os\n\nDATABASE_URL = os.environ["DATABASE_URL"]\n'
    'DB_POOL_SIZE = int(os.environ.get("DB_POOL_SIZE", "5"))\n',
    "src/utils.py": "def slug(title: str) -> str:\n"
    '    """Make a slug.\n\n    Args:\n        name: the title\n    """\n    return title.lower()\n',
    "tests/test_config.py": "from src.config import DB_POOL_SIZE\n\n\ndef test_pool():\n    assert DB_POOL_SIZE\n",
}
SHOWN = {
    (path.name, *found)
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    for found in re.findall(
        r"^\$ cli-guard (ask|shell)((?: --\w+)*) '([^']+)'((?: --\w+)*)",
        path.read_text(),
        re.M,
    )
}


@pytest.fixture
def shop(committed: Repo) -> Repo:
    committed.commit("Shop", dict(FILES))
    return committed


def test_there_is_something_to_see() -> None:
    assert len(SHOWN) >= 8


@pytest.mark.parametrize("shown", sorted(SHOWN), ids=lambda shown: shown[3])
def test_a_command_that_is_shown_works(shop: Repo, shown: tuple[str, ...]) -> None:
    _, command, before, text, after = shown
    with shop.unchanged():
        done = guard(
            shop, command, *before.split(), text, *after.replace("--rev", "").split()
        )
    assert done.code == (
        3 if text.startswith(("Add a length", "Rename", "Run ", "fix ")) else 0
    ), done.all
    assert done.out.strip()
    assert done.err == ""


def test_the_answer_that_is_shown(shop: Repo) -> None:
    text = (ROOT / "docs" / "assistant.md").read_text()
    shown = re.search(r"^\$ cli-guard ask '(Where.*)'\n(.+)\n", text, re.M)
    assert shown
    assert guard(shop, "ask", shown[1]).out.splitlines()[0] == shown[2]


def test_the_python_that_is_shown() -> None:
    text = (ROOT / "docs" / "assistant.md").read_text()
    [code] = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    found: dict[str, object] = {}
    exec(code, found)
    state = found["state"]
    assert isinstance(state, dict)
    assert state["status"] == re.search(r'\["status"\]\s+# "(\w+)"', code)[1]  # type: ignore[index]
    assert "def slugify" in str(state["final_output"])
