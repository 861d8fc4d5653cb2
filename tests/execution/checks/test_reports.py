"""Tools whose reports become findings: on added lines alone, not twice, and whatever they write."""

import json
import re
import shutil
from pathlib import Path

import pytest
from checks_world import World
from in_process import stage

from cli_guard.execution.checks.reports import read_report
from cli_guard.model import Decision
from cli_guard.policy.checks import CheckConfig, digest_of
from cli_guard.policy.config import read_config
from cli_guard.review.render.review import Review

PAGE = (Path(__file__).parents[3] / "docs" / "checks.md").read_text("utf-8")
PRESETS = next(
    text
    for text in re.findall(r"^```toml\n(.*?)^```$", PAGE, re.M | re.S)
    if "[checks.ruff]" in text
)
SHELL = (
    "import subprocess\n\n\ndef run(name):\n    subprocess.run('ls ' + name, shell=True)\n"
)
FILES = {
    "ruff": ("new.py", "import os\n"),
    "zizmor": (
        ".github/workflows/ci.yml",
        "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n    - uses: a/b@main\n",
    ),
    "hadolint": ("Dockerfile", "FROM debian:12\nRUN sudo true\n"),
    "shellcheck": ("run.sh", "#!/bin/sh\ncd $1\n"),
    "squawk": ("migrations/1.sql", "SELECT 1;\nALTER TABLE a ADD COLUMN b int;\n"),
    "semgrep": ("src/a.py", "first()\nforbidden()\n"),
}
LINE = {"ruff": 1, "zizmor": 3, "hadolint": 2, "shellcheck": 2, "squawk": 2, "semgrep": 2}
SEMGREP = "rules:\n- {id: no, languages: [python], severity: ERROR, message: no, pattern: forbidden()}\n"


def sarif(*results: tuple[str, int]) -> str:
    return json.dumps(
        {
            "runs": [
                {
                    "results": [
                        {
                            "ruleId": "R1",
                            "message": {"text": "not so"},
                            "locations": [
                                {
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": uri},
                                        "region": {"startLine": line},
                                    }
                                }
                            ],
                        }
                        for uri, line in results
                    ]
                }
            ]
        }
    )


def reported(review: Review) -> list[tuple[str, int | None]]:
    found = (each.finding for each in review.sort_findings())
    return [(each.path, each.line) for each in found if each.rule == "push-check-report"]


def told(review: Review) -> list[str]:
    return [
        each.finding.message
        for each in review.sort_findings()
        if each.finding.rule.startswith("push-")
    ]


def check_with(world: World, report: str, *, kind: str = "sarif", after: str = "") -> None:
    """A check that reports this."""
    (world.trace.parent / "report").write_text(report)
    command = f"cat {world.trace.parent / 'report'} > $REPORT{after}"
    world.check(
        command=json.dumps(command),
        stage='"pre-commit"',
        report=json.dumps(kind),
        files='["*.py", "a b/*"]',
    )


def test_findings_on_added_lines_are_advice(world: World) -> None:
    check_with(
        world,
        sarif(
            ("old.py", 1),
            ("./new.py", 2),
            ("a%20b/c.py", 1),
            ("new.py", 9),
            ("/etc/passwd", 1),
        ),
    )
    world.repo.commit("Old", {"old.py": "a = 1\n"})
    stage(
        world.repo,
        {"old.py": "a = 1\nb = 2\n", "new.py": "c = 1\nd = 2\n", "a b/c.py": "e = 1\n"},
    )
    review = world.staged()
    assert reported(review) == [("a b/c.py", 1), ("new.py", 2)]
    assert (review.decision, told(review)) == (Decision.ALLOW, ["t: R1: not so"] * 2)
    assert len(reported(world.staged())) == 2  # it runs again, although the tree has passed


def test_a_line_of_which_we_report_a_risk_is_told_once(world: World) -> None:
    check_with(world, sarif(("new.py", 5), ("new.py", 4)))
    # Advice alone: what stops the change keeps the checks from running.
    stage(
        world.repo,
        {
            "new.py": SHELL.replace(
                "subprocess.run('ls ' + name, shell=True)", "assert (name, 'no name')"
            )
        },
    )
    review = world.staged()
    assert "code-python-assert-tuple" in [
        each.finding.rule for each in review.sort_findings()
    ]
    assert reported(review) == [("new.py", 4)]


def test_the_changed_files_are_listed_with_no_option_among_them(world: World) -> None:
    command = "tr '\\\\0' '|' < $CHANGED_FILES > " + str(world.trace) + "; : > $REPORT"
    world.check(
        command=f'"{command}"', stage='"pre-commit"', report='"gcc"', files='["**/*.py"]'
    )
    stage(world.repo, {"--fix.py": "a = 1\n", "d e/f.py": "b = 1\n", "README.txt": "c\n"})
    assert told(world.staged()) == []
    assert world.trace.read_text() == "./--fix.py|./d e/f.py|"
    world.trace.unlink()
    world.repo.commit("All")
    world.repo.git("rm", "-q", "--", "--fix.py")
    assert told(world.staged()) == [] and not world.trace.exists()


@pytest.mark.parametrize(
    ("report", "kind", "after", "message"),
    [
        (sarif(), "sarif", "; exit 2", ""),
        (sarif(("new.py", 1)) + "\n" + sarif(("new.py", 2)), "sarif", "", "t: R1: not so|t: R1: not so"),
        ("new.py:1:2: warning: no [A1]\n", "gcc", "; exit 1", "t: no [A1]"),
        ("new.py:1: \x1b[1mno\x1b[0m\n", "gcc", "", "t: no"),
        ("", "gcc", "", ""),
        ("", "gcc", "; exit 1", "the check t failed: ended with exit code 1"),
        ("{", "sarif", "; exit 1", "the check t failed: ended with exit code 1"),
        ("", "sarif", "", "the check t did not run: its report in $REPORT is not sarif"),
        ("[]", "sarif", "", "the check t did not run: its report in $REPORT is not sarif"),
        ('{"runs": [{"results": [{"locations": [{}]}]}]}', "sarif", "", "the check t did not run: its report"),
        ("[" * 100_000, "sarif", "", "the check t did not run: its report"),
        (sarif(("new.py", 1)), "sarif", "; rm $REPORT", "the check t did not run: its report"),
        (sarif(("new.py", 1)), "sarif", "; ln -sf /etc/passwd $REPORT", "the check t did not run: its report"),
        (sarif(("new.py", 1)), "sarif", "; no-such-program", "the check t did not run: its command names"),
    ],
)  # fmt: skip
def test_what_a_tool_may_write(
    world: World, report: str, kind: str, after: str, message: str
) -> None:
    check_with(world, report, kind=kind, after=after)
    stage(world.repo, {"new.py": "a = 1\nb = 2\n"})
    found = told(world.staged())
    assert len(found) == len(message.split("|")) - (not message)
    assert all(
        each.startswith(part) for each, part in zip(found, message.split("|"), strict=False)
    )


def test_a_report_is_bounded(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as file:
        file.truncate(30_000_000)
    with pytest.raises(ValueError, match="longer than"):
        read_report("sarif", tmp_path / "big")


def test_a_table_without_reports_keeps_its_trust() -> None:
    plain = {"t": CheckConfig(command="true")}
    # As it was before there were reports.
    assert digest_of(plain).startswith("d53f4cdd7e8fe06e")
    assert digest_of(plain) != digest_of({"t": CheckConfig(command="true", report="gcc")})


def test_the_tools_of_the_page_are_all_there() -> None:
    found = read_config(
        lambda name: PRESETS.encode() if name == "cli-guard.toml" else None, ""
    )
    assert found and set(found[0].checks) == set(FILES)
    assert all(check.report for check in found[0].checks.values())


@pytest.mark.parametrize("tool", FILES)
def test_a_tool_of_the_page_reports(world: World, tool: str) -> None:
    if shutil.which(tool) is None and not (
        tool == "ruff" and shutil.which("ruff", path=world.repo.env["PATH"])
    ):
        pytest.skip(f"{tool} is not installed")
    block = next(
        part
        for part in re.split(r"\n(?=\[checks)", PRESETS)
        if part.startswith(f"[checks.{tool}]")
    )
    world.repo.commit("Rules", {".semgrep.yml": SEMGREP})
    world.check(block)
    path, text = FILES[tool]
    stage(world.repo, {path: text})
    review = world.staged()
    assert (path, LINE[tool]) in reported(review), told(review)
