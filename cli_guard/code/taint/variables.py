"""The values of variables, members and texts, and what assignments write into them."""

import re
from dataclasses import replace

from cli_guard.code.taint.naming import path_of
from cli_guard.code.taint.program import FlowNode
from cli_guard.code.taint.values import (
    CLEAN,
    TABLE,
    Origin,
    Taint,
    Value,
    safe_for,
    union,
    without_secrets,
)
from cli_guard.code.taint.walk import Walk

NUMBERS = re.compile(
    r"(?:unsigned |signed )?(?:int|integer|long|short|float|double|bool|boolean|byte|[iuf](?:8|16|32|64|size)|u?int\d*"
    r"|Int\d*|Long|Integer|Double|Boolean|number|Guid|UUID)\??"
)
# `https://host/` or `/path`: what follows chooses neither another host nor another site.
FIXED_START = re.compile(
    r"[rbuf$@]*[\"'`]?(?:redirect:|forward:)?(?:(?:https?:)?//[^/\s\"'{$%]+[/?#]|/[^/\s\"'`\\]|(?!redirect:|forward:)[a-z]+:(?!/)[^/\"'])"
)
HAS_SLASH = re.compile(r"(?<![/:])/(?!/)|[?#]")
# What follows an empty line is the body of a message.
HEADERS_END = re.compile(r"(?:(?:\\r)?\\n){2}|\n\r?\n")
LINE_END = re.compile(r"[\"'`]?(?:(?:\\r)?\\n|\r?\n)[\"'`]?")
NUMBERS_OF = ("length", "Length", "byteLength", "Count")
ERRORS = ("err", "error", "e", "ok")
GETTER = re.compile(r"@(?:\w+\.)?(?:cached_)?property\b|\A(?:static )?get ")
# What a variable may be told by later: the test, call or look-up that it holds.
# What a condition may ask of a variable, and what is handed over by it: options, a name of a library.
TESTS = ("test", "call", "index", "not", "and", "or", "group", "member")


def name_value(walk: Walk, node: FlowNode) -> Value:
    name = node.name
    if not name:
        return CLEAN
    known = walk.scope.values.get(name)
    if known is None:
        return stored_value(walk, node)
    return union((known, walk.scope.inside(name))) if name in walk.scope.owners else known


def stored_value(walk: Walk, node: FlowNode, *, is_owner: bool = False) -> Value:
    """Return the value of a variable, member or subscript: what was written to it, else what it is by itself.

    Of the `is_owner` of a field that is read, what was written into other fields is no part.
    """
    path = path_of(node)
    known = walk.scope.values.get(path) if path else None
    inside = walk.scope.inside(path) if path and not is_owner else CLEAN
    if known is not None:
        return known if node.op != "name" else union((known, inside))
    names = walk.names_of(node)
    if source := walk.source(node, names):
        return source
    if node.op == "name":
        return inside or outer_value(walk, node)
    first, _, rest = path.partition(".")
    owner = walk.class_of(first) if rest else ""
    if owner and is_getter(walk, path):
        return walk.value(node.beside("call", (node,)))
    kept = field_value(f"{owner}.{rest.partition('.')[0]}", node) if owner else CLEAN
    if kept and first in walk.own_names:
        return union((inside, kept))
    whole = node.parts[0]
    if node.op == "member" and walk.file.plain_fields and whole.op in ("name", "member"):
        value = stored_value(walk, whole, is_owner=True)
    else:
        value = walk.value(whole)
    for part in node.parts[1:]:
        walk.value(part)
    member = node.name if node.op == "member" else path.rpartition(".")[2]
    if member in NUMBERS_OF:
        return CLEAN
    # A getter that is written as a property.
    for entry in walk.file.tables.find("sanitizer", "call", names):
        value = safe_for(value, entry.kinds)
    pieces = tuple(taint.piece(member) for taint in without_secrets(value))
    return union((inside, kept, pieces))


def is_getter(walk: Walk, path: str) -> bool:
    """Return whether a member of a class of the file is a function that runs when it is read."""
    found = walk.summary_of((path,), anywhere=False)
    return found is not None and GETTER.search(found[0].heading) is not None


def outer_value(walk: Walk, node: FlowNode) -> Value:
    """Return the value of a name that this function does not bind: a variable of the file, or a field."""
    name = node.name
    owner = walk.function.owner
    if name in walk.file.globals and walk.function.name:
        return field_value(f".{name}", node)
    if walk.file.bare_calls and walk.summary_of((name,), anywhere=False):
        return walk.value(node.beside("call", (node,)))
    if walk.file.implicit_self and owner:
        return field_value(f"{owner}.{name}", node)
    return CLEAN


def field_value(name: str, node: FlowNode) -> Value:
    return (Taint(Origin("field", name, node.line, node.start)),)


def text_value(walk: Walk, node: FlowNode) -> Value:
    """Unite the pieces of a text; after a constant host or path the rest chooses neither."""
    found: list[Value] = []
    safe: set[str] = set()
    for number, part in enumerate(node.parts):
        found.append(safe_for(walk.value(part), frozenset(safe)))
        if part.op != "constant":
            continue
        text = part.text
        if fixes_site(text, is_first=number == 0):
            safe |= {"ssrf", "redirect"}
        behind = node.parts[number + 1 : number + 2]
        ends_head = number and LINE_END.fullmatch(text) and behind
        if HEADERS_END.search(text) or (ends_head and behind[0].op != "constant"):
            safe.add("header")
    if node.name == "<<" and node.parts and (path := path_of(node.parts[0])):
        walk.scope.write(path, union(found), add=True)
    return tuple(replace(taint, whole=False) for taint in union(found))


def fixes_site(text: str, *, is_first: bool) -> bool:
    """Return whether what follows a piece of an address chooses neither another host nor another site."""
    if not is_first:
        return HAS_SLASH.search(text) is not None
    return FIXED_START.match(text) is not None or "?" in text or "#" in text


def cast_value(walk: Walk, node: FlowNode) -> Value:
    value = walk.union(node)
    return CLEAN if NUMBERS.fullmatch(node.name) else value


def test_value(walk: Walk, node: FlowNode) -> Value:
    walk.union(node)
    return CLEAN


def assign(walk: Walk, node: FlowNode) -> Value:
    target, *rest = node.parts
    if not rest:
        if node.text and (path := path_of(target)):
            walk.scope.types[path] = node.text
        return CLEAN
    value = walk.value(rest[0])
    adds = node.name not in ("=", ":=", "")
    write(walk, target, value, rest[0], add=adds, type_=node.text, whole=node)
    return value


def write(
    walk: Walk,
    target: FlowNode,
    value: Value,
    source: FlowNode | None,
    *,
    add: bool = False,
    type_: str = "",
    whole: FlowNode | None = None,
) -> None:
    """Write a value into a target; `source` is the expression that it is from, `whole` the statement."""
    if target.op in ("group", "block", "call", "text") and target.parts:
        write_parts(walk, target, value, source, add=add)
        return
    if target.op == "assign":
        write(walk, target.parts[0], value, source, add=add)
        return
    for entry in walk.file.tables.find("sink", "assign", walk.names_of(target)):
        if walk.allows(entry, whole or target):
            walk.reach(entry, value, target)
    path = path_of(target)
    if not path:
        if target.op in ("index", "member") and (path := path_of(target.parts[0])):
            walk.scope.write(path, value, add=True)
        return
    value = walk.pass_on(value, target)
    walk.scope.write(path, value, add=add)
    if source is not None:
        if target.op == "name" and is_own_object(walk, source):
            walk.own_names.add(path)
        type_ = type_ or type_of(walk, source)
        if source.op in TESTS:
            walk.scope.tests[path] = source
    if type_:
        walk.scope.types[path] = type_
    keep(walk, path, value)


def write_parts(
    walk: Walk, target: FlowNode, value: Value, source: FlowNode | None, *, add: bool
) -> None:
    """Write the parts of a value into the parts of a pattern: `a, b = f()`, `{a, b} = x`."""
    parts = target.parts[1:] if target.op == "call" else target.parts
    if source is not None and is_own_object(walk, source):
        for number, part in enumerate(parts):
            field = f"{walk.function.owner}.{label_of(target, number)}"
            write(walk, part, field_value(field, part), None, add=add)
        return
    sources: list[FlowNode | None] = [source if len(parts) == 1 else None] * len(parts)
    if source is not None and source.op == "group" and len(source.parts) == len(parts):
        sources = list(source.parts)
    divides = len(parts) > 1 or target.name or target.keys[:1] not in ((), (None,))
    for number, part in enumerate(parts):
        one = sources[number]
        of = value
        if one is not None and len(parts) > 1:
            of = walk.value(one)
        elif divides:
            own = (t for t in value if t.slot == number)
            rest = without_secrets(tuple(t for t in value if t.slot == -1))
            of = tuple(replace(t, slot=-1) for t in (*own, *rest))
            if number or parts[-1].name not in ERRORS:  # `rel, err := f(x)` has one result
                of = tuple(taint.piece(label_of(target, number)) for taint in of)
        if source is not None:
            of = union((of, member_value(walk, source, label_of(target, number), part)))
        if part.name in ERRORS:
            of = without_secrets(of)
        write(walk, part, of, one, add=add)
    if len(parts) > 1 and source is not None and (path := path_of(parts[-1])):
        walk.scope.tests[path] = source


def member_value(walk: Walk, owner: FlowNode, member: str, part: FlowNode) -> Value:
    """Return the value of a member that a pattern takes out of an object, if it is a source by its name."""
    while owner.op in ("group", "block") and len(owner.parts) == 1 and not owner.name:
        owner = owner.parts[0]
    if owner.op not in ("name", "member"):
        return CLEAN
    names = tuple(f"{name}.{member}" for name in walk.names_of(owner))
    found = walk.file.tables.find("source", "reads", names)
    return union((walk.origin(entry, part),) for entry in found if walk.allows(entry, part))


def is_own_object(walk: Walk, node: FlowNode) -> bool:
    """Return whether an expression is the object that the method runs on."""
    return bool(walk.function.owner) and path_of(node) in walk.own_names


def literal_value(walk: Walk, node: FlowNode) -> Value:
    """Unite what is written together; an object that is written with its type keeps each part in a field."""
    if not node.name:
        return walk.union(node)
    of = walk.function.owner if node.name == "Self" else node.name.rsplit(".", 1)[-1]
    values = [walk.value(part) for part in node.parts]
    for key, value in zip(node.keys, values, strict=False):
        if key:
            walk.summary.store(f"{of}.{key}", value)
    return union(values)


def label_of(target: FlowNode, number: int) -> str:
    key = target.keys[number] if number < len(target.keys) else None
    return key or path_of(target.parts[number]) or str(number)


def keep(walk: Walk, path: str, value: Value) -> None:
    """Note what is stored in a field or in a variable of the file."""
    first, _, rest = path.partition(".")
    member = rest.partition(".")[0]
    owner = walk.function.owner
    is_implicit = walk.file.implicit_self and not rest and first not in walk.bound
    if member and (of := walk.class_of(first)):
        walk.summary.store(f"{of}.{member}", value)
    elif owner and is_implicit:
        walk.summary.store(f"{owner}.{first}", value)
    elif not walk.function.name or first in walk.file.globals:
        walk.file.globals.add(first)
        walk.summary.store(f".{first}", value)


def type_of(walk: Walk, source: FlowNode) -> str:
    while source.op in ("group", "block") and len(source.parts) == 1 and not source.name:
        source = source.parts[0]
    if source.op == "group":
        return source.name or (TABLE if any(source.keys) else "")
    return walk.names_of(source)[-1].removeprefix("new ") if source.op == "call" else ""
