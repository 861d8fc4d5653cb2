"""What an answer says, and what it does not say twice."""

from typing import Any

from cli_guard.graph import build_graph

USES = "".join(f"from shop.money import total\ntotal({n})\n" for n in range(30))
SHOP = {
    "shop/money.py": "LIMIT = 3\n\n\ndef total(n: int) -> int:\n    return n\n",
    "shop/uses.py": USES,
    **{
        f"tests/test_money{n}.py": "from shop.money import total\n\n\ndef test_a() -> None: ...\n"
        for n in range(9)
    },
}


def told(request: str) -> str:
    asked: Any = {"input": request, "repo_snapshot": SHOP}
    return str(build_graph().invoke(asked)["final_output"])


def test_a_refused_change_says_each_place_once() -> None:
    lines = told("rename total to LIMIT").splitlines()
    assert any(line.startswith("By hand: shop/money.py:1:") for line in lines)
    assert not any(line.startswith("Risk: shop/money.py") for line in lines)
    assert "  and " in next(line for line in reversed(lines) if "more" in line)
    assert len(lines) < 40


def test_the_tests_of_a_change_are_a_few() -> None:
    lines = told("rename total to total_of").splitlines()
    (line,) = (each for each in lines if "Run the tests that cover it" in each)
    assert line.count("tests/") == 5 and line.endswith(" ...)")


def test_a_wish_to_commit_plans_no_change() -> None:
    assert told("commit my changes and push") == (
        "Needs review: git actions need approval.\nLeft to you: git commit.\nLeft to you: git push."
    )
    assert "1. " in told("fix the limit in shop/money.py and commit it")


def test_a_command_that_was_asked_about_is_not_suggested() -> None:
    assert told("is `git push --force` dangerous?").startswith(
        "The command (not run): git push --force"
    )
    assert "Suggested command" in told("git command to undo the last commit")


def test_what_was_searched_is_a_few_paths() -> None:
    assert told("where is the zebra").count(", ") <= 5
