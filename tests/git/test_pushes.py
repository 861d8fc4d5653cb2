"""Pushes to a real remote: every ref, every commit that the remote has not got, and no other."""

import shutil
from pathlib import Path

import pytest
from repositories import Repo, key, secrets

from cli_guard.model import Decision
from cli_guard.review.push import PushPlan, read_lines
from cli_guard.review.render.review import Review
from cli_guard.review.request import Push

SECRET = f'KEY = "{key()}"\n'


@pytest.fixture
def remote(committed: Repo, isolated: dict[str, str]) -> Repo:
    """An empty bare repository, the `origin` of `committed`."""
    bare = Repo.create(committed.path.parent / "origin.git", isolated, "--bare")
    committed.git("remote", "add", "origin", str(bare.path))
    return bare


@pytest.fixture
def pushed(committed: Repo, remote: Repo, preloaded: Path) -> Repo:
    """A repository whose `main` is on the remote, and our hooks."""
    committed.git("push", "-q", "-u", "origin", "main")
    committed.watch_hooks(preloaded=preloaded)
    return committed


def push_of(repo: Repo, *refs: str, remote: str = "origin") -> Push:
    """A push of refspecs, each `local:remote`, by the lines that Git would give."""
    lines = []
    zero = "0" * len(repo.git("rev-parse", "HEAD"))
    for ref in refs:
        local, _, name = ref.partition(":")
        tracked = (
            repo.try_git(
                "rev-parse", "--verify", "-q", f"refs/remotes/origin/{name}"
            ).out.strip()
            or zero
        )
        oid = repo.git("rev-parse", local) if local else zero
        lines.append(f"{local or '(delete)'} {oid} refs/heads/{name} {tracked}\n")
    return Push(PushPlan(read_lines("".join(lines))), remote)


def look(repo: Repo, *refs: str, remote: str = "origin") -> Review:
    """The review of that push."""
    return repo.look(push_of(repo, *refs, remote=remote))


def places(review: Review) -> list[tuple[str, str | None]]:
    """Path and commit of each secret."""
    return [(found.path, found.commit) for found in secrets(review)]


def test_the_first_push_to_an_empty_remote(
    committed: Repo, remote: Repo, preloaded: Path
) -> None:
    committed.commit("Key", {"key.py": SECRET})
    committed.watch_hooks(preloaded=preloaded)
    done = committed.try_git("push", "-q", "origin", "main")
    assert done.code == 1
    assert "key.py:1" in done.all
    assert remote.git("for-each-ref") == ""
    assert committed.hooks_run() == ["pre-push"]


def test_a_new_branch_brings_its_own_commits_alone(pushed: Repo, remote: Repo) -> None:
    pushed.commit("Known", {"known.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    pushed.git("checkout", "-q", "-b", "topic")
    pushed.commit("Work", {"work.py": "a = 1\n"})
    done = pushed.try_git("push", "-q", "origin", "topic")
    assert done.code == 0, done.all
    assert remote.git("rev-parse", "topic") == pushed.git("rev-parse", "topic")
    assert pushed.try_git("push", "-q", "origin", "topic").code == 0
    assert pushed.hooks_run() == ["pre-push", "pre-push"]


def test_every_ref_of_one_push_is_reviewed(pushed: Repo, remote: Repo) -> None:
    for name, content in (("one", "a = 1\n"), ("two", SECRET)):
        pushed.git("checkout", "-q", "-b", name, "main")
        pushed.commit(name, {f"{name}.py": content})
    pushed.git("checkout", "-q", "main")
    done = pushed.try_git("push", "-q", "origin", "one", "two")
    assert done.code == 1
    assert "two.py:1" in done.all
    assert remote.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_key_that_a_later_commit_removes_is_found_in_its_commit(pushed: Repo) -> None:
    guilty = pushed.commit("Key", {"key.py": SECRET})
    pushed.git("rm", "-q", "key.py")
    pushed.git("commit", "-q", "--no-verify", "-m", "Remove it")
    assert places(look(pushed, "main:main")) == [("key.py", guilty)]
    done = pushed.try_git("push", "-q", "origin", "main")
    assert done.code == 1
    assert guilty[:10] in done.all


def test_what_the_remote_has_is_not_reported_again(pushed: Repo) -> None:
    pushed.commit("Key", {"key.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    pushed.commit("More", {"key.py": SECRET + "a = 1\n"})
    assert look(pushed, "main:main").decision is Decision.ALLOW
    pushed.git("checkout", "-q", "-b", "topic")
    assert look(pushed, "topic:topic").decision is Decision.ALLOW


def test_main_merged_into_a_topic_is_not_reported_again(pushed: Repo) -> None:
    pushed.git("checkout", "-q", "-b", "topic")
    pushed.commit("Work", {"work.py": "a = 1\n"})
    pushed.git("push", "-q", "--no-verify", "origin", "topic")
    pushed.git("checkout", "-q", "main")
    pushed.commit("Key on main", {"main.py": SECRET})
    pushed.git("push", "-q", "--no-verify", "origin", "main")
    pushed.git("checkout", "-q", "topic")
    pushed.git("merge", "-q", "--no-edit", "--no-verify", "main")
    review = look(pushed, "topic:topic")
    assert (review.files, places(review)) == (0, [])
    pushed.commit("More", {"work.py": "a = 1\n" + SECRET})
    assert places(look(pushed, "topic:topic")) == [("work.py", None)]
    pushed.git("push", "-q", "origin", "--delete", "topic", "--no-verify")
    assert places(look(pushed, "topic:topic")) == [("work.py", None)]


def test_a_forced_push(pushed: Repo) -> None:
    pushed.git("checkout", "-q", "-b", "topic")
    pushed.commit("Work", {"work.py": "a = 1\n"})
    pushed.git("push", "-q", "--no-verify", "origin", "topic")
    pushed.git("commit", "-q", "--no-verify", "--amend", "-m", "Reworded")
    done = pushed.try_git("push", "-q", "--force", "origin", "topic")
    assert done.code == 0, done.all
    pushed.commit("Key", {"key.py": SECRET})
    pushed.git("reset", "-q", "--soft", "HEAD~2")
    pushed.git("commit", "-q", "--no-verify", "-m", "Both")
    assert places(look(pushed, "topic:topic")) == [("key.py", None)]
    pushed.git("checkout", "-q", "main")
    pushed.git("commit", "-q", "--no-verify", "--amend", "-m", "Other start")
    done = pushed.try_git("push", "-q", "--force", "origin", "main")
    assert done.code == 1
    review = look(pushed, "main:main")
    assert review.decision is Decision.REVIEW
    assert [judged.finding.rule for judged in review.findings] == ["push-force-protected"]


def test_deleting_a_branch(pushed: Repo, remote: Repo) -> None:
    pushed.git("push", "-q", "--no-verify", "origin", "main:topic")
    done = pushed.try_git("push", "-q", "origin", "--delete", "topic")
    assert done.code == 0, done.all
    review = look(pushed, ":main")
    assert [judged.finding.rule for judged in review.findings] == ["push-delete-protected"]
    assert review.decision is Decision.REVIEW


def test_tags_of_commits_and_of_other_things(pushed: Repo) -> None:
    pushed.git("tag", "-a", "-m", "Known", "v1")
    assert pushed.try_git("push", "-q", "origin", "v1").code == 0
    pushed.git("checkout", "-q", "--detach")
    pushed.commit("Key", {"key.py": SECRET})
    pushed.git("tag", "-a", "-m", "Unknown", "v2")
    pushed.git("tag", "tree", "HEAD^{tree}")
    pushed.git("tag", "blob", "HEAD:app.py")
    done = pushed.try_git("push", "-q", "origin", "v2", "tree", "blob")
    assert done.code == 1
    assert "key.py:1" in done.all


def calls_of_git(repo: Repo, refs: list[str], log: Path) -> int:
    """How many calls of Git the review of this push makes."""
    program = log.parent / f"{log.name}-bin" / "git"
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\necho call >> "{log}"\nexec "{shutil.which("git")}" "$@"\n'
    )
    program.chmod(0o755)
    repo.look(push_of(repo, *refs), env={"PATH": f"{program.parent}:{repo.env['PATH']}"})
    return len(log.read_text().splitlines())


@pytest.mark.parametrize("known", [True, False], ids=["known commits", "one new commit"])
def test_many_refs_take_no_more_calls_of_git_than_one(
    pushed: Repo, tmp_path: Path, known: bool
) -> None:
    pushed.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "Next")
    if known:
        pushed.git("push", "-q", "--no-verify", "origin", "main")
    refs = [f"main:copy-{number}" for number in range(9)]
    assert calls_of_git(pushed, refs, tmp_path / "many") == calls_of_git(
        pushed, refs[:1], tmp_path / "one"
    )


def test_each_of_many_new_tips_is_reviewed(pushed: Repo) -> None:
    for number in range(3):
        pushed.git("checkout", "-q", "-b", f"topic-{number}", "main")
        pushed.commit("Key", {f"key{number}.py": SECRET})
    found = look(
        pushed, *(f"topic-{number}:topic-{number}" for number in range(3)), "main:known"
    )
    assert {path for path, _ in places(found)} == {f"key{number}.py" for number in range(3)}


def test_odd_local_refs_and_a_branch_that_is_not_checked_out(pushed: Repo) -> None:
    pushed.git("checkout", "-q", "-b", "topic")
    pushed.commit("Fix the bug", {"key.py": SECRET})
    pushed.commit("More", {"b.py": "b = 1\n"})
    pushed.git("checkout", "-q", "main")
    for refspec in (
        "topic",
        "topic~1:refs/heads/a",
        ":/Fix the bug:refs/heads/b",
        "topic:refs/heads/\u2028c",
    ):
        done = pushed.try_git("push", "-q", "origin", refspec)
        assert done.code == 1, refspec
        assert "key.py:1" in done.all, refspec


def test_an_up_to_date_push_is_silent(pushed: Repo) -> None:
    done = pushed.inspect("hook", "pre-push", "origin", "url", stdin="")
    assert (done.code, done.all) == (0, "")
    assert pushed.try_git("push", "origin", "main").code == 0
    assert pushed.hooks_run() == ["pre-push"]


@pytest.mark.parametrize(
    "text",
    ["nonsense\n", "a b c d\n", "HEAD " + "0" * 39 + " x " + "0" * 40 + "\n", "\n\n\x00"],
)
def test_lines_that_are_not_git_s(pushed: Repo, text: str) -> None:
    done = pushed.inspect("hook", "pre-push", "origin", stdin=text)
    assert (done.code, done.out) == (2, "")
    assert "Git calls this command" in done.err


def test_a_push_to_a_url_without_a_name(pushed: Repo, remote: Repo) -> None:
    pushed.commit("Key", {"key.py": SECRET})
    done = pushed.try_git("push", "-q", str(remote.path), "main")
    assert done.code == 1
    assert "key.py:1" in done.all


def test_from_a_linked_work_tree(pushed: Repo, isolated: dict[str, str]) -> None:
    path = pushed.path.parent / "linked"
    pushed.git("worktree", "add", "-q", "-b", "topic", str(path))
    linked = Repo(path, isolated)
    linked.commit("Key", {"key.py": SECRET})
    done = linked.try_git("push", "-q", "origin", "topic")
    assert done.code == 1
    assert "key.py:1" in done.all
    assert pushed.hooks_run() == ["pre-push"]


def test_five_hundred_commits_at_once(pushed: Repo) -> None:
    stream = []
    for number in range(500):
        content = SECRET if number == 250 else f"number = {number}\n"
        stream.append(
            f"commit refs/heads/bulk\ncommitter Ada <ada@example.org> {1_700_000_000 + number} +0000\n"
            f"data 8\nStep {number % 1000:03}\n"
            + ("from refs/heads/main^0\n" if number == 0 else "")
            + f"M 100644 inline step.py\ndata {len(content)}\n{content}\n"
        )
    pushed.git("fast-import", "--quiet", stdin="".join(stream))
    review = look(pushed, "bulk:bulk")
    assert places(review) == [("step.py", pushed.git("rev-parse", "bulk~249"))]


def test_the_other_object_format(
    committed: Repo, isolated: dict[str, str], preloaded: Path
) -> None:
    path = committed.path.parent / "sha256"
    repo = Repo.create(path, isolated, "--object-format=sha256")
    bare = Repo.create(
        path.with_name("sha256.git"), isolated, "--bare", "--object-format=sha256"
    )
    repo.git("remote", "add", "origin", str(bare.path))
    repo.commit("Start", {"app.py": "x = 1\n"})
    repo.git("push", "-q", "origin", "main", "main:topic")
    repo.watch_hooks(preloaded=preloaded)
    assert repo.try_git("push", "-q", "origin", "--delete", "topic").code == 0
    repo.commit("Key", {"key.py": SECRET})
    assert repo.try_git("push", "-q", "origin", "main").code == 1
    assert repo.hooks_run() == ["pre-push", "pre-push"]


def test_the_message_of_an_annotated_tag_is_read(pushed: Repo) -> None:
    pushed.git("tag", "-a", "v1", "-m", f"Release one\n\ntoken {key()}")
    done = pushed.try_git("push", "origin", "v1")
    assert done.code != 0
    assert key() not in done.all
    assert pushed.git("rev-parse", "v1")[:10] in done.all


def test_a_lax_policy_on_one_branch_does_not_judge_another(pushed: Repo) -> None:
    pushed.git("checkout", "-q", "-b", "lax")
    pushed.commit(
        "Lower the policy", {"cli-guard.toml": '[decisions]\ncritical = "advise"\n'}
    )
    pushed.git("checkout", "-q", "-b", "leak", "main")
    pushed.commit("Add a key", {"settings.py": f'KEY = "{key()}"\n'})
    done = pushed.try_git("push", "origin", "lax", "leak")
    assert done.code != 0
    assert "must fix" in done.all
