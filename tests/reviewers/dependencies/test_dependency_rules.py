"""Every rule about dependencies reports its `fires` examples and none of its `silent` ones."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from examples import examples, table

from cli_guard.errors import MissingObject
from cli_guard.model import FileChange, Finding, Hit, Hits, Report
from cli_guard.repository.between import SnapshotContents, changes_between
from cli_guard.reviewers.dependencies import review
from cli_guard.reviewers.review_input import ReviewInput
from cli_guard.rules import catalog
from cli_guard.rules.catalog import Rule

RULES = catalog.load("dependencies")
CHANGES = [
    (rule, change, change["fires"])
    for rule in RULES
    for change in rule.extra.get("change", ())
]


class Tree(SnapshotContents):
    """A tree in memory of which every file can be read, and searched as git-grep does."""

    def __init__(self, before: dict[str, str], after: dict[str, str]) -> None:
        super().__init__(before, after)
        self.after = after

    def object_name(self, path: str) -> str:
        return path

    def new(self, change: FileChange) -> str | None:
        if change.path not in self.after:
            raise MissingObject(change.path)
        return self.after[change.path]

    def search(self, words: list[str], patterns: tuple[str, ...], *, alone: bool) -> Hits:
        assert alone and patterns == ("*",)
        longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        pattern = re.compile(rf"(?i)(?<!\w)(?:{longest_first})(?!\w)")
        found = (
            (path, match)
            for path, text in self.after.items()
            for match in pattern.finditer(text)
        )
        return Hits(tuple(Hit(path, 1, match[0]) for path, match in found))


def reviewed(before: dict[str, str], after: dict[str, str]) -> Report:
    """The report on a change between two trees."""
    return review(
        ReviewInput("pre-commit", changes_between(before, after), Tree(before, after))
    )


def found(
    path: str, before: str, after: str, beside: Mapping[str, str] = MappingProxyType({})
) -> list[Finding]:
    """The findings on a change of one file beside others."""
    old = {path: before} if before else {}
    return list(reviewed({**old, **beside}, {path: after, **beside}).findings)


@examples(("rule", "change", "fires"), CHANGES, fires="fires")
def test_change(rule: Rule, change: dict[str, Any], fires: bool) -> None:
    own = [
        f.rule
        for f in found(
            change["path"], change["before"], change["after"], change.get("beside", {})
        )
    ]
    assert (rule.id in own) == fires, own


@table("rule", RULES, ids=lambda rule: rule.id)
def test_rule_has_both_kinds_of_examples(rule: Rule) -> None:
    changes = rule.extra.get("change", ())
    assert {change["fires"] for change in changes} == {True, False}
