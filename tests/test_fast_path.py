"""What has nothing to review loads nothing that a review needs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import stage
from repositories import Repo

HEAVY = (
    "langgraph",
    "langchain_core",
    "langsmith",
    "pydantic",
    "bashkit",
    "ast_grep_py",
    "yaml",
    "mcp",
    "jsonschema",
)
# Of the standard library: each takes longer to load than a command to judge.
SLOW_TO_LOAD = ("ast", "hashlib", "html", "inspect", "tempfile")
HEAVIER = (*HEAVY, "git", "httpx", "sqlite3", "psutil", "rich")

# Runs the front door for one command line after the other in a new process, and prints the exit code of each, with what
# is loaded by then. What the first loads is there for the next: a table is to end without any of it.
SCRIPT = """
import io, json, os, sys
from pathlib import Path
from cli_guard.__main__ import main
for argv, stdin in json.load(sys.stdin):
    source = io.TextIOWrapper(io.BytesIO(stdin.encode()), "utf-8")
    code = main(argv, source, sys.stderr, sys.stderr, Path.cwd(), dict(os.environ))
    print(code, *sys.modules)
"""
# A command line, its standard input and its exit code.
Row = tuple[tuple[str, ...], str, int]


def run(repo: Repo, *rows: Row) -> list[set[str]]:
    """Run each command line in one process; return the modules that are loaded after each, none of the assistant's."""
    done = subprocess.run(
        (sys.executable, "-c", SCRIPT),
        cwd=repo.path,
        env=repo.env,
        input=json.dumps([(argv, stdin) for argv, stdin, _ in rows]),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded = []
    for (argv, _, code), line in zip(rows, done.stdout.splitlines(), strict=True):
        ended, *modules = line.split()
        assert int(ended) == code, (argv, done.stderr)
        assistant = [name for name in modules if name.startswith("cli_guard.assistant")]
        assert not assistant, argv
        loaded.append({name.split(".")[0] for name in modules})
    return loaded


QUICK = (
    (("--version",), "", 0),
    (("--help",), "", 0),
    (("review", "--help"), "", 0),
    (("review",), "", 0),
    (("hook", "pre-commit"), "", 0),
    (("hook", "pre-merge-commit"), "", 0),
    (("hook", "pre-push", "origin", "url"), "", 0),
    (("hook", "commit-msg", "empty"), "", 0),
    (("bogus",), "", 2),
    (("review", "--bogus"), "", 2),
    (("reviews",), "", 0),
    (("pending",), "", 0),
    (("audit", "verify"), "", 0),
    (("install",), "", 0),
    (("uninstall",), "", 0),
    (("exec", "ps"), "", 0),
    (("exec", "stop", "--all"), "", 0),
    (("exec", "logs", "1"), "", 2),
    (("exec", "--help"), "", 0),
)


def test_loads_nothing_heavy(committed: Repo) -> None:
    (committed.path / "empty").write_text("\n\n")
    for (argv, _, _), modules in zip(QUICK, run(committed, *QUICK), strict=True):
        assert not modules & set(HEAVIER), argv


JUDGED = (
    (("check-command", "ls -l"), "", 0),
    (("check-command", "git status"), "", 0),
    (("check-command", "rm -rf /"), "", 1),
    (("check-command", "npm install left-pad", "--format", "json"), "", 3),
    (("check-command", "--jsonl"), '{"command": "ls"}\n{"command": "git add ."}\n', 0),
    (
        ("hook", "claude-code"),
        '{"hook_event_name":"PreToolUse","permission_mode":"default",'
        '"tool_name":"Read","tool_input":{"file_path":"a"}}',
        0,
    ),
    (
        ("hook", "claude-code"),
        '{"hook_event_name":"PreToolUse","permission_mode":"default",'
        '"tool_name":"Bash","tool_input":{"command":"git log"}}',
        0,
    ),
)
EXECUTED = (
    (("exec", "--", "touch", "x"), "", 3),
    (("exec", "--", "echo", "hi"), "", 0),
)
# The grammar of the shell is what judging is made of.
NEVER_JUDGING = set(HEAVIER) - {"ast_grep_py"}


def test_a_command_is_judged_without_what_a_review_needs(committed: Repo) -> None:
    for (argv, _, _), modules in zip(JUDGED, run(committed, *JUDGED), strict=True):
        assert not modules & (NEVER_JUDGING | set(SLOW_TO_LOAD)), argv
    for (argv, _, _), modules in zip(EXECUTED, run(committed, *EXECUTED), strict=True):
        assert not modules & NEVER_JUDGING, argv


def test_a_review_loads_them(committed: Repo) -> None:
    stage(committed, {"a.py": "def twice(x):\n    return 2 * x\n"})
    [modules] = run(committed, (("review",), "", 0))
    assert {"langgraph", "pydantic", "ast_grep_py"} <= modules
    assert not modules & {"git", "bashkit"}


def test_no_hook_or_verdict_loads_the_assistant(committed: Repo) -> None:
    """`run` looks for its modules; here in runs that find something to review in every way that they can."""
    risky = "import os\n\n\ndef f(x):\n    return eval(x)\n"
    committed.commit("Evaluate what comes", {"src/a.py": risky})
    committed.write("src/b.py", risky)
    committed.git("add", "-A")
    committed.write("message", "Evaluate what comes\n\nIn one more place.\n")
    head = committed.git("rev-parse", "HEAD")
    pushed = f"refs/heads/main {head} refs/heads/main {'0' * len(head)}\n"
    rows = (
        (("check-command", "rm -rf build"), "", 3),
        (("exec", "--", "rm", "-rf", "src"), "", 3),
        (("hook", "pre-commit"), "", 3),
        (("hook", "commit-msg", "message"), "", 3),
        (("hook", "pre-push", "origin", "url"), pushed, 3),
        (("review",), "", 3),
        (("review", "--worktree", "--format", "json"), "", 3),
        (("review", "--commit", "HEAD"), "", 3),
    )
    *_, modules = run(committed, *rows)
    assert "langgraph" in modules


def test_a_request_loads_the_assistant(committed: Repo) -> None:
    """The near miss: what the test above looks for is there when somebody asks."""
    with pytest.raises(AssertionError, match="ask"):
        run(committed, (("ask", "Where is x defined?"), "", 0))


@pytest.mark.parametrize(
    "module", ["cli_guard", "cli_guard.review.run", "cli_guard.graph", "cli_guard.model"]
)
def test_importing_has_no_side_effects(module: str, tmp_path: Path) -> None:
    code = f"import sys, os; env = dict(os.environ); import {module}; print(*sys.modules); assert env == os.environ"
    done = subprocess.run(
        (sys.executable, "-c", code),
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert not {name.split(".")[0] for name in done.stdout.split()} & set(HEAVY)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []
