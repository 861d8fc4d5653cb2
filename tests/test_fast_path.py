"""What has nothing to review loads nothing that a review needs."""

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

# Runs the front door as a process would, and tells afterwards what had to be imported for it.
SCRIPT = """
import os, sys
from pathlib import Path
from cli_guard.__main__ import main
code = main(sys.argv[1:], sys.stdin, sys.stderr, sys.stderr, Path.cwd(), dict(os.environ))
print(code, *sorted({name.split(".")[0] for name in sys.modules}))
print("assistant:", *sorted(name for name in sys.modules if name.startswith("cli_guard.assistant")))
"""


def run(repo: Repo, *argv: str, stdin: str = "") -> tuple[int, set[str]]:
    """The exit code and the top-level modules; the assistant is loaded by none of these."""
    done = subprocess.run(
        (sys.executable, "-c", SCRIPT, *argv),
        cwd=repo.path,
        env=repo.env,
        input=stdin,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded, assistant = done.stdout.splitlines()[-2:]
    assert assistant.split() == ["assistant:"]
    code, *modules = loaded.split()
    return int(code), set(modules)


@pytest.mark.parametrize(
    ("argv", "stdin", "code"),
    [
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
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_loads_nothing_heavy(
    committed: Repo, argv: tuple[str, ...], stdin: str, code: int
) -> None:
    (committed.path / "empty").write_text("\n\n")
    ended, modules = run(committed, *argv, stdin=stdin)
    assert ended == code
    assert not modules & set(HEAVIER)


JUDGED = (
    (("check-command", "ls -l"), "", 0),
    (("check-command", "git status"), "", 0),
    (("check-command", "rm -rf /"), "", 1),
    (("check-command", "npm install left-pad", "--format", "json"), "", 3),
    (("check-command", "--jsonl"), '{"command": "ls"}\n{"command": "git add ."}\n', 0),
    (("exec", "--", "touch", "x"), "", 3),
    (("exec", "--", "echo", "hi"), "", 0),
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


@pytest.mark.parametrize(("argv", "stdin", "code"), JUDGED, ids=lambda value: str(value))
def test_a_command_is_judged_without_what_a_review_needs(
    committed: Repo, argv: tuple[str, ...], stdin: str, code: int
) -> None:
    ended, modules = run(committed, *argv, stdin=stdin)
    assert ended == code
    # The grammar of the shell is what judging is made of.
    assert not modules & (set(HEAVIER) - {"ast_grep_py"})
    if argv[0] != "exec":
        assert not modules & set(SLOW_TO_LOAD)


def test_a_review_loads_them(committed: Repo) -> None:
    stage(committed, {"a.py": "def twice(x):\n    return 2 * x\n"})
    code, modules = run(committed, "review")
    assert code == 0
    assert {"langgraph", "pydantic", "ast_grep_py"} <= modules
    assert not modules & {"git", "bashkit"}


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        (("hook", "pre-commit"), 3),
        (("hook", "commit-msg", "message"), 3),
        (("hook", "pre-push", "origin", "url"), 3),
        (("review",), 3),
        (("review", "--worktree", "--format", "json"), 3),
        (("review", "--commit", "HEAD"), 3),
        (("check-command", "rm -rf build"), 3),
        (("exec", "--", "rm", "-rf", "src"), 3),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_no_hook_or_verdict_loads_the_assistant(
    committed: Repo, argv: tuple[str, ...], code: int
) -> None:
    """`run` looks for its modules; here in runs that find something to review in every way that they can."""
    risky = "import os\n\n\ndef f(x):\n    return eval(x)\n"
    committed.commit("Evaluate what comes", {"src/a.py": risky})
    committed.write("src/b.py", risky)
    committed.git("add", "-A")
    committed.write("message", "Evaluate what comes\n\nIn one more place.\n")
    head = committed.git("rev-parse", "HEAD")
    pushed = f"refs/heads/main {head} refs/heads/main {'0' * len(head)}\n"
    ended, modules = run(committed, *argv, stdin=pushed if "pre-push" in argv else "")
    assert ended == code
    assert "langgraph" in modules or argv[0] not in ("hook", "review")


def test_a_request_loads_the_assistant(committed: Repo) -> None:
    """The near miss: what the test above looks for is there when somebody asks."""
    with pytest.raises(AssertionError, match="assistant"):
        run(committed, "ask", "Where is x defined?")


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
