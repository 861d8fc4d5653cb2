"""Where the local names of a body come from: assigned once, gathered in a loop, opened, defined inside."""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import LOOSE, NESTED, Body
from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    SUBSCRIPTS,
    attribute,
    callee,
    descendant,
    positional,
    string_value,
    unwrapped,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

ASSIGNMENTS = frozenset(
    {"assignment", "assignment_expression", "variable_declarator", "short_var_declaration", "let_declaration"}
    | {"augmented_assignment", "augmented_assignment_expression", "assignment_statement"}
)
LOOPS = frozenset(
    {"for_statement", "for_in_statement", "enhanced_for_statement", "for_in_clause", "range_clause"}
)
EMPTY = {"[]": "list", "list()": "list", "{}": "dict", "dict()": "dict", "set()": "set"}
ADDS = frozenset({"append", "add", "push"})
MOST_KEYS = 8
ORIGIN = "origin"
MOST_TEXT = 100_000
WRITTEN = re.compile(
    r"(?<![\w.$])([A-Za-z_$][\w$]{0,80})\s{0,3}(?:(?:[-+*/%&|^@:?]{1,3})?=(?!=)|\+\+|--)|(?:\+\+|--)([A-Za-z_$][\w$]{0,80})"
)
SPAN = re.compile(r"`([^`]+)`")
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
LITERAL = re.compile(r"""(?<![fF])"[^"]*"|(?<![fF])'[^']*'""")


@dataclass(frozen=True, slots=True)
class Origin:
    """`values` holds the names that are assigned exactly once; the others are words for what a name stands for.

    `gathered`: what a loop collects. `opened`: the file behind a name. `functions`: those defined
    inside, each with the parameter that it calls. `items`: what a loop goes through.
    `keys`: the literal keys that are set in what a name stands for, as code. `local`: every name that means
    nothing outside of the body. `loose`: any value may be a condition.
    """

    parameters: frozenset[str] = frozenset()
    functions: dict[str, str] = field(default_factory=dict)
    values: dict[str, "SgNode"] = field(default_factory=dict)
    gathered: dict[str, str] = field(default_factory=dict)
    opened: dict[str, str] = field(default_factory=dict)
    items: dict[str, str] = field(default_factory=dict)
    keys: dict[str, tuple[str, ...]] = field(default_factory=dict)
    local: frozenset[str] = frozenset()
    loose: bool = True


class _Reader:
    """Collects, node by node, what becomes of every local name."""

    def __init__(self) -> None:
        self.assigned: dict[str, list[SgNode | None]] = {}
        self.added: dict[str, dict[str, None]] = {}
        self.functions: dict[str, str] = {}
        self.opened: dict[str, str] = {}
        self.items: dict[str, str] = {}
        self.keys: dict[str, dict[str, None]] = {}
        # The names of comprehensions: whoever quotes one quotes the comprehension.
        self.inside: set[str] = set()

    def read(self, node: "SgNode") -> None:
        kind = node.kind()
        if kind in ASSIGNMENTS:
            self._assignment(node)
        elif kind in LOOPS:
            self._loop(node)
        elif kind == "as_pattern":
            self._opening(node)
        elif kind in CALLS:
            owner, _, method = callee(node).rpartition(".")
            given = positional(node)
            if method in ADDS and len(given) == 1 and owner.isidentifier():
                self.added.setdefault(owner, {})[code(given[0].text(), 44)] = None

    def _assignment(self, node: "SgNode") -> None:
        left = node.field("left") or node.field("name") or node.field("pattern")
        right = node.field("right") or node.field("value")
        if left is None:
            return
        if left.kind() == "expression_list" and len(left.named_children()) == 1:
            left = left.named_children()[0]
            right = right.named_children()[0] if right is not None and right.named_children() else right
        if left.kind() == "identifier":
            self.assigned.setdefault(left.text(), []).append(
                None if node.kind().startswith("augmented") else right
            )
        elif left.kind() in SUBSCRIPTS:
            owner, index = left.field(SUBSCRIPTS[left.kind()]), left.field("subscript") or left.field("index")
            if owner is not None and index is not None and owner.kind() == "identifier":
                key = code(index.text(), 30) if string_value(index) is not None else ""
                self.keys.setdefault(owner.text(), {})[key] = None
        elif attribute(left) is None:
            for name in left.named_children():
                if name.kind() == "identifier":
                    self.assigned.setdefault(name.text(), []).append(None)

    def _loop(self, node: "SgNode") -> None:
        left = node.field("left") or node.field("name")
        right = node.field("right") or node.field("value")
        if left is None:
            return
        names = [left] if left.kind() == "identifier" else left.find_all(kind="identifier")
        if node.kind() == "for_in_clause":
            self.inside.update(name.text() for name in names)
            return
        for name in names:
            self.assigned.setdefault(name.text(), []).append(None)
        whole = code(right.text(), 40) if right is not None else ""
        if left.kind() == "identifier" and whole:
            if left.text() in self.items and self.items[left.text()] != whole:
                whole = ""
            self.items[left.text()] = whole

    def _opening(self, node: "SgNode") -> None:
        value = node.child(0)
        target = descendant(node, "as_pattern_target")
        if value is None or target is None:
            return
        name = target.text()
        self.assigned.setdefault(name, []).append(None)
        value = unwrapped(value)
        if value.kind() not in CALLS:
            return
        called, given = callee(value), positional(value)
        what = given[0].text() if called in ("open", "io.open") and given else called.removesuffix(".open")
        if (called in ("open", "io.open") or called.endswith(".open")) and code(what):
            self.opened[name] = f"the file {code(what)}"


def origin_of(body: Body) -> Origin:
    """The assignments, loops and `with` statements of a body, read once."""
    if ORIGIN not in body.memo:
        body.memo[ORIGIN] = _read(body)
    found = body.memo[ORIGIN]
    return found if isinstance(found, Origin) else Origin()


def _read(body: Body) -> Origin:
    reader = _Reader()
    for step in body.steps:
        if step.node.kind() in NESTED and step.depth:
            name = step.node.field("name")
            if name is not None:
                reader.functions[name.text()] = step.node.text()
        else:
            reader.read(step.node)
    text = body.steps[0].node.text()[:MOST_TEXT] if body.steps else ""
    written = _written(text)
    values = {
        n: v[0] for n, v in reader.assigned.items() if len(v) == 1 and v[0] is not None and written[n] <= 1
    }
    parameters = _parameters(body)
    once = {n for n, v in reader.assigned.items() if len(v) == 1}
    return Origin(
        parameters=parameters,
        functions={n: _calls(text, parameters) for n, text in reader.functions.items()},
        values=values,
        gathered=_gathered(reader, values),
        opened={n: text for n, text in reader.opened.items() if n in once},
        items={n: text for n, text in reader.items.items() if text},
        keys={n: tuple(keys) for n, keys in reader.keys.items() if all(keys) and len(keys) <= MOST_KEYS},
        loose=body.language in LOOSE,
        local=frozenset({*reader.assigned, *reader.functions} - reader.inside - parameters),
    )


def _calls(function: str, parameters: frozenset[str]) -> str:
    """The parameter of the outer function that an inner one calls, "" if it calls none."""
    return next((n for n in sorted(parameters) if re.search(rf"(?<![\w.]){re.escape(n)}\(", function)), "")


def _written(text: str) -> Counter[str]:
    """How often each name is assigned or counted up in a text, inner functions included."""
    return Counter(name for match in WRITTEN.finditer(text) for name in match.groups() if name)


def local_free(text: str, origin: Origin) -> str:
    """The text, "" if it quotes code that names something only the body knows."""
    for span in SPAN.findall(text):
        if not origin.local.isdisjoint(NAME.findall(LITERAL.sub("", span))):
            return ""
    return text


def _gathered(reader: _Reader, values: dict[str, "SgNode"]) -> dict[str, str]:
    """What the names hold that begin empty."""
    found: dict[str, str] = {}
    for name, value in values.items():
        kind = EMPTY.get(value.text())
        if kind is None:
            continue
        added, keys = list(reader.added.get(name, ())), list(reader.keys.get(name, ()))
        found[name] = f"a {kind}"
        if len(added) == 1 and added[0]:
            inner = added[0].strip("`")
            of = reader.items.get(inner)
            found[name] = f"a {kind} of items of {of}" if of else f"a {kind} of {added[0]}"
        elif kind == "dict" and keys and all(keys) and len(keys) <= MOST_KEYS:
            found[name] = f"a dict with the key{'s' if len(keys) > 1 else ''} {', '.join(keys)}"
    return found


def _parameters(body: Body) -> frozenset[str]:
    function = body.steps[0].node.parent() if body.steps else None
    listed = function.field("parameters") if function is not None else None
    if listed is None:
        return frozenset()
    return frozenset(node.text() for node in listed.find_all(kind="identifier"))
