"""Load what runs need, once, before the first run: modules, the graph, compiled rules.

It works on samples, so that nothing of a run is kept.
"""

import gc
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TextIO

# Rooms that no is_routed command needs, or that a run needs for other programs alone.
LEFT_OUT = (
    "cli_guard.server",
    "cli_guard.mcp.server",
    "cli_guard.execution.processes.supervisor",
)
LIBRARIES = (
    "ast_grep_py",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8_sig",
    "getpass",
    "langgraph.checkpoint.sqlite",
    "lizard",
    "sqlite3",
    "tomllib",
    "yaml",
)

# One file for each way of reading a change; their content does not matter.
SAMPLES = {
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
# What agents run all day: the tables of these programs are kept. Others take some milliseconds, and some a megabyte.
COMMANDS = (
    "cd src && ls -la && cat a.py | head -5 | grep -n x | sort | uniq -c | wc -l && pwd && echo done",
    "git status && git diff HEAD && git log -3 && git show HEAD && git branch && git add a.py && git commit -m x",
    "git push && find . -name '*.py' | xargs sed -n 1p && mkdir -p a && cp a b && mv a b && rm -f b && rg x",
    "python a.py && pytest -q && pip install x && uv run x && ruff check . && mypy . && make test && bash a.sh",
    "npm test && npx tsc && node a.js && go test ./...",
)
FrontDoor = Callable[[Sequence[str], TextIO, TextIO, TextIO, Path, Mapping[str, str]], int]


def modules() -> list[str]:
    """Return the modules of this package that runs need."""
    root = Path(__file__).parent.parent
    found = pkgutil.walk_packages([str(root)], "cli_guard.")
    return [
        each.name
        for each in found
        if not each.name.endswith("__main__") and not left_out(each.name)
    ]


def left_out(name: str) -> bool:
    """Return whether a module is in a room that no run needs."""
    return any(name == room or name.startswith(f"{room}.") for room in LEFT_OUT)


def warm(front_door: FrontDoor) -> None:
    """Load everything, and freeze it for the garbage collector, which would copy it in each child."""
    # Loading libraries creates thousands of objects, none of them garbage.
    gc.disable()
    for name in (*LIBRARIES, *modules()):
        import_module(name)
    from cli_guard.reviewers.clean_files import identity
    from cli_guard.secrets.detectors import compile_all

    compile_all()
    identity()
    rehearse()
    for argv in (
        ("check-command", "ls -l", "--format", "json"),
        ("explain", "--help"),
        ("hook", "--help"),
    ):
        front_door(argv, StringIO(), StringIO(), StringIO(), Path("/"), {})
    gc.collect()
    gc.freeze()
    gc.enable()


def rehearse() -> None:
    """Do all that a review and a judgement do, keeping nothing but tables, whose files are watched: see leaving.py."""
    from cli_guard.commands import Context, judge

    review_samples()
    for command in COMMANDS:
        judge(command, Context(home="/", folder="/"))


def review_samples() -> None:
    """Review a change in memory, and render the result."""
    from cli_guard.repository.between import SnapshotContents, changes_between
    from cli_guard.review.render import FORMATS, renderer
    from cli_guard.review.run import review

    done = review(changes_between({}, SAMPLES), contents=SnapshotContents({}, SAMPLES))
    for name in FORMATS:
        renderer(name)(done)
