"""Pushes as pre-commit and prek tell of them: one ref in the environment, and nothing from standard input."""

import pytest
from examples import table
from repositories import Repo, key, placed

from cli_guard.model import Decision
from cli_guard.review.push import read_framework
from cli_guard.review.render.review import Review
from cli_guard.review.request import Push

SECRET = f'KEY = "{key()}"\n'
ZERO = "0" * 40
BOTH = {
    "PRE_COMMIT": "1",
    "PRE_COMMIT_REMOTE_NAME": "origin",
    "PRE_COMMIT_REMOTE_URL": "../origin.git",
    "PRE_COMMIT_LOCAL_BRANCH": "refs/heads/topic",
    "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/topic",
}


@pytest.fixture
def work(committed: Repo, isolated: dict[str, str]) -> Repo:
    """`main` is on the remote; `topic`, two commits ahead with a key in the first, is not checked out."""
    bare = Repo.create(committed.path.parent / "origin.git", isolated, "--bare")
    committed.git("remote", "add", "origin", str(bare.path))
    committed.git("push", "-q", "origin", "main")
    committed.git("checkout", "-q", "-b", "topic")
    committed.commit("Key", {"key.py": SECRET})
    committed.commit("More", {"more.py": "a = 1\n"})
    committed.git("checkout", "-q", "main")
    return committed


def look(repo: Repo, env: dict[str, str]) -> Review:
    """The review of what a framework tells."""
    plan = read_framework(env, ZERO)
    assert plan is not None
    return repo.look(Push(plan, env.get("PRE_COMMIT_REMOTE_NAME", "")))


def test_both_refs_are_told(work: Repo) -> None:
    refs = {
        "PRE_COMMIT_FROM_REF": work.git("rev-parse", "main"),
        "PRE_COMMIT_TO_REF": work.git("rev-parse", "topic"),
    }
    review = look(work, BOTH | refs)
    assert placed(review) == [("key.py", 1)]
    assert review.files == 2


@table(
    "names",
    ["PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PRE_COMMIT_FROM_REF PRE_COMMIT_TO_REF"],
)
@table("tip", ["main", "topic"])
def test_what_anybody_can_set_leaves_no_commit_out(
    work: Repo, names: str, tip: str
) -> None:
    """A framework sets neither on the first push to an empty remote, and passes on what it was given."""
    refs = dict.fromkeys(names.split(), work.git("rev-parse", tip))
    assert ("key.py", 1) in placed(look(work, BOTH | refs))


def test_what_the_remote_has_is_not_reviewed_again(work: Repo) -> None:
    work.git("push", "-q", "origin", "topic")
    work.git("checkout", "-q", "topic")
    work.commit("Go on", {"more.py": "a = 2\n"})
    tip = {"PRE_COMMIT_TO_REF": work.git("rev-parse", "topic")}
    assert look(work, BOTH | tip).decision is Decision.ALLOW


def test_pre_commit_tells_no_ref_on_the_first_push_to_an_empty_remote(work: Repo) -> None:
    work.git("update-ref", "-d", "refs/remotes/origin/main")
    review = look(work, BOTH)
    assert placed(review) == [("key.py", 1)]
    assert review.files == 3


def test_prek_tells_only_the_tip_on_the_first_push(work: Repo) -> None:
    assert placed(
        look(work, BOTH | {"PRE_COMMIT_TO_REF": work.git("rev-parse", "topic")})
    ) == [("key.py", 1)]


def test_a_forced_push_is_seen_where_the_old_tip_is_told(work: Repo) -> None:
    old = work.git("rev-parse", "topic")
    work.git("checkout", "-q", "-B", "main", "main~0")
    work.git("commit", "-q", "--amend", "--no-verify", "-m", "Other start")
    env = BOTH | {
        "PRE_COMMIT_FROM_REF": old,
        "PRE_COMMIT_TO_REF": work.git("rev-parse", "main"),
    }
    env |= {
        "PRE_COMMIT_LOCAL_BRANCH": "refs/heads/main",
        "PRE_COMMIT_REMOTE_BRANCH": "refs/heads/main",
    }
    assert [judged.finding.rule for judged in look(work, env).findings] == [
        "push-force-protected"
    ]


def test_that_other_refs_may_be_missing_is_said_if_there_are_any(work: Repo) -> None:
    work.git("branch", "known", "main")
    work.git("tag", "part", "topic~1")
    assert not look(work, BOTH).skipped
    # Another remote's tracking refs prove nothing of this one.
    work.git(
        "update-ref",
        "refs/remotes/other/side",
        work.git("commit-tree", "-m", "x", "topic^{tree}"),
    )
    work.git("branch", "side", "other/side")
    for remote in ("origin", "../origin.git"):
        review = look(work, BOTH | {"PRE_COMMIT_REMOTE_NAME": remote})
        assert [each.path for each in review.skipped] == ["other refs of this push"], remote


def test_by_the_hook_itself(work: Repo) -> None:
    work.git("tag", "side", work.git("commit-tree", "-m", "x", "topic^{tree}"))
    done = work.inspect("hook", "pre-push", env=BOTH)
    assert done.code == 1
    assert "key.py:1" in done.out
    assert "only the first ref" in " ".join(done.out.split())


def test_git_s_own_lines_go_before_what_the_environment_tells(work: Repo) -> None:
    tip = work.git("rev-parse", "main")
    line = f"refs/heads/main {tip} refs/heads/main {tip}\n"
    done = work.inspect("hook", "pre-push", "origin", "url", env=BOTH, stdin=line)
    assert (done.code, "key.py" in done.all) == (0, False)


@table("env", [{}, {"PRE_COMMIT": "0"}, {"PRE_COMMIT_TO_REF": "main"}], ids=str)
def test_no_framework(env: dict[str, str]) -> None:
    assert read_framework(env, ZERO) is None
