"""What holds for any text: no exception, no leak, the same answer wherever the text stands."""

import tomllib
from pathlib import Path

from examples import table
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cli_guard.model import ChangeSet, FileChange, Hunk, Status
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.reviewers.secrets import review
from cli_guard.rules.examples import expand
from cli_guard.secrets import scan
from cli_guard.secrets.detectors import all_detectors, by_keyword
from cli_guard.secrets.engine import DENSE, REACH
from cli_guard.secrets.redact import redact

TABLE = tomllib.loads((Path(__file__).parent / "leaks.toml").read_text("utf-8"))["leak"]
LEAKS = [(path, text) for level, path, text in TABLE if level != "silent"]
KEYWORDS = st.sampled_from(sorted(by_keyword()))
NOISE = st.text(st.characters(codec=None), max_size=60)
PIECES = st.one_of(
    NOISE,
    KEYWORDS,
    KEYWORDS.map(str.upper),
    st.sampled_from(list("\"'`=:@/\\{}()<>\n\0 ,")),
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)
QUICK = settings(max_examples=150, deadline=None)


def findings(path: str, lines: list[str], start: int = 1):
    change = FileChange(path, Status.MODIFIED, hunks=(Hunk(0, start, (), tuple(lines)),))
    return review(ReviewInput("test", ChangeSet((change,)))).findings


@QUICK
@given(text=TEXTS, path=st.sampled_from(["", "a.py", "a.yml", ".npmrc", "b.md", ".pgpass"]))
def test_any_text_scans_and_hits_are_in_order_without_overlaps(
    text: str, path: str
) -> None:
    position = 0
    for hit in scan(text, path).hits:
        assert position <= hit.start < hit.end <= len(text)
        assert hit.encoded or hit.value == text[hit.start : hit.end]
        position = hit.end


@QUICK
@given(leak=st.sampled_from(LEAKS), seed=st.integers(0, 50), before=NOISE, after=NOISE)
def test_no_finding_holds_a_secret(
    leak: tuple[str, str], seed: int, before: str, after: str
) -> None:
    path = leak[0]
    text = expand(leak[1], seed)
    lines = [before.replace("\n", " "), *text.split("\n"), after.replace("\n", " ")]
    hits = scan("\n".join(lines), path).hits
    for finding in findings(path, lines):
        for hit in hits:
            assert hit.value not in finding.message + finding.evidence + finding.remedy


@QUICK
@given(leak=st.sampled_from(LEAKS), seed=st.integers(0, 50), above=st.integers(1, 40))
def test_moving_code_down_changes_no_fingerprint(
    leak: tuple[str, str], seed: int, above: int
) -> None:
    path = leak[0]
    lines = expand(leak[1], seed).split("\n")
    here = findings(path, lines)
    there = findings(path, ["", *["pass"] * above, "", *lines])
    assert [finding.fingerprint for finding in here] == [
        finding.fingerprint for finding in there
    ]


@QUICK
@given(
    leak=st.sampled_from(LEAKS),
    seed=st.integers(0, 50),
    around=st.sampled_from(["", "a\n", "b\n\n"]),
)
def test_redacted_text_holds_no_secret_and_stays_as_it_is(
    leak: tuple[str, str], seed: int, around: str
) -> None:
    path = leak[0]
    text = f"{around}{expand(leak[1], seed)}\n{around}"
    hits = scan(text, path).hits
    # What only looks like a token, and by chance like words as well, is let go.
    assume(hits)
    shown = redact(text, path)
    assert all(hit.value not in shown for hit in hits)
    assert redact(shown, path) == shown


@table("text", ["", "nothing to hide\n", "password: see the vault"])
def test_text_without_a_secret_is_returned_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_what_is_passed_over_has_the_same_surroundings_as_far_as_any_rule_looks() -> None:
    assert max(each.before + each.reach for each in all_detectors()) < REACH
    text = "password: x\n" * (2 * DENSE) + f"password: {'Tq7#vLz9' + '!mXw2'}\n"
    assert [hit.value for hit in scan(text, "a.yml").hits] == ["Tq7#vLz9" + "!mXw2"]


def test_a_long_line_in_which_all_parts_differ_is_left_in_part_and_named() -> None:
    dense = "".join(f'apiKey{number}="' for number in range(20_000))
    token = expand("ghp_<<crc62:30>>", 1)
    long = ReviewInput(
        "test",
        ChangeSet(
            (FileChange("a.js", Status.MODIFIED, hunks=(Hunk(0, 1, (), (dense,)),)),)
        ),
    )
    (skipped,) = [each for each in review(long).skipped if "long line" in each.reason]
    assert "line 1" in skipped.reason and skipped.asks
    assert [hit.rule for hit in scan(f"{dense} {token} ", "a.js").hits if not hit.generic]
    short = "\n".join(dense[start : start + 90] for start in range(0, len(dense), 90))
    assert scan(short, "a.js").left_out is None
