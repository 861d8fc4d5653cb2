"""The recipes of CONTRIBUTING, followed to the letter in a copy of the package: each is the files that it names."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from in_process import RISKY, approve, guard, records, stage, waiting
from repositories import Done, Repo, key

import cli_guard
from cli_guard.git.hooks import scripts_folder

PACKAGE = Path(cli_guard.__file__).parent
ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "CONTRIBUTING.md"
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

def find_call(repository):
    return None
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
PRE_REBASE = '''
"""A hook for a test: it refuses every rebase."""

import click

from cli_guard.cli.app import Command

@click.pass_obj
def run(io, **named):
    io.warn(f"cli-guard: refused to rebase onto {named['upstream']}")
    return 1

params = [click.Argument([name], required=False) for name in ("upstream", "branch")]
command = Command("pre-rebase", callback=run, params=params)
'''
STORAGE = '''
"""Approvals in a file, for a test."""

class Dummy:
    def __init__(self, repository):
        self.path = repository.state_folder / "dummy"

    def read(self, objects, *, more=False):
        found = self.path.read_text().splitlines() if self.path.exists() else ()
        return set(found), []

    def read_unsigned(self):
        return []

    def add(self, line, objects):
        self.path.write_text(line)
'''
STORE = """\
import os, pathlib, sys
from cli_guard.answering.signing import store_signed
from cli_guard.approvals.statements import Signed
from cli_guard.git.repository import GitRepository

repository = GitRepository.discover(pathlib.Path.cwd(), os.environ)
store_signed(repository, Signed.parse(sys.argv[1]))
"""


class Copy:
    """A copy of the package in which a recipe is followed."""

    def __init__(self, folder: Path) -> None:
        self.package = folder / "cli_guard"
        shutil.copytree(PACKAGE, self.package)
        shutil.copytree(scripts_folder(), folder / "hooks", dirs_exist_ok=True)
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
        return self.python(repo, "-m", "cli_guard", *argv, stdin=stdin)

    def python(self, repo: Repo, *argv: str, stdin: str = "") -> Done:
        done = subprocess.run(
            (sys.executable, *argv),
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


def test_it_is_read_in_ten_minutes() -> None:
    assert len(GUIDE.read_text().split()) <= 2_000


def test_every_path_that_a_recipe_names_is_there() -> None:
    text = GUIDE.read_text()
    # What a contributor chooses is in capitals; a name alone is a file of the folder before it.
    named = re.findall(r"`([\w.-]+/[\w./-]*[a-z/])`", text)
    paths = [path for path in named if not re.search(r"[A-Z]{4}|^\.git/", path)]
    found = [path for path in paths if (ROOT / path).exists() or (PACKAGE / path).exists()]
    assert set(paths) == set(found)
    assert len(found) > 40


def test_every_file_of_the_map_is_in_its_room() -> None:
    block = GUIDE.read_text().split("```")[1]
    rooms = re.findall(r"(?m)^  ([a-z/]+)/ +((?:.*\n)(?: {6,}.*\n)*)", block)
    assert len(rooms) > 18
    named = [
        PACKAGE / room / name
        for room, said in rooms
        for name in re.findall(r"(?<![\w/])([a-z_/]+(?:\.py|/(?=[ ,;])))", said)
    ]
    assert [path for path in named if not path.exists()] == []
    assert len(named) > 35


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


def test_an_agent_is_three_files(copy: Copy, committed: Repo) -> None:
    copy.write("agents/dummy.py", AGENT)
    known = 'Agent("claude-code", "Claude Code"),'
    copy.add_after(
        "agents/registry.py",
        known,
        '\n        Agent("dummy", "Dummy", "cli_guard.agents.dummy"),',
    )
    copy.replace("policy/config.py", ' lefthook".split()', ' lefthook dummy".split()')
    assert len(copy.changed) == 3
    own = Path(committed.env["HOME"]) / ".config/cli-guard/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[agent.dummy]\nprofile = "strict"\n')
    installed = copy.run(committed, "install", "--agent", "dummy")
    assert installed.out.startswith("cli-guard: dummy.cfg: installed\n"), installed.err
    assert not (committed.path / ".claude").exists()
    assert "Dummy: asks cli-guard first" in copy.run(committed, "doctor").out
    answered = copy.run(committed, "hook", "dummy", stdin='{"run": {"cmd": "ls"}}')
    assert (answered.code, answered.out) == (0, "")
    refused = copy.run(committed, "hook", "dummy", stdin='{"run": {"cmd": "rm -rf /"}}')
    assert (refused.code, refused.out) == (2, "") and "whole file system" in refused.err
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
    assert len(copy.changed) == 2
    stage(committed, {"risk.lua": RISK})
    found = copy.run(committed, "review").out
    assert "code-flow-command" in found and "ngx.var.arg_folder" in found
    assert "risk.lua:4" in found
    stage(committed, {"risk.lua": NEAR_MISS})
    assert "code-flow-command" not in copy.run(committed, "review").out


ROW = "EVENTS = (\n"
# The first of these would end what answers a coding agent with code 2, before it has begun.
IMPATIENT = {"CLI_GUARD_HOOK_SECONDS": "0.000001", "CLI_GUARD_SERVER": "0"}


def check_hook(copy: Copy, repo: Repo, name: str, *command: str) -> Done:
    """Install a hook, see that Git's command meets it, and remove it; return what Git said."""
    assert f"{name}: installed" in copy.run(repo, "install", "-t", name).out
    assert f"{name}: cli-guard\n" in copy.run(repo, "doctor").out
    done = repo.run(*command, env=IMPATIENT)
    assert "not judged within" not in done.all
    assert f"{name}: removed" in copy.run(repo, "uninstall").out
    assert not (repo.path / ".git/hooks" / name).exists()
    return done


def test_an_event_with_an_answer_of_its_own_is_two_files(
    copy: Copy, committed: Repo
) -> None:
    copy.write("cli/pre_rebase.py", PRE_REBASE)
    row = '    Event("pre-rebase", "", GIT, module="cli_guard.cli.pre_rebase"),\n'
    copy.add_after("hooks.py", ROW, row)
    done = check_hook(copy, committed, "pre-rebase", "git", "rebase", "--no-ff", "HEAD")
    assert done.code and "refused to rebase onto HEAD" in done.err
    assert copy.run(committed, "hook", "pre-rebase", "x").code == 1, "an agent's is 2"


def test_an_event_that_is_reviewed_like_another_is_one_row(
    copy: Copy, committed: Repo
) -> None:
    copy.add_after(
        "hooks.py", ROW, '    Event("pre-applypatch", STAGED, GIT, "Review it."),\n'
    )
    committed.write("leak.py", f'KEY = "{key()}"\n')
    committed.git("add", "-A")
    committed.git("commit", "--no-verify", "-qm", "Add a token")
    patch = committed.git("format-patch", "-1", "--stdout")
    committed.git("reset", "-q", "--hard", "HEAD~")
    (committed.path.parent / "leak.patch").write_text(patch)
    done = check_hook(copy, committed, "pre-applypatch", "git", "am", "../leak.patch")
    assert done.code == 1 and "leak.py:1" in done.err


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")
def test_a_storage_of_approvals_is_two_files(copy: Copy, committed: Repo) -> None:
    copy.write("approvals/dummy.py", STORAGE)
    known = "from cli_guard.approvals.counting import Approval\n"
    added = "from cli_guard.approvals.dummy import Dummy\n"
    copy.add_after("approvals/storage.py", known, added)
    known = "        Notes(repository),\n"
    copy.add_after("approvals/storage.py", known, "        Dummy(repository),\n")
    assert len(set(copy.changed)) == 2
    key = Path(committed.env["HOME"]) / ".ssh/id_ed25519"
    key.parent.mkdir(mode=0o700, exist_ok=True)
    made = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
    subprocess.run(made, check=True, timeout=60)
    assert guard(committed, "signers", "init", "--principal", "ada@example.org").code == 0
    committed.commit("Enrol a key")
    stage(committed, {"a.py": RISKY})
    assert guard(committed, "hook", "pre-commit").code == 3
    assert approve(committed, *waiting(committed)).code == 0
    kept = records(committed).folder / "approvals.jsonl"
    line = kept.read_text().strip()
    # Nobody but the new storage has it any more.
    kept.unlink()
    committed.git("update-ref", "-d", "refs/notes/cli-guard")
    assert copy.run(committed, "hook", "pre-commit").code == 3
    stored = copy.python(committed, "-c", STORE, line)
    assert stored.code == 0, stored.err
    assert (kept.read_text().strip(), kept.with_name("dummy").read_text()) == (line, line)
    kept.unlink()
    committed.git("update-ref", "-d", "refs/notes/cli-guard")
    done = copy.run(committed, "hook", "pre-commit")
    assert done.code == 0, done.all
