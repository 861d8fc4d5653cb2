"""What the reviewer of agents says of a change between two trees in memory."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from reviewers.dependencies.trees import Tree as FileTree

from cli_guard.model import Finding, Report
from cli_guard.repository.between import changes_between
from cli_guard.reviewers.agents import review
from cli_guard.reviewers.review_input import ReviewInput

ADVICE = ("agent-start-clean", "agent-server", "agent-local-state", "agent-unknown-file")
SETTINGS = ".claude/settings.json"
Files = dict[str, str]


class Tree(FileTree):
    """A tree in memory that knows its folders, as Git does."""

    def has_files_in(self, folder: str) -> bool:
        return any(path.startswith(f"{folder}/") for path in self.after)

    def find_names(
        self, names: Collection[str], folders: Iterable[str], parents: Sequence[str]
    ) -> Iterator[str]:
        for folder in folders:
            for name in names:
                place = f"{folder}/{name}".removeprefix("/")
                if place in self.after or self.has_files_in(place):
                    yield place


def reported(old: Files, new: Files) -> Report:
    """The report on a change."""
    return review(ReviewInput("pre-commit", changes_between(old, new), Tree(old, new)))


def found(old: Files, new: Files) -> tuple[Finding, ...]:
    """The findings on a change that is read in full."""
    report = reported(old, new)
    assert report.skipped == ()
    return report.findings


def rules(old: Files, new: Files) -> list[str]:
    """The rules of the findings on a change, without the prefix of all."""
    return [each.rule.removeprefix("agent-") for each in found(old, new)]


def stops(old: Files, new: Files) -> list[str]:
    """The rules by which a change is stopped, without advice."""
    findings = [each for each in found(old, new) if each.rule not in ADVICE]
    return [each.rule.removeprefix("agent-") for each in findings]


def as_json(**data: Any) -> str:
    return json.dumps(data, indent=2) + "\n"


def hook(command: str, event: str = "SessionStart") -> str:
    """Settings of Claude Code with one hook."""
    return as_json(hooks={event: [{"hooks": [{"type": "command", "command": command}]}]})


def permissions(**lists: Any) -> str:
    return as_json(permissions=lists)
