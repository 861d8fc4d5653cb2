"""`cli-guard stats` counts reviews, findings, and what became of the model's questions."""

import re
from pathlib import Path
from typing import Any

import pytest
from in_process import RISKY, guard, records, stage
from repositories import Repo

from cli_guard.state.advice import Advice, AdviceStore, Question

CODE = "".join(f"line_{number} = {number}\n" for number in range(1, 9))


def ask(repo: Repo, *, shown: bool) -> None:
    """Stores a question about line 4 of the last commit."""
    head = repo.git("rev-parse", "HEAD")
    questions = (Question("code.py", 4, "Why four?"),)
    advice = Advice(
        head,
        head,
        "2026-01-01T00:00:00+00:00",
        "m",
        "",
        questions,
        shown="now" if shown else "",
    )
    AdviceStore(repo.path / ".git/cli-guard").keep(advice)


def stats(repo: Repo) -> Any:
    return guard(repo, "stats", "--format", "json").json


def test_reviews_and_findings_by_rule(committed: Repo) -> None:
    empty = guard(committed, "stats")
    assert empty.code == 2 and empty.err.startswith(
        "cli-guard: nothing was reviewed here yet"
    )
    stage(committed, {"risky.py": RISKY})
    for _ in range(3):
        guard(committed, "hook", "pre-commit")
    guard(committed, "exec", "--", "ls")
    found = stats(committed)
    assert found["reviews"] == {"review": 1}, "the same change three times, and no command"
    assert found["findings"] == {each["rule"]: 1 for each in committed.review()["findings"]}
    assert (
        "reviews:\n  needs approval                        1\n"
        in guard(committed, "stats").out
    )


@pytest.mark.parametrize(
    "changed, others, shown, outcome",
    [
        ("line_4 = 44", 0, True, "acted on"),
        ("line_4 = 44", 4, True, "acted on"),
        ("line_4 = 44", 5, True, ""),
        ("line_4 = 44", 0, False, "withdrawn"),
        ("line_4 = 4\n\n\n", 0, True, ""),
        ("", 0, True, "acted on"),
    ],
)
def test_a_question_is_acted_on_if_its_line_changes_within_five_commits(
    committed: Repo, changed: str, others: int, shown: bool, outcome: str
) -> None:
    committed.commit("Add code", {"code.py": CODE})
    ask(committed, shown=shown)
    assert stats(committed)["questions"] == {
        "asked": 1,
        "shown": int(shown),
        "acted on": 0,
        "withdrawn": 0,
    }
    for number in range(others):
        # Lines above and below move it, and do not change it.
        committed.commit("Another", {"code.py": "first\n" * (number + 1) + CODE})
    committed.commit(
        "Change it", {"code.py": "first\n" * others + CODE.replace("line_4 = 4", changed)}
    )
    counted = stats(committed)["questions"]
    assert [name for name in ("acted on", "withdrawn") if counted[name]] == (
        [outcome] if outcome else []
    )


def test_an_amend_counts_and_another_branch_does_not(committed: Repo) -> None:
    committed.git("switch", "-q", "-c", "side")
    committed.commit("Add code", {"code.py": CODE})
    ask(committed, shown=True)
    committed.git("switch", "-q", "main")
    committed.write("other.py", "x = 1\n")
    committed.git("add", "-A")
    committed.git(
        "commit", "-q", "-m", "Elsewhere", env={"GIT_AUTHOR_DATE": "2026-01-01T12:00:00"}
    )
    assert stats(committed)["questions"]["acted on"] == 0
    committed.git("switch", "-q", "side")
    committed.write("code.py", CODE.replace("line_4 = 4", "line_4 = 44"))
    committed.git("commit", "-q", "--no-verify", "-a", "--amend", "--no-edit")
    assert stats(committed)["questions"]["acted on"] == 1


def log(repo: Repo, numbers: dict[str, int], **details: object) -> None:
    """Adds the entry of a review that found so many of some rules in what is committed."""
    head = repo.git("rev-parse", "HEAD~5")
    found = [
        {
            "rule": rule,
            "severity": "low",
            "decision": "advise",
            "path": "a.py",
            "lines": {f"{rule}{n}": None},
        }
        for rule, number in numbers.items()
        for n in range(number)
    ]
    base = {
        "event": "pre-commit",
        "at": "2026-01-01T00:00:00+00:00",
        "user": "ada",
        "content": str(details),
    }
    more = {"decision": "allow", "rules": numbers, "found": found, "place": f"index {head}"}
    records(repo).prepare()
    records(repo).audit.append({**base, **more, **details})


def test_a_finding_of_a_linked_work_tree_is_not_fixed_by_another_tree(
    committed: Repo, tmp_path: Path
) -> None:
    committed.git("worktree", "add", "-qb", "side", str(tmp_path / "b"))
    linked = Repo(tmp_path / "b", committed.env)
    for repo, message in ((linked, "wip"), (committed, "Say what changed")):
        stage(repo, {"plain.py": "x = 1\n"})
        repo.path.joinpath("MESSAGE").write_text(message)
        assert guard(repo, "hook", "pre-commit").code == 0
        guard(repo, "hook", "commit-msg", "MESSAGE")
        repo.git("commit", "-qnm", message)
    ends = stats(committed)["rules"]["message-says-nothing"]
    assert (ends["found"], ends["fixed"], ends["open"]) == (1, 0, 1)


def test_people_are_named_as_git_names_them(committed: Repo) -> None:
    stage(committed, {"risky.py": RISKY})
    blocked = guard(committed, "hook", "pre-commit").all
    pending = re.findall(r"approve (\w{10})", blocked)[0]
    assert guard(committed, "reject", pending, "--reason", "no").code == 0
    assert [*stats(committed)["approvals"]["people"]] == ["Ada <ada@example.org>"]


def test_a_rule_that_nobody_heeds_is_offered_for_off_once(committed: Repo) -> None:
    for number in range(6):
        committed.commit(f"Change {number}")
    # One below, one of secrets, one that denies, a floor, and two of which one is heeded.
    silent = {
        "docs-missing-docstring": 20,
        "secret-key-file": 30,
        "code-conflict-marker": 30,
        "policy-weakened": 30,
    }
    log(committed, {"deps-unpinned": 21, "refactor-long": 30, **silent})
    log(committed, {"deps-unpinned": 21, "refactor-long": 27, **silent}, ms=70)
    said = guard(committed, "stats").out
    assert '  [rules]\n  "deps-unpinned" = "off"  # 21 found\n' in said
    assert said.count('= "off"') == 1 and re.search(
        r"refactor-long +30 +3 +0 +0 +0 +27\n", said
    )
    assert '= "off"' not in guard(committed, "stats").out
    counted = stats(committed)
    assert counted["unheeded"] == {"deps-unpinned": 21}
    assert counted["time_ms"] == {"reviews": 1, "total": 70, "median": 70}
    # What was found a moment ago has had no chance yet.
    log(committed, {"deps-unused": 40}, at="2099-01-01T00:00:00+00:00")
    assert (
        "deps-unused" in stats(committed)["rules"]
        and "deps-unused" not in stats(committed)["unheeded"]
    )
    since = stats_since(committed, "2026-02-01")
    assert list(since["rules"]) == ["deps-unused"] and since["reviews"] == {"allow": 1}
    assert stats_since(committed, "HEAD")["rules"] == since["rules"]


def stats_since(repo: Repo, since: str) -> Any:
    return guard(repo, "stats", "--since", since, "--format", "json").json


def test_who_approves_everything(committed: Repo) -> None:
    log(committed_with(committed, 6), {"a": 1})
    for number in range(3):
        events = {
            "event": "approve",
            "review_id": str(number),
            "content": "c",
            "policy": "p",
            "found": None,
        }
        log(committed, {}, **events, user="ada\x1b[2J", rules=None)
    log(committed, {}, event="reject", user="bob", rules=None, found=None)
    counted = stats(committed)["approvals"]
    assert counted["people"] == {
        "ada\x1b[2J": {
            "approved": 3,
            "rejected": 0,
            "per_100_commits": round(300 / counted["commits"], 1),
        },
        "bob": {"approved": 0, "rejected": 1, "per_100_commits": 0.0},
    }
    said = guard(committed, "stats").out
    assert (
        "\x1b" not in said
        and r"ada\x1b[2J" in said
        and "per 100 commits; rejected: 1" in said
    )


def committed_with(repo: Repo, commits: int) -> Repo:
    for number in range(commits):
        repo.commit(f"Change {number}")
    return repo


@pytest.mark.parametrize(
    "line, code, said",
    [
        (b'{"found": 3}\n', 2, "the audit log was changed"),
        (b"\xff\x00\n", 2, "the audit log was changed"),
        (None, 2, "neither a date (2026-01-31) nor a commit"),
    ],
)
def test_bad_input_is_one_line(
    committed: Repo, line: bytes | None, code: int, said: str
) -> None:
    log(committed_with(committed, 6), {"a": 1})
    if line:
        with records(committed).audit.path.open("ab") as file:
            file.write(line)
    done = guard(committed, "stats", "--since", "2026-01-01" if line else "--all")
    assert (
        done.code == code
        and said in done.err
        and done.err.count("\n") == 1
        and not done.out
    )


def test_lines_that_any_program_can_write(committed: Repo) -> None:
    log(committed_with(committed, 6), {"a": 1})
    hostile = [
        {
            "found": [3, {"lines": 4}, {"lines": {"m": "x"}, "rule": ["r"], "path": 7}],
            "rules": {"a": "b"},
        },
        {"found": {}, "rules": [], "at": "long ago", "fingerprints": [["x"], 3]},
        {
            "found": [],
            "rules": {"a": 1},
            "ms": 10**400,
            "at": "9999-12-31T23:59:59+00:00",
            "place": "index",
        },
    ]
    for each in hostile:
        log(committed, {}, **each)
    assert stats(committed)["approvals"]["commits"] == 7, "one broken time hides no commit"
    assert guard(committed, "stats").code == 0
