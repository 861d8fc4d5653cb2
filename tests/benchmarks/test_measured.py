"""The table of docs/measured.md: its lines, and that a run replaces it and nothing else."""

from pathlib import Path

import pytest

from benchmarks import measured
from benchmarks.measured import Row, write_page


@pytest.mark.parametrize(
    ("row", "line"),
    [
        pytest.param(
            Row("a scan", "gitleaks", 2.0, 5.0, "ms", "at most 2.5 x"),
            "| a scan | gitleaks: 2.00 ms | 5.00 ms | 2.50 x | at most 2.5 x |",
            id="beside a peer",
        ),
        pytest.param(
            Row("a scan", "gitleaks", None, 1_234.4, "ms", "-"),
            "| a scan | - | 1,234 ms | - | - |",
            id="without the peer",
        ),
    ],
)
def test_a_line_has_the_ratio(row: Row, line: str) -> None:
    assert str(row) == line


def test_a_run_replaces_the_table_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "measured.md"
    page.write_text(f"Before\n{measured.BEGIN}\nold\n{measured.END}\nAfter\n")
    monkeypatch.setattr(measured, "PAGE", page)
    for _ in range(2):
        write_page("new")
    assert page.read_text() == (
        f"Before\n{measured.BEGIN}\n\nnew\n\n{measured.END}\nAfter\n"
    )


def test_the_page_has_a_place_for_the_table() -> None:
    text = measured.PAGE.read_text("utf-8")
    assert text.index(measured.BEGIN) < text.index(measured.END)
