"""What each format says of one review, byte for byte.

After a wanted change: CLI_GUARD_UPDATE_GOLDEN=1 pytest tests/review/render, then read the difference.
"""

import os
from functools import partial
from pathlib import Path

import pytest
import review_samples as samples

from cli_guard import __version__
from cli_guard.review.render import FORMATS, Renderer, renderer
from cli_guard.review.render import sarif as sarif_format
from cli_guard.review.render import text as text_format
from cli_guard.review.render.review import Review

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("CLI_GUARD_UPDATE_GOLDEN") == "1"

CASES: dict[str, tuple[Renderer, Review]] = {
    "rich.txt": (renderer("text"), samples.RICH),
    "rich.color.txt": (partial(text_format.render, color=True), samples.RICH),
    "rich.verbose.txt": (partial(text_format.render, verbose=True, ascii_only=True), samples.RICH),
    "rich.json": (renderer("json"), samples.RICH),
    "rich.sarif": (partial(sarif_format.render, rules=samples.RULES), samples.RICH),
    "rich.github.txt": (renderer("github"), samples.RICH),
    "rich.md": (renderer("markdown"), samples.RICH),
    "needs-review.txt": (renderer("text"), samples.NEEDS_REVIEW),
    "needs-review.md": (renderer("markdown"), samples.NEEDS_REVIEW),
    "clean.txt": (renderer("text"), samples.CLEAN),
    "clean.json": (renderer("json"), samples.CLEAN),
    "clean.md": (renderer("markdown"), samples.CLEAN),
    "clean-but-skipped.txt": (renderer("text"), samples.CLEAN_BUT_SKIPPED),
}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    render, review = CASES[name]
    rendered = render(review).replace(__version__, "VERSION").encode("utf-8", "strict")
    file = GOLDEN / name
    if UPDATE:
        file.write_bytes(rendered)
    assert rendered == file.read_bytes()


def test_every_golden_file_is_a_case() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == set(CASES)


def test_every_format_has_a_golden_file() -> None:
    used = {getattr(render, "func", render).__module__ for render, _review in CASES.values()}
    assert used == set(FORMATS.values())


def test_an_unknown_format_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        renderer("yaml")
