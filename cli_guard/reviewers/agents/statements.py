"""Statements: what one file tells a tool, each with its line. What is new is what the state before did not hold."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial

from cli_guard.lazy import frozen
from cli_guard.reviewers.agents.exports import exports_in
from cli_guard.reviewers.agents.reading import read_parts, span_of, text_of
from cli_guard.reviewers.agents.started import commands_of, find_reached
from cli_guard.reviewers.agents.tables import Entry, SurfaceFile, steps_of
from cli_guard.reviewers.commands.extract.nodes import Document, Items, Node, Scalar, Table

MOST = 2_000
Found = tuple[tuple[str, ...], Node]


@frozen(eq=False)
class SurfaceStatement:
    """One statement. `name` is what it is about, `value` all that it says; `order` is its place in the file."""

    file: SurfaceFile
    entry: Entry
    path: str
    name: str
    value: str
    node: Node
    order: int = 0

    @property
    def kind(self) -> str:
        return self.entry.kind

    @property
    def tool(self) -> str:
        return self.file.tool

    @property
    def span(self) -> tuple[int, int]:
        """Return the first and the last line of all that it says."""
        return span_of(self.node)

    def moved_to(self, line: int) -> "SurfaceStatement":
        """Return the same statement at one line of its file."""
        return replace(self, node=Scalar(((line, self.value),)))

    @property
    def about(self) -> tuple[str, str, str]:
        """Return what makes it the same statement before and after, whatever it says."""
        return self.kind, self.entry.word("read"), self.name

    @property
    def identity(self) -> tuple[str, ...]:
        return (*self.about, self.value)

    @property
    def wording(self) -> str:
        """Return the text that it is about: its value, or its key where that says more."""
        return self.name if self.entry.word("name") == "key" else self.value

    @property
    def digest(self) -> str:
        """Return what `[[surface.known]]` names it by: the file, and all that it says there."""
        text = "\0".join((self.path, *self.identity))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@frozen
class FileStatements:
    """The statements of one file in one state; `problem` says why it could not be read."""

    statements: tuple[SurfaceStatement, ...] = ()
    problem: str = ""


def read_statements(file: SurfaceFile, path: str, text: str) -> FileStatements:
    """Return what a file says, in its order."""
    document = read_parts(path, text, file.format)
    found: list[SurfaceStatement] = []
    for entry in file.entries:
        for statement in of_entry(file, entry, document, text):
            found.append(statement)
            if len(found) > MOST:
                return FileStatements(tuple(found), f"more than {MOST} statements")
    return FileStatements(tuple(found), document.problem)


def of_entry(
    file: SurfaceFile, entry: Entry, document: Document, text: str
) -> Iterator[SurfaceStatement]:
    read = entry.word("read")
    if read == "whole":
        if text.strip():
            whole = Scalar(tuple(enumerate(text.splitlines(keepends=True), 1)))
            yield SurfaceStatement(file, entry, document.path, document.path, text, whole)
        return
    if entry.word("matches"):
        yield from matches_in(file, entry, document.path, text)
        return
    if read == "exports":
        yield from exported_variables(file, entry, document.path, text)
        return
    for root in file.roots:
        for place in entry.places:
            found = find(document.roots, (*root, *place))
            held = set(map(id, held_by(entry, [node for _, node in found])))
            for order, (names, node) in enumerate(found):
                if id(node) in held:
                    inside = names[len(root) :]
                    yield from of_node(file, entry, document.path, inside, node, order)


def held_by(entry: Entry, nodes: list[Node]) -> list[Node]:
    """Return the nodes that an entry is about, and those that these start in turn."""
    return find_reached(entry, nodes, [node for node in nodes if holds(entry, node)])


def matches_in(
    file: SurfaceFile, entry: Entry, path: str, text: str
) -> Iterator[SurfaceStatement]:
    """Yield what the pattern of an entry finds in the text of a file."""
    for found in re.finditer(entry.word("matches"), text):
        line = text.count("\n", 0, found.start(1)) + 1
        node = Scalar(((line, found[1]),))
        name = found[1] if entry.word("name") == "value" else "command in the text"
        yield SurfaceStatement(file, entry, path, name, found[1], node, line)


def exported_variables(
    file: SurfaceFile, entry: Entry, path: str, text: str
) -> Iterator[SurfaceStatement]:
    """Yield the variables that a script exports, of the names that the entry is about."""
    for each in exports_in(text):
        if re.fullmatch(entry.word("only"), each.name):
            node = Scalar(((each.line, each.value),))
            yield SurfaceStatement(file, entry, path, each.name, each.value, node)


def of_node(
    file: SurfaceFile,
    entry: Entry,
    path: str,
    names: tuple[str, ...],
    node: Node,
    order: int,
) -> Iterator[SurfaceStatement]:
    """Yield the statement of a node, one for each word of a value that is a list in a line."""
    name = name_of(entry, names, node)
    make = partial(SurfaceStatement, file, entry, path)
    only = entry.word("only")
    if only and not re.fullmatch(only, names[-1]):
        return
    if entry.kind == "start":
        for command, where in commands_of(entry, node).items():
            yield make(name, command, where, order)
    elif entry.word("value"):
        value, other, inside = (
            select(node, entry.word(part)) if entry.word(part) else None
            for part in ("value", "other", "inside")
        )
        # Of several patterns any may match.
        patterns = inside.nodes if isinstance(inside, Items) else [inside]
        for text in map(text_of, patterns):
            said = text_of(value) or text_of(other)
            if text:
                said += f"({text})"
            yield make(name, said, node, order)
    elif entry.words.get("is_assignment"):
        variable, _, text = text_of(node).partition("=")
        yield make(variable, text, node, order)
    elif entry.words.get("split") and isinstance(node, Scalar):
        for part in split_rules(node.text):
            yield make(name, part, node, order)
    else:
        yield make(name, text_of(node), node, order)


def split_rules(text: str) -> list[str]:
    """Split a line of rules at commas and blanks outside brackets."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and character in ", \t\n":
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def holds(entry: Entry, node: Node) -> bool:
    """Return whether what an entry asks of a place is there."""
    for place, pattern in entry.words.get("when", {}).items():
        if not re.fullmatch(pattern, text_of(select(node, place))):
            return False
    wanted = entry.word("on")
    if not wanted:
        return True
    inner = entry.word("inner")
    if inner and isinstance(node, Table):
        node = node.get(inner) or node
    return re.fullmatch(wanted, text_of(node)) is not None


def name_of(entry: Entry, names: tuple[str, ...], node: Node) -> str:
    key = entry.word("name")
    if key == "key":
        return names[-1]
    named = node.text(key) if key and isinstance(node, Table) else ""
    return named or ".".join(names)


def select(node: Node | None, place: str) -> Node | None:
    """Return the node at a place below another one, None if there is none."""
    for step in steps_of(place):
        node = node.get(step) if isinstance(node, Table) else None
    return node


def find(roots: tuple[Node, ...], place: tuple[str, ...]) -> list[Found]:
    """Return the nodes at a place, each with the keys on its way."""
    level: list[Found] = [((), root) for root in roots[:1]]
    for step in place:
        below: list[Found] = []
        for names, node in level:
            below += children(names, node, step)
            if len(below) > MOST:
                break
        level = below
    return level


def join_options(arguments: list[Node]) -> list[Node]:
    """Join each option that has no value with the argument behind it, unless that is an option too."""
    joined: list[Node] = []
    is_waiting = False
    for argument in arguments:
        text = text_of(argument)
        if is_waiting and not text.startswith("-"):
            joined[-1] = Items([joined[-1], argument])
            is_waiting = False
        else:
            joined.append(argument)
            is_waiting = text.startswith("-") and "=" not in text
    return joined


def children(names: tuple[str, ...], node: Node, step: str) -> list[Found]:
    if step in ("[]", "[--]"):
        items: list[Node] = node.nodes if isinstance(node, Items) else [node]
        arguments = join_options(items) if step == "[--]" else items
        return [(names, item) for item in arguments]
    if not isinstance(node, Table):
        return []
    if "*" not in step:
        found = node.get(step)
        return [((*names, step), found)] if found is not None else []
    # Of a repeated key the last counts.
    last = dict(node.items())
    return [((*names, key), each) for key, each in last.items() if fnmatchcase(key, step)]
