"""One form of question everywhere, and what its keys mean."""

import io

from examples import table

from cli_guard.answering.asking import ALWAYS, DIFF, NO, YES, AskedQuestion, ask


def show() -> None:
    """Shows nothing."""


@table(
    ("question", "line"),
    [
        (AskedQuestion("Run?"), "Run? [y]es once · [N]o: "),
        (AskedQuestion("Trust?", once=False), "Trust? [y]es · [N]o: "),
        (AskedQuestion("Now?", show_diff=show), "Now? [y]es once · [d]iff · [N]o: "),
        (
            AskedQuestion("Run?", always="this session", show_diff=show),
            "Run? [y]es once · [a]lways (this session) · [d]iff · [N]o: ",
        ),
    ],
)
def test_the_keys_of_a_question(question: AskedQuestion, line: str) -> None:
    assert question.line == line


@table(
    ("typed", "plain", "full"),
    [
        ("y\n", YES, YES),
        (" YES \n", YES, YES),
        ("n\n", NO, NO),
        ("\n", NO, NO),
        ("", NO, NO),
        ("a\n", None, ALWAYS),
        ("d\n", None, DIFF),
        ("yep\n", None, None),
        ("y y\n", None, None),
    ],
)
def test_a_key_that_is_not_offered_is_no_answer(
    typed: str, plain: str | None, full: str | None
) -> None:
    assert AskedQuestion("?").read(typed) == plain
    assert AskedQuestion("?", always="x", show_diff=show).read(typed) == full


@table(
    ("typed", "reply", "times"),
    [
        ("y\n", YES, 0),
        ("d\nDiff\ny\n", YES, 2),
        ("d\n\n", NO, 1),
        ("d\n", NO, 1),
        ("x\ny\n", NO, 0),
        ("y", NO, 0),
    ],
)
def test_a_diff_is_shown_and_the_question_comes_again(
    typed: str, reply: str, times: int
) -> None:
    shown: list[str] = []
    written: list[str] = []
    question = AskedQuestion("?", show_diff=lambda: shown.append("diff"))
    assert ask(question, io.StringIO(typed), written.append) == reply
    assert len(shown) == times and written.count(question.line) == times + 1
