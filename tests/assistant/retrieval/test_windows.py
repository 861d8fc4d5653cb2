"""The second ranking: words near each other count more than words far apart, and two rankings become one."""

from cli_guard.assistant.retrieval.hits import WordHit
from cli_guard.assistant.retrieval.windows import fuse, score_best_window

RARITY = (1.0, 1.0)
LINES = ["some code of usual length"] * 400


def score(
    *hits: tuple[int, int], in_path: tuple[float, float] = (0, 0), lines: list[str] = LINES
) -> float:
    return score_best_window(
        [WordHit(line, concept, 1.0) for line, concept in hits], lines, in_path, RARITY
    )


def test_words_in_one_window_count_more_than_words_far_apart() -> None:
    assert score((10, 0), (30, 1)) > score((10, 0), (300, 1)) == score((10, 0))


def test_a_window_overlaps_its_neighbours_by_half() -> None:
    assert score((35, 0), (45, 1)) == score((5, 0), (15, 1))


def test_the_words_of_the_path_are_in_each_window() -> None:
    assert score((10, 0), in_path=(0, 1)) > score((10, 0))
    assert score(in_path=(0, 1)) > score() == 0


def test_many_times_one_word_is_less_than_both_words() -> None:
    assert score(*((10, 0),) * 50) < score((10, 0), (10, 1))


def test_the_same_words_in_longer_lines_count_less() -> None:
    assert score((10, 0), lines=["x" * 300] * 400) < score((10, 0))


def test_the_first_ranking_leads_unless_the_second_disagrees_clearly() -> None:
    order = fuse(["a", "b", "c"], ["b", "a", "c"])
    assert sorted(order, key=lambda path: -order[path]) == ["a", "b", "c"]
    assert fuse(["a"], ["a"]) == {"a": 1}
    order = fuse(["a", "b", "c", "d", "e"], ["c", "d", "e", "b", "a"])
    assert max(order, key=lambda path: order[path]) == "a"
    assert order["c"] > order["b"]
