"""The labelled questions about the service of fixtures/shell/world: which are answered rightly, by question."""

from labelled_sets import assert_as_known

from benchmarks.packages import KEPT
from benchmarks.retrieval import QUESTIONS, answers, judge, questions


def test_no_right_answer_is_lost() -> None:
    asked = questions("world")
    right = judge(answers(asked, KEPT))
    assert len(right) == len(asked) == 30
    assert_as_known(
        QUESTIONS, "world", right, "python -m benchmarks.retrieval --half world --write"
    )
