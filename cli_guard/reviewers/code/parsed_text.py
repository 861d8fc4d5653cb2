"""A text as the rules over syntax trees read it: names spelled out, texts and numbers written out."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from cli_guard.code.changes.kinds import kinds_of
from cli_guard.code.dead import DeadCode, dead_code
from cli_guard.code.held_values import HeldValues
from cli_guard.code.syntax import DEEPEST, Trees, indents_too_deep
from cli_guard.lazy import dataclass
from cli_guard.reviewers.code.tree_rules import TreeRule

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MAX_DEPTH = 200
LONG_LINE = 10_000
# The library counts the characters before a match in its line, to tell its place: the most that a rule may cost.
MOST_COLUMNS = 500_000_000
# Languages of data and of text.
DATA = ("yaml", "json", "html", "css", "markdown")
# Languages without calls that are given a variable, and one whose grammar does not tell what fills a text.
UNHELD = (*DATA, "hcl", "bash", "rust")
DEPTH = {
    ord(c): step
    for pair in ("()", "[]", "{}")
    for c, step in zip(pair, (1, -1), strict=True)
}
OTHER_BYTES = bytes(set(range(256)) - set(DEPTH))
# Arguments that say how a call is made, not with what.
OPTIONS = frozenset(
    "keyword_argument dictionary_splat named_argument object dictionary pair comment".split()
)
SHORT_NAME = re.compile(r"(?<![\w$])[\w$]{1,3}(?![\w$])")


def depth(text: str) -> int:
    """Return how deep brackets nest, those in strings and comments included.

    The time to match grows with it, so a text made only of brackets would take minutes.
    """
    brackets = text.encode("utf-8", "replace").translate(None, OTHER_BYTES)
    return max(accumulate(map(DEPTH.__getitem__, brackets)), default=0)


def unreadable(language: str, text: str) -> str:
    """Return why a text is not parsed, "" if it can be."""
    if depth(text) > MAX_DEPTH:
        return f"brackets nest deeper than {MAX_DEPTH}"
    return (
        f"more than {DEEPEST} levels of indentation"
        if indents_too_deep(language, text)
        else ""
    )


@dataclass(frozen=True)
class ParsedText:
    """A text of one side, as the rules read it, and the lines in which a value was filled in."""

    trees: Trees
    language: str
    text: str
    given_at: Mapping[int, int]
    # Whether texts that variables hold could not be written out.
    is_partial: bool = False

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def most(self) -> int:
        """The most matches of a rule whose places are looked up."""
        return MOST_COLUMNS // max(1, *map(len, self.lines))

    @cached_property
    def _root(self) -> "SgNode":
        return self.trees.root(self.language, self.text)

    def with_texts(self) -> "ParsedText":
        """Return the same with the texts that variables hold written out where calls are given them."""
        if self.language in UNHELD:
            return self
        held = HeldValues(self._root, self.language)
        text, given_at, is_partial = held.write_out_texts()
        given_at = {**self.given_at, **given_at}
        return replace(self, text=text, given_at=given_at, is_partial=is_partial)

    def nodes(self, rule: TreeRule) -> "list[SgNode]":
        """Return all that a rule matches, but for texts into which only numbers are put."""
        nodes = self._root.find_all(rule.config)
        return self._without_numbers(rule, nodes) if nodes and rule.fills_text else nodes

    def _without_numbers(self, rule: TreeRule, nodes: "list[SgNode]") -> "list[SgNode]":
        text = HeldValues(self._root, self.language).write_out_numbers(nodes[: self.most])
        if text == self.text:
            return nodes
        found = self.trees.root(self.language, text).find_all(rule.config)
        lines = {node.range().start.line for node in found}
        return [node for node in nodes if node.range().start.line in lines]

    def offence(self, node: "SgNode") -> str:
        """Return what a match does, a call without its options; the short names of a bundle differ in each build."""
        text = node.text()
        given = node.field("arguments")
        if given is not None and kinds_of(self.language).shapes.get(node.kind()) == "call":
            values = (each for each in given.named_children() if each.kind() not in OPTIONS)
            head = text[: given.range().start.index - node.range().start.index]
            text = "\0".join((head, *(each.text() for each in values)))
        if self.language == "bash":
            text = text.replace('"', "")  # only keeps a variable one word
        is_bundled = len(self.lines[node.range().start.line]) > LONG_LINE
        return SHORT_NAME.sub("_", text) if is_bundled else " ".join(text.split())

    def matches(self, rule: TreeRule, nodes: "list[SgNode]") -> "Iterator[SgNode]":
        """Yield of the nodes of a rule those that its `assigned` and `passed_to` leave, as far as they are read."""
        named = {
            variable: _names(rule.patterns[key], self.text)
            for variable, key in (("GIVEN", "assigned"), ("QUERY", "passed_to"))
            if key in rule.patterns
        }
        read = nodes[: self.most]
        lines = {node.range().start.line + 1 for node in read} if self.given_at else ()
        for node in read:
            if self.given_at.get(node.range().start.line + 1) in lines:
                continue  # it is told of where it is put together
            bound = {variable: _bound(node, variable) for variable in named}
            if all(
                not name or (name in named[variable]) is (variable == "QUERY")
                for variable, name in bound.items()
            ):
                yield node

    @property
    def dead(self) -> DeadCode:
        return dead_code(self.trees, self.language, self.text)


def _names(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(
        name for match in pattern.finditer(text) for name in match.groups() if name
    )


def _bound(node: "SgNode", name: str) -> str:
    value = node.get_match(name)
    return value.text().strip("'\":") if value else ""
