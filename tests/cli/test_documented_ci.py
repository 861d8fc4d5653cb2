"""The workflows of docs/ci.md: they can be read, and what they run is what cli-guard offers."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import click
import yaml
from examples import table
from repositories import Repo

from cli_guard.cli.review import command
from cli_guard.model import ChangeSet, FileChange, Hunk, Status
from cli_guard.reviewers.code import review as review_code
from cli_guard.reviewers.commands import review as review_commands
from cli_guard.reviewers.review_input import ReviewInput

TEXT = (Path(__file__).parents[2] / "docs" / "ci.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def runs(node: Any) -> list[str]:
    """Every command of a workflow."""
    if isinstance(node, dict):
        own = [node["run"]] if "run" in node else list(node.get("script", ()))
        return own + [each for value in node.values() for each in runs(value)]
    return (
        [each for value in node for each in runs(value)] if isinstance(node, list) else []
    )


def test_there_are_workflows_of_both() -> None:
    assert [("jobs" in yaml.safe_load(block)) for block in BLOCKS] == [True, False]


@table("block", BLOCKS)
def test_what_they_run_is_offered(block: str) -> None:
    reviews = [
        shlex.split(line)
        for line in runs(yaml.safe_load(block))
        if line.startswith("cli-guard")
    ]
    assert reviews
    for words in reviews:
        assert words[:2] == ["cli-guard", "review"]
        parser = command.make_parser(click.Context(command))
        options, rest, _ = parser.parse_args(words[2:])
        assert not rest
        assert options["range"]


@table("block", BLOCKS)
def test_nothing_is_found_in_them(block: str) -> None:
    lines = tuple(block.splitlines())
    path = ".github/workflows/cli-guard.yml" if "jobs:" in block else ".gitlab-ci.yml"
    change = FileChange(path, Status.ADDED, hunks=(Hunk(0, 1, (), lines),))
    subject = ReviewInput("patch", ChangeSet((change,)))
    assert review_code(subject).findings == ()
    assert [
        f for f in review_commands(subject).findings if f.severity in ("critical", "high")
    ] == []


def test_parts_are_one_report_when_their_runs_are_in_one_list(committed: Repo) -> None:
    committed.commit(
        "Add some", {f"m{n}.py": "def run(name):\n    eval(name)\n" for n in range(4)}
    )

    def parts(*options: str) -> dict[str, Any]:
        done = committed.guard("review", "--commit", "HEAD", "--format", "sarif", *options)
        found: dict[str, Any] = json.loads(done.out)
        return found

    def told(report: dict[str, Any]) -> list[str]:
        results = [result for run in report["runs"] for result in run["results"]]
        return sorted(json.dumps(result["partialFingerprints"]) for result in results)

    shards = [parts("--shard", f"{number}/3") for number in (1, 2, 3)]
    merged = shards[0] | {"runs": [run for shard in shards for run in shard["runs"]]}
    assert told(merged) == told(parts())
    assert len({run["automationDetails"]["id"] for run in merged["runs"]}) == 3
