"""Say of a file without a walk that no data from outside begins in it: no name there may be that of a source.

A walk knows an expression by the name that is written, by what an import makes of it, and by the type of its first
part. Which type that is only a walk says; so each type of the file is tried.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from cli_guard.code.taint.naming import dotted_name, resolve_import
from cli_guard.code.taint.needs import NeededWords
from cli_guard.code.taint.program import FlowFunction, FlowNode
from cli_guard.code.taint.tables import Tables
from cli_guard.words import space_words

NAMED = frozenset(("name", "member", "index", "call"))
# Names of types and members that are tried together; a file with more of them is walked.
MOST_PAIRS = 2_000


def may_have_source(
    functions: Sequence[FlowFunction],
    imports: Mapping[str, str],
    tables: Tables,
    is_given: Callable[[FlowFunction, str], bool],
) -> bool:
    """Return whether the functions of a file may read a source.

    `is_given` says whether a framework gives one to a function that is written in a call of a name, "" for none.
    """
    if any(is_given(function, "") for function in functions):
        return True
    names: set[str] = set()
    types: set[str] = set()
    for function in functions:
        for parameter in function.parameters:
            names.update(parameter.names[:1])
            types.add(parameter.type)
        for node in nodes_of(function.body):
            if node.op in NAMED:
                names.add(dotted_name(node))
            if node.op == "call":
                called = dotted_name(node)
                types.add(called)
                closures = (part.function for part in node.parts if part.function)
                if any(is_given(function, called) for function in closures):
                    return True
            elif node.op == "assign":
                types.add(node.text)
                names.update(taken_out(node))
            elif node.op == "group":
                types.add(node.name)
    names |= {resolve_import(name, imports) for name in names}
    if any(is_source(tables, name) for name in names):
        return True
    types |= {resolve_import(name, imports) for name in types}
    return any(
        may_be_member(tables, tables.needed_words("source", is_secret=secret), names, types)
        for secret in (False, True)
    )


def may_be_member(
    tables: Tables, needed: NeededWords, names: Iterable[str], types: Iterable[str]
) -> bool:
    """Return whether what follows the first part of a name may be a source in an object of one of the types.

    A pattern that reaches over both has a word of what follows, and one of the type: of its last part, or of its first
    where the pattern leaves parts open.
    """
    if needed.are_met(frozenset()):
        return True

    def has_word(name: str) -> bool:
        return bool(needed.found_in(space_words(name)))

    behind = {name.partition(".")[2] for name in names}
    # Behind a field, `this.request.query`, whose type may be known as well.
    behind |= {name.partition(".")[2] for name in behind}
    members = set(filter(has_word, behind))
    ends = set()
    for of in types:
        whole = of.removeprefix("new ")
        last = whole.rpartition(".")[2]
        if has_word(f"{whole.partition('.')[0]}.{last}"):
            ends |= {whole, last}
    if len(members) * len(ends) > MOST_PAIRS:
        return True
    return any(is_source(tables, f"{of}.{member}") for of in ends for member in members)


def taken_out(assignment: FlowNode) -> Iterator[str]:
    """Yield the names of the members that a pattern takes out of an object: `const { body } = req`."""
    target, *values = assignment.parts
    owner = values[0] if values else None
    while owner is not None and owner.op == "group" and len(owner.parts) == 1:
        owner = owner.parts[0]
    if owner is None or target.op != "group" or not (name := dotted_name(owner)):
        return
    for key, part in zip_longest(target.keys, target.parts):
        if member := key or (part.name if part is not None else ""):
            yield f"{name}.{member}"


def nodes_of(body: FlowNode) -> Iterator[FlowNode]:
    """Yield a node and all that are in it."""
    todo = [body]
    while todo:
        node = todo.pop()
        todo += node.parts
        yield node


def is_source(tables: Tables, name: str) -> bool:
    return any(tables.find("source", by, (name,)) for by in ("reads", "call"))
