"""What a person sees and answers is what the id binds; what no person answered does not count."""

import json
import os
from pathlib import Path

from in_process import RISKY, approve, guard, records, stage, waiting
from repositories import Repo

from cli_guard.agents.registry import MARKERS, agent_around
from cli_guard.approvals.statements import Signed, Statement
from cli_guard.approvals.storage import StateFolder


def stopped(repo: Repo) -> str:
    stage(repo, {"a.py": RISKY})
    assert guard(repo, "hook", "pre-commit").code == 3
    [found] = waiting(repo)
    return found


def test_a_file_beside_the_checkpoint_shows_nothing(committed: Repo) -> None:
    found = stopped(committed)
    path = records(committed).folder / "waiting" / f"{found}.json"
    data = json.loads(path.read_text())
    path.write_text(
        json.dumps({**data, "findings": ["README.md:1: a harmless remark [docs-missing]"]})
    )
    for done in (guard(committed, "pending"), approve(committed, found, answer="no")):
        assert "harmless" not in done.all
        assert "a.py:8" in done.all and "code-python-shell" in done.all


def test_an_approval_without_its_event_does_not_count(committed: Repo) -> None:
    found = stopped(committed)
    [review] = records(committed).pending()
    findings = dict.fromkeys(review.fingerprints, "code-python-shell")
    made = Statement(review.content, review.policy, findings, "The Boss", review.at, ())
    given = Signed(made, made.canonical(), "")
    line = given.line()
    (records(committed).folder / "approvals.jsonl").write_text(line + "\n")
    with records(committed).audit.path.open("a") as log:
        log.write(
            json.dumps(
                {
                    "event": "approve",
                    "review_id": found,
                    "fingerprints": sorted(review.fingerprints),
                    **given.audit_details(),
                    "previous": "0" * 64,
                }
            )
            + "\n"
        )
    assert StateFolder(records(committed)).read_unsigned() == []
    assert guard(committed, "hook", "pre-commit").code == 3
    done = guard(committed, "audit", "verify")
    assert done.code == 1
    assert (
        f"no entry in the audit log for 1 approval, not counted: {given.digest[:10]}"
        in done.err
    )


def test_a_given_approval_counts_and_verifies(committed: Repo) -> None:
    assert approve(committed, stopped(committed)).code == 0
    assert guard(committed, "hook", "pre-commit").code == 0
    assert guard(committed, "audit", "verify").code == 0


def test_the_diff_is_the_one_that_is_bound(committed: Repo, tmp_path: Path) -> None:
    found = stopped(committed)
    done = guard(committed, "approve", found, "--diff")
    assert done.code == 0
    assert '+    subprocess.run("render-report " + name, shell=True)' in done.out
    assert waiting(committed) == [found]
    stage(committed, {"b.py": "b = 1\n"})
    assert guard(committed, "approve", found, "--diff").out == done.out
    index = records(committed).kept_index(found)
    index.write_bytes((committed.path / ".git/index").read_bytes())
    done = guard(committed, "approve", found, "--diff")
    assert done.code == 2
    assert "is outdated" in done.err
    bare = Repo.create(tmp_path / "origin.git", committed.env, "--bare")
    committed.git("remote", "add", "origin", str(bare.path))
    committed.git("commit", "-q", "--no-verify", "-m", "Run it")
    oid = committed.git("rev-parse", "HEAD")
    # A ref's name is part of what is bound, and no commit.
    odd = f"('{committed.git('rev-parse', 'HEAD~1')}'), ['x"
    line = f"{odd} {oid} refs/heads/main {'0' * 40}\n"
    assert guard(committed, "hook", "pre-push", "origin", stdin=line).code == 3
    [pushed] = set(waiting(committed)) - {found}
    done = guard(committed, "approve", pushed, "--diff")
    assert done.code == 0, done.all
    assert "shell=True" in done.out and oid in done.out
    path = records(committed).folder / "waiting" / f"{pushed}.json"
    path.write_text(path.read_text().replace(oid, "0" * 40))
    assert guard(committed, "approve", pushed, "--diff").code == 2


def test_a_coding_agent_does_not_approve_or_trust(committed: Repo, tmp_path: Path) -> None:
    found = stopped(committed)
    for name in MARKERS:
        assert agent_around({name: "1"}) == name
    committed.env["CLAUDECODE"] = "1"
    done = approve(committed, found)
    assert done.code == 2
    assert "under a coding agent (CLAUDECODE)" in done.err
    assert waiting(committed) == [found]
    parent = tmp_path / str(os.getppid())
    parent.mkdir()
    (parent / "stat").write_text("5 (node) S 1 5 5")
    (parent / "cmdline").write_bytes(b"node\0/usr/bin/claude\0--resume\0")
    assert agent_around({}, tmp_path) == "claude"
    (parent / "cmdline").write_bytes(b"vim\0claude.txt\0")
    assert agent_around({}, tmp_path) == ""
