"""How the benchmark of code counts: what is found, what is false, and what touches an added line."""

from pathlib import Path

import pytest
from examples import table

from benchmarks.code_findings import Case, files_below, judge_own, kind_of, main, read_cases
from benchmarks.labelled import Spot, spots_by_case

RISK = Case(
    "a",
    "python",
    "command",
    "a.py",
    "import os\n",
    "import os\n\nos.system(a)\nprint(b)\n",
    ("os.system",),
)
TWIN = Case(
    "a-twin", "python", "command", "a.py", "import os\n", "import os\n\nprint(b)\n", ()
)
SET = """
[[case]]
id = "one"
language = "python"
kind = "command"
flow = true
note = "what is called"
path = "tool/run.py"
before = '''
import os
'''
after = '''
import os

def run(name):
    os.system("ls " + name)
'''
expect = ["os.system("]

[[case]]
id = "one-twin"
language = "python"
kind = "command"
path = "tool/run.py"
before = ""
after = "print(1)"
expect = []
"""


@table(
    ("spots", "found", "found_low", "false"),
    [
        ([], False, False, False),
        ([Spot("a.py", 3, 3)], True, True, True),
        ([Spot("a.py", 2, 4)], True, True, True),
        ([Spot("a.py", 3, 3, low=True)], False, True, False),
        ([Spot("a.py", 4, 4)], False, False, True),
        ([Spot("a.py", 1, 1)], False, False, False),  # an old line
    ],
)
def test_only_what_touches_the_expected_line_is_found(
    spots: list[Spot], found: bool, found_low: bool, false: bool
) -> None:
    assert RISK.change.added == {2: "", 3: "os.system(a)", 4: "print(b)"}
    assert (RISK.is_right(spots), RISK.is_right(spots, low=True)) == (found, found_low)
    at_the_twin = [
        Spot(spot.path, min(spot.line, 3), min(spot.end_line, 3), spot.low)
        for spot in spots
    ]
    assert TWIN.is_right(at_the_twin) is not false


def test_each_expected_line_must_be_found() -> None:
    both = Case("b", "go", "sql", "b.go", "", "one()\ntwo()\n", ("one", "two"))
    assert not both.is_right([Spot("b.go", 1, 1)])
    assert both.is_right([Spot("b.go", 1, 1), Spot("b.go", 2, 2)])


def test_cli_guard_and_another_tool_judge_a_set(tmp_path: Path) -> None:
    (tmp_path / "set.toml").write_text(SET, "utf-8")
    cases = read_cases(tmp_path / "set.toml")
    found, _ = judge_own(cases, ["code"])
    assert [case.is_right(found[case.id]) for case in cases] == [True, True]
    assert found["one"][0].what == "code-python-os-command"

    def tool(folder: Path) -> list[Spot]:
        assert (folder / "1/tool/run.py").read_text("utf-8") == "print(1)"
        return [Spot(str(folder / "1/tool/run.py"), 1, 1), Spot("./0/tool/run.py", 4, 4)]

    spots, _ = spots_by_case(cases, tool)
    assert [len(spots[case.id]) for case in cases] == [1, 1]
    assert [case.is_right(spots[case.id]) for case in cases] == [True, False]


def test_the_table_and_the_list_of_the_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missed = SET.replace("os.system(", "log.warning(")
    (tmp_path / "set.toml").write_text(missed, "utf-8")
    monkeypatch.setattr(
        "sys.argv", ["code_findings.py", "--wrong", "--no-peers", "--set", str(tmp_path)]
    )
    main()
    out = capsys.readouterr().out
    assert "language python" in out and "data that runs to a sink" in out
    assert "0/1      0%     0/1" in out.splitlines()[-3]
    assert (
        out.splitlines()[-1]
        == "missed  python      command             one: what is called"
    )


def test_noise_counts_stops_by_language_and_rule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / ".git").mkdir()
    risk = "import os\n\n\ndef run(name):\n    os.system('ls \x1b[1m' + name)\n"
    for path in ("run.py", "tests/run.py", ".git/run.py", "image.png"):
        (tmp_path / path).write_text(risk, "utf-8")
    (tmp_path / "link.py").symlink_to("run.py")
    assert [file.name for file in files_below(tmp_path)] == [
        "image.png",
        "run.py",
        "run.py",
    ]
    monkeypatch.setattr("sys.argv", ["code_findings.py", "--noise", str(tmp_path)])
    main()
    out = capsys.readouterr().out
    # One step less in tests, so only one of the two stops.
    assert [
        line.split()
        for line in out.splitlines()
        if line.startswith(("python", "all", "code-"))
    ] == [
        ["python", "2", "10", "1", "1000.00"],
        ["all", "2", "10", "1", "1000.00"],
        ["code-python-os-command", "1", "1000.00"],
    ]
    assert (
        f"{tmp_path}/run.py:5: code-python-os-command (high, medium)" in out
        and "\x1b" not in out
    )


@table(
    ("path", "kind"),
    [
        ("a.py", "python"),
        ("a.tsx", "javascript"),
        ("Dockerfile", "docker"),
        ("a.css", "source"),
        ("a.md", None),
    ],
)
def test_noise_is_counted_over_what_the_reviewer_reads(path: str, kind: str | None) -> None:
    assert kind_of(path, "") == kind
