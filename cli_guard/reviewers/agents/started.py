"""The commands that a statement starts: a line, the words of one, or a table with one for each system or shell.

Words of an entry: `programs` are the keys of a table that hold a command, by default `command`; `program` is one key
with the path of a program; `reaches` is a key that names other items of the same list, which start as well;
`is_path`: the value is a script; `without`: a pattern of what stands before the command.
"""

import re
from collections.abc import Iterator

from cli_guard.reviewers.agents.tables import Entry
from cli_guard.reviewers.commands.extract.documents import plain_word, plain_words
from cli_guard.reviewers.commands.extract.nodes import (
    Items,
    Node,
    Scalar,
    Table,
    scalars,
    word_pieces,
)

SYSTEMS = ("linux", "osx", "windows")
MOST_REACHED = 200


def commands_of(entry: Entry, node: Node) -> dict[str, Node]:
    """Return the commands of a statement, each once, with the nodes that it is made of."""
    return {text: node for text, node in each_command(entry, node) if text.strip()}


def each_command(entry: Entry, node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node, Table):
        for system in ("", *SYSTEMS):
            variant = node.get(system) if system else node
            if isinstance(variant, Table):
                yield from of_table(entry, variant, variant.get("args") or node.get("args"))
        return
    text = write_words(node)
    if before := re.match(entry.word("without"), text):
        text = text[before.end() :]
    yield f"source {text}" if entry.words.get("is_path") else text, node


def of_table(
    entry: Entry, table: Table, arguments: Node | None
) -> Iterator[tuple[str, Node]]:
    keys = [entry.word("program")] if "program" in entry.words else None
    for key in keys or entry.words.get("programs", ["command"]):
        program = plain_word(table.get(key))
        if program is not None:
            words = plain_words(arguments)
            yield write_words(program, words), Items([program, words])


def write_words(*nodes: Node) -> str:
    """Write a command: a text as it is, the words of a list quoted."""
    return "".join(text for _, text in word_pieces(*nodes)).strip()


def find_reached(entry: Entry, items: list[Node], started: list[Node]) -> list[Node]:
    """Return the items that start, and those that these name, whatever starts them."""
    key = entry.word("reaches")
    if not key:
        return started
    by_name = {
        each.text(entry.word("name")): each for each in items if isinstance(each, Table)
    }
    waiting = list(started)
    for node in waiting:
        if not isinstance(node, Table) or len(waiting) > MOST_REACHED:
            break
        for name in names_in(node.get(key)):
            named = by_name.get(name)
            if named is not None and all(named is not each for each in waiting):
                waiting.append(named)
    return waiting


def names_in(node: Node | None) -> list[str]:
    if isinstance(node, Table):
        return [node.text("task")]
    return [each.text for each in scalars(node) if isinstance(each, Scalar)]
