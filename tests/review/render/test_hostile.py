"""Whatever a finding holds, no format lets it act on a terminal, a page or a parser."""

import json
import re
import unicodedata
from functools import partial
from pathlib import Path

import jsonschema
import pytest
import review_samples as samples
from examples import table
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_guard.model import (
    Category,
    Confidence,
    Decision,
    Disposition,
    Finding,
    JudgedFinding,
    Severity,
    Skipped,
    Suppressed,
)
from cli_guard.review.render import github, markdown, renderer, text
from cli_guard.review.render import sarif as sarif_format
from cli_guard.review.render.review import Review

sarif = partial(sarif_format.render, rules=samples.RULES)

SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text("utf-8"))
VALIDATOR = jsonschema.validators.validator_for(SCHEMA)(SCHEMA)
SGR = re.compile(r"\x1b\[[0-9]{1,2}m")

NASTY = st.sampled_from(
    [
        "\x1b[2J",
        "\u202e",
        "\udcff",
        "\ud800",
        "::error::x",
        "##[error]x",
        "%0A",
        "```",
        "| a |",
        "<b>",
        "</details>",
        "@octocat",
        "https://e.test",
        "www.e.test",
        "a@e.test",
        "#1",
        "\\|",
        "![x](y)",
        "\n",
        "\r\n",
        "\t",
        "&lt;",
    ]
)
TEXT = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=()), max_size=20), NASTY), max_size=5
).map("".join)
LINES = st.one_of(st.none(), st.integers(1, 10**6))
FINDINGS = st.builds(
    Finding,
    rule=st.one_of(TEXT, st.just("secret-aws-access-key")),
    category=st.sampled_from(Category),
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    path=TEXT,
    line=LINES,
    message=TEXT,
    remedy=TEXT,
    end_line=LINES,
    suggestion=st.one_of(st.none(), TEXT),
    evidence=TEXT,
    fingerprint=st.one_of(
        st.just(""), st.text("0123456789abcdef", min_size=16, max_size=16)
    ),
    commit=st.one_of(st.none(), st.text("0123456789abcdef", min_size=40, max_size=40)),
)
DISPOSITIONS = st.sampled_from([Disposition.DENY, Disposition.REVIEW, Disposition.ADVISE])
JSON_LIKE = st.dictionaries(
    TEXT, st.one_of(TEXT, st.floats(), st.none(), st.lists(TEXT, max_size=2)), max_size=3
)
REVIEWS = st.builds(
    Review,
    event=st.sampled_from(["pre-commit", "commit-msg", "pre-push", "review"]),
    status=st.sampled_from(["ok", "needs_review", "failed"]),
    decision=st.sampled_from(Decision),
    findings=st.lists(st.builds(JudgedFinding, FINDINGS, DISPOSITIONS), max_size=4).map(
        tuple
    ),
    suppressed=st.lists(
        st.builds(
            Suppressed,
            FINDINGS,
            st.sampled_from(["inline", "config", "baseline"]),
            TEXT,
            st.booleans(),
        ),
        max_size=3,
    ).map(tuple),
    review_id=st.one_of(st.none(), TEXT),
    review_reason=st.one_of(st.none(), TEXT),
    blocked_actions=st.lists(JSON_LIKE, max_size=2).map(tuple),
    plan=st.lists(JSON_LIKE, max_size=2).map(tuple),
    files=st.integers(0, 5),
    reviewed=st.integers(0, 5),
    skipped=st.lists(st.builds(Skipped, TEXT, TEXT), max_size=3).map(tuple),
    timings_ms=st.dictionaries(TEXT, st.floats(0, 1e6), max_size=2),
    notes=st.lists(TEXT, max_size=2).map(tuple),
)


def unsafe_characters(shown: str) -> list[str]:
    return [
        c
        for c in shown
        if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]


@settings(deadline=None)
@given(REVIEWS, st.booleans(), st.booleans(), st.booleans())
def test_text_holds_no_control_character_but_its_own(
    review: Review, color: bool, ascii_only: bool, verbose: bool
) -> None:
    shown = text.render(review, color=color, ascii_only=ascii_only, verbose=verbose)
    assert unsafe_characters(SGR.sub("", shown) if color else shown) == []
    assert shown.isascii() or not ascii_only


@settings(deadline=None)
@given(REVIEWS)
def test_color_adds_nothing_but_color(review: Review) -> None:
    assert SGR.sub("", text.render(review, color=True)) == text.render(review)


@settings(deadline=None)
@given(REVIEWS)
def test_json_is_strict_and_keeps_every_finding(review: Review) -> None:
    shown = renderer("json")(review)
    assert shown.isascii()
    data = json.loads(shown, parse_constant=pytest.fail)
    json.dumps(data, ensure_ascii=False).encode("utf-8", "strict")
    assert len(data["findings"]) == len(review.findings)
    assert len(data["suppressed"]) == len(review.suppressed)


@settings(max_examples=60, deadline=None)
@given(REVIEWS)
def test_sarif_holds_to_the_schema(review: Review) -> None:
    log = json.loads(sarif(review))
    VALIDATOR.validate(log)
    run = log["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(ids[result["ruleIndex"]] == result["ruleId"] for result in run["results"])
    places = [
        place.get("physicalLocation", {})
        for result in run["results"]
        for place in result["locations"]
    ]
    regions = [place["region"] for place in places if "region" in place]
    assert all(
        1 <= region["startLine"] <= region.get("endLine", region["startLine"])
        for region in regions
    )
    json.dumps(log, ensure_ascii=False).encode("utf-8", "strict")


@settings(deadline=None)
@given(REVIEWS)
def test_github_lines_are_commands_of_ours_or_log_lines(review: Review) -> None:
    shown = github.render(review)
    assert unsafe_characters(shown) == []
    lines = shown.removesuffix("\n").split("\n")
    commands = [line for line in lines if not line.startswith("cli-guard: ")]
    assert len(commands) == len(review.findings)
    assert all(
        re.match(
            r"::(error|warning|notice) (file=[^:,]*,)?(line=\d+,)?(endLine=\d+,)?title=[^:,]*::",
            c,
        )
        for c in commands
    )
    assert not any("##[" in line for line in lines if line.startswith("cli-guard: "))


def outside_code(shown: str) -> str:
    """What GitHub would read as markup: the fences and the code spans taken out."""
    without_fences = re.sub(r"(?ms)^(`{3,})[a-z0-9]*\n.*?^\1$", "", shown)
    return re.sub(r"(?s)(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", without_fences)


@settings(deadline=None)
@given(REVIEWS)
def test_markdown_leaves_nothing_of_the_content_to_be_read_as_markup(
    review: Review,
) -> None:
    shown = markdown.render(review)
    assert unsafe_characters(shown) == []
    markup = outside_code(shown)
    tags = set(re.findall(r"<[^>]*>?", markup))
    assert tags <= {"<br>", "<details>", "</details>", "<summary>", "</summary>"}
    assert not re.search(r"[@#\[\]`\\~_]|www\.|://", markup)
    assert markup.count("<details>") == markup.count("</details>") <= 1


@table(
    ("path", "uri"),
    [
        ("src/a.py", "src/a.py"),
        ("with space/100%.py", "with%20space/100%25.py"),
        ("caf\udce9.py", "caf%E9.py"),
        ("日.py", "%E6%97%A5.py"),
        ("a:b#c?d", "a%3Ab%23c%3Fd"),
    ],
)
def test_uri(path: str, uri: str) -> None:
    assert sarif_format.uri(path) == uri


@table(("number", "annotated"), [(10, 10), (11, 10), (500, 10)])
def test_github_says_what_it_leaves_out(number: int, annotated: int) -> None:
    review = Review(
        "review",
        "ok",
        Decision.ALLOW,
        (JudgedFinding(samples.DOCS, Disposition.ADVISE),) * number,
        files=1,
    )
    shown = github.render(review)
    assert shown.count("::notice ") == annotated
    assert (f"{number - annotated} of {number} notices" in shown) == (number > annotated)
    assert ("all of them: cli-guard last -v" in shown) == (number > annotated)


@table(("number", "more"), [(10, None), (11, 1), (500, 490)])
def test_markdown_says_which_suggestions_it_leaves_out(
    number: int, more: int | None
) -> None:
    found = samples.finding("code-x", "a.py", 1, "m", "r", suggestion="x = 1")
    denied = (JudgedFinding(found, Disposition.DENY),) * number
    shown = markdown.render(Review("pre-commit", "failed", Decision.DENY, denied, files=1))
    assert shown.count("x = 1") == min(number, 10)
    said = f"and suggestions for {more} more: `cli-guard last -v`"
    assert (said in shown) == (more is not None)


def test_a_million_characters_are_shown_short() -> None:
    long = "x" * 1_000_000
    huge = samples.finding("code-x", long, 1, long, long, evidence=long, suggestion=long)
    review = Review(
        "review",
        "failed",
        Decision.DENY,
        (JudgedFinding(huge, Disposition.DENY),),
        files=1,
        reviewed=1,
    )
    for render in (text.render, github.render, markdown.render):
        assert len(render(review)) < 10_000


@table("text", ["a|b", "a\\|b", "a\\\\|b", "`a|b`", "|"])
def test_a_pipe_ends_no_cell(text: str) -> None:
    found = samples.finding("code-x", text, 1, text, text, evidence=text)
    shown = markdown.render(
        Review("review", "failed", Decision.DENY, (JudgedFinding(found, Disposition.DENY),))
    )
    row = next(line for line in shown.split("\n") if line.startswith("| must fix "))
    # The way GFM reads a row: a backslash takes the next punctuation with it, any other pipe ends a cell.
    assert len(re.findall(r"(?:\\[!-/:-@\[-`{-~]|[^|])+", row.strip("|"))) == 4
