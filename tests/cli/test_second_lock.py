"""What is staged while the hook before runs, or without it: commit-msg reviews the index that Git names."""

import json
from collections import Counter
from pathlib import Path

import pytest
from examples import table
from in_process import guard, records, stage
from repositories import Done, Repo, key

LEAK: dict[str, str | bytes] = {"key.py": f'KEY = "{key()}"\n'}
INDEX = {"GIT_INDEX_FILE": ".git/index"}


def hook(repo: Repo, name: str, message: str = "Add it\n", **env: str) -> Done:
    if name != "commit-msg":
        return guard(repo, "hook", name, env=INDEX | env)
    repo.write(".git/COMMIT_EDITMSG", message)
    return guard(repo, "hook", name, ".git/COMMIT_EDITMSG", env=INDEX | env)


def reviews(repo: Repo) -> Counter[str]:
    """How often each hook has reviewed something."""
    return Counter(str(entry["event"]) for entry in records(repo).audit.entries())


@pytest.mark.parametrize(
    "message",
    ["Add it\n", "", "# a comment\n"],
    ids=["a message", "no message", "a comment"],
)
def test_what_was_staged_meanwhile_is_reviewed(committed: Repo, message: str) -> None:
    stage(committed, {"a.py": "x = 2\n"})
    assert hook(committed, "pre-commit").code == 0
    stage(committed, LEAK)
    done = hook(committed, "commit-msg", message)
    assert done.code == 1 and "key.py:1" in done.out
    committed.git("rm", "-qf", "key.py")
    assert hook(committed, "commit-msg", message).code == 0
    assert reviews(committed)["pre-commit"] == 2


def test_what_was_allowed_is_not_reviewed_again(committed: Repo) -> None:
    stage(committed, {"a.py": "x = 2\n"})
    for name in ("pre-commit", "commit-msg", "commit-msg"):
        assert hook(committed, name).code == 0
    assert reviews(committed) == {"pre-commit": 1, "commit-msg": 2}


@table("without", ["no hook before", "another log", "no log", "a denial"])
def test_only_what_a_hook_allowed_counts(committed: Repo, without: str) -> None:
    stage(committed, LEAK)
    log = records(committed).audit.path
    if without != "no hook before":
        assert hook(committed, "pre-commit").code == 1
    if without == "another log":
        log.write_text(
            json.dumps({"event": "pre-commit", "decision": "allow", "content": 3})
            + "\n[]\n\x00"
        )
    elif without == "no log":
        log.unlink()
    assert hook(committed, "commit-msg").code == 1


@table(
    ("skip", "code"),
    [("cli-guard-pre-commit", 0), ("cli-guard-merge", 0), ("cli-guard-pre-push", 1)],
)
def test_a_skipped_hook_is_not_made_up_for(committed: Repo, skip: str, code: int) -> None:
    stage(committed, LEAK)
    assert hook(committed, "commit-msg", SKIP=skip).code == code


def test_the_environment_adds_no_parent(committed: Repo) -> None:
    stage(committed, LEAK)
    other = committed.git("commit-tree", committed.git("write-tree"), "-m", "x")
    merging = {f"GITHEAD_{other}": "x"}
    assert hook(committed, "pre-merge-commit", **merging).code == 0
    done = hook(committed, "commit-msg", **merging)
    assert done.code == 1 and "key.py:1" in done.out


@pytest.fixture
def staging(forked: Repo) -> Repo:
    """A guarded repository in which something else stages a file while the hook runs, if there is one."""
    hooks = forked.path / ".git/hooks"
    for name in ("pre-commit", "pre-merge-commit"):
        # Our script knows by its name which hook it is.
        (hooks / name).rename(hooks / f"{name}-ours")
        script = '#!/bin/sh\n"$0-ours" || exit\n[ ! -f late.py ] || git add late.py\n'
        forked.write(f".git/hooks/{name}", script).chmod(0o755)
    return forked


def test_a_real_commit_and_a_real_merge(staging: Repo) -> None:
    staging.git("checkout", "-qb", "side")
    staging.commit("Add a file", {"side.py": "y = 2\n"})
    staging.git("checkout", "-q", "main")
    staging.commit("Go on", {"other.py": "z = 3\n"})
    before = reviews(staging)
    staging.write("late.py", LEAK["key.py"])
    for command in (
        ("merge", "--no-ff", "-m", "Merge side", "side"),
        ("commit", "-qm", "Merge side"),
    ):
        done = staging.try_git(*command)
        assert done.code != 0 and "late.py:1" in done.all, command
    (staging.path / "late.py").unlink()
    staging.git("reset", "-q", "--hard")
    staging.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    # The clean merge was reviewed once more by nobody.
    assert (reviews(staging) - before)["pre-commit"] == 2


def named(repo: Repo, *words: str) -> bool:
    """Whether `audit verify`, `stats` and `doctor` name exactly these commits; none of them fails for it."""
    said = [guard(repo, *argv) for argv in (("audit", "verify"), ("stats",), ("doctor",))]
    line = "recorded without a review that allowed it: " + ", ".join(
        word[:10] for word in words
    )
    return all(
        (f"{line};" in done.out) if words else ("recorded without a review" not in done.out)
        for done in said
    )


def test_what_no_review_allowed_is_named_until_it_is_pushed(
    forked: Repo, tmp_path: Path
) -> None:
    forked.commit("Before any review", {"old.py": "x = 0\n"})
    stage(forked, {"a.py": "x = 2\n"})
    forked.git("commit", "-qm", "Set x")
    stage(forked, {"a.py": "x = 3\n"})
    forked.git("commit", "-q", "--amend", "-m", "Set x")
    # Twice the same tree: only the message is another.
    forked.git("commit", "-q", "--amend", "-m", "Set x anew")
    forked.git("commit", "-q", "--amend", "-m", "Set x to 3")
    forked.git("commit", "-q", "--allow-empty", "-m", "Start again")
    forked.git("checkout", "-qb", "side", "HEAD~1")
    stage(forked, {"b.py": "x = 2\n"})
    forked.git("commit", "-qm", "Add b")
    forked.git("checkout", "-q", "main")
    forked.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
    assert named(forked)
    hidden = forked.commit("Behind the hooks", LEAK)
    forked.git("commit", "-q", "--allow-empty", "-m", "Go on")
    assert named(forked, hidden)
    remote = Repo.create(tmp_path / "remote.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(remote.path))
    done = forked.try_git("push", "-q", "origin", "main")
    assert done.code == 1 and "key.py:1" in done.all
    forked.git("push", "-q", "--no-verify", "origin", "main")
    assert named(forked)
