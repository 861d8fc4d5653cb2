"""Commits and pushes under the real pre-commit and the real prek, with the manifest as users meet it."""

from pathlib import Path

import pytest
from frameworks.programs import Framework
from repositories import Done, Repo, cold, key

LEAK = f'KEY = "{key()}"\n'
NO_RANGE = {"PRE_COMMIT": "1", "PRE_COMMIT_FROM_REF": "HEAD", "PRE_COMMIT_TO_REF": "HEAD"}
UNDOCUMENTED = """\
def parse(text, strict):
    found = text.split(",")
    if strict and not text:
        raise ValueError(text)
    return found
"""


def committing(
    repo: Repo,
    content: str,
    *paths: str,
    name: str = "app.py",
    env: dict[str, str] | None = None,
) -> Done:
    repo.write(name, content)
    repo.git("add", name)
    return repo.try_git("commit", "-qm", "Change the app", *paths, env=env)


def pushed(repo: Repo) -> str:
    return repo.git("ls-remote", "origin")


def test_a_hook_that_passes_is_one_line_or_shows_its_advice_if_verbose(
    framed: Repo,
) -> None:
    done = committing(framed, UNDOCUMENTED)
    assert done.code == 0, done.all
    lines = [line for line in done.all.splitlines() if line.strip()]
    assert [line.partition("..")[0] for line in lines] == [
        "cli-guard (what is committed)",
        "cli-guard (commit message)",
    ]
    file = framed.path / ".pre-commit-config.yaml"
    # The last hook speaks for both.
    last = "- id: cli-guard-commit-msg\n"
    verbose = file.read_text().replace(last, f"{last}        verbose: true\n")
    framed.commit("Configure", {file.name: verbose})
    done = committing(framed, UNDOCUMENTED.replace("parse", "read"))
    assert done.code == 0, done.all
    assert "docs-missing" in done.all and "app.py:1" in done.all
    assert framed.git("log", "-1", "--format=%s") == "Change the app"


@cold
def test_a_secret_is_denied(framed: Repo) -> None:
    # What a framework passes in the environment is anybody's to set.
    for env in ({}, NO_RANGE):
        done = committing(framed, LEAK, env=env)
        assert done.code == 1
        assert "app.py:1" in done.all and key() not in done.all
    assert framed.git("log", "-1", "--format=%s") == "Configure"


def test_a_secret_in_the_message_is_denied(framed: Repo) -> None:
    done = framed.try_git("commit", "-q", "--allow-empty", "-m", f"Use {key()} for now")
    assert done.code == 1
    assert "cli-guard (commit message)" in done.all and key() not in done.all


def test_a_merge_is_looked_at(framed: Repo) -> None:
    framed.git("checkout", "-qb", "side")
    framed.commit("Add a file", {"side.py": "y = 2\n"})
    framed.git("checkout", "-q", "main")
    framed.commit("Go on", {"other.py": "z = 3\n"})
    done = framed.try_git("merge", "--no-ff", "-m", "Merge side", "side")
    assert done.code == 0, done.all
    assert "cli-guard (what a merge adds)" in done.all


def test_the_first_push_to_an_empty_remote_is_reviewed_from_the_root(framed: Repo) -> None:
    framed.commit("Add the key", {"key.py": LEAK})
    framed.commit("Take it out again", {"key.py": "KEY = None\n"})
    for env in ({}, NO_RANGE):
        done = framed.try_git("push", "-q", "origin", "main", env=env)
        assert done.code == 1 and "key.py:1" in done.all
    assert pushed(framed) == ""


@cold
def test_a_push_of_clean_commits_passes_in_one_line(framed: Repo) -> None:
    done = framed.try_git("push", "-q", "origin", "main")
    assert done.code == 0, done.all
    assert len([line for line in done.all.splitlines() if line.strip()]) == 1
    assert "refs/heads/main" in pushed(framed)


def test_a_run_in_ci_reviews_a_range_or_says_that_it_reviewed_nothing(
    framed: Repo, framework: Framework
) -> None:
    framed.commit("Add the key", {"key.py": LEAK})
    done = framed.run(*framework.command, "run", "--all-files")
    assert done.code == 1
    line = f"`{framework.name} run --from-ref origin/main --to-ref HEAD`"
    assert (
        "NOTHING WAS REVIEWED" in done.all
        and line in done.all
        and "exit code: 2" in done.all
    )
    done = framed.run(*framework.command, "run", "--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert done.code == 1 and "key.py:1" in done.all
    framed.write("staged.py", LEAK)
    framed.git("add", "staged.py")
    done = framed.run(*framework.command, "run", "--from-ref", "HEAD", "--to-ref", "HEAD")
    assert done.code == 1 and "staged.py:1" in done.all
    framed.git("rm", "-qf", "staged.py")
    done = framed.try_git("commit", "-q", "--allow-empty", "-m", "Start the build again")
    assert done.code == 0, done.all


def test_a_secret_in_a_middle_commit_stops_the_push(framed: Repo) -> None:
    framed.git("push", "-q", "--no-verify", "origin", "main")
    there = pushed(framed)
    framed.commit("Go on", {"a.py": "a = 1\n"})
    framed.commit("Add the key", {"key.py": LEAK})
    framed.commit("Take it out again", {"key.py": "KEY = None\n"})
    done = framed.try_git("push", "-q", "origin", "main")
    assert done.code == 1 and "key.py:1" in done.all
    assert pushed(framed) == there


def test_a_branch_that_is_not_checked_out_is_reviewed(framed: Repo) -> None:
    framed.git("push", "-q", "--no-verify", "origin", "main")
    framed.git("checkout", "-qb", "side")
    framed.commit("Add the key", {"key.py": LEAK})
    framed.git("checkout", "-q", "main")
    done = framed.try_git("push", "-q", "origin", "side")
    assert done.code == 1 and "key.py:1" in done.all


def test_skip_passes_at_every_stage(framed: Repo) -> None:
    """SKIP is the framework's, by hook id; ours honours it too, so that one word is enough for all."""
    skip = {"SKIP": "cli-guard"}
    done = committing(framed, LEAK, env=skip)
    assert done.code == 0, done.all
    assert "skipped" in done.all.lower()
    assert framed.try_git("push", "-q", "origin", "main", env=skip).code == 0
    assert framed.git("log", "-1", "--format=%s") == "Change the app"


def test_commit_of_a_path_reviews_what_that_commit_holds(framed: Repo) -> None:
    """`git commit PATH` builds a temporary index, which the framework must hand on."""
    framed.write("staged.py", LEAK)
    framed.git("add", "staged.py")
    done = committing(framed, "y = 2\n", "app.py")
    assert done.code == 0, done.all
    framed.write("app.py", LEAK)
    framed.git("reset", "-q", "staged.py")
    done = framed.try_git("commit", "-qm", "Add the key", "app.py")
    assert done.code == 1 and "app.py:1" in done.all


def test_the_index_counts_and_the_work_tree_is_left_alone(framed: Repo) -> None:
    framed.write("app.py", "y = 2\n")
    framed.git("add", "app.py")
    framed.write("app.py", LEAK)
    done = framed.try_git("commit", "-qm", "Set y")
    assert done.code == 0, done.all
    assert (framed.path / "app.py").read_text() == LEAK
    framed.git("add", "app.py")
    framed.write("app.py", "y = 2\n")
    done = framed.try_git("commit", "-qm", "Add the key")
    assert done.code == 1 and "app.py:1" in done.all


def test_a_linked_work_tree_is_guarded_too(framed: Repo) -> None:
    linked = Repo(framed.path.parent / "linked", framed.env)
    framed.git("worktree", "add", "-q", str(linked.path))
    done = committing(linked, LEAK)
    assert done.code == 1 and "app.py:1" in done.all


@cold
@pytest.mark.parametrize("framework", ["prek"], indirect=True)
def test_no_module_of_the_work_tree_is_imported(framed: Repo) -> None:
    """pre-commit itself is a Python program and would import them first; prek is not."""
    trace = framed.path.parent / "trace"
    for name in ("click", "json", "sitecustomize", "cli_guard/__init__"):
        framed.write(
            f"{name}.py", f"open({str(trace)!r}, 'w').close()\nraise SystemExit(0)\n"
        )
    framed.commit("Plant")
    done = committing(framed, LEAK, env={"PYTHONPATH": ".", "PYTHONSAFEPATH": ""})
    assert done.code == 1 and "app.py:1" in done.all
    assert not trace.exists()


@cold
def test_the_environment_holds_hooks_and_rules(framed: Repo, source: Repo) -> None:
    """What is installed from a clone is a wheel: its data must be in it, and its own `install` must work."""
    store = Path(framed.env["PRE_COMMIT_HOME"])
    package = next(
        path.parent for path in store.rglob("site-packages/cli_guard/__init__.py")
    )
    held = source.git("ls-files", "hooks").splitlines()
    assert len(held) >= 2
    for name in held:
        copy = package / "hook_scripts" / name.removeprefix("hooks/")
        assert copy.read_bytes() == (source.path / name).read_bytes()
    # Rules are compiled, one file a folder, and their sources left out.
    assert (package / "rules/compiled/secrets.json").is_file()
    assert not list((package / "rules").rglob("*.toml"))
    program = next(path for path in store.rglob("bin/cli-guard"))
    for name in ("pre-commit", "pre-merge-commit", "commit-msg", "pre-push"):
        (framed.path / ".git/hooks" / name).unlink()
    assert framed.run(str(program), "install").code == 0
    done = committing(framed, LEAK, env={"PATH": "/usr/bin:/bin"})
    assert done.code == 1 and "app.py:1" in done.all
