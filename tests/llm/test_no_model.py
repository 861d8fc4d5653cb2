"""Without a model in the user's own file nothing of one is imported, and nothing changes."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from in_process import guard, stage
from model_world import write_config
from repositories import Done, Repo

GUEST = (
    "cli_guard.llm",
    "langchain",
    "langchain_openai",
    "openai",
    "httpx2",
    "prompt_toolkit",
    "genai_prices",
    "rich",
)
COMMANDS = (
    ("ask", "Where is the function send defined?"),
    ("ask", "Document send in src/send.py"),
    ("ask", "Rename send to post"),
    ("ask", "How do I run the tests?"),
    ("ask", "Write a commit message"),
    ("review", "--staged"),
    ("check-command", "git push --force"),
    ("rules",),
    ("explain", "shell-true"),
    ("pending",),
    ("audit", "verify"),
    ("shell", "ls"),
    ("--help",),
)
HOOKS = (("hook", "pre-commit"), ("hook", "commit-msg", "message"))
# Runs each command as a process would, and prints which of the modules were loaded by then.
SCRIPT = """
import io, os, sys
from pathlib import Path
from cli_guard.__main__ import main
from cli_guard.graph.deferred import defer
defer()
for line in sys.stdin.read().splitlines():
    main(line.split("\\t"), io.StringIO(), io.StringIO(), io.StringIO(), Path.cwd(), dict(os.environ))
print(*sorted(name for name in sys.argv[1:] if name in sys.modules))
"""


@pytest.fixture
def staged(committed: Repo) -> Repo:
    stage(
        committed,
        {"src/send.py": "def send(to):\n    return to\n", "message": "Add send\n"},
    )
    return committed


def loaded(repo: Repo, *commands: tuple[str, ...]) -> set[str]:
    done = subprocess.run(
        (sys.executable, "-c", SCRIPT, *GUEST),
        cwd=repo.path,
        env=repo.env | {"CLI_GUARD_SERVER": "0"},
        input="\n".join("\t".join(command) for command in commands),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def run_all(repo: Repo) -> list[Done]:
    """What each command says, but for the numbers of what is new each time: ids, and the length of the audit log."""
    # The list of what waits grows with each request.
    done = (guard(repo, *command) for command in COMMANDS if command != ("pending",))
    return [
        replace(each, out=re.sub(r"\b[0-9a-f]{8,}\b|\d+ ?(?:entries|ms)\b", "N", each.out))
        for each in done
    ]


def test_no_command_imports_anything_of_a_model(staged: Repo) -> None:
    assert loaded(staged, *COMMANDS, *HOOKS) == set()


def test_no_hook_does_whatever_is_configured(staged: Repo) -> None:
    write_config(staged.env, medium=["openai:a"], base_url="http://127.0.0.1:9/v1")
    assert loaded(staged, *HOOKS, ("review", "--staged"), ("check-command", "ls")) == set()
    # The near miss: a request would ask the model.
    assert "cli_guard.llm" in loaded(staged, COMMANDS[0])
    assert loaded(staged, (*COMMANDS[0], "--no-model")) == set()


def test_an_empty_section_changes_no_byte(staged: Repo) -> None:
    # Twice, and the second time counts: what is kept of the first is there for the others, too.
    _ = run_all(staged)
    without = run_all(staged)
    write_config(staged.env)
    assert run_all(staged) == without


def test_a_repository_cannot_configure_a_model(staged: Repo) -> None:
    staged.write("cli-guard.toml", '[model]\nlight = ["openai:a"]\n')
    staged.git("add", "-A")
    staged.git("commit", "-q", "-m", "Configure a model")
    done = guard(staged, "ask", "Where is send defined?")
    assert done.code == 2 and done.out == ""
    assert done.err.startswith("cli-guard: cli-guard.toml at ")
    said = (
        ": 'model' belongs in the user's own file, ~/.config/cli-guard/config.toml:"
        " a repository cannot send its content anywhere;"
    )
    assert said in done.err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            'light = ["gpt-5-mini"]',
            "name a model as provider:name, such as openai:gpt-5-mini (got 'gpt-5-mini')",
        ),
        ('light = ["OpenAI:gpt-5-mini"]', "name a model as provider:name"),
        ('light = ["openai:"]', "name a model as provider:name"),
        (
            'light = "openai:a"',
            "'model.light': must be a list (got 'openai:a')",
        ),
        ("light = [7]", "'model.light.0': must be a valid string (got 7)"),
        ('lite = ["openai:a"]', "unknown key 'model.lite'; did you mean 'light'?"),
        ('base_url = "ftp://x"', "'model.base_url': String should match pattern"),
        ("deadline_s = 0", "'model.deadline_s': must be greater than 0"),
        ('deadline_s = "soon"', "'model.deadline_s': must be a valid number"),
        ("deadline_s = nan", "'model.deadline_s': "),
        ("budget_usd_per_day = nan", "'model.budget_usd_per_day': "),
        (
            "budget_usd_per_day = -1",
            "'model.budget_usd_per_day': must be greater than or equal to 0",
        ),
        ("prices.x = {input = 1, output = 1}", "name a model as provider:name"),
        ('prices."openai:a" = {input = 1}', "'model.prices.openai:a.output' is missing"),
        (
            "api_key_command = 'pass x'",
            "'model.api_key_command': must be a list (got 'pass x')",
        ),
        ('api_key = "sk-1"', "unknown key 'model.api_key'; did you mean 'api_key_env'?"),
    ],
)
def test_a_mistake_in_the_section_is_one_line(staged: Repo, lines: str, said: str) -> None:
    path = Path(staged.env["XDG_CONFIG_HOME"], "cli-guard/config.toml")
    path.parent.mkdir(parents=True)
    path.write_text(f"[model]\n{lines}\n")
    done = guard(staged, "ask", "Where is send defined?")
    assert done.code == 2 and done.out == "" and done.err.count("\n") == 1, done
    assert done.err.startswith(f"cli-guard: {path}: ") and said in done.err, done.err


@pytest.mark.parametrize("name", ["gpt-5-mini", "OpenAI:gpt-5-mini", "openai:", ":x"])
def test_a_model_without_a_provider(staged: Repo, name: str) -> None:
    done = guard(staged, "ask", "Where is send defined?", "--model", name)
    assert done.code == 2 and done.err.count("\n") == 1
    assert (
        f"--model {name}: name a model as provider:name, such as openai:gpt-5-mini"
        in done.err
    )
    alone = guard(staged, "ask", "Where is send defined?", "--show-prompt")
    assert alone.code == 2 and "--show-prompt needs a model" in alone.err
