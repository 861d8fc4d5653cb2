"""Commits of every kind: what the index that Git named holds is reviewed, and that alone."""

from pathlib import Path

import pytest
from repositories import Repo, key, placed

from cli_guard.model import Decision
from cli_guard.review.request import Commit, Range, Worktree

SECRET = f'KEY = "{key()}"\n'


@pytest.fixture
def watched(committed: Repo, preloaded: Path) -> Repo:
    """A repository with one commit and our hooks, each of which is watched for what it writes."""
    committed.watch_hooks("pre-commit", "pre-merge-commit", preloaded=preloaded)
    return committed


def merge_in_conflict(repo: Repo) -> None:
    """Leaves a merge of `side` open; `app.py` is in conflict, both sides brought a key of their own."""
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("Side", {"app.py": "x = 2\n", "side.py": SECRET})
    repo.git("checkout", "-q", "main")
    repo.commit("Main", {"app.py": "x = 3\n", "main.py": SECRET})
    assert repo.try_git("merge", "--no-edit", "side").code == 1


def test_a_plain_commit_passes_and_one_with_a_secret_does_not(committed: Repo) -> None:
    """By the hooks as they are installed; the other tests have what is loaded already."""
    committed.watch_hooks("pre-commit", "pre-merge-commit")
    committed.write("app.py", "x = 1\ny = 2\n")
    committed.git("add", "-A")
    committed.git("commit", "-q", "-m", "Add y")
    assert committed.hooks_run() == ["pre-commit"]
    committed.write("app.py", "x = 1\ny = 2\n" + SECRET)
    committed.git("add", "-A")
    done = committed.try_git("commit", "-q", "-m", "Add a key")
    assert done.code == 1
    assert "app.py:3" in done.all
    assert key() not in done.all
    assert committed.hooks_run() == ["pre-commit", "pre-commit"]
    assert committed.git("log", "--format=%s") == "Add y\nStart"


def test_commit_all_reviews_the_temporary_index(watched: Repo) -> None:
    watched.write("app.py", SECRET)
    done = watched.try_git("commit", "-q", "-a", "-m", "Add a key")
    assert done.code == 1
    assert "app.py:1" in done.all
    assert watched.hooks_run() == ["pre-commit"]
    assert watched.git("diff", "--cached", "--name-only") == ""


def test_commit_of_a_path_leaves_what_else_is_staged_alone(watched: Repo) -> None:
    watched.write("staged.py", SECRET)
    watched.git("add", "-A")
    watched.write("app.py", "x = 2\n")
    done = watched.try_git("commit", "-q", "-m", "Change x", "app.py")
    assert done.code == 0, done.all
    watched.write("app.py", "x = 2\n" + SECRET)
    done = watched.try_git("commit", "-q", "-m", "Add a key", "app.py")
    assert done.code == 1
    assert "app.py:2" in done.all
    assert "staged.py" not in done.all
    assert watched.hooks_run() == ["pre-commit", "pre-commit"]


def test_the_index_counts_and_not_the_work_tree(committed: Repo) -> None:
    committed.write("app.py", "x = 2\n")
    committed.git("add", "-A")
    committed.write("app.py", SECRET)
    assert committed.look().decision is Decision.ALLOW
    assert placed(committed.look(Worktree())) == [("app.py", 1)]
    committed.git("add", "-A")
    committed.write("app.py", "x = 2\n")
    assert placed(committed.look()) == [("app.py", 1)]
    assert committed.look(Worktree()).decision is Decision.ALLOW


def test_an_amend_is_reviewed_for_what_it_adds(watched: Repo) -> None:
    watched.commit("Add a key", {"key.py": SECRET})
    done = watched.try_git("commit", "-q", "--amend", "-m", "Add the key")
    assert done.code == 0, done.all
    assert "nothing is staged" not in done.all
    watched.write("new.py", SECRET.replace("KEY", "OTHER"))
    watched.git("add", "-A")
    done = watched.try_git("commit", "-q", "--amend", "-m", "Add another")
    assert done.code == 1
    assert "new.py:1" in done.all
    assert "key.py" not in done.all
    assert watched.hooks_run() == ["pre-commit", "pre-commit"]


def test_the_first_commit(repo: Repo, preloaded: Path) -> None:
    repo.watch_hooks("pre-commit", preloaded=preloaded)
    repo.write("app.py", "x = 1\n" + SECRET)
    repo.git("add", "-A")
    done = repo.try_git("commit", "-q", "-m", "Start")
    assert done.code == 1
    assert "app.py:2" in done.all
    repo.write("app.py", "x = 1\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "Start")
    assert repo.hooks_run() == ["pre-commit", "pre-commit"]


def test_nothing_is_staged(committed: Repo) -> None:
    done = committed.inspect("hook", "pre-commit")
    assert (done.code, done.all) == (0, "")
    done = committed.inspect("review")
    assert done.code == 0
    assert "nothing is staged" in done.out
    committed.write("new.py", SECRET)
    committed.git("add", "-N", "new.py")
    assert committed.look().review_reason == "nothing is staged"


def test_intent_to_add_is_not_part_of_the_commit(committed: Repo) -> None:
    committed.write("new.py", SECRET)
    committed.git("add", "-N", "new.py")
    committed.write("app.py", "x = 2\n")
    committed.git("add", "app.py")
    review = committed.look()
    assert (review.files, review.decision) == (1, Decision.ALLOW)


def test_a_resolved_conflict_is_reviewed_for_the_resolution_alone(
    committed: Repo, preloaded: Path
) -> None:
    merge_in_conflict(committed)
    committed.watch_hooks(preloaded=preloaded)
    committed.write("app.py", "x = 2\nx = 3\n" + SECRET.replace("KEY", "RESOLVED"))
    committed.git("add", "-A")
    review = committed.look()
    assert placed(review) == [("app.py", 3)]
    assert review.files == 1
    done = committed.try_git("commit", "-q", "--no-edit")
    assert done.code == 1
    assert "app.py:3" in done.all
    committed.write("app.py", "x = 2\nx = 3\n")
    committed.git("add", "-A")
    done = committed.try_git("commit", "-q", "--no-edit")
    assert done.code == 0, done.all
    assert committed.hooks_run() == ["pre-commit", "pre-commit", "commit-msg"]
    assert committed.look(Commit("HEAD")).decision is Decision.ALLOW


def test_an_open_conflict_is_named_and_not_read(committed: Repo) -> None:
    merge_in_conflict(committed)
    review = committed.look()
    assert [(each.path, each.reason) for each in review.skipped] == [
        ("app.py", "unmerged: resolve the conflict and stage it")
    ]
    assert "code-conflict-marker" in {
        each.finding.rule for each in committed.look(Worktree()).findings
    }


def test_a_merge_that_hides_a_key_in_a_file_git_calls_binary(committed: Repo) -> None:
    merge_in_conflict(committed)
    committed.write("app.py", "x = 2\nx = 3\n" + SECRET)
    committed.write(".gitattributes", "*.py -diff\n")
    committed.git("add", "-A")
    assert placed(committed.look()) == [("app.py", 3)]


def test_a_clean_merge_runs_its_hook_and_finds_what_no_parent_had(watched: Repo) -> None:
    watched.git("checkout", "-q", "-b", "side")
    watched.commit("Side", {"side.py": SECRET})
    watched.git("checkout", "-q", "main")
    watched.commit("Main", {"main.py": SECRET.replace("KEY", "MAIN")})
    done = watched.try_git("merge", "-q", "--no-edit", "side")
    assert done.code == 0, done.all
    assert watched.hooks_run() == ["pre-merge-commit"]
    assert "side.py" not in done.all
    watched.git("reset", "-q", "--hard", "HEAD^1")
    watched.git("merge", "-q", "--no-commit", "side")
    watched.write("merged.py", SECRET)
    watched.git("add", "-A")
    assert placed(watched.look()) == [("merged.py", 1)]


def test_a_merge_in_which_a_file_of_the_other_side_is_edited(committed: Repo) -> None:
    committed.git("checkout", "-q", "-b", "side")
    committed.write("run.sh", "#!/bin/sh\necho\n").chmod(0o755)
    committed.commit("Side", {".env": "A=1\n" + SECRET})
    committed.git("checkout", "-q", "main")
    committed.commit("Main", {"main.py": "x = 1\n"})
    committed.git("merge", "-q", "--no-commit", "side")
    committed.write(".env", "A=1\nB=1\n" + SECRET)
    committed.write("run.sh", "#!/bin/sh\necho 1\n")
    committed.git("add", "-A")
    review = committed.look()
    assert review.files == 2
    assert [each.finding.rule for each in review.findings] == []


def test_an_octopus_merge_reports_what_no_parent_had(committed: Repo) -> None:
    for name in ("one", "two"):
        committed.git("checkout", "-q", "-b", name, "main")
        committed.commit(name, {f"{name}.py": SECRET})
    committed.git("checkout", "-q", "main")
    committed.git("merge", "-q", "--no-edit", "one", "two")
    assert committed.git("rev-list", "--parents", "-1", "HEAD").count(" ") == 2
    assert committed.look(Commit("HEAD")).files == 0
    committed.write("evil.py", SECRET)
    committed.git("add", "-A")
    committed.git("commit", "-q", "--amend", "--no-edit")
    assert placed(committed.look(Commit("HEAD"))) == [("evil.py", 1)]


def test_a_range_is_reviewed_commit_by_commit(committed: Repo) -> None:
    added = committed.commit("Add a key", {"key.py": SECRET})
    committed.git("rm", "-q", "key.py")
    committed.git("commit", "-q", "-m", "Remove it")
    review = committed.look(Range("HEAD~2", "HEAD"))
    assert [(j.finding.path, j.finding.commit) for j in review.findings] == [
        ("key.py", added)
    ]
    assert committed.look(Range("HEAD", "HEAD")).files == 0
    done = committed.inspect("review", "--range", "HEAD~2..")
    assert done.code == 1
    assert f"key.py:1 in {added[:10]}" in done.out


def test_the_oldest_commit_of_a_shallow_clone_counts_as_a_root(
    committed: Repo, isolated: dict[str, str]
) -> None:
    committed.commit("Second", {"key.py": SECRET})
    path = committed.path.parent / "shallow"
    committed.git("clone", "-q", "--depth=1", f"file://{committed.path}", str(path))
    shallow = Repo(path, isolated)
    review = shallow.look(Commit("HEAD"))
    assert review.files == 2
    assert placed(review) == [("key.py", 1)]


def test_a_commit_is_reviewed_whole_under_a_small_limit(committed: Repo) -> None:
    committed.commit("Limit", {"cli-guard.toml": "[limits]\nfile_chars = 1000\n"})
    committed.commit("Add a key\n\n" + "why " * 400, {"key.py": SECRET})
    review = committed.look(Commit("HEAD"))
    assert (review.files, placed(review)) == (1, [("key.py", 1)])


@pytest.mark.parametrize(
    "number", [pytest.param(4, id="patches cut"), pytest.param(14, id="list of files cut")]
)
def test_what_the_total_limit_leaves_out_is_named_and_a_person_is_asked(
    committed: Repo, number: int
) -> None:
    committed.commit("Limit", {"cli-guard.toml": "[limits]\ntotal_chars = 1000\n"})
    names = [f"{letter}.py" for letter in "abcdefghijklmn"[:number]]
    for name in names:
        committed.write(name, f"name = {name!r}\n" * 20)
    committed.git("add", "-A")
    review = committed.look()
    left_out = [each.path for each in review.skipped if "limits.total_chars" in each.reason]
    assert left_out
    assert names[-len(left_out) :] == left_out
    assert review.files + len(left_out) == number
    assert review.decision is Decision.REVIEW
    content = committed.look().review_id
    assert content == review.review_id
    committed.write(names[-1], "other = 1\n")
    committed.git("add", "-A")
    assert committed.look().review_id != review.review_id
