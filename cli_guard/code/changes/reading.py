"""Read the facts of one side of a file from its syntax tree, only where the change touches it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.code.changes.conditions import (
    ASSERTION,
    Branch,
    branch_of,
    inside_brackets,
    is_condition,
    joiner_of,
    read_branch,
    read_macro,
    returned_condition,
)
from cli_guard.code.changes.facts import (
    IDENTIFIER,
    LONGEST_DETAIL,
    ONLY_SAYS,
    CodeFact,
    CodeUnit,
    FactKind,
    fold,
    short_name,
)
from cli_guard.code.changes.handlers import body_of, handler_fact
from cli_guard.code.changes.kinds import SourceTree, kinds_of
from cli_guard.code.changes.naming import (
    declared_name,
    join_names,
    write_dotted,
)
from cli_guard.code.changes.nodes import ReadNode, call_name
from cli_guard.code.changes.touched import TouchedLines
from cli_guard.code.syntax import Trees
from cli_guard.code.taint.naming import top_imports
from cli_guard.code.taint.tree_reader import field_of
from cli_guard.lazy import dataclass

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST_NODES = 20_000
LONGEST_NAME = 100
ARGUMENT = re.compile(r":?[A-Za-z_$](?:[\w$.]|::)*[!?]?")
MADE = re.compile(r"\((?:['\"][^'\"]*['\"])?\)$")
TAKEN = re.compile(
    r"(?:^|[.:>])(?:get|set|new|to|is|has|load|make|build|create)(?:[A-Z_]|\()"
)
SWITCH = re.compile(r"(?i:true|false)|[0-9][0-9_]{0,11}")
CALL_IN_MACRO = re.compile(r"(?<![\w.])[A-Za-z_][\w.:]{0,80}\(")
MOST_IN_MACRO = 20
SETTER = re.compile(r"set(?:_(?=\w)|(?=[A-Z]))(?P<key>\w+)")
# A text is in a list, that in a constructor, a keyword or two, and the whole is bound to a name.
MOST_AROUND_ENTRY = 8
MOST_OTHERS = 50
SET_VALUE = re.compile(r":\s*(?:true|1|\{\}|struct\{\}\{\}|null)$")
STATEMENTS = ("body_statement", "program", "then", "else", "block_body")
NOT_BASES = ("extends", "implements", "with", "end")
# A method that holds the lock of its object.
HELD = re.compile(r"^\s*(?:@\w+\s+)*(?:\w+\s+)*synchronized\s")
TEXT_SIGNS = ("'", '"', "`", ":")
VALUE_FIELDS = ("value", "right")
COMMENT_SIGNS = "#/*!-<>{}% \t"


@dataclass(slots=True)
class FactReader:
    """Walks a tree from its root through the nodes that are touched, and collects their facts and units.

    `is_cut`: there were more than `MOST_NODES` nodes, and the rest was not read.
    """

    language: str
    text: str
    path: str
    touched: TouchedLines
    facts: list[CodeFact] = field(default_factory=list)
    units: list[CodeUnit] = field(default_factory=list)
    is_cut: bool = False

    def read(self, trees: Trees) -> None:
        """Collect the facts of the text, whose tree is one of `trees`."""
        tree = SourceTree(self.text, kinds_of(self.language))
        imports = trees.derive("top imports", self.language, self.text, self._imports)
        root = trees.root(self.language, self.text)
        waiting: list[tuple[SgNode, str, str]] = [(root, "", "")]
        count = 0
        while waiting:
            node, unit, path = waiting.pop()
            count += 1
            if count > MOST_NODES:
                self.is_cut = True
                return
            span = node.range()
            if not self.touched.overlap(span.start.line + 1, span.end.line + 1):
                continue
            kind = node.kind()
            if kind not in tree.kinds.spoken:
                # Most nodes only hold others.
                waiting += [(n, unit, path) for n in reversed(node.named_children())]
                continue
            place = ReadNode(node, tree, unit, path)
            self.facts += facts_at(place, imports, self.touched)
            if place.shape in ("function", "class") and place.inner_unit != unit:
                self.units.append(self._unit_at(place))
            inside = (place.inner_unit, place.inner_path)
            waiting += [(child, *inside) for child in reversed(children_of(place))]

    def _imports(self, root: "SgNode") -> Mapping[str, str]:
        return top_imports(root, self.language, self.text)

    def _unit_at(self, place: "ReadNode") -> CodeUnit:
        return CodeUnit(self.path, place.inner_unit, place.first, place.last, place.source)


def facts_at(
    place: ReadNode, imports: Mapping[str, str], touched: TouchedLines
) -> Iterator[CodeFact]:
    """Yield the facts of a node itself; those of its children are theirs."""
    kinds = place.kinds
    shape = place.shape
    if "comment" in place.kind:
        yield from comment_facts(place, touched)
    elif place.kind in kinds.decorators:
        yield decorator_fact(place)
    elif place.kind in kinds.texts:
        yield place.fact(FactKind.TEXT, place.source)
        yield from entry_facts(place)
    elif place.kind in kinds.entries:
        yield from entry_facts(place)
    elif shape in ("call", "macro"):
        yield from call_facts(place, imports)
        yield from branch_facts(place)
        if shape == "macro":
            yield from calls_in_macro(place)
    elif shape == "if":
        yield from branch_facts(place)
    elif shape == "loop":
        condition = place.node.field("condition")
        if condition is not None:
            yield condition_fact(place, condition)
        if field_of(place.node, VALUE_FIELDS) is not None:
            yield from option_facts(place)
    elif shape == "return":
        if condition := returned_condition(place.node, place.tree):
            yield condition_fact(place, condition)
    elif shape in ("function", "class"):
        yield from definition_facts(place, touched)
        body = place.node.field("body")
        # `x => x.port > 0` and `{ it.port > 0 }` return what they ask.
        asked = returned_condition(place.node, place.tree) if body is None else body
        if asked is not None and is_condition(asked, place.tree):
            yield condition_fact(place, asked)
    elif place.kind in kinds.handlers:
        handler = place.fact(FactKind.HANDLER, "")
        yield handler_fact(handler, place.node, place.tree)
    elif place.kind in kinds.locked:
        yield from lock_facts(place)
    elif place.kind in kinds.bare_calls:
        yield from bare_call_facts(place)
    if place.kind in kinds.typed:
        yield from type_facts(place)
    if place.kind in kinds.options or shape == "assign":
        yield from option_facts(place)
    if shape == "assign":
        value = field_of(place.node, VALUE_FIELDS)
        if value is not None and joiner_of(inside_brackets(value), place.tree):
            yield condition_fact(place, value)


def children_of(place: ReadNode) -> "list[SgNode]":
    """Return what is in a node; of a decorator that is a call, its arguments."""
    children = place.node.named_children()
    if place.kind not in place.kinds.decorators:
        return children
    calls = (ReadNode(n, place.tree) for n in children)
    return [
        each.arguments or each.node if each.shape == "call" else each.node for each in calls
    ]


def comment_facts(place: ReadNode, touched: TouchedLines) -> Iterator[CodeFact]:
    for number, line in enumerate(place.source.split("\n"), place.first):
        words = fold(line.strip(COMMENT_SIGNS))
        if words and touched.overlap(number, number):
            yield CodeFact(FactKind.COMMENT, words, "", number, number, place.unit)


def entry_facts(place: ReadNode) -> Iterator[CodeFact]:
    """Yield the entry that a text is in a list, by the names of what the list is given or bound to."""
    owners: list[str] = []
    listed: SgNode | None = None
    kinds = place.kinds
    for node in islice(place.node.ancestors(), MOST_AROUND_ENTRY):
        kind = node.kind()
        shape = place.tree.shape(node)
        if kind in kinds.lists and listed is None:
            listed = node
        if shape == "call":
            owners.append(call_name(ReadNode(node, place.tree)))
        elif kind in kinds.arguments:
            # `List.of("a", "b")`
            if listed is None and len(node.named_children()) > 1:
                listed = node
        elif kind in kinds.options or shape == "assign":
            around = ReadNode(node, place.tree)
            if listed is None and SET_VALUE.search(around.source):
                # `{"a": true}` is a set.
                continue
            if around.key:
                owners.append(place.path if kind in kinds.nested else around.key)
                break
    if listed is not None:
        name = ".".join(owner for owner in reversed(owners) if owner)
        others = (fold(place.tree.source(e)) for e in listed.named_children()[:MOST_OTHERS])
        fact = place.fact(FactKind.ENTRY, name, place.source.strip("\"'`:"))
        yield replace(fact, operands=tuple(others))


def decorator_fact(place: ReadNode) -> CodeFact:
    head, _, rest = place.source.strip("@#[]").partition("(")
    fact = place.fact(FactKind.DECORATOR, write_dotted(head), rest.rstrip(")] \n"))
    return replace(fact, unit=decorated_unit(place))


def decorated_unit(place: ReadNode) -> str:
    """Return the unit that a decorator beside it belongs to: Python and TypeScript write it before the definition."""
    for node in place.node.next_all():
        beside = ReadNode(node, place.tree, place.unit)
        if beside.name:
            return beside.inner_unit
    return place.unit


def call_facts(place: ReadNode, imports: Mapping[str, str]) -> Iterator[CodeFact]:
    given = place.arguments
    name = call_name(place)
    first, dot, rest = name.partition(".")
    name = imports.get(first, first) + dot + rest
    if not name:
        return
    inside = place.tree.source(given).strip()
    if inside[:1] in ("(", "[", "{"):
        inside = inside[1:-1]
    yield place.fact(FactKind.CALL, name, inside)
    yield from argument_facts(place, name)
    yield from set_facts(place, name)


def calls_in_macro(place: ReadNode) -> Iterator[CodeFact]:
    """Yield the calls that a macro of Rust is given: its grammar has only tokens there. What asserts is a test."""
    if ASSERTION in call_name(place):
        return
    for match in islice(CALL_IN_MACRO.finditer(place.source), MOST_IN_MACRO):
        yield place.fact(FactKind.CALL, write_dotted(match[0][:-1]))


def set_facts(place: ReadNode, name: str) -> Iterator[CodeFact]:
    """Yield the option that a call sets: `setSecure(true)`, `setFeature("x", false)`, `header.Set("x", "y")`."""
    values = [place.tree.source(part) for part in place.given[:3]]
    setter = SETTER.fullmatch(short_name(name))
    if len(values) == 1 and setter:
        yield place.fact(FactKind.OPTION, setter["key"], values[0])
    elif len(values) == 1 and SWITCH.fullmatch(values[0].strip()):
        # `builder.rounds(12)`
        yield place.fact(FactKind.OPTION, short_name(name), values[0].strip())
    if len(values) == 2 and values[0].strip()[:1] in TEXT_SIGNS:
        yield place.fact(FactKind.OPTION, values[0].strip("\"'`: \n"), values[1])


def argument_facts(place: ReadNode, name: str) -> Iterator[CodeFact]:
    """Yield the bare names among the arguments of a call that are names of what may run."""
    nodes = place.given
    # `app.get("/x", [requireLogin], show)`
    inner = (
        n
        for each in nodes
        if each.kind() in place.kinds.lists
        for n in each.named_children()
    )
    for node in (*nodes, *inner):
        # `RequireAdmin()` makes what runs.
        source = place.tree.source(node)[: LONGEST_NAME + 1]
        written = source if TAKEN.search(source) else MADE.sub("", source)
        if len(written) <= LONGEST_NAME and ARGUMENT.fullmatch(written):
            line = node.range().start.line + 1
            fact = place.fact(FactKind.ARGUMENT, write_dotted(written.lstrip(":")), name)
            yield replace(fact, line=line, end_line=line)


def branch_facts(place: ReadNode) -> Iterator[CodeFact]:
    read = read_branch if place.shape == "if" else read_macro
    branch = read(place.node, place.tree)
    if branch is not None:
        yield fact_of_branch(place, branch)


def condition_fact(place: ReadNode, condition: "SgNode") -> CodeFact:
    branch = branch_of(condition, "", place.tree)
    return fact_of_branch(place, branch)


def fact_of_branch(place: ReadNode, branch: Branch) -> CodeFact:
    kind = FactKind.GUARD if branch.leaving else FactKind.CONDITION
    detail = ONLY_SAYS if branch.only_says else branch.leaving
    fact = place.fact(kind, branch.condition, detail)
    return replace(fact, operands=branch.operands, joiner=branch.joiner, asked=branch.asked)


def lock_facts(place: ReadNode) -> Iterator[CodeFact]:
    """Yield what is held around a block, as a call: `with self._lock`, `synchronized (this)`, `lock (gate)`."""
    if place.kind == "with_item":
        if ARGUMENT.fullmatch(place.source.strip()):
            yield place.fact(FactKind.CALL, write_dotted(place.source))
        return
    body = body_of(place.node, place.tree)
    end = body.range().start.index if body is not None else place.end
    name, _, held = place.tree.text[place.start : end].partition("(")
    yield place.fact(FactKind.CALL, write_dotted(name), held.strip().removesuffix(")"))


def bare_call_facts(place: ReadNode) -> Iterator[CodeFact]:
    """Yield the call that a name alone is as a statement."""
    around = place.node.parent()
    if around is not None and around.kind() in STATEMENTS:
        yield place.fact(FactKind.CALL, place.source)


def type_facts(place: ReadNode) -> Iterator[CodeFact]:
    """Yield what a name is declared as."""
    named = declared_name(place.node)
    written = place.node.field("type") or place.node.field("size")
    if named is not None and written is not None:
        detail = place.tree.source(written).strip(": ")
        yield place.fact(FactKind.TYPE, write_dotted(place.tree.source(named)), detail)


def definition_facts(place: ReadNode, touched: TouchedLines) -> Iterator[CodeFact]:
    body = place.node.field("body")
    heading_end = body.range().start if body is not None else place.node.range().end
    if place.name and touched.overlap(place.first, heading_end.line + 1):
        heading = place.tree.text[place.start : heading_end.index]
        fact = place.fact(FactKind.DEFINITION, place.name, heading)
        yield replace(fact, end_line=heading_end.line + 1, unit=place.unit)
        if place.shape == "function" and HELD.search(heading):
            yield place.fact(FactKind.CALL, "synchronized")
        if place.shape == "class":
            yield from base_facts(place, heading)


def base_facts(place: ReadNode, heading: str) -> Iterator[CodeFact]:
    """Yield what a class inherits from: a mixin may ask for a login."""
    written = heading.partition(place.name)[2][:LONGEST_DETAIL].partition("\n")[0]
    for base in IDENTIFIER.findall(written):
        if base not in NOT_BASES:
            yield replace(
                place.fact(FactKind.ARGUMENT, base, "class"), end_line=place.first
            )


def option_facts(place: ReadNode) -> Iterator[CodeFact]:
    value = field_of(place.node, VALUE_FIELDS)
    if value is None:
        inner = place.node.named_children()
        value = inner[-1] if len(inner) > 1 else None
    if value is None or not place.key:
        return
    written = place.tree.source(value)
    # `{name: name}`
    if len(written) <= LONGEST_NAME and write_dotted(written) == place.key:
        return
    # What is in a structure has facts of its own.
    detail = "" if "\n" in written.strip() else written
    yield place.fact(FactKind.OPTION, join_names(place.path, place.key), detail.strip())
