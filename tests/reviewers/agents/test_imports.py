"""A script that starts by itself is read in full: with what it imports, requires or sources from the tree."""

import pytest
from in_process import inspect, stage
from repositories import Repo
from reviewers.agents.surface_changes import SETTINGS, Files, hook, rules, stops

from cli_guard.reviewers.agents.imports import MOST_IMPORTS, find_imports

FETCHES = "import urllib.request\nurllib.request.urlopen('https://x.example')\n"
POSTS = "fetch('https://x.example', { method: 'POST' });\n"
CALLS = "curl -s https://x.example/ping\n"
MANY = {f"m{each}.py": "x = 1\n" for each in range(30)}

# Each row: a command, the files that it reaches, and the rule for it.
REACHED: dict[str, tuple[str, Files, str]] = {
    "python: a module beside it": (
        "python tools/setup.py",
        {"tools/setup.py": "import helpers\n", "tools/helpers.py": FETCHES},
        "start",
    ),
    "python: a harmless one": (
        "python tools/setup.py",
        {"tools/setup.py": "import helpers\n", "tools/helpers.py": "SIZE = 1\n"},
        "start-clean",
    ),
    "python: a module of the same name elsewhere": (
        "python tools/setup.py",
        {"tools/setup.py": "import helpers\n", "docs/helpers.py": FETCHES},
        "start-clean",
    ),
    "python: a name out of a package": (
        "python x.py",
        {"x.py": "from lib.net import (\n    get,\n)\n", "lib/net.py": FETCHES},
        "start",
    ),
    "python: what a package runs": (
        "python x.py",
        {"x.py": "import lib.data as d\n", "lib/__init__.py": FETCHES, "lib/data.py": ""},
        "start",
    ),
    "python: a relative one of a module": (
        "python .claude/hooks/x.py",
        {
            ".claude/hooks/x.py": "from own import a\n",
            ".claude/hooks/own/a.py": "from . import b\n",
            ".claude/hooks/own/b.py": FETCHES,
        },
        "start",
    ),
    "python: a module under the name of the library's": (
        "python x.py",
        {"x.py": "import json\n", "json.py": FETCHES},
        "start",
    ),
    "python: a module by its name": (
        "python -m tools.setup",
        {"tools/setup.py": FETCHES},
        "start",
    ),
    "python: a script without an ending": (
        "tools/setup",
        {"tools/setup": "#!/usr/bin/env python3\nimport a\n", "tools/a.py": FETCHES},
        "start",
    ),
    "python: more modules than are read": (
        "python x.py",
        {"x.py": "".join(f"import m{each}\n" for each in range(30)), **MANY},
        "start",
    ),
    "node: a relative module": (
        "node a.js",
        {"a.js": "require('./b')\n", "b.js": POSTS},
        "start",
    ),
    "node: a harmless one": (
        "node a.js",
        {"a.js": "require('./b')\n", "b.js": "module.exports = 1;\n"},
        "start-clean",
    ),
    "node: a module in a folder": (
        "node tools/a.mjs",
        {"tools/a.mjs": 'import { b } from "../lib";\n', "lib/index.js": POSTS},
        "start",
    ),
    "node: a module of TypeScript": (
        "node a.mjs",
        {"a.mjs": "import './b.js';\n", "b.ts": POSTS},
        "start",
    ),
    "node: a module that is not there": (
        "node a.js",
        {"a.js": "require('./b')\n"},
        "start",
    ),
    "node: a module that is computed": (
        "node a.mjs",
        {"a.mjs": "await import(name);\n"},
        "start",
    ),
    "node: data and a package": (
        "node a.js",
        {"a.js": "require('./package.json');\nrequire('path');\n", "package.json": "{}"},
        "start-clean",
    ),
    "shell: a file without an ending": (
        "sh x.sh",
        {"x.sh": ". ./lib\n", "lib": CALLS},
        "start",
    ),
    "shell: a harmless one": (
        "sh x.sh",
        {"x.sh": ". ./lib\n", "lib": "ruff check .\n"},
        "start-clean",
    ),
    "shell: a file beside it": (
        "sh tools/x.sh",
        {"tools/x.sh": 'source "$(dirname "$0")/lib.sh"\n', "tools/lib.sh": CALLS},
        "start",
    ),
    "shell: a file of a file": (
        "sh x.sh",
        {"x.sh": ". ./a\n", "a": "python b.py\n", "b.py": "import c\n", "c.py": FETCHES},
        "start",
    ),
    "shell: a file that is not there": ("sh x.sh", {"x.sh": "source lib.sh\n"}, "start"),
    "shell: a place that is computed": (
        "sh x.sh",
        {"x.sh": 'source "$WHERE/lib.sh"\n'},
        "start",
    ),
    "shell: an environment that is set up": (
        "sh x.sh",
        {"x.sh": "source .venv/bin/activate\nruff check .\n"},
        "start-clean",
    ),
}


@pytest.mark.parametrize(("command", "files", "rule"), REACHED.values(), ids=REACHED)
def test_what_a_script_loads_is_read(command: str, files: Files, rule: str) -> None:
    assert rules(files, {SETTINGS: hook(command), **files}) == [rule]


def test_a_worm_behind_an_import() -> None:
    files = {
        "x.py": "import a\n",
        "a.py": "import b\n",
        "b.py": "exec(base64.b64decode(x))\n",
    }
    assert stops({}, {SETTINGS: hook("python x.py"), **files}) == ["worm"]


def test_a_script_beneath_an_environment() -> None:
    files = {".envrc": "source tools/env.sh\n"}
    assert rules({}, {**files, "tools/env.sh": "export APP=x\n"}) == ["start-clean"]
    assert rules({}, {**files, "tools/env.sh": CALLS}) == ["start"]


def test_an_imported_script_changes_beneath_an_old_start() -> None:
    old = {SETTINGS: hook("python x.py"), "x.py": "import a\n", "a.py": "x = 1\n"}
    assert stops(old, {**old, "a.py": FETCHES}) == ["start"]
    assert stops(old, {**old, "a.py": "x = 2\n"}) == []


def test_a_module_without_a_text_asks(committed: Repo) -> None:
    stage(
        committed, {"x.py": "import a\n", "a.so": "\0\1\2", SETTINGS: hook("python x.py")}
    )
    done = inspect(committed, "review", "--staged", "--format", "json")
    found = [each for each in done.json["findings"] if each["rule"] == "agent-start"]
    assert ["a.so" in each["message"] for each in found] == [True]


def test_imports_are_counted() -> None:
    text = "".join(f"import m{each}\n" for each in range(10 * MOST_IMPORTS))
    found = list(find_imports("x.py", text, lambda path: path.endswith(".py")))
    assert found[-1] == f"more than {MOST_IMPORTS} modules"
    assert len(found) == 2 * MOST_IMPORTS + 1
