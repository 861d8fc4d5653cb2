"""The site of docs/: it builds without a warning, from what is true now, and loads nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli_guard.cli.app import COMMANDS
from cli_guard.reviewers.code.remarks import effects
from cli_guard.rules.catalog import load_all

ROOT = Path(__file__).parent.parent


def build(configuration: Path, site: Path) -> subprocess.CompletedProcess[str]:
    # With --quiet, mkdocs counts no warning, and --strict is nothing.
    command = (sys.executable, "-m", "mkdocs", "build", "-f", configuration, "-d", site)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_it_has_each_command_and_each_rule(tmp_path: Path) -> None:
    done = build(ROOT / "mkdocs.yml", tmp_path)
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "command-line.html").read_text("utf-8")
    assert not [name for name in COMMANDS if f'id="cli-guard-{name}"' not in commands]
    listed = dict(
        re.findall(
            r'href="(rules/[\w-]+\.html)#([\w-]+)"',
            (tmp_path / "rules.html").read_text("utf-8"),
        )
    )
    names = {
        name
        for page in listed
        for name in re.findall(r'<h2 id="([\w-]+)"', (tmp_path / page).read_text("utf-8"))
    }
    assert names == set(load_all())
    rules = (tmp_path / "rules.html").read_text("utf-8")
    assert not [each.name for each in effects() if f"<td>{each.means}</td>" not in rules]
    assert (tmp_path / "search" / "search_index.json").is_file()


def test_what_does_not_belong_there_fails_it(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    text = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:\n")[0]
    (tmp_path / "mkdocs.yml").write_text(text.replace("hooks: [docs/generate.py]\n", ""))
    (tmp_path / "docs" / "page.md").write_text("# Page\n\n[a](gone.md) [b](#gone)\n")
    done = build(tmp_path / "mkdocs.yml", tmp_path / "site")
    assert done.returncode == 1
    assert "'gone.md'" in done.stderr and "'#gone'" in done.stderr


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<script src="https://cdn.example.com/a.js"></script>', True),
        ('<link rel="stylesheet" href="//fonts.example.com/a.css">', True),
        ("@import url(https://fonts.example.com/a.css)", True),
        ('<img alt="" src=http://example.com/a.png>', True),
        ('<link rel="canonical" href="https://example.com/">', False),
        ('<script src="js/base.js"></script>', False),
        ('<a href="https://example.com/">', False),
        ("a{background:url(img/grid.png)}", False),
    ],
)
def test_what_a_page_loads(text: str, found: bool) -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    from generate import LOADED

    assert bool(LOADED.search(text)) is found
