"""What each format says of one review, byte for byte.

After a wanted change: CLI_GUARD_UPDATE_GOLDEN=1 pytest tests/review/render, then read the difference.
"""

import json
import os
from functools import partial
from pathlib import Path

import pytest
import review_samples as samples
from examples import table
from repositories import Repo

import cli_guard
from cli_guard import __version__
from cli_guard.review.render import FORMATS, Renderer, renderer
from cli_guard.review.render import sarif as sarif_format
from cli_guard.review.render import text as text_format
from cli_guard.review.render.review import Review

GOLDEN = Path(__file__).parent / "golden"
# They stand in each page as they are in their files; here once is enough.
ASSETS = [*Path(cli_guard.__file__).parent.rglob("page.[cj]s*")]
UPDATE = os.environ.get("CLI_GUARD_UPDATE_GOLDEN") == "1"

CASES: dict[str, tuple[Renderer, Review]] = {
    "rich.txt": (renderer("text"), samples.RICH),
    "rich.color.txt": (partial(text_format.render, color=True), samples.RICH),
    "rich.verbose.txt": (
        partial(text_format.render, verbose=True, ascii_only=True),
        samples.RICH,
    ),
    "rich.json": (renderer("json"), samples.RICH),
    "rich.sarif": (partial(sarif_format.render, rules=samples.RULES), samples.RICH),
    "rich.github.txt": (renderer("github"), samples.RICH),
    "rich.md": (renderer("markdown"), samples.RICH),
    "needs-review.txt": (renderer("text"), samples.NEEDS_REVIEW),
    "needs-review.md": (renderer("markdown"), samples.NEEDS_REVIEW),
    "clean.txt": (renderer("text"), samples.CLEAN),
    "clean.json": (renderer("json"), samples.CLEAN),
    "clean.md": (renderer("markdown"), samples.CLEAN),
    "rich.html": (renderer("html"), samples.RICH),
    "clean-but-skipped.html": (renderer("html"), samples.CLEAN_BUT_SKIPPED),
    "clean-but-skipped.txt": (renderer("text"), samples.CLEAN_BUT_SKIPPED),
}


@table("name", CASES)
def test_golden(name: str) -> None:
    render, review = CASES[name]
    text = render(review).replace(__version__, "VERSION")
    for asset in ASSETS if name.endswith(".html") else ():
        content = asset.read_text("utf-8").strip()
        assert text.count(content) == 1
        text = text.replace(content, asset.name)
    rendered = text.encode("utf-8", "strict")
    file = GOLDEN / name
    if UPDATE:
        file.write_bytes(rendered)
    assert rendered == file.read_bytes()


def test_every_golden_file_is_a_case() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == set(CASES)


def test_every_format_has_a_golden_file() -> None:
    used = {
        getattr(render, "func", render).__module__ for render, _review in CASES.values()
    }
    assert used == set(FORMATS.values())


def test_an_unknown_format_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        renderer("yaml")


def test_each_result_of_a_message_names_the_first_file_of_its_commit(
    committed: Repo,
) -> None:
    start = committed.git("rev-parse", "HEAD")
    committed.commit("wip", {"b.txt": "b\n", "c.txt": "c\n"})
    committed.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "wip")
    done = committed.guard("review", "--range", f"{start}..HEAD", "--format", "sarif")
    results = json.loads(done.out)["runs"][0]["results"]
    places = [each["locations"][0]["physicalLocation"] for each in results]
    assert len(places) >= 2
    assert {each["artifactLocation"]["uri"] for each in places} == {"b.txt"}
    assert all(each["region"]["startLine"] == 1 for each in places)
