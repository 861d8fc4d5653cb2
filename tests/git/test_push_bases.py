"""What counts as known to the remote: what it says itself and what Git fetched from it, not what a ref here claims."""

from pathlib import Path

import pytest
from repositories import Done, Repo, key

SECRET = f'KEY = "{key()}"\n'
RISKY = "import os\n\n\ndef run(x):\n    os.system('a' + x)\n"


@pytest.fixture
def pushed(forked: Repo, tmp_path: Path) -> Repo:
    """A repository with our hooks whose `main` is on its remote."""
    bare = Repo.create(tmp_path / "origin.git", forked.env, "--bare")
    forked.git("remote", "add", "origin", str(bare.path))
    forked.git("push", "-q", "origin", "main")
    return forked


def push(repo: Repo, *arguments: str) -> Done:
    return repo.try_git("push", "-q", "origin", *(arguments or ("main",)))


@pytest.mark.parametrize(
    "forgery",
    [
        ["update-ref refs/remotes/origin/zzz HEAD"],
        ["update-ref refs/remotes/origin/zzz HEAD", "pack-refs --all"],
        ["update-ref refs/remotes/origin/main HEAD"],
        ["update-ref -m update_by_push refs/remotes/origin/main HEAD"],
        ["remote add up ../up.git", "update-ref refs/remotes/up/main HEAD"],
    ],
)
@pytest.mark.parametrize("content", [SECRET, RISKY])
def test_a_forged_tracking_ref_hides_nothing(
    pushed: Repo, forgery: list[str], content: str
) -> None:
    pushed.commit("Work", {"a.py": content})
    for command in forgery:
        pushed.git(*(word.replace("_by_", " by ") for word in command.split()))
    done = push(pushed)
    assert done.code != 0
    assert "a.py" in done.all


def test_a_tracking_ref_without_a_log_hides_no_key(pushed: Repo) -> None:
    pushed.commit("Key", {"a.py": SECRET})
    pushed.commit("No key", {"a.py": "a = 1\n"})
    pushed.git(
        "-c", "core.logAllRefUpdates=false", "update-ref", "refs/remotes/origin/zzz", "HEAD"
    )
    for _ in range(2):
        done = push(pushed)
        assert done.code == 1
        assert "a.py:1" in done.all
        assert "2 commits" in done.all and "searched for keys only" in done.all


def test_what_was_fetched_or_cloned_is_not_reviewed_again(
    pushed: Repo, tmp_path: Path, preloaded: Path
) -> None:
    pushed.commit("Key", {"key.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main", "main:side")
    pushed.git("clone", "-q", str(tmp_path / "origin.git"), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", pushed.env)
    clone.watch_hooks("pre-push", preloaded=preloaded)
    clone.git("checkout", "-q", "-b", "topic")
    clone.commit("Work", {"work.py": "a = 1\n"})
    done = push(clone, "topic")
    assert (done.code, "searched" in done.all) == (0, False), done.all
    pushed.commit("Later", {"later.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    clone.git("fetch", "-q")
    clone.git("checkout", "-q", "-b", "next", "origin/main")
    clone.commit("Work", {"work.py": "b = 1\n"})
    done = push(clone, "next")
    assert (done.code, "searched" in done.all) == (0, False), done.all


def test_commits_of_another_remote_are_searched_for_new_keys_only(
    pushed: Repo, tmp_path: Path
) -> None:
    other = Repo.create(tmp_path / "up.git", pushed.env, "--bare")
    pushed.git("remote", "add", "up", str(other.path))
    pushed.git("checkout", "-q", "-b", "theirs")
    pushed.commit("their work", {"theirs.py": RISKY})
    pushed.git("push", "-q", "--no-verify", "up", "theirs")
    pushed.git("checkout", "-q", "-b", "one")
    pushed.commit("Work", {"work.py": "a = 1\n"})
    for _ in range(2):
        dry = pushed.try_git("push", "--dry-run", "origin", "one")
        assert dry.code == 0, dry.all
        assert "theirs.py" not in dry.all
        assert "1 commit of up goes to a new place (origin): searched" in dry.all
    pushed.git("checkout", "-q", "theirs")
    pushed.commit("their key", {"secret.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "up", "theirs")
    done = push(pushed, "theirs")
    assert done.code == 1
    assert "needs approval: 1" in done.all and "secret.py:1" in done.all
    # The remote has it already: nothing new is published.
    pushed.git("checkout", "-q", "main")
    pushed.commit("Key", {"known.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    pushed.git("merge", "-q", "--no-verify", "--no-edit", "theirs")
    done = push(pushed)
    assert done.code == 0, done.all


WEAKER = '[rules]\n"secret-*" = "off"\n'


def test_a_pushed_policy_does_not_silence_what_comes_with_it(pushed: Repo) -> None:
    pushed.commit("Set the rules", {"cli-guard.toml": WEAKER})
    pushed.commit("Add the key", {"a.py": SECRET})
    for branch in ("main", "main:topic"):
        done = push(pushed, branch)
        assert done.code == 1
        assert "a.py:1" in done.all
        assert (
            "silent under the pushed policy, not under the remote's: secret-aws-access-key at a.py"
            in " ".join(done.all.split())
        )
    pushed.git("rm", "-q", "cli-guard.toml")
    pushed.git("commit", "-q", "--no-verify", "-m", "Remove the rules")
    assert push(pushed).code == 1


def test_a_broken_policy_of_the_remote_can_be_repaired(pushed: Repo) -> None:
    pushed.commit("Break the rules", {"cli-guard.toml": "nonsense"})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    pushed.git("rm", "-q", "cli-guard.toml")
    pushed.git("commit", "-q", "--no-verify", "-m", "Remove the rules")
    done = push(pushed)
    assert done.code == 0, done.all
    assert "does not count" in done.all
