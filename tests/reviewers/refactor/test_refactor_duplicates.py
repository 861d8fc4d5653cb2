"""Blocks that a change adds twice, and what only looks like one."""

import pytest
from examples import near_misses
from reviewers.docs.before_after import subject_of

from cli_guard.reviewers.refactor import review

BLOCK = "\n".join(f"    total += price_{n}(order)" for n in range(8)) + "\n"


def duplicates(**files: str) -> list[str]:
    after = {f"shop/{name}.py": text for name, text in files.items()}
    return [
        f.message
        for f in review(subject_of({}, after)).findings
        if f.rule == "refactor-duplicate-block"
    ]


def test_two_files_once_with_both_places() -> None:
    found = duplicates(
        a=f"def a(order, total):\n{BLOCK}", b=f"import x\n\n\ndef b(order, total):\n{BLOCK}"
    )
    assert found == [
        "Lines 5 to 12 repeat lines 2 to 9 of `shop/a.py`, which this change adds, too."
    ]


def test_blocks_that_were_twice_before_they_moved_are_silent() -> None:
    texts = {name: f"def {name}(order, total):\n{BLOCK}" for name in "abcd"}
    before = {f"{name}.py": texts[name] for name in "ab"}
    after = {"a.py": "", "b.py": "", "c.py": texts["c"], "d.py": texts["d"]}
    assert review(subject_of(before, after)).findings == ()
    # One of the two is new.
    assert review(subject_of({"a.py": texts["a"]}, after | {"b.py": "x = 1\n"})).findings


def test_files_of_one_name_are_variants() -> None:
    text = f"def a(order, total):\n{BLOCK}"
    found = duplicates(**{"linux/price": text, "windows/price": text})
    assert not found


def test_three_places_are_one_finding() -> None:
    found = duplicates(**{name: f"def {name}(order, total):\n{BLOCK}" for name in "abc"})
    assert len(found) == 1 and "So do lines 2 to 9 of `shop/c.py`." in found[0]


def test_two_blocks_of_two_files_are_one_finding() -> None:
    other = BLOCK.replace("price", "weight")
    texts = {
        name: f"def {name}(order, total):\n{BLOCK}\n\ndef {name}_2():\n    {name}(2)\n{other}"
        for name in "ab"
    }
    found = duplicates(**texts)
    assert len(found) == 1 and found[0].endswith("too. They have 2 such blocks in common.")


def test_blanks_and_comments_between_do_not_matter() -> None:
    loose = BLOCK.replace("\n", "\n\n    # and\n")
    assert (
        len(
            duplicates(
                a=f"def a(order, total):\n{BLOCK}", b=f"def b(order, total):\n{loose}"
            )
        )
        == 1
    )


@near_misses(
    "block",
    [
        pytest.param("".join(BLOCK.splitlines(keepends=True)[:5]), id="five lines"),
        pytest.param("".join(f"import m{n}\n" for n in range(9)), id="imports"),
        pytest.param("".join(f"    # note {n}\n" for n in range(9)), id="comments"),
        pytest.param("".join(f"    'k{n}': {n},\n" for n in range(9)), id="data"),
        pytest.param("".join(f"    NAME_{n} = {n}\n" for n in range(9)), id="constants"),
        pytest.param(
            "".join(f"    argument_{n}=argument_{n},\n" for n in range(9)), id="arguments"
        ),
        pytest.param("    step(1)\n" * 9, id="one line over and over"),
        pytest.param("    }\n    )\n" * 9, id="brackets"),
    ],
)
def test_near_misses(block: str) -> None:
    assert (
        duplicates(a=f"def a(order, total):\n{block}", b=f"def b(order, total):\n{block}")
        == []
    )


def test_only_added_lines_count_and_tests_do_not() -> None:
    text = f"def a(order, total):\n{BLOCK}"
    before = {"a.py": text}
    after = {
        "a.py": text + "x = 1\n",
        "b.py": text,
        "tests/test_a.py": text,
        "tests/test_b.py": text,
    }
    assert review(subject_of(before, after)).findings == ()


def test_a_long_copy_is_one_finding() -> None:
    long = "".join(f"    total += price_{n}(order)\n" for n in range(500))
    assert duplicates(
        a=f"def a(order, total):\n{long}", b=f"def b(order, total):\n{long}"
    ) == [
        "Lines 2 to 501 repeat lines 2 to 501 of `shop/a.py`, which this change adds, too."
    ]
