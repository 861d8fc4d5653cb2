"""What a hook prints beside what stops Git: at most twelve lines, and the command that shows the rest."""

import dataclasses
import itertools
import shlex
import tomllib

import pytest
import review_samples as samples
from examples import table

from cli_guard.model import Decision, Disposition, JudgedFinding, Skipped, Suppressed
from cli_guard.review.render import renderer
from cli_guard.review.render.review import Review
from cli_guard.review.render.text import render
from cli_guard.review.render.words import next_steps
from cli_guard.reviewers.policy import not_reviewed

ADVICE = [
    JudgedFinding(each, Disposition.ADVISE)
    for each in (samples.DOCS, samples.HOSTILE, *samples.COMPLEX)
]
NEW = Suppressed(
    samples.FIXTURE_KEY, "inline", "the example key of the documentation " * 9, new=True
)


def test_a_commit_never_prints_more_than_twelve_lines_of_advice() -> None:
    for advice, new, notes, skipped in itertools.product(
        (0, 1, 6), (0, 3), (0, 9), (0, 40)
    ):
        review = Review(
            "pre-commit",
            "ok",
            Decision.ALLOW,
            tuple(ADVICE[:advice]),
            suppressed=(NEW,) * new,
            notes=(
                "a note that is longer than a line of a terminal, as some of them are " * 2,
            )
            * notes,
            skipped=tuple(
                Skipped(f"assets/{number}.png", "binary") for number in range(skipped)
            ),
            files=9,
            reviewed=9,
        )
        shown = render(review, brief=True)
        assert shown.count("\n") <= 12 and "\n\n" not in shown, shown
        assert shown.split("\n")[-2].startswith("cli-guard: ")
        assert ("cli-guard last -v" in shown) >= (advice == 6 or new > 1 or notes > 1)
        assert "cli-guard last -v" not in render(review, verbose=True)


def test_what_stops_git_is_never_cut() -> None:
    denied = tuple(
        JudgedFinding(
            dataclasses.replace(samples.KEY, line=n, fingerprint=str(n)), Disposition.DENY
        )
        for n in range(1, 31)
    )
    shown = render(
        Review("pre-commit", "failed", Decision.DENY, (*denied, *ADVICE)), brief=True
    )
    assert shown.count("secret-aws-access-key\n") == 30
    advice = shown[shown.index("advice: 6") : shown.index("must fix: 30 findings")]
    assert advice.count("\n") <= 11 and "and " in advice


def test_a_plan_is_one_line_and_its_steps_are_kept_for_more() -> None:
    steps = "1. Move lines 86 to 91 into a new function `_a`.\n2. Move lines 94 to 105 into a new function `_b`."
    found = dataclasses.replace(samples.COMPLEX[0], suggestion=steps)
    review = dataclasses.replace(
        samples.CLEAN, findings=(JudgedFinding(found, Disposition.ADVISE),)
    )
    for shown in (render(review), render(review, brief=True)):
        assert (
            "    -> 2 blocks of 6 to 12 lines could move out (cli-guard last -v)\n" in shown
        )
        assert "_a" not in shown
    assert "1. Move lines 86 to 91" in render(review, verbose=True)


@table(
    ("path", "line", "commit", "place"),
    [
        ("src/a.py", 1, None, ["src/a.py:1"]),
        ("a.json", 1, None, ["a.json:1"]),
        ('a "b" $(x).json', 1, None, ['a "b" $(x).json:1']),
        ("src/a.py", None, None, ["src/a.py"]),
        # A recorded line cannot take a comment any more.
        ("src/a.py", 1, "9" * 40, ["src/a.py"]),
    ],
)
def test_the_way_out_can_be_typed_as_it_is(
    path: str, line: int | None, commit: str | None, place: list[str]
) -> None:
    found = dataclasses.replace(samples.KEY, path=path, line=line, commit=commit)
    judged = (JudgedFinding(found, Disposition.DENY),)
    _, command = next_steps(Review("pre-commit", "failed", Decision.DENY, judged))
    assert shlex.split(command) == [
        "cli-guard",
        "ignore",
        found.rule,
        *place,
        "--reason",
        "...",
    ]
    # Of a scan no command knows: what is to be written has the real path.
    _, *lines = next_steps(Review("scan", "failed", Decision.DENY, judged))
    (ignore,) = tomllib.loads("\n".join(lines))["ignore"]
    assert (ignore["rule"], ignore["path"]) == (found.rule, path or "/")


def test_a_file_is_said_once() -> None:
    both = (
        Skipped("a.js", "code: minified"),
        Skipped("a.js", "docs: minified"),
        Skipped("b.bin", "binary"),
    )
    line = "not reviewed: a.js (code: minified; docs: minified), b.bin (binary)\n"
    assert line in render(dataclasses.replace(samples.CLEAN, skipped=both))
    asking = tuple(dataclasses.replace(each, asks=True) for each in both)
    findings = tuple(
        JudgedFinding(unread, Disposition.REVIEW) for unread in not_reviewed(asking)
    )
    for skipped in (asking, (*both, *asking)):
        shown = render(
            dataclasses.replace(samples.NEEDS_REVIEW, findings=findings, skipped=skipped)
        )
        assert shown.count("code, docs: minified") == shown.count(": binary") == 1
        assert "not reviewed: a.js" not in shown


@pytest.mark.parametrize("name", ["text", "markdown", "github", "html", "sarif", "json"])
def test_each_format_shows_every_reason_and_what_asks_is_not_nothing(name: str) -> None:
    """A finding about it may be off, or answered."""
    unread = (
        Skipped("b.png", "pixels"),
        Skipped("a.zip", "binary"),
        Skipped("a.zip", "too big", asks=True),
    )
    shown = renderer(name)(dataclasses.replace(samples.CLEAN, skipped=unread, reviewed=1))
    assert "nothing to report" not in shown
    if name not in ("sarif", "json"):  # for programs: in the order of the change
        assert "not everything was read" in shown
        assert shown.index("a.zip") < shown.index("too big") < shown.index("binary")
        assert shown.index("too big") < shown.index("pixels")
