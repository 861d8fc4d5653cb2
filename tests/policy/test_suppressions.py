"""Answers that stand in the code: which of them count, and for what."""

from typing import Any

from examples import table
from hypothesis import given
from hypothesis import strategies as st

from cli_guard.model import Category, ChangeSet, Confidence, Finding, Severity
from cli_guard.policy.suppressions import answer_for, answer_in
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.inline import InlineAnswers
from cli_guard.reviewers.review_input import ReviewInput

RULE = "secret-generic-password"
WHY = "key of the test server"
MARK = f"cli-guard: ignore[{RULE}] {WHY}"


@table(
    "comment",
    [
        f"# {MARK}",
        f"// {MARK}",
        f"/* {MARK} */",
        f"/** {MARK} **/".replace(" **/", " */"),
        f"<!-- {MARK} -->",
        f"-- {MARK}",
        f"; {MARK}",
        f"% {MARK}",
        f" * {MARK}",
        f"{{# {MARK} #}}",
        f"REM {MARK}",
        f"<%-- {MARK} --%>".replace("<%--", "//"),
    ],
)
def test_each_style_of_comment(comment: str) -> None:
    own = comment if comment.startswith(" *") else f"x = 1  {comment}"
    for line, above in ((own, ""), ("x = 1", comment), ("x = 1", f"    {comment}")):
        answer = answer_for(RULE, line, above)
        assert answer is not None
        assert answer.reason == WHY


@table(
    ("line", "answers"),
    [
        (f"x = 1  # {MARK}", True),
        (f"x = 1  # cli-guard: ignore[secret-*] {WHY}", True),
        (f"x = 1  # cli-guard: ignore[*] {WHY}", True),
        (f"x = 1  # cli-guard: ignore[code-a, {RULE}] {WHY}", True),
        (f"x = 1  # noqa  cli-guard: ignore[{RULE}] {WHY}", True),
        (f"password = 'a#b' if x else \"it's\"  # {MARK}", True),
        (f"it's Ada's and Grace's  // {MARK}", True),
        (f"x = '\\'' # {MARK}", True),
        (f'x = "{MARK.replace("key", "y")}"  # {MARK}', True),
        (f'{{"password": "x", "note": "{MARK}"}}', False),
        (f'x = "{MARK}"', False),
        (f"x = '{MARK}'", False),
        (f"x = `{MARK}`", False),
        (f'x = "# {MARK}"', False),
        (f"x = f'// {MARK}'", False),
        (f"x = rb'# {MARK}'", False),
        (f'x = "\\" # {MARK}"', False),
        (f'x = a % "b {MARK}"', False),
        (f'url = "http://x" + "{MARK}"', False),
        (f"# see 'this' {MARK}", False),
        (f"url: http://host {MARK}", False),
        (f"--note={MARK}", False),
        (f"x = 1  {MARK}", False),
        (f"x = 2  * {MARK}", False),
        (f"x = 1  # cli-guard: ignore[code-*] {WHY}", False),
        (f"x = 1  # cli-guard: ignore[secret] {WHY}", False),
        (f"x = 1  # cli-guard: ignore[{RULE}]", False),
        (f"x = 1  # cli-guard: ignore[{RULE}]   ", False),
        (f"x = 1  # cli-guard: ignore[{RULE}] ok", False),
        (f"x = 1  /* cli-guard: ignore[{RULE}] */", False),
        (f"x = 1  <!-- cli-guard: ignore[{RULE}] -->", False),
        (f"x = 1  # cli-guard: ignore[] {WHY}", False),
        (f"x = 1  # cli-guard: ignore {WHY}", False),
        (f"x = 1  # cli-guard:ignore[{RULE}] {WHY}", False),
        ("x = 1", False),
    ],
)
def test_on_the_line_itself(line: str, answers: bool) -> None:
    assert (answer_for(RULE, line, "") is not None) is answers


@table(
    ("above", "answers"),
    [
        (f"# {MARK}", True),
        (f'note = "# {MARK}"', False),
        (f'"{MARK}",', False),
        (f"y = 2  # {MARK}", False),
        (f"# cli-guard: ignore[code-*] {WHY}", False),
        (f"# cli-guard: ignore[{RULE}]", False),
        ("", False),
    ],
    ids=[
        "a comment",
        "a string",
        "an item",
        "behind other code",
        "another rule",
        "no reason",
        "nothing",
    ],
)
def test_on_the_line_above(above: str, answers: bool) -> None:
    assert (answer_for(RULE, "x = 1", above) is not None) is answers


def test_a_useless_answer_on_the_line_does_not_hide_the_one_above() -> None:
    assert answer_for(RULE, "x = 1  # cli-guard: ignore[code-a] other", f"# {MARK}")


@given(st.text(max_size=200))
def test_any_line_can_be_asked(line: str) -> None:
    answer_in(line)
    answer_in(f"cli-guard: ignore[{line}] {line}")


def test_a_long_line_takes_no_time() -> None:
    assert answer_in("cli-guard: ignore[" * 60_000) is None
    for pieces in ("# cli-guard: ignore[", '"\\', "\\'", "'\"`", "a'", "-- ", "/"):
        line = pieces * (1_000_000 // len(pieces))
        assert (
            answer_in(f"{line} {MARK.replace('ignore', 'ignores')} cli-guard: ignore[")
            is None
        )
    assert answer_for(RULE, " " * 1_000_000, " " * 1_000_000) is None


def found(
    line: int | None, path: str = "a.py", end: int | None = None, commit: str | None = None
) -> Finding:
    return Finding(
        RULE,
        Category.RISK,
        Severity.HIGH,
        Confidence.HIGH,
        path,
        line,
        "m",
        "r",
        end_line=end,
        commit=commit,
    )


def answers(old: str, new: str) -> Any:
    changes = changes_between({"a.py": old} if old else {}, {"a.py": new})
    subject = ReviewInput("staged", changes, SnapshotContents({"a.py": old}, {"a.py": new}))
    return InlineAnswers(subject)


@table(
    ("old", "new", "at", "new_answer"),
    [
        ("", f"x = 1  # {MARK}\n", 1, True),
        ("", f"# {MARK}\nx = 1\n", 2, True),
        (f"# {MARK}\nx = 1\n", f"# {MARK}\nx = 2\n", 2, False),
        (
            f"# {MARK}\nx = 1\n",
            f"# {MARK}\nx = 2  # cli-guard: ignore[code-a] other\n",
            2,
            False,
        ),
        ("x = 1\n", f"# {MARK}\nx = 1\n", 2, True),
    ],
    ids=[
        "on the line",
        "above",
        "above, there before",
        "above, beside a useless one",
        "added above",
    ],
)
def test_whether_the_change_brings_the_answer(
    old: str, new: str, at: int, new_answer: bool
) -> None:
    answer, is_new = answers(old, new)(found(at))
    assert answer.reason == WHY
    assert is_new is new_answer


@table(
    "finding",
    [found(None), found(3), found(1, "b.py"), found(2, commit="0" * 40)],
    ids=["no line", "line", "path", "commit"],
)
def test_no_answer_for_something_else(finding: Finding) -> None:
    assert answers("", f"# {MARK}\nx = 1\ny = 2\n")(finding) is None


def test_the_end_of_a_span_may_hold_the_answer() -> None:
    inline = answers("", f"x = (\n    1\n)  # {MARK}\n")
    assert inline(found(1, end=3)) is not None
    assert inline(found(1, end=2)) is None


def test_a_commit_of_the_history_is_looked_up_once() -> None:
    commit = changes_between({}, {"a.py": f"# {MARK}\nx = 1\n"})
    past = ChangeSet(commit.files, commit=("0" * 40))

    class Once:
        count = 0

        def __iter__(self) -> Any:
            self.count += 1
            return iter((past,))

    history = Once()
    inline = InlineAnswers(ReviewInput("pre-push", ChangeSet(()), history=history))
    assert [inline(found(2, commit="0" * 40)) is not None for _ in range(5)] == [True] * 5
    assert history.count == 1
