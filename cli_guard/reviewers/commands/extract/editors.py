"""What editors and coding agents run by themselves: VS Code tasks, hooks of agents, their tool servers."""

import re
from collections.abc import Iterator

from cli_guard.reviewers.commands.extract.nodes import Document, Items, Node, Scalar, Table, at, tables
from cli_guard.reviewers.commands.extract.snippet import Snippet, Where, snippet
from cli_guard.reviewers.commands.extract.values import lines, word_pieces, words

EDITOR_VALUE = re.compile(r"\$\{[\w:.-]+\}")
# Settings of agents that hold a command, beside those of hooks and servers.
HELPERS = ("apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "otelHeadersHelper", "gcpAuthRefresh")


def tasks(document: Document) -> Iterator[Snippet]:
    """The tasks of a VS Code folder, for each system."""
    for task in (*document.roots, *at(document.roots, "tasks", "[]")):
        if not isinstance(task, Table):
            continue
        for variant in (
            task,
            *(each for system in ("linux", "osx", "windows") for each in at([task], system)),
        ):
            if isinstance(variant, Table):
                pieces = word_pieces(
                    _value(variant.get("command")), _values(variant.get("args") or task.get("args"))
                )
                if variant.get("command") and pieces:
                    yield snippet(pieces, Where.AGENT).substituted(EDITOR_VALUE)


def agent(document: Document) -> Iterator[Snippet]:
    """Hooks, helpers and tool servers in the settings of a coding agent."""
    for table in tables(document.roots):
        command = table.get("command")
        if isinstance(command, Items):
            yield from words(command, Where.AGENT)
        elif isinstance(command, Scalar) and command.text.strip():
            yield snippet(word_pieces(command, _values(table.get("args"))), Where.AGENT)
        for helper in HELPERS:
            yield from lines(table.get(helper), Where.AGENT)
    for notify in at(document.roots, "notify"):
        yield from words(notify, Where.AGENT)


def _value(node: Node | None) -> Node | None:
    """A word, which may be a table that also says how to quote it."""
    return node.get("value") if isinstance(node, Table) else node


def _values(node: Node | None) -> Items:
    found = node.nodes if isinstance(node, Items) else ()
    return Items([value for each in found if (value := _value(each)) is not None])
