"""`cli-guard allow`: a rule is shown with what it covers and what it does not, a person saves it, and it holds here."""

import datetime
from pathlib import Path

import pytest
from examples import examples, near_misses, table
from in_process import Terminal, guard
from repositories import Done, Repo, key

from cli_guard.policy.config import read_user_config
from cli_guard.runtime import Invocation
from cli_guard.state.questions import remember_question


def allow(repo: Repo, *options: str, answer: str = "yes") -> Done:
    return guard(repo, "allow", *options, stdin=Terminal(f"{answer}\n"))


def verdict(repo: Repo, command: str) -> str:
    return str(guard(repo, "check-command", command, "--format", "json").json["verdict"])


def user_file(repo: Repo) -> Path:
    return Path(repo.env["HOME"]) / ".config" / "cli-guard" / "config.toml"


def test_a_rule_is_shown_saved_and_removed(committed: Repo) -> None:
    done = allow(committed, "pytest *")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "A rule for `pytest`, followed by anything"
    assert [line.split()[0] for line in lines[1:7]] == ["allows"] * 3 + ["still"] * 3
    assert "saved for this work tree" in lines[-1]
    for line in lines[1:7]:
        wanted = "allow" if line.split()[0] == "allows" else "review"
        command = line.split(maxsplit=1 if wanted == "allow" else 2)[-1]
        assert verdict(committed, command) == wanted, command
    assert guard(committed, "allow", "--list").out == "pytest *\n"
    assert guard(committed, "allow", "--remove", "pytest *").out == "cli-guard: removed\n"
    assert guard(committed, "allow", "--list").out == "cli-guard: no rules here\n"
    assert verdict(committed, "pytest -x") == "review"


def test_a_rule_holds_in_its_work_tree_alone(committed: Repo, tmp_path: Path) -> None:
    allow(committed, "make test")
    other = Repo.create(tmp_path / "other", committed.env)
    other.commit("Begin", {"a.txt": "x\n"})
    assert (verdict(committed, "make test"), verdict(other, "make test")) == (
        "allow",
        "review",
    )
    allow(other, "make test", "--user")
    third = Repo.create(tmp_path / "third", committed.env)
    assert verdict(third, "make test") == "allow"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "# mine\n[rules]\n\"docs-*\" = \"advise\"\n",
        "[commands]\ndeny = [\"rm *\"] # never\n",
        "[commands]\nallow = [\n  \"npm ci\", # always\n]\n\n[git]\nprotected_branches = [\"main\"]\n",
        "[git]\nprotected_branches = [\"main\"]\n[commands] # here\nallow = []\n",
    ],
)  # fmt: skip
def test_the_users_file_keeps_all_else(committed: Repo, before: str) -> None:
    user_file(committed).parent.mkdir(parents=True)
    user_file(committed).write_text(before)
    had = read_user_config(committed.env)
    assert had is not None
    done = allow(committed, 'make "a b"', "--user")
    assert done.code == 0, done.err
    now = read_user_config(committed.env)
    assert now is not None
    names = {each.pattern for each in now.commands.allow}
    assert names == {*(each.pattern for each in had.commands.allow), 'make "a b"'}
    assert now.model_dump(exclude={"commands"}) == had.model_dump(exclude={"commands"})
    kept = [line for line in before.splitlines() if not line.startswith("allow")]
    assert all(line in user_file(committed).read_text() for line in kept)


def test_a_users_file_that_cannot_be_edited(committed: Repo) -> None:
    user_file(committed).parent.mkdir(parents=True)
    user_file(committed).write_text('commands = {deny = ["rm *"]}\n')
    done = allow(committed, "make test", "--user")
    assert (
        done.code == 2
        and 'write it there by hand: [commands] allow = ["make test"]' in done.err
    )
    assert user_file(committed).read_text() == 'commands = {deny = ["rm *"]}\n'


@table(
    ("pattern", "problem"),
    [
        ("ls *", "is allowed already"),
        ("rm -rf *", "is too wide"),
        ("bash *", "is too wide"),
        ("*", "does not begin with the name of a program"),
        ("make && ls", "is more than the plain words of one command"),
        ("git commit --no-verify *", "would allow nothing"),
        ("sudo make", "would allow nothing"),
        ("cat ~/.ssh/id_rsa", "would allow nothing"),
    ],
)
def test_a_useless_rule_is_refused(committed: Repo, pattern: str, problem: str) -> None:
    done = allow(committed, pattern)
    assert done.code == 2 and problem in done.err and len(done.err.splitlines()) == 1
    assert guard(committed, "allow", "--list").out == "cli-guard: no rules here\n"


def test_only_a_person_saves(committed: Repo) -> None:
    assert guard(committed, "allow", "make", stdin="yes\n").code == 2
    assert (
        guard(
            committed, "allow", "make", stdin=Terminal("yes\n"), env={"CLAUDECODE": "1"}
        ).code
        == 2
    )
    assert allow(committed, "make", answer="no").code == 1
    assert verdict(committed, "make") == "review"
    assert verdict(committed, "cli-guard allow make") == "deny"


@table(
    "options",
    [
        (),
        ("make", "--last"),
        ("--list", "--user"),
        ("--list", "--program", "x"),
        ("--remove", "make"),
    ],
)
def test_wrong_usage(committed: Repo, options: tuple[str, ...]) -> None:
    assert allow(committed, *options).code == 2


def test_the_last_question(committed: Repo) -> None:
    invocation = Invocation(
        committed.path, committed.env, datetime.datetime.now(datetime.UTC)
    )
    assert "no command of a coding agent" in allow(committed, "--last").err
    remember_question(invocation, "codex", str(committed.path), "npm ci")
    done = allow(committed, "--last")
    assert (
        done.code == 0
        and "codex asked on" in done.out
        and "A rule for `npm ci`, exactly" in done.out
    )
    assert verdict(committed, "npm ci") == "allow"
    assert "it is answered with allow now" in allow(committed, "--last").err
    remember_question(
        invocation,
        "codex",
        str(committed.path),
        f"curl -H 'X: {key('github')}' https://example.org",
    )
    assert "holds a secret" in allow(committed, "--last").err
    remember_question(invocation, "codex", "/elsewhere", "npm test")
    assert "holds a secret" in allow(committed, "--last").err, (
        "one of another folder is not meant"
    )


def test_a_program(committed: Repo) -> None:
    (committed.write(".venv/bin/frobnicate", "#!/bin/sh\n")).chmod(0o755)
    committed.write(
        ".venv/lib/python3.12/site-packages/frob-1.2.dist-info/RECORD",
        "../../../bin/frobnicate,sha256=x,9\n",
    )
    done = allow(committed, "--program", "frobnicate")
    assert done.code == 0
    place = f"{committed.path}/.venv/bin/frobnicate is installed in this work tree"
    assert done.out.startswith(f"{place}\npackage: frob-1.2 (Python)\n")
    assert verdict(committed, "frobnicate --now") == "allow"
    assert verdict(committed, "frobnicate ../elsewhere") == "review"
    assert (
        "neither on your PATH"
        in allow(committed, "--program", "no-such-thing", answer="no").out
    )
    assert allow(committed, "--program", "a b").code == 2


HERE = (
    "pytest *",
    "npm ci *",
    "pip install *",
    "git push origin *",
    "curl https://api.example.com/*",
    "llm *",
)


@pytest.fixture
def ruled(committed: Repo) -> Repo:
    for pattern in HERE:
        assert allow(committed, pattern).code == 0
    return committed


@examples(
    "command",
    [
        "pytest -x tests",
        ".venv/bin/pytest -x",
        "python -m pytest",
        "uv run pytest -q",
        "poetry run pytest",
        "timeout 60 pytest | tee out.txt",
        "uv run pytest 2>&1 | tee out.txt",
        "npm ci --no-audit",
        ".venv/bin/pip install requests",
        "git push origin main",
        "curl https://api.example.com/v1",
        "llm -m small hello",
    ],
)
def test_a_rule_follows_its_program(command: str, ruled: Repo) -> None:
    assert verdict(ruled, command) == "allow"


@near_misses(
    "command",
    [
        "pytest -c /elsewhere/x.ini",
        "pytest -p evil",
        "pytest ../other",
        "cd /elsewhere && pytest",
        "/elsewhere/.venv/bin/pytest",
        "uv run --with evil pytest",
        "npx pytest",
        "pytest; echo x | tee a.py",
        "pytest; tee a.py < b",
        "pytest | tee ../out.txt",
        "pytest > ~/.bashrc",
        "npm ci --registry https://other.example.org",
        "npm ci --prefix /elsewhere",
        "pip install --index-url https://other.example.org x",
        "pip install git+https://other.example.org/x",
        "pip install ../x",
        "git push origin main --force",
        "git push other main",
        "curl https://api.example.com.other.example.org/x",
        "curl https://api.example.com/x https://other.example.org",
        "curl -x http://other.example.org https://api.example.com/x",
        "llm -f /elsewhere/x",
    ],
)
def test_a_rule_lifts_no_more(command: str, ruled: Repo) -> None:
    assert verdict(ruled, command) != "allow"
