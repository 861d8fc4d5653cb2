"""Load what runs need, once, before the first run: modules, the graph, compiled rules and regular expressions.

It works on samples, so that nothing of a run is kept.
"""

import datetime
import gc
import os
from collections.abc import Mapping
from importlib import import_module
from io import StringIO
from pathlib import Path

from cli_guard import lazy
from cli_guard.server.client import ROUTED
from cli_guard.server.samples import AFTER, BEFORE, FEW, FEW_BEFORE

# Rooms that no routed command needs, or that a run needs for other programs alone; and the assistant's half of the
# house, 6 MB: no hook loads it, and a fork that answers `ask` takes what it needs.
LEFT_OUT = (
    "cli_guard.api",
    "cli_guard.assistant",
    "cli_guard.execution.processes.supervisor",
    "cli_guard.llm",
    "cli_guard.mcp",
    "cli_guard.report",
    "cli_guard.server",
)
LIBRARIES = (
    "ast_grep_py",
    "encodings.ascii",
    "encodings.latin_1",
    "encodings.utf_8_sig",
    "getpass",
    "langgraph.checkpoint.sqlite",
    "sqlite3",
    "tomllib",
    "yaml",
)

# What agents run all day: the tables of these programs are kept. Others take some milliseconds, and some a megabyte.
AGENTS_COMMANDS = (
    "cd src && ls -la && cat a.py | head -5 | grep -n x | sort | uniq -c | wc -l && pwd && echo done",
    "git status && git diff HEAD && git log -3 && git show HEAD && git branch && git add a.py && git commit -m x",
    "git push && find . -name '*.py' | xargs sed -n 1p && mkdir -p a && cp a b && mv a b && rm -f b && rg x",
    "python a.py && pytest -q && pip install x && uv run x && ruff check . && mypy . && make test && bash a.sh",
    "npm test && npx tsc && node a.js && go test ./...",
)
# Without a Git the hooks go as far as to start one.
NO_GIT = {"PATH": "/dev/null"}


def modules() -> list[str]:
    """Return the modules of this package that runs need: by their files, as `pkgutil` imports each package."""
    root = Path(__file__).parent.parent
    files = sorted(each.relative_to(root.parent) for each in root.rglob("*.py"))
    names = [
        ".".join(each.with_suffix("").parts).removesuffix(".__init__") for each in files
    ]
    return [each for each in names if not each.endswith("__main__") and not left_out(each)]


def left_out(name: str) -> bool:
    """Return whether a module is in a room that no run needs, or a command of which no server does any run."""
    if any(name == room or name.startswith(f"{room}.") for room in LEFT_OUT):
        return True
    # By its name, as all that is loaded here: it stands above the server.
    commands = import_module("cli_guard.cli.app").COMMANDS
    command = name.removeprefix("cli_guard.cli.").replace("_", "-")
    return command in commands and command not in ROUTED


def warm() -> None:
    """Load everything, and freeze it for the garbage collector, which would copy it in each child."""
    # Loading libraries creates thousands of objects, none of them garbage.
    gc.disable()
    # What a server compiles serves every child: no class waits until some more of its kind are made.
    usual = lazy.FEW
    lazy.FEW = 0
    for name in (*LIBRARIES, *modules()):
        import_module(name)
    from cli_guard.review.prepared import sealing_key
    from cli_guard.reviewers.clean_files import identity
    from cli_guard.secrets.detectors import compile_all

    compile_all()
    sealing_key()
    identity()
    review_samples(BEFORE, AFTER)
    rehearse()
    for argv in (
        ("check-command", "ls -l", "--format", "json"),
        ("explain", "--help"),
        ("hook", "--help"),
    ):
        run_alone(*argv)
    lazy.FEW = usual
    gc.collect()
    gc.freeze()
    gc.enable()


def rehearse() -> None:
    """Do all that a review and a judgement do, keeping nothing but tables, whose files are watched: see leaving.py."""
    from cli_guard.commands import Context, judge

    # By its name, as the modules above: few files know the room of Git.
    import_module("cli_guard.git.process").reading_environment({"PATH": ""})
    review_samples(FEW_BEFORE, FEW)
    review_message()
    run_alone("hook", "pre-commit")
    run_alone("hook", "commit-msg", os.devnull)
    for command in AGENTS_COMMANDS:
        judge(command, Context(home="/", folder="/"))


def run_alone(*argv: str) -> None:
    """Run a command line without a repository, a Git and an output."""
    # By its name, as it stands above the server.
    main = import_module("cli_guard.__main__").main
    main(argv, StringIO(), StringIO(), StringIO(), Path("/"), NO_GIT)


def review_samples(before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """Review a change in memory, and render the result."""
    from cli_guard.repository.between import SnapshotContents, changes_between
    from cli_guard.review.render import FORMATS, renderer
    from cli_guard.review.run import review

    done = review(changes_between(before, after), contents=SnapshotContents(before, after))
    for name in FORMATS:
        renderer(name)(done)


def review_message() -> None:
    """Review a message alone."""
    from cli_guard.model import ChangeSet
    from cli_guard.policy.decisions import Policy
    from cli_guard.repository.message import parse_message
    from cli_guard.review.load import Gathered
    from cli_guard.review.run import run
    from cli_guard.reviewers.review_input import ReviewInput

    message = parse_message(b"Add a file\n\n# A comment\n")
    policy = Policy()
    subject = ReviewInput("commit-msg", ChangeSet(()), message=message).under(policy)
    run(Gathered(subject, policy), None, datetime.date.min)
