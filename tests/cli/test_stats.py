"""`cli-guard stats` counts reviews, findings, and what became of the model's questions."""

from typing import Any

import pytest
from in_process import RISKY, guard, stage
from repositories import Repo

from cli_guard.state.advice import Advice, AdviceStore, Question

CODE = "".join(f"line_{number} = {number}\n" for number in range(1, 9))


def ask(repo: Repo, *, shown: bool) -> None:
    """Stores a question about line 4 of the last commit."""
    head = repo.git("rev-parse", "HEAD")
    questions = (Question("code.py", 4, "Why four?"),)
    advice = Advice(head, head, "2026-01-01T00:00:00+00:00", "m", "", questions, shown="now" if shown else "")
    AdviceStore(repo.path / ".git/cli-guard").keep(advice)


def stats(repo: Repo) -> Any:
    return guard(repo, "stats", "--format", "json").json


def test_reviews_and_findings_by_rule(committed: Repo) -> None:
    empty = guard(committed, "stats")
    assert empty.code == 1 and empty.err.startswith("cli-guard: nothing was reviewed here yet")
    stage(committed, {"risky.py": RISKY})
    for _ in range(3):
        guard(committed, "hook", "pre-commit")
    found = stats(committed)
    assert found["reviews"] == {"review": 1}, "the same change three times"
    assert found["findings"] == {each["rule"]: 1 for each in committed.review()["findings"]}
    assert "reviews:\n  review                                1\n" in guard(committed, "stats").out


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
    assert stats(committed)["questions"] == {"asked": 1, "shown": int(shown), "acted on": 0, "withdrawn": 0}
    for number in range(others):
        # Lines above and below move it, and do not change it.
        committed.commit("Another", {"code.py": "first\n" * (number + 1) + CODE})
    committed.commit("Change it", {"code.py": "first\n" * others + CODE.replace("line_4 = 4", changed)})
    counted = stats(committed)["questions"]
    assert [name for name in ("acted on", "withdrawn") if counted[name]] == ([outcome] if outcome else [])


def test_an_amend_counts_and_another_branch_does_not(committed: Repo) -> None:
    committed.git("switch", "-q", "-c", "side")
    committed.commit("Add code", {"code.py": CODE})
    ask(committed, shown=True)
    committed.git("switch", "-q", "main")
    committed.write("other.py", "x = 1\n")
    committed.git("add", "-A")
    committed.git("commit", "-q", "-m", "Elsewhere", env={"GIT_AUTHOR_DATE": "2026-01-01T12:00:00"})
    assert stats(committed)["questions"]["acted on"] == 0
    committed.git("switch", "-q", "side")
    committed.write("code.py", CODE.replace("line_4 = 4", "line_4 = 44"))
    committed.git("commit", "-q", "--no-verify", "-a", "--amend", "--no-edit")
    assert stats(committed)["questions"]["acted on"] == 1
