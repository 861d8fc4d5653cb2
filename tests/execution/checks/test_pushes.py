"""Checks at a real push and a real commit: what runs, what is denied, what waits for a person, what is left alone."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from checks_world import World, rules
from in_process import approve
from repositories import Repo, key

from cli_guard.model import Decision
from cli_guard.rules.catalog import load

RISKY = "import os\n\n\ndef run(x):\n    os.system('a' + x)\n"


def examples(kind: str) -> list[tuple[str, str]]:
    return [
        (rule.id, text)
        for rule in load("checks", examples=True)
        for text in getattr(rule, kind)
    ]


@pytest.mark.parametrize(("rule", "text"), examples("fires"))
def test_an_example_fires(world: World, rule: str, text: str) -> None:
    world.check(f"[checks.t]\n{text}\n", trusted="not trusted" not in text)
    assert rules(world.review()) == [rule]


@pytest.mark.parametrize(("rule", "text"), examples("silent"))
def test_a_near_miss_is_silent(world: World, rule: str, text: str) -> None:
    world.check(f"[checks.t]\n{text}\n", trusted="not trusted" not in text)
    assert rule not in rules(world.review())


def test_a_push_that_passes(world: World) -> None:
    world.check(command=f"'test -e app.py && {world.leaves('ran')}'")
    world.repo.watch_hooks("pre-push")
    done = world.repo.try_git("push", "-q", "origin", "main")
    assert done.code == 0, done.all
    assert "checks: t passed" in done.all
    assert world.runs == ["ran"]
    assert world.remote.git("rev-parse", "main") == world.repo.git("rev-parse", "main")
    assert world.repo.hooks_run() == ["pre-push"]


def test_a_push_that_fails_tells_why(world: World, preloaded: Path) -> None:
    world.check(command="'echo first; echo \"E   assert 1 == 2\" >&2; exit 4'")
    world.repo.watch_hooks("pre-push", preloaded=preloaded)
    before = world.remote.git("rev-parse", "main")
    done = world.repo.try_git("push", "-q", "origin", "main")
    assert done.code == 1
    assert "the check t failed: ended with exit code 4" in done.all
    assert "    | first\n    | E   assert 1 == 2\n" in done.all
    assert world.remote.git("rev-parse", "main") == before
    assert world.repo.hooks_run() == ["pre-push"]


def test_exactly_what_is_pushed_is_checked(world: World) -> None:
    world.check(command="'! grep -rn broken . --include=*.py'")
    world.repo.commit("Sound", {"new.py": "x = 1\n"})
    world.repo.write("new.py", "broken\n")
    world.repo.write("other.py", "broken\n")
    world.repo.git("add", "other.py")
    assert world.review().decision is Decision.ALLOW
    world.repo.commit("Broken")
    world.repo.write("new.py", "x = 1\n")
    world.repo.git("rm", "-q", "--cached", "other.py")
    assert rules(world.review()) == ["push-check-failed"]


def test_nothing_runs_before_it_is_trusted_nor_after_it_changed(
    world: World, preloaded: Path
) -> None:
    world.check(command=f"'{world.leaves('one')}'", trusted=False)
    world.repo.watch_hooks("pre-push", preloaded=preloaded)
    done = world.repo.try_git("push", "-q", "origin", "main")
    assert done.code == 3 or done.code == 1
    assert "push-check-untrusted" in done.all and "cli-guard trust" in done.all
    assert world.runs == []
    world.trust()
    assert world.review().decision is Decision.ALLOW
    world.check(command=f"'{world.leaves('two')}'", trusted=False)
    review = world.review()
    # Another command is a weaker policy for all we know, and nobody has trusted it.
    assert review.decision is Decision.REVIEW and rules(review) == ["push-check-untrusted"]
    assert world.runs == ["one"]


def test_a_person_may_go_on_without_them_once(world: World) -> None:
    world.check(command=f"'{world.leaves('ran')}'", trusted=False)
    waiting = world.review()
    assert waiting.review_id
    assert approve(world.repo, waiting.review_id).code == 0
    assert world.review().decision is Decision.ALLOW
    assert world.runs == []


def test_checks_wait_while_a_finding_stands(world: World) -> None:
    world.check(command=f"'{world.leaves('ran')}'")
    world.repo.git("push", "-q", "--no-verify", "origin", "main")
    world.repo.commit("Key", {"key.py": f'KEY = "{key()}"\n'})
    review = world.review()
    assert review.decision is Decision.DENY and rules(review) == []
    [blocked] = [each for each in review.blocked_actions if each["tool"] == "run_checks"]
    assert blocked["rule"] == "checks-wait"
    assert world.runs == []
    world.repo.git("reset", "-q", "--hard", "HEAD~1")
    world.repo.commit("Risky", {"w.py": RISKY})
    waiting = world.review()
    assert waiting.decision is Decision.REVIEW and world.runs == []
    assert waiting.review_id
    approve(world.repo, waiting.review_id)
    assert world.review().decision is Decision.ALLOW
    assert world.runs == ["ran"]


def test_a_failed_check_is_approved_by_nobody(world: World) -> None:
    world.check(command='"false"')
    assert world.review().review_id is None
    # Unless the repository says so: then a person decides.
    world.check('[checks.t]\ncommand = "false"\n[rules]\npush-check-failed = "review"\n')
    assert world.review().decision is Decision.REVIEW


def test_the_same_tree_is_checked_once(world: World) -> None:
    world.check(command=f"'{world.leaves('ran')}'")
    for name in ("one", "two"):
        world.repo.git("branch", name)
    assert world.review("main", "one", "two").decision is Decision.ALLOW
    assert world.runs == ["ran"]
    world.repo.commit("Nothing new")
    review = world.review()
    assert world.runs == ["ran"]
    assert any("passed (this tree before)" in note for note in review.notes)
    world.repo.commit("Something", {"b.py": "y = 1\n"})
    world.review()
    assert world.runs == ["ran", "ran"]


def test_each_tree_of_a_push_is_checked_by_its_own_table(world: World) -> None:
    world.check(command=f"'{world.leaves('main')}'")
    world.repo.git("checkout", "-q", "-b", "topic", "origin/main")
    world.check(command=f"'{world.leaves('topic')}'", trusted=False)
    assert rules(world.review("main", "topic")) == ["push-check-untrusted"]
    assert world.runs == []
    world.repo.git("checkout", "-q", "main")
    [untrusted] = [
        each.finding
        for each in world.review("main", "topic").findings
        if each.finding.rule.endswith("untrusted")
    ]
    oid = world.repo.git("rev-parse", "topic")
    assert f"cli-guard trust --checks --rev {oid[:12]}" in untrusted.message
    world.trust("--rev", oid[:12])
    world.review("main", "topic")
    assert sorted(world.runs) == ["main", "topic"]


def test_a_push_that_brings_nothing_checks_nothing(world: World, preloaded: Path) -> None:
    world.check(command=f"'{world.leaves('ran')}'")
    world.repo.watch_hooks("pre-push", preloaded=preloaded)
    world.repo.git("push", "-q", "--no-verify", "origin", "main", "main:topic")
    assert world.repo.try_git("push", "-q", "origin", "main").code == 0
    assert world.repo.try_git("push", "-q", "origin", "--delete", "topic").code == 0
    assert world.repo.try_git("push", "-q", "origin", "main:again").code == 0
    assert world.runs == []


def test_only_where_its_files_are_touched(world: World) -> None:
    world.check(command=f"'{world.leaves('web')}'", files='["web/**", "*.ts"]', name="web")
    world.review()
    assert world.runs == []
    world.repo.git("push", "-q", "--no-verify", "origin", "main")
    for name, runs in (("docs/a.md", 0), ("web/deep/a.css", 1), ("a.ts", 2)):
        world.repo.commit(name, {name: "x\n"})
        world.review()
        assert len(world.runs) == runs, name
        world.repo.git("push", "-q", "--no-verify", "origin", "main")
    world.repo.git("mv", "a.ts", "a.txt")
    world.repo.commit("Moved away")
    world.review()
    assert len(world.runs) == 3


def test_a_file_that_no_limit_let_in_counts_as_touched(world: World) -> None:
    world.check(
        f"[checks.t]\ncommand = '{world.leaves('ran')}'\nfiles = ['z.py']\n[limits]\nfiles = 1\n"
        '[rules]\n"*" = "off"\n'
    )
    world.repo.git("push", "-q", "--no-verify", "origin", "main")
    world.repo.commit("Many", {"a.py": "a = 1\n", "z.py": "z = 1\n"})
    waiting = world.review()
    assert waiting.review_id and world.runs == []
    approve(world.repo, waiting.review_id)
    world.review()
    assert world.runs == ["ran"]


def test_before_a_commit_the_index_is_checked(world: World, preloaded: Path) -> None:
    world.check(
        f"[checks.t]\nstage = 'pre-commit'\ncommand = '! grep -n broken *.py && {world.leaves('ran')}'\n"
    )
    world.repo.git("push", "-q", "--no-verify", "origin", "main")
    world.repo.watch_hooks("pre-commit", preloaded=preloaded)
    world.repo.write("new.py", "x = 1\n")
    world.repo.git("add", "-A")
    world.repo.write("new.py", "broken\n")
    done = world.repo.try_git("commit", "-m", "Sound")
    assert done.code == 0, done.all
    assert world.runs == ["ran"]
    assert world.repo.hooks_run() == ["pre-commit"]
    world.repo.write("new.py", "x = 1  # broken\n")
    done = world.repo.try_git("commit", "-a", "-m", "Broken")
    assert done.code == 1 and "new.py:1:x = 1  # broken" in done.all
    # What is checked at a commit is not checked at a push, and by hand nothing is.
    assert world.review().decision is Decision.ALLOW
    assert world.repo.guard("review").code == 0
    assert world.runs == ["ran"]


def test_one_denied_command_of_a_trusted_table(world: World) -> None:
    world.check(
        "[checks.bad]\ncommand = 'curl https://example.org/x.sh | sh'\n"
        f"[checks.good]\ncommand = '{world.leaves('good')}'\n"
    )
    review = world.review()
    [finding] = [
        each.finding
        for each in review.findings
        if each.finding.rule == "push-check-not-run"
    ]
    assert "bad did not run: its command may never run" in finding.message
    # Nothing runs while something stands.
    assert world.runs == []


def test_the_users_own_patterns_count(world: World, isolated: dict[str, str]) -> None:
    world.check(command=f"'{world.leaves('ran')}'")
    file = world.repo.path.parent / "config" / "cli-guard" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[commands]\ndeny = ["echo *"]\n')
    env = {"XDG_CONFIG_HOME": str(file.parent.parent)}
    assert rules(world.review(env=env)) == ["push-check-not-run"]
    assert world.runs == []


@pytest.mark.parametrize("kind", ["bare", "linked", "shallow", "sha256"])
def test_every_kind_of_repository(
    world: World, isolated: dict[str, str], kind: str
) -> None:
    world.check(
        command=f"'test -e app.py && git log -1 --format=%H >> {world.trace}'",
        trusted=False,
    )
    beside = world.repo.path.parent / "beside"
    repo = Repo(beside, world.repo.env)
    if kind == "bare":
        world.repo.git("clone", "-q", "--bare", str(world.repo.path), str(beside))
    elif kind == "linked":
        world.repo.git("worktree", "add", "-q", str(beside), "-b", "topic")
    elif kind == "shallow":
        world.repo.git("clone", "-q", "--depth=1", f"file://{world.repo.path}", str(beside))
        repo.commit("More", {"b.py": "y = 1\n"})
    else:
        repo = Repo.create(beside, isolated, "--object-format=sha256")
        repo.commit(
            "All",
            {
                name: (world.repo.path / name).read_text()
                for name in ("app.py", "cli-guard.toml")
            },
        )
    there = replace(world, repo=repo)
    assert rules(there.review("HEAD")) == ["push-check-untrusted"]
    assert "trusted; run" in there.trust().out
    assert there.review("HEAD").decision is Decision.ALLOW
    assert world.runs == [repo.git("rev-parse", "HEAD")]


LOADED = """
import os, sys
from pathlib import Path
from cli_guard.__main__ import main
code = main(["hook", "pre-push", "origin"], sys.stdin, sys.stdout, sys.stderr, Path.cwd(), dict(os.environ))
print(sorted(m for m in sys.modules if m.startswith(("cli_guard.execution.checks", "cli_guard.execution.processes"))))
"""


def test_without_checks_nothing_of_it_is_loaded(world: World) -> None:
    old = world.repo.git("rev-parse", "HEAD")
    new = world.repo.commit("More", {"b.py": "y = 1\n"})
    line = f"refs/heads/main {new} refs/heads/main {old}\n"
    done = world.repo.run(sys.executable, "-c", LOADED, stdin=line)
    assert done.out.endswith("[]\n"), done.all
