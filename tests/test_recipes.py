"""The recipes of CONTRIBUTING, followed to the letter in a copy of the package: each is the files that it names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import stage
from repositories import Done, Repo

import cli_guard

PACKAGE = Path(cli_guard.__file__).parent
AGENT = '''
"""An agent for a test."""

def install(repository):
    (repository.root / "dummy.cfg").write_text("asks")
    return "dummy.cfg: installed"

def uninstall(repository):
    (repository.root / "dummy.cfg").unlink()
    return "dummy.cfg: removed"

def is_installed(repository):
    return (repository.root / "dummy.cfg").exists() or None

def respond(raw, invocation):
    if raw == b"bad":
        raise ValueError("not a request")
    return raw.decode().upper()
'''
FORMAT = '''
"""A format for a test."""

def render(review):
    return f"dummy: {review.decision}"
'''
# A language in which no flow is followed yet: what its grammar calls things, and one source and one sink.
SHAPES = """
[languages.lua.shapes]
call = "function_call"
member = "dot_index_expression method_index_expression"
index = "bracket_index_expression"
assign = "assignment_statement"
block = "chunk variable_list expression_list"
"""
FLOWS = """
[[source]]
reads = 'ngx\\.var\\.arg_\\w+'
what = "the query of a request"
[[sink]]
kind = "command"
call = 'os\\.execute|io\\.popen'
"""
RISK = """local function listing()
  local folder = ngx.var.arg_folder
  local command = "ls " .. folder
  os.execute(command)
end
"""
NEAR_MISS = RISK.replace(
    "  local command", "  if not FOLDERS[folder] then return end\n  local command"
)


class Copy:
    """A copy of the package in which a recipe is followed."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "cli_guard"
        shutil.copytree(PACKAGE, self.package)
        self.changed: list[str] = []

    def write(self, name: str, text: str) -> None:
        assert not (self.package / name).exists()
        (self.package / name).parent.mkdir(exist_ok=True)
        (self.package / name).write_text(text)
        self.changed.append(name)

    def add_after(self, name: str, line: str, added: str) -> None:
        self.replace(name, line, line + added)

    def replace(self, name: str, line: str, new: str) -> None:
        text = (self.package / name).read_text()
        assert text.count(line) == 1, f"the recipe no longer finds its line in {name}"
        (self.package / name).write_text(text.replace(line, new))
        self.changed.append(name)

    def run(self, repo: Repo, *argv: str, stdin: str = "") -> Done:
        done = subprocess.run(
            (sys.executable, "-m", "cli_guard", *argv),
            cwd=repo.path,
            env={
                **os.environ,
                **repo.env,
                "PYTHONPATH": str(self.package.parent),
                "CLI_GUARD_SERVER": "0",
            },
            input=stdin,
            capture_output=True,
            text=True,
        )
        return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


def test_an_agent_is_two_files(copy: Copy, committed: Repo) -> None:
    copy.write("agents/dummy.py", AGENT)
    known = 'Agent("claude-code", "Claude Code", "cli_guard.agents.claude_code"),'
    copy.add_after(
        "agents/registry.py",
        known,
        '\n        Agent("dummy", "Dummy", "cli_guard.agents.dummy"),',
    )
    assert len(copy.changed) == 2
    assert (
        copy.run(committed, "install", "--agent", "dummy").out
        == "cli-guard: dummy.cfg: installed\n"
    )
    assert not (committed.path / ".claude").exists()
    assert "Dummy: asks cli-guard first" in copy.run(committed, "doctor").out
    answered = copy.run(committed, "hook", "dummy", stdin="yes")
    assert (answered.code, answered.out) == (0, "YES\n")
    refused = copy.run(committed, "hook", "dummy", stdin="bad")
    assert (refused.code, refused.out) == (2, "") and "not a request" in refused.err
    assert "removed" in copy.run(committed, "uninstall", "--agent", "dummy").out


def test_an_output_format_is_two_files(copy: Copy, committed: Repo) -> None:
    copy.write("review/render/dummy.py", FORMAT)
    known = '    "markdown": "cli_guard.review.render.markdown",\n'
    copy.add_after(
        "review/render/__init__.py",
        known,
        '    "dummy": "cli_guard.review.render.dummy",\n',
    )
    assert len(copy.changed) == 2
    stage(committed, {"b.py": "x = 1\n"})
    assert copy.run(committed, "review", "--format", "dummy").out == "dummy: allow\n"


def test_a_flow_language_is_a_row_and_its_tables(copy: Copy, committed: Repo) -> None:
    known = '[languages.swift]\nimplicit_self = true\n[languages.swift.shapes]\ntry = "do_statement"\n'
    copy.add_after("rules/languages/shapes.toml", known, SHAPES)
    copy.write("rules/flow/lua/web.toml", FLOWS)
    copy.replace("rules/languages/files.toml", 'Lua = ".lua"\n', "")
    assert len(copy.changed) == 3
    stage(committed, {"risk.lua": RISK})
    found = copy.run(committed, "review").out
    assert "code-flow-command" in found and "ngx.var.arg_folder" in found
    assert "risk.lua:4" in found
    stage(committed, {"risk.lua": NEAR_MISS})
    assert "code-flow-command" not in copy.run(committed, "review").out
