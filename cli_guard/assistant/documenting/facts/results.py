"""What a function gives back, in words made from its `return` and `yield` statements."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import Body, Step
from cli_guard.assistant.documenting.facts.nodes import CALLS, NOTHING, arguments, callee, line_of, same
from cli_guard.assistant.documenting.facts.origin import EMPTY, Origin, local_free, origin_of
from cli_guard.assistant.documenting.facts.values import described

if TYPE_CHECKING:
    from ast_grep_py import SgNode

MOST = 3
LONGEST = 150
LOCAL = re.compile(r"`([A-Za-z_]\w*)`")
LONGEST_TRACED = 130
NOTHINGS = ("None", "`null`", "`undefined`", "`nil`")


@dataclass(frozen=True, slots=True)
class Result:
    """What is given back, in words without a full stop ("" when nothing can be said), and the lines."""

    text: str
    lines: tuple[int, ...]
    always_nothing: bool = False


def results(body: Body) -> Result:
    """What the `return` statements give back."""
    steps = [
        step for step in body.of("return_statement", "return_expression") if _value(step.node) is not None
    ]
    if body.language == "rust":
        return _joined(body, _rust_values(body, steps))
    arrow = body.steps[0] if body.steps and not _is_block(body.steps[0].node) else None
    values = [(_value(step.node), step) for step in steps] if arrow is None else [(arrow.node, arrow)]
    return _joined(body, [(value, step) for value, step in values if value is not None])


def yielded(body: Body) -> Result | None:
    """What the `yield` expressions give, None for a body without any."""
    steps = body.of("yield", "yield_expression")
    if not steps:
        return None
    values = [(next(iter(step.node.named_children()), None), step) for step in steps]
    return _joined(body, [(value, step) for value, step in values if value is not None])


def _rust_values(body: Body, steps: list[Step]) -> list[tuple["SgNode", Step]]:
    """What Rust gives back: returned values and the last expression; an error is told elsewhere, `Ok` is no value."""
    pairs = [(_value(step.node), step) for step in steps]
    block = body.steps[0].node if body.steps else None
    last = block.named_children()[-1:] if block is not None else []
    if last and not last[0].kind().endswith(("statement", "declaration", "item", "macro_invocation")):
        pairs.append(
            (last[0], next(s for s in body.steps if same(s.node, last[0])) if not body.cut else body.steps[0])
        )
    found = []
    for value, step in pairs:
        if value is None or (value.kind() in CALLS and callee(value) == "Err"):
            continue
        inner = arguments(value) if value.kind() in CALLS and callee(value) == "Ok" else [value]
        found += [(each, step) for each in inner[:1] if each.kind() != "unit_expression"]
    return found


def _is_block(node: "SgNode") -> bool:
    return "block" in node.kind() or node.kind().endswith("body")


def _value(statement: "SgNode") -> "SgNode | None":
    return next((child for child in statement.named_children() if "comment" not in child.kind()), None)


def _joined(body: Body, values: list[tuple["SgNode", Step]]) -> Result:
    lines = tuple(dict.fromkeys(line_of(value) for value, _ in values))
    if values and all(value.kind() in NOTHING for value, _ in values):
        return Result("", lines, always_nothing=True)
    origin = origin_of(body)
    said_of: dict[str, list[Step]] = {}
    for value, step in values:
        said_of.setdefault(local_free(described(value, origin), origin), []).append(step)
    if len(said_of) == 1:
        return Result(next(iter(said_of)), lines)
    parts = {text: _when(steps, origin) for text, steps in said_of.items() if text}
    whole = "" if "" in said_of else _whole(parts)
    if not whole or len(whole) > LONGEST:
        # Not all ways can be told: the one to give nothing is what a caller has to know.
        nothing = next((t for t in parts if t in NOTHINGS and parts[t]), "")
        whole = f"{nothing} if {parts[nothing]}" if nothing else ""
    return Result(whole if len(whole) <= LONGEST else "", lines)


def _whole(parts: dict[str, str]) -> str:
    """All ways in one sentence, "" if more than one of them has no condition."""
    conditional = [f"{text} if {when}" for text, when in parts.items() if when]
    plain = [text for text, when in parts.items() if not when]
    if len(plain) > 1 or len(parts) > MOST:
        return ""
    return ", otherwise ".join(filter(None, (", ".join(conditional), *plain)))


def _when(steps: list[Step], origin: Origin) -> str:
    """Under which conditions one value is given, "" if that cannot be told, or it is what is left."""
    whens = list(dict.fromkeys(traced(step.when, origin) for step in steps))
    return " or ".join(whens) if all(whens) and len(whens) <= 2 else ""


def traced(words: str, origin: Origin) -> str:
    """A condition in words, its local names replaced by what they stand for: a reader does not know them.

    "" if that is not to be had.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in origin.parameters:
            return match[0]
        if name in origin.items:
            return f"an item of {origin.items[name]}"
        node = origin.values.get(name)
        if node is None or node.text() in EMPTY:
            return match[0]
        text = described(node, origin, 1)
        plain = text and not text.startswith("whether") and " if " not in text and " for each " not in text
        return text if plain else match[0]

    longer = local_free(LOCAL.sub(value, words), origin)
    return longer if len(longer) <= LONGEST_TRACED else ""
