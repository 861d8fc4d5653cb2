"""The labelled changes of fixtures/protections: what is found and what is false, by id, and the form of the sets."""

from collections import Counter
from pathlib import Path

import pytest
from labelled_sets import assert_as_known

from benchmarks.protection_cases import FOLDER, main, read_cases

FILES = sorted(FOLDER.glob("*.toml"))
COMMAND = "python -m benchmarks.protection_cases --write"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_weakening_is_lost_and_no_near_miss_is_reported(file: Path) -> None:
    right = {case.id: case.is_right for case in read_cases(file)}
    assert_as_known(FOLDER, file.stem, right, COMMAND)


def test_each_flawed_change_has_a_near_miss() -> None:
    cases = list(read_cases(FOLDER / "development.toml"))
    ids = {case.id for case in cases}
    assert max(Counter(case.id for case in cases).values()) == 1
    for case in cases:
        assert case.id.endswith("-twin") != case.flawed, case.id
        assert case.id.removesuffix("-twin") in ids, case.id
        assert f"{case.id.removesuffix('-twin')}-twin" in ids, case.id


def test_the_benchmark_prints_each_kind_and_each_miss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change = "<<path:app/a.py>>\n def f(a):\n-    check_permission(a)\n     use(a)\n"
    rows = [("one", "true", change), ("one-twin", "true", change.replace("-  ", "   "))]
    text = "".join(
        f"[[case]]\nid = '{name}'\nkind = 'k'\nflawed = {flawed}\nchange = '''\n{body}'''\n"
        for name, flawed, body in rows
    )
    file = tmp_path / "own.toml"
    file.write_text(text)
    monkeypatch.setattr("sys.argv", ["x", "--wrong", "--write", str(file)])
    main()
    out = capsys.readouterr().out
    assert "missed one-twin" in out
    assert "own: found 1 of 2, false 0 of 0" in out
    assert "one-twin" in (tmp_path / "wrong.json").read_text()
