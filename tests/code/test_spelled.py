"""Imported names are written out where they are used, and nowhere else."""

import pytest

from cli_guard.code.spelled import may_rename, spell_out
from cli_guard.code.syntax import Trees

KNOWN = frozenset(
    "system popen run check_output load UnsafeLoader exec child_process getRuntime shell_exec Command os"
    " subprocess".split()
)
# Language, what imports, a use, and the use as it is read.
SPELLED = [
    ("python", "from os import system", "system('a' + b)", "os.system('a' + b)"),
    ("python", "from os import system as run", "run('a' + b)", "os.system('a' + b)"),
    ("python", "import os as o", "o.system(x)", "os.system(x)"),
    ("python", "import os\np = os.popen", "p(x)", "os.popen(x)"),
    ("python", "from yaml import (\n    load,\n)", "load(x)", "yaml.load(x)"),
    (
        "python",
        "from yaml import load, UnsafeLoader",
        "load(x, Loader=UnsafeLoader)",
        "yaml.load(x, Loader=yaml.UnsafeLoader)",
    ),
    (
        "javascript",
        "import { exec as run } from 'node:child_process';",
        "run(`a${b}`)",
        "child_process.exec(`a${b}`)",
    ),
    (
        "javascript",
        "const { exec: run } = require('child_process');",
        "run(a)",
        "child_process.exec(a)",
    ),
    (
        "java",
        "import static java.lang.Runtime.getRuntime;\nclass A { void f() {",
        "getRuntime().exec(x); } }",
        "Runtime.getRuntime().exec(x); } }",
    ),
    (
        "php",
        "<?php\nuse function shell_exec as run;",
        "run('a' . $b);",
        "shell_exec('a' . $b);",
    ),
    (
        "go",
        'package a\nimport (\n\t"fmt"\n\tos "os/exec"\n)\nfunc f() {',
        "os.Command(x) }",
        "exec.Command(x) }",
    ),
]
KEPT = [
    ("python", "import subprocess\nsubprocess.run(x)\n"),
    ("python", "from settings import loading\nloading(x)\n"),
    ("python", "from os import system\nmachine.system(x)\nsystem = 1\n"),
    ("python", "from os import system\n\n\ndef f(system=None, *, run):\n    g(system=1)\n"),
    ("javascript", "import { render } from './page';\nrender(a)\n"),
    ("java", "import java.util.List;\nclass A { void f() { exec(x); } }\n"),
]


@pytest.mark.parametrize(("language", "before", "use", "read"), SPELLED)
def test_written_out(language: str, before: str, use: str, read: str) -> None:
    text = f"{before}\n{use}\n"
    assert may_rename(text, language, KNOWN)
    assert spell_out(Trees(), language, text, KNOWN) == f"{before}\n{read}\n"


@pytest.mark.parametrize(("language", "text"), KEPT)
def test_left_as_it_is(language: str, text: str) -> None:
    assert spell_out(Trees(), language, text, KNOWN) == text


def test_what_names_nothing_known_is_not_parsed() -> None:
    assert not may_rename("import numpy as np\nfrom typing import Any\n", "python", KNOWN)
    assert not may_rename("import os\nimport subprocess\n", "python", KNOWN)


def test_of_two_values_a_name_has_none() -> None:
    text = "import os\np = os.popen\np = os.path.join\np(x)\n"
    assert spell_out(Trees(), "python", text, KNOWN) == text
