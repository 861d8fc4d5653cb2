"""Write out what variables hold: numbers in a text that is put together, and such texts where calls are given them.

`"id = " + id` becomes `"id = " + 0` where `id` is an `int`: a number, a date, a UUID and a member of an enumeration
cannot change the text that they are put into. A name is one if its declaration says so, or if all that is assigned to
it is one. After `line = "tar xf " + name`, `run(line)` becomes `run("tar xf " + name)`, so that a rule about what a
call is given sees it where it was put together before.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from cli_guard.code.changes.kinds import kinds_of
from cli_guard.code.syntax import walk_nodes
from cli_guard.code.taint.expressions import find_sides, find_type, plain_type
from cli_guard.code.taint.grammar import language_named
from cli_guard.code.taint.tables import is_common
from cli_guard.code.taint.tree_reader import first_of
from cli_guard.code.taint.variables import NUMBERS
from cli_guard.lazy import frozen

if TYPE_CHECKING:
    from ast_grep_py import Edit, SgNode

# Languages in which a name may be given something else than its declaration says.
UNCHECKED = ("python", "ruby", "javascript", "typescript", "tsx")
# The kinds of node that declare an enumeration, and for Python what such a class inherits from.
ENUMERATIONS = {
    **dict.fromkeys(("java", "csharp", "php", "typescript", "tsx"), "enum_declaration"),
    **dict.fromkeys(("c", "cpp"), "enum_specifier"),
    **dict.fromkeys(("kotlin", "swift"), "class_declaration"),
    "rust": "enum_item",
    "python": "class_definition",
}
ENUMERATION_BASE = re.compile(r"\b(?:Int|Str)?(?:Enum|Flag)\b")
PARAMETERS = re.compile("parameters$")
LOOP = re.compile("^(?:enhanced_)?for(?:each)?_|^range_clause$")
# A target in a list, in a declaration, in an assignment.
MOST_AROUND_NAME = 3
LONGEST_NAME = 200
NUMBER = re.compile(r"[-+]?\d[\w.]*\Z")
MOST_NODES = 20_000
# From nodes to what is around them, in one file: the names of a deep tree have many around each.
MOST_STEPS = 20_000
# A name that is given a text: `line = "tar xf " + name`.
HELD_TEXT = re.compile(
    r"(?<![\w$.])(\$?[A-Za-z_]\w{0,80})\s*(?::\s*[\w.?]{1,40}\s*)?:?=\s*(?:\(\s*)?"
    r"(?:[rbufRBUF$@]{0,2}[\"'`]|(?:[\w.]{0,40}[sS]printf|[sS]tring\.[fF]ormat)\()"
)
LONGEST_TEXT = 2_000
# So many names are looked for at a time, and so many steps are made for those of a file.
NAMES_AT_ONCE = 1_000
MOST_TEXT_STEPS = 2_000_000
# A longer line is a bundle's, whose names are not looked for: to tell the place of a node, the library counts the
# characters before it in its line, so a long line makes each step dear.
LONGEST_LINE = 10_000
LINE_OF_STEP = 1_000
# A name in an argument, in a list, by reference.
MOST_AROUND_USE = 4
PASSED_ON = re.compile(
    "^(?:value_|keyword_)?argument$|^pair$|^reference_expression$|initializer$|array|^list"
)


@frozen
class GivenName:
    """A declaration or an assignment of a name: its type, its value, and the offsets between which the value holds.

    `is_outside`: it stands in no function.
    """

    type: str
    value: "SgNode | None"
    within: tuple[int, int] = (0, 0)
    is_outside: bool = False

    def holds_at(self, offset: int) -> bool:
        return self.value is not None and self.within[0] <= offset < self.within[1]


def is_enumeration(node: "SgNode") -> bool:
    """Return whether a declaration of a type is one of an enumeration."""
    if node.kind() == "class_definition":
        bases = node.field("superclasses")
        return bases is not None and ENUMERATION_BASE.search(bases.text()) is not None
    return node.kind() != "class_declaration" or any(
        each.text() == "enum"
        or (each.kind() == "modifiers" and "enum" in each.text().split())
        for each in node.children()
    )


class HeldValues:
    """What the names of a file hold, as far as it is written there."""

    def __init__(self, root: "SgNode", language: str) -> None:
        self._root = root
        self._language = language
        self._shapes = language_named(language).shapes
        self._found: dict[tuple[str, int, int], list[GivenName]] = {}
        # Where names are given something, of those that are written out.
        self._bound: dict[str, list[tuple[int, GivenName]]] = {}
        self._left = MOST_STEPS

    def _shape(self, node: "SgNode") -> str | None:
        return self._shapes.get(node.kind())

    def write_out_numbers(self, nodes: "list[SgNode]") -> str:
        """Return the text of the file with 0 for the numbers in some nodes."""
        edits = [edit for node in nodes for edit in self._find_edits(node)]
        places = {(edit.start_pos, edit.end_pos): edit for edit in edits}
        return self._root.commit_edits(list(places.values()))

    def _find_edits(self, top: "SgNode") -> "Iterator[Edit]":
        waiting = [top]
        for _ in range(MOST_NODES):
            if not waiting:
                return
            node = waiting.pop()
            if self._is_number(node):
                yield node.replace("0")
            else:
                waiting += self._parts_of(node)

    def write_out_texts(self) -> tuple[str, Mapping[int, int], bool]:
        """Return the text with variables that hold a text written out where they are handed over.

        The mapping has the lines of such uses, with the line on which the text was put together. The last value is
        whether there was too much to look at; then nothing is written out.
        """
        lines = self._root.text().split("\n")
        self._left = MOST_TEXT_STEPS // max(1, max(map(len, lines)) // LINE_OF_STEP)
        written = "\n".join(line for line in lines if len(line) <= LONGEST_LINE)
        names = iter(dict.fromkeys(HELD_TEXT.findall(written)))
        edits = []
        given_at = {}
        nodes: list[SgNode] = []
        while some := list(islice(names, NAMES_AT_ONCE)):
            found = self._root.find_all(regex=f"^(?:{'|'.join(map(re.escape, some))})$")
            nodes += [node for node in found if self._shape(node) == "name"]
        # All are read at once: a search for each in its function takes as long as all else.
        for node in nodes:
            bound = self._bound.setdefault(node.text(), [])
            if given := self._read_binding(node):
                bound.append((node.range().start.index, given))
        for node in filter(self._is_handed_over, nodes):
            value = self._text_for(node)
            if value is not None:
                edits.append(node.replace(_on_one_line(value)))
                given_at[node.range().start.line + 1] = value.range().start.line + 1
        if not edits or not self._left:
            return self._root.text(), {}, not self._left
        return self._root.commit_edits(edits), given_at, False

    def _is_handed_over(self, name: "SgNode") -> bool:
        """Return whether a name is what a call is given, or is stored in a member: `page.innerHTML = text`."""
        inner = name
        is_grouped = False
        for node in islice(self._ancestors(name), MOST_AROUND_USE):
            if node.kind() in kinds_of(self._language).arguments:
                return True
            shape = self._shape(node)
            if shape == "assign":
                target, value = find_sides(node)
                is_value = value is not None and value.range() == inner.range()
                return is_value and target is not None and self._shape(target) == "member"
            if is_grouped and shape in ("call", "member"):
                return True  # ("<b>" + text).html_safe
            is_grouped = node.kind().startswith("parenthesized")
            # `self` is a mark to the grammar of PHP: the node around it has no named parts.
            is_last = any(
                each.range() == inner.range() for each in node.named_children()[-1:]
            )
            if not (
                is_grouped
                or shape == "binary"
                or (is_last and PASSED_ON.search(node.kind()))
            ):
                return False
            inner = node
        return False

    def _text_for(self, use: "SgNode") -> "SgNode | None":
        """Return the text that a name holds, one that is put together if it may hold several."""
        at = use.range().start.index
        given = self._given_for(use)
        texts = [each.value for each in given if each.value and self._is_text(each.value)]
        if not texts or len(texts) < len(given):
            return None
        before = [
            each.value
            for each in given
            if each.value and (each.is_outside or each.within[0] <= at)
        ]
        composed = [each for each in before if self._is_composed(each)]
        only = before[:1] if len(given) == 1 else []
        return next(iter(composed[-1:] or only), None)

    def _is_text(self, value: "SgNode") -> bool:
        text = value.text()
        return len(text) < LONGEST_TEXT and HELD_TEXT.match(f"a={text}") is not None

    def _is_composed(self, value: "SgNode") -> bool:
        return any(self._shape(node) == "name" for node in walk_nodes(value, MOST_NODES))

    def _parts_of(self, node: "SgNode") -> "list[SgNode]":
        """Return the children of a node that have a value: not the name of a call, a member, a key or a target."""
        children = node.named_children()
        named = self._shape(node) in ("call", "assign", "member")
        named = named or node.field("name") is not None
        return children[1:] if named and children else children

    def _is_number(self, node: "SgNode") -> bool:
        shape = self._shape(node)
        if shape == "call":
            name = self._name_called(node)
            return len(name) < LONGEST_NAME and is_common("calls", "converts", name)
        if shape == "cast":
            of = find_type(node)
            return of is not None and self._is_number_type(plain_type(of.text()))
        return (
            shape == "name"
            and self._read_binding(node) is None
            and self._is_number_name(node)
        )

    def _name_called(self, call: "SgNode") -> str:
        """Return the dotted name before the arguments of a call, as far as no other call is in it."""
        text = call.text()
        children = call.named_children()
        if children and children[-1].kind() in kinds_of(self._language).arguments:
            text = text[: children[-1].range().start.index - call.range().start.index]
        name = text.rpartition(")")[2]
        return re.sub(r"\s|::|\?\.", ".", name.strip()).strip(".")

    def _is_number_name(self, use: "SgNode") -> bool:
        given = self._given_for(use)
        is_declared = any(each.type for each in given) and all(
            map(self._is_number_type, (each.type for each in given if each.type))
        )
        if not self._left:
            # What was not looked at may say otherwise.
            return False
        if is_declared and self._language not in UNCHECKED:
            return True
        values = [each for each in given if each.value]
        at = use.range().start.index
        is_set = any(each.holds_at(at) for each in values)
        return (is_declared or is_set) and all(
            each.value is not None and self._is_number_value(each.value) for each in values
        )

    def _given_for(self, use: "SgNode") -> "list[GivenName]":
        """Return what is given to a name in the function around a use, else to a field or global of that name."""
        name = use.text()
        function = self._function_around(use)
        given = self._givers_of(name, function or self._root)
        if not given and self._language not in UNCHECKED:
            given = [each for each in self._givers_of(name, self._root) if each.is_outside]
        return given

    def _function_around(self, node: "SgNode") -> "SgNode | None":
        around = self._ancestors(node)
        return next((each for each in around if self._shape(each) == "function"), None)

    def _ancestors(self, node: "SgNode") -> "Iterator[SgNode]":
        """Yield what is around a node, from the inside, as long as there are steps left."""
        while self._left and (parent := node.parent()) is not None:
            self._left -= 1
            yield parent
            node = parent

    def _is_number_type(self, type_: str) -> bool:
        return NUMBERS.fullmatch(type_) is not None or type_ in self._enumerations

    def _is_number_value(self, value: "SgNode") -> bool:
        is_call = self._shape(value) == "call"
        return self._is_number(value) if is_call else bool(NUMBER.match(value.text()))

    @cached_property
    def _enumerations(self) -> frozenset[str]:
        """The enumerations that the file declares."""
        kind = ENUMERATIONS.get(self._language)
        nodes = self._root.find_all(kind=kind) if kind else []
        names = (
            first_of(node.named_children(), "identifier", "type_identifier", "name")
            for node in nodes
            if is_enumeration(node)
        )
        return frozenset(name.text() for name in names if name is not None)

    def _givers_of(self, name: str, scope: "SgNode") -> "list[GivenName]":
        """Return what declares a name in a scope, and what gives it a value."""
        where = scope.range()
        first = where.start.index
        if name in self._bound:
            bound = self._bound[name]
            return [given for at, given in bound if first <= at < where.end.index]
        key = (name, first, where.end.index)
        if key not in self._found:
            self._found[key] = self._find_given(name, scope)
        return self._found[key]

    def _find_given(self, name: str, scope: "SgNode") -> "list[GivenName]":
        found = []
        for node in scope.find_all(regex=f"^{re.escape(name)}$"):
            if self._shape(node) == "name" and (given := self._read_binding(node)):
                found.append(given)
        return found

    def _read_binding(self, name: "SgNode") -> "GivenName | None":
        """Return what a name is in a declaration or as the target of an assignment, None if it is used."""
        typed = kinds_of(self._language).typed
        inner = name
        for node in islice(self._ancestors(name), MOST_AROUND_NAME):
            value: SgNode | None = None
            is_loop = LOOP.search(node.kind())
            left = node.field("left") or (node.field("name") if is_loop else None)
            names = node.field("parameters") or node.field("parameter")
            is_lambda = names is not None and names.range() == inner.range()
            if is_lambda or (PARAMETERS.search(node.kind()) and node.kind() not in typed):
                return GivenName("", None)
            if self._shape(node) != "assign" and left is not None:
                is_bound = is_loop and left.range() == inner.range()
                return GivenName("", name) if is_bound else None
            if is_assigned := self._shape(node) == "assign":
                target, value = find_sides(node)
                if target is None or target.range() != inner.range():
                    return None
                if inner.kind() == "expression_list" and not _has_part(inner, name):
                    return None  # x[at], err = ...
            if is_assigned or (node.kind() in typed and not self._is_target(node)):
                of = find_type(node)
                if of is not None and of.range() == name.range():
                    return None
                return GivenName(
                    plain_type(of.text()) if of else "",
                    value and self._value_for(name, inner, value),
                    self._block_around(node),
                    self._function_around(node) is None,
                )
            inner = node
        return None

    def _is_target(self, node: "SgNode") -> bool:
        parent = node.parent()
        return parent is not None and self._shape(parent) == "assign"

    def _value_for(self, name: "SgNode", target: "SgNode", value: "SgNode") -> "SgNode":
        """Return the value that a name gets of `id, err := strconv.Atoi(text)`: the call, or the target for another."""
        if target.kind() != "expression_list":
            return value
        values = value.named_children()
        at = [each.range() for each in target.named_children()].index(name.range())
        if len(values) == 1:
            return target if at else values[0]
        return values[at] if at < len(values) else target

    def _block_around(self, node: "SgNode") -> tuple[int, int]:
        """Return where what is assigned holds: from its end to that of the block around it."""
        block = next(
            (
                each
                for each in self._ancestors(node)
                if self._shape(each) == "block" and each.kind() != "expression_statement"
            ),
            self._root,
        )
        return node.range().end.index, block.range().end.index


def _on_one_line(node: "SgNode") -> str:
    """Return the text of an expression without its comments and line ends."""
    parts = walk_nodes(node, MOST_NODES)
    comments = [each.replace("") for each in parts if "comment" in each.kind()]
    text = node.commit_edits(comments) if comments else node.text()
    return " ".join(text.split("\n"))


def _has_part(node: "SgNode", part: "SgNode") -> bool:
    return any(each.range() == part.range() for each in node.named_children())
