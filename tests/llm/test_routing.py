"""The tier of a request or a change: the words that decide, near misses, what is never read, and bounds."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from examples import examples, table
from hypothesis import given
from hypothesis import strategies as st
from watching import cpu_seconds

from cli_guard.llm.routing import (
    FILES_READ,
    ChangedFile,
    find_groups,
    groups,
    remove_pasted,
    route_change,
    route_request,
    split_words,
)
from cli_guard.policy.config import parse_config
from cli_guard.rules.catalog import read_table

FIXTURES = Path(__file__).parents[2] / "fixtures" / "routing"
MEGABYTE = 1_000_000
SECONDS = 0.5
LOCK_FILE = ChangedFile("package-lock.json", 9_600, 9_400)


def sources_of(where: str, example: str) -> dict[str, str]:
    """Put an example where its group is read."""
    if where in ("paths", "findings"):
        return {where: "\n".join(map(split_words, example.split(" and ")))}
    if where == "message":
        return {where: example.lower()}
    if where == "mood":
        return {where: example}
    return {"text": remove_pasted(example), "raw": example}


def rows_of_groups() -> list[tuple[str, str, bool]]:
    listed = {
        name: each["examples"] for name, each in read_table("routing.toml")["group"].items()
    }
    return [
        (name, text, kind == "fires")
        for name, each in listed.items()
        for kind in ("fires", "silent")
        for text in each[kind]
    ]


@examples(("name", "example", "fires"), rows_of_groups(), fires="fires")
def test_each_group_fires_on_its_examples_alone(
    name: str, example: str, fires: bool
) -> None:
    where = {group.name: group.where for group in groups()}[name]
    assert (name in find_groups(sources_of(where, example))) is fires


def test_the_data_says_why_and_names_groups_that_exist() -> None:
    names = {group.name for group in groups()}
    for name, each in read_table("routing.toml")["group"].items():
        assert each["why"] and each["examples"]["fires"] and each["examples"]["silent"], (
            name
        )
    assert all(group.unless <= names and group.points for group in groups())


@table(
    ("asked", "tier"),
    [
        ("what is a deadlock?", "light"),
        ("why does it deadlock", "heavy"),
        ("what does go test -race do, in one sentence", "light"),
        ("find the race in the scheduler of our workers", "heavy"),
        ("which file reads the JWT secret?", "light"),
        ("is it safe to keep the JWT in local storage?", "heavy"),
        ("fix the typos in docs/security.md", "light"),
        ("review the jwt rewrite before I merge", "heavy"),
        ("how many migrations does the orders app have", "light"),
        ("migrate the orders from Oracle to Postgres without downtime", "heavy"),
        ("add a currency parameter to format_price() and a test", "medium"),
        ("how does pricing/discounts.py work?", "medium"),
        ("worker sometimes hangs in production, a restart helps", "heavy"),
        ("TypeError: x is undefined in src/Cart.tsx line 18, fix it", "medium"),
        ("", "medium"),
    ],
)
def test_a_request_goes_to_the_tier_of_what_is_asked(asked: str, tier: str) -> None:
    assert route_request(asked).tier == tier


@table(
    ("message", "files", "findings", "text", "tier"),
    [
        (
            "chore(deps): refresh lock file",
            [LOCK_FILE],
            [],
            "write the commit message",
            "light",
        ),
        (
            "Release lock first",
            [ChangedFile("pool/pool.go", 1, 1)],
            [],
            "review this change",
            "heavy",
        ),
        (
            "chore: refresh",
            [LOCK_FILE, ChangedFile("auth/token.py", 1, 1)],
            [],
            "review it",
            "heavy",
        ),
        (
            "fix comment",
            [ChangedFile("auth/session.py", 2, 2)],
            [],
            "write the commit message",
            "light",
        ),
        (
            "skip the owner check",
            [ChangedFile("auth/session.py", 2, 2)],
            [],
            "is this ok?",
            "heavy",
        ),
        (
            "search by name",
            [ChangedFile("shop/search.py", 9, 2)],
            ["code-sql-injection"],
            "fix it",
            "medium",
        ),
        (
            "Remember columns",
            [ChangedFile("src/Export.tsx", 58, 12)],
            [],
            "write the PR description",
            "medium",
        ),
    ],
)
def test_a_change_goes_to_the_tier_of_what_it_touches(
    message: str, files: list[ChangedFile], findings: list[str], text: str, tier: str
) -> None:
    assert route_change(message, files, findings, text).tier == tier


def test_what_is_pasted_does_not_decide() -> None:
    log = "\n".join(
        f"[09:14:{n:02}] deadlock in the payment worker, retrying" for n in range(40)
    )
    asked = "which port is in this log? just the number"
    assert route_request(f"{asked}\n\n{log}").tier == route_request(asked).tier == "light"
    assert route_request("a deadlock in the payment worker, sometimes").tier == "heavy"


@pytest.mark.parametrize(
    ("own", "asked", "tier"),
    [
        ({}, "why does the queue deadlock", "heavy"),
        ({"heavy": 5}, "why does the queue deadlock", "medium"),
        ({"heavy": 5, "medium": 4}, "why does the queue deadlock", "light"),
        ({"points": {"queue": -5}}, "why does the queue deadlock", "light"),
        ({"points": {"queues": -5}}, "why does the queue deadlock", "heavy"),
        ({"points": {"port": 3}}, "which port is it?", "heavy"),
        ({"points": {"port": 3}}, "which report is it?", "light"),
        ({"tiers": {"heavy": ["data  migrat*"]}}, "Data migration: which file?", "heavy"),
        ({"tiers": {"heavy": ["data migrat*"]}}, "data: which migration file?", "light"),
        ({"tiers": {"light": ["queue"], "heavy": ["(.*"]}}, "deadlock in a queue", "light"),
        ({"tiers": {"light": ["x"], "heavy": ["x"]}}, "x", "heavy"),
    ],
)
def test_the_user_edits_thresholds_words_and_tiers(own: Any, asked: str, tier: str) -> None:
    model = {"light": ["openai:a"], "routing": own}
    config = parse_config({"model": model}, "config.toml").model
    assert route_request(asked, config.routing).tier == tier


def test_the_score_is_the_sum_of_what_is_shown() -> None:
    route = route_request("why does the queue deadlock")
    assert dict(route.features) == {"concurrency": 1.2, "cause": 0.9}
    assert route.score == 2.1
    assert str(route) == "heavy (score 2.1: concurrency +1.2, cause +0.9)"
    assert route_request("why does the queue deadlock") == route


@given(
    st.text(max_size=300), st.lists(st.text(max_size=60), max_size=5), st.integers(0, 10**9)
)
def test_any_text_has_a_route_whose_points_add_up(
    text: str, paths: list[str], lines: int
) -> None:
    files = [ChangedFile(path, lines, 0) for path in paths]
    for route in (route_request(text), route_change(text, files, paths, text)):
        assert route.score == pytest.approx(
            sum(points for _, points in route.features), abs=0.02
        )


@given(st.lists(st.integers(0, 5_000), min_size=1, max_size=6), st.integers(1, 5_000))
def test_more_lines_never_lower_the_tier(lines: list[int], more: int) -> None:
    small = [ChangedFile(f"src/part{n}.py", count, 0) for n, count in enumerate(lines)]
    large = [*small[:-1], small[-1]._replace(added=small[-1].added + more)]
    routes = [
        route_change("Sort by name", files, (), "summarise this")
        for files in (small, large)
    ]
    assert routes[0].score <= routes[1].score


@table(
    "asked",
    [
        "a" * MEGABYTE,
        "what is " * (MEGABYTE // 8),
        " " * MEGABYTE,
        "\n[" * (MEGABYTE // 2),
        "```" * (MEGABYTE // 3),
        "a.b/" * (MEGABYTE // 4),
        "split " * (MEGABYTE // 6),
        "is it " * (MEGABYTE // 6),
        "\x00\x1b\u202e" * (MEGABYTE // 3),
    ],
    ids=[
        "word",
        "questions",
        "blanks",
        "logs",
        "fences",
        "paths",
        "split",
        "is it",
        "controls",
    ],
)
def test_a_hostile_request_is_bounded(asked: str) -> None:
    with cpu_seconds(SECONDS):
        assert route_request(asked).tier


def test_a_hostile_change_is_bounded_and_its_size_still_counts() -> None:
    files = [LOCK_FILE] * FILES_READ + [
        ChangedFile("a/" * 3_000 + f"{n}.py", 5, 5) for n in range(10_000)
    ]
    findings = [f"code-{n}" * 100 for n in range(10_000)]
    with cpu_seconds(SECONDS):
        route = route_change(
            "x" * MEGABYTE, files, findings, "summarise " * (MEGABYTE // 10)
        )
    assert {"lines", "files"} <= dict(route.features).keys()


def test_the_development_half_is_routed_within_the_bar() -> None:
    rows = map(json.loads, (FIXTURES / "development.jsonl").read_text("utf-8").splitlines())
    pairs: Counter[tuple[str, str]] = Counter()
    for row in rows:
        files = [ChangedFile(**file) for file in row.get("files", ())]
        is_change = row["kind"] == "change"
        route = (
            route_change(row["message"], files, row["findings"], row["text"])
            if is_change
            else route_request(row["text"])
        )
        pairs[row["tier"], route.tier] += 1
    wrong = sum(count for (wanted, tier), count in pairs.items() if wanted != tier)
    assert wrong <= 0.1 * pairs.total()
    assert pairs["heavy", "light"] == 0
