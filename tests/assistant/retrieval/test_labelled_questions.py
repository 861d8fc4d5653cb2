"""The labelled questions about the service of fixtures/shell/world: which are answered rightly, by question."""

from collections import Counter

from examples import table
from labelled_sets import assert_as_known

from benchmarks.packages import KEPT
from benchmarks.retrieval import QUESTIONS, answers, judge, questions, texts_for
from cli_guard.assistant import propose
from cli_guard.assistant.retrieval import find


def test_no_right_answer_is_lost() -> None:
    asked = questions("world")
    right = judge(answers(asked, KEPT))
    assert len(right) == len(asked) == 30
    assert_as_known(
        QUESTIONS, "world", right, "python -m benchmarks.retrieval --half world --write"
    )


def test_what_is_not_there_and_what_is_vague_is_never_answered_with_confidence() -> None:
    asked = questions("unanswerable")
    kinds = Counter(each.kind for each in asked)
    assert kinds == {"absent": 40, "vague": 20}
    found = list(answers(asked, KEPT))
    assert not [each.asked.question for each in found if each.found.confidence == "high"]
    missed = [each.asked.question for each in found if each.found.confidence != "none"]
    assert missed == ["why does it fail?"]
    texts = texts_for("world", KEPT)
    for each in asked:
        assert "Confidence: high" not in propose(each.question, texts).text, each.question


@table(
    ("question", "name", "uses", "tests"),
    [
        ("who calls history?", "history", ["src/parcel/app.py"], True),
        ("Find every place that uses TTLCache", "TTLCache", ["src/parcel/app.py"], True),
        ("What would break if I rename load_settings?", "load_settings", None, True),
        ("which files import src/parcel/cache.py?", "src/parcel/cache.py", None, True),
        ("does anything still use TTLCache?", "TTLCache", ["src/parcel/app.py"], True),
        ("what happens if I delete cache.py", "cache.py", None, True),
        ("is TTLCache still used anywhere?", "TTLCache", ["src/parcel/app.py"], True),
        ("who imports src/parcel/storage?", "src/parcel/storage", None, True),
        ("list all FIXMEs", "FIXME", ["src/parcel/storage/file.py"], False),
    ],
)
def test_uses_are_listed_by_file_and_those_of_tests_apart(
    question: str, name: str, uses: list[str] | None, tests: bool
) -> None:
    found = find(question, texts_for("world", KEPT)).uses
    assert found is not None
    assert found.name == name
    assert uses is None or list(dict.fromkeys(each.path for each in found.uses)) == uses
    assert bool(found.tests) == tests


@table(
    "question",
    [
        "how is the history kept?",
        "is a parcel heavy?",
        "why is TTLCache needed?",
        "list all HTTP endpoints",
        "who wins?",
    ],
)
def test_a_question_that_asks_for_no_use_has_none(question: str) -> None:
    assert find(question, texts_for("world", KEPT)).uses is None
