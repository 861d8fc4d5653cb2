"""The everyday requests of fixtures/requests about the small service: which are answered usefully, by request."""

from pathlib import Path

import pytest
from labelled_sets import assert_as_known
from sampling import choose_rows

from benchmarks.everyday import REQUESTS, judge_service


# Either half has requests of every kind.
@pytest.mark.parametrize(
    "half", choose_rows(("development", "kept"), lambda half: ["a half"], str)
)
def test_no_useful_answer_is_lost(half: str, tmp_path: Path) -> None:
    right = judge_service(half, tmp_path)
    assert len(right) == 65
    assert_as_known(
        REQUESTS,
        f"everyday-{half}",
        right,
        f"python -m benchmarks.everyday --half {half} --write",
    )
