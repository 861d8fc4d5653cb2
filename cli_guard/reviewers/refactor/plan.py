"""A plan for one function: which lines to extract, under what name, with which parameters and results."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli_guard.code.symbols import Symbol

if TYPE_CHECKING:
    from cli_guard.reviewers.refactor.extraction import Extraction

STEPS = 2
LONGEST = 2_000
# Class methods, or as good as such, without a decorator.
CLASS_METHODS = ("__new__", "__init_subclass__", "__class_getitem__")
LOOKUPS = ("__getattribute__", "__getattr__")
OWNERS = ("self", "cls", "mcs", "mcls", "metacls", "klass", "meta")


def plan(language: str, symbol: Symbol, lines: Sequence[str]) -> str | None:
    """Return the steps as sentences; None if no run of lines can be moved unchanged, and for another language."""
    if language != "python" or symbol.end_line - symbol.line > LONGEST:
        return None
    steps = [python_step(symbol, *each) for each in python_extractions(symbol, lines)]
    if not steps:
        return None
    last = "Run the tests after each step; the lines have only moved."
    return "\n".join(f"{number}. {step}" for number, step in enumerate([*steps, last], 1))


def python_extractions(
    symbol: Symbol, lines: Sequence[str]
) -> "list[tuple[str, Extraction]]":
    """Return the runs that the plan moves, with their new names; the lower first, so that line numbers hold."""
    from cli_guard.reviewers.refactor.extraction import extractions, parse_function

    if symbol.kind == "method" and not _plain_method(symbol):
        return []
    function = parse_function(lines[symbol.top - 1 : symbol.end_line], symbol.top)
    if function is None:
        return []
    try:
        found = extractions(function, lines)
    except RecursionError:
        return []
    owned = first_parameter(symbol) if symbol.kind == "method" else None
    taken = {"", *re.findall(r"\w+", "\n".join(lines))}
    chosen: dict[str, Extraction] = {}
    for candidate in found:
        name = _name(candidate, lines, symbol.name)
        if owned in candidate.results or name in taken:
            continue
        if all(
            candidate.last < other.first or candidate.first > other.last
            for other in chosen.values()
        ):
            chosen.setdefault(name, candidate)
        if len(chosen) == STEPS:
            break
    return sorted(chosen.items(), key=lambda pair: -pair[1].first)


def _name(extraction: "Extraction", lines: Sequence[str], function: str) -> str:
    from cli_guard.reviewers.refactor.naming import name_of_run

    run = "\n".join(lines[extraction.first - 1 : extraction.last])
    result = "".join(extraction.results)
    taken = result in extraction.parameters
    name = name_of_run(
        run,
        lines[max(extraction.first - 3, 0) : extraction.first - 1],
        function,
        result,
        taken,
        extraction.guard,
    )
    return name and f"_{name}"


def _plain_method(symbol: Symbol) -> bool:
    """Return whether it can call a new method beside it.

    Not a static method, nor one that the class body or a decorator calls in its own way, nor one that every call goes
    through.
    """
    owner = first_parameter(symbol)
    if owner not in OWNERS or symbol.name in LOOKUPS:
        return False
    of_class = "classmethod" in symbol.decorators or symbol.name in CLASS_METHODS
    return owner == "self" or of_class or not symbol.decorators


def python_step(symbol: Symbol, name: str, extraction: "Extraction") -> str:
    """Write one step; the new function of a method is a method, with or without `self`."""
    owner = first_parameter(symbol) if symbol.kind == "method" else None
    given = [p for p in extraction.parameters if p != owner]
    of_class = "classmethod" in symbol.decorators or symbol.name in CLASS_METHODS
    kind = "function"
    head = f"def {name}({', '.join(filter(None, (owner, *given)))}):"
    call = f"{name}({', '.join(given)})"
    if owner:
        kind = "method"
        call = f"{owner}.{call}"
    if extraction.waits:
        head = f"async {head}"
        call = f"await {call}"
    if owner is not None and of_class:
        kind = "class method"
        head = f"@classmethod {head}"
    ends = "" if extraction.returns else "; it returns nothing"
    if extraction.returns:
        call = f"return {call}"
    elif extraction.results:
        result = extraction.results[0]
        call = f"{result} = {call}"
        ends = f", and end it with `return {result}`"
    return (
        f"Move lines {extraction.first} to {extraction.last} into a new {kind} `{name}` below `{symbol.name}`:"
        f" `{head}`{ends}. In their place: `{call}`."
    )


def first_parameter(symbol: Symbol) -> str | None:
    """Return `self` or `cls` of a method, None for a static one."""
    parameters = symbol.node.field("parameters") if symbol.node is not None else None
    first = (
        next(iter(parameters.named_children()), None) if parameters is not None else None
    )
    if first is None or "staticmethod" in symbol.decorators:
        return None
    return re.split(r"\W", first.text())[0] or None
