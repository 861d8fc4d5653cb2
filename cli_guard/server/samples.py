"""Changes in memory that are reviewed to load what reviews need. What is found in them does not matter.

Tables and regular expressions are read for the first file that needs them. So `BEFORE` and `AFTER` have what a reviewer
compares (a check that is lost, a default that changes), what a value flows through, what looks like a secret, and what
coding agents are told.
"""

# One file for each way of reading one: a spare reviews them again, see spare.py.
FEW = {
    "a.py": '"""A module."""\n\nimport os\n\n\ndef f(x: int) -> int:\n    """Gives x."""\n    return x\n',
    "b.js": "export function f(x) {\n  return x + 1;\n}\n",
    "c.ts": "export function f(x: number): number {\n  return x + 1;\n}\n",
    "d.go": "package d\n\n// F gives x.\nfunc F(x int) int {\n\treturn x\n}\n",
    "e.rs": "/// Gives x.\npub fn f(x: i32) -> i32 {\n    x\n}\n",
    "F.java": "public class F {\n  public int f(int x) {\n    return x;\n  }\n}\n",
    "g.sh": "#!/bin/sh\necho hello\n",
    "Dockerfile": "FROM scratch\nRUN echo hello\n",
    "Makefile": "all:\n\techo hello\n",
    ".github/workflows/ci.yml": "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo hello\n",
    "package.json": '{"scripts": {"a": "echo hello"}}\n',
    "README.md": "# A title\n\n```sh\necho hello\n```\n",
    "settings.ini": "name = value\nurl = https://example.org/path\n",
}
# So that both sides of a change are read, too.
FEW_BEFORE = {
    path: FEW[path].replace("return x", "return 2 * x") for path in ("a.py", "b.js")
}
BEFORE = {
    "a.py": '''"""A module."""

import os
import subprocess

from flask import request

LIMIT = 10
MESSAGE = "no such name"


def save(name: str, *, limit: int = 10) -> str:
    """Save what is NAMED, at most `limit` of it."""
    if not name.isalnum():
        raise ValueError(MESSAGE)
    return name


@login_required
def show():
    """Show a page."""
    name = request.args["name"]
    if not allowed(name):
        abort(403)
    return subprocess.run(["echo", name], check=True, timeout=LIMIT)
''',
    "b.js": """import express from "express";

const LIMIT = 10;

/** Gives x. */
export function f(req, res) {
  if (!req.user.isAdmin) return res.sendStatus(403);
  const name = req.query.name;
  if (name.length > LIMIT) throw new Error("too long");
  return escape(name);
}
""",
    "README.md": """# A title

Call `save(name, limit=10)` of a.py, see LIMIT (10).

```sh
python a.py --limit 10
```
""",
    "settings.ini": "[a]\nlimit = 10\nverify = true\n",
    "requirements.txt": "flask==1.0\n",
    "package.json": '{"name": "a", "dependencies": {"express": "^4.0.0"}}\n',
    "pyproject.toml": '[project]\nname = "a"\ndependencies = ["flask>=1"]\n',
}
AFTER = FEW | {
    "a.py": '''"""A module."""

import os
import subprocess

import requests
from flask import request

LIMIT = 20  # rot13, base85, "x"[::-1], begin 644
PASSWORD = os.environ["PASSWORD"]
TOKEN = "${TOKEN}"
HEADERS = {"api_key": "a-key-of-yours", "secret": " ".join(("one", "two"))}


def save(name: str, *, limit: int = 20, password: str = "change\\x6de") -> str:
    """Save what is NAMED, at most `limit` of it."""
    return name


def keep(names: list[str], level: int) -> int:
    for name in names:
        if name.isalnum() and level > LIMIT or name in HEADERS:
            level += len(name)
    return level


def show():
    """Show a page."""
    name = request.args["name"]
    if url_ok(name) and not name.startswith("/srv/"):
        name = os.path.basename(name)
    key = "c2VjcmV0LXdvcmRzLW9mLWEtc2FtcGxl" + "bm90aGluZy1vZi12YWx1ZQ=="
    requests.get(f"https://example.org/{name}?key={key}", verify=False)
    return subprocess.run("echo " + name, shell=True)
''',
    "b.js": """import express from "express";
import { g } from "./c";

const LIMIT = 20;
const password = process.env.PASSWORD;

/** Gives x. */
export function f(req, res) {
  const name = req.query.name;
  document.body.innerHTML = name;
  return eval(name);
}
""",
    "g.sh": '#!/bin/sh\npassword="$1"\necho hello\n',
    "package.json": '{"name": "a", "scripts": {"a": "echo hello"}, "dependencies": {"express": "^5.0.0"}}\n',
    "pyproject.toml": '[project]\nname = "a"\ndependencies = ["flask>=2", "requests"]\n',
    "requirements.txt": "flask==2.0\nrequests==2.0 --hash=sha256:00\n",
    "README.md": """# A title

Call `save(name, limit=10)` of a.py, see LIMIT (10).

```sh
python a.py --limit 20
echo hello
```
""",
    "settings.ini": """[a]
limit = 20
verify = false
key = a-value-of-yours
name = value
password = ${PASSWORD}
url = https://example.org/path
""",
    "CLAUDE.md": "# Rules\n\nAlways run the tests: `make test`.\n",
    ".claude/settings.json": '{"permissions": {"allow": ["Bash(make test)"]}}\n',
    "tests/test_a.py": "def test_save():\n    assert save('a') == 'a'\n",
}
