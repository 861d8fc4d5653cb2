"""Values in words: what an expression gives, as far as a reader who does not know the body can follow."""

from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.facts.bodies import NESTED
from cli_guard.assistant.documenting.facts.code import code
from cli_guard.assistant.documenting.facts.conditions import said
from cli_guard.assistant.documenting.facts.nodes import (
    CALLS,
    NEW,
    NOTHING,
    STRINGS,
    attribute,
    callee,
    descendant,
    expressions,
    positional,
    string_value,
    unwrapped,
)
from cli_guard.assistant.documenting.facts.origin import Origin, local_free
from cli_guard.assistant.documenting.facts.use import listed

if TYPE_CHECKING:
    from ast_grep_py import SgNode

DEPTH = 2
COUNTED = {
    "len": "the number of items in {}",
    "sorted": "{}, sorted",
    "list": "a list of {}",
    "set": "the set of {}",
}
COUNTED |= {
    "sum": "the sum of {}",
    "max": "the largest of {}",
    "min": "the smallest of {}",
    "tuple": "a tuple of {}",
}
COUNTED |= {"str": "{} as text", "int": "{} as an int", "float": "{} as a float", "bool": "the truth of {}"}
COUNTED |= {
    "any": "whether any of {} holds",
    "all": "whether all of {} hold",
    "abs": "the absolute value of {}",
}
COUNTED |= {"repr": "the representation of {}", "dict": "a dict of {}", "iter": "an iterator over {}"}
COUNTED |= {"json.dumps": "{} as JSON text", "json.loads": "the value of the JSON text {}"}
COUNTED |= {"JSON.stringify": "{} as JSON text", "JSON.parse": "the value of the JSON text {}"}
COMPARISONS = frozenset({"comparison_operator", "not_operator"})
SIGNS = frozenset({"==", "!=", "===", "!==", "<", ">", "<=", ">="})


def described(node: "SgNode", origin: Origin, depth: int = 0) -> str:
    """A value in words, "" when nothing can be said of it."""
    node = unwrapped(node)
    kind = node.kind()
    if kind in NOTHING:
        return "None" if kind == "none" else code(node.text())
    if kind in ("identifier",):
        return _named(node, origin, depth)
    if kind in CALLS and not _asks(node):
        if callee(node) in ("cast", "t.cast", "typing.cast") and len(positional(node)) == 2 and depth < DEPTH:
            return described(positional(node)[1], origin, depth + 1)
        return _called(node, origin)
    if _asks(node):
        words = said(node, loose=origin.loose)
        return f"whether {words}" if words else ""
    maker = LITERALS.get(kind)
    if maker is not None:
        return maker(node, origin, depth)
    if kind in ("conditional_expression", "ternary_expression"):
        return _either(node, origin, depth)
    if kind == "subscript" and descendant(node, "slice") is not None:
        whole = node.field("value")
        return f"a slice of {code(whole.text())}" if whole is not None and code(whole.text()) else ""
    if kind == "expression_list":
        if len(node.named_children()) == 1:
            return described(node.named_children()[0], origin, depth)
        values = [code(each.text()) for each in expressions(node)]
        return f"the tuple `({', '.join(v.strip('`') for v in values)})`" if all(values) else ""
    pair = attribute(node)
    if pair and pair[0].text() in ("self", "this") and code(node.text()):
        return code(node.text())
    return code(node.text())


def _asks(node: "SgNode") -> bool:
    """Is its value always a truth? `a or b` is one only if both sides are."""
    node = unwrapped(node)
    if node.kind() == "boolean_operator" or (
        node.kind() == "binary_expression" and _sign(node) in ("&&", "||")
    ):
        return all(_asks(child) for child in node.named_children() if child.kind() != "comment")
    if node.kind() == "unary_expression":
        return node.text().startswith("!")
    if node.kind() in CALLS:
        return callee(node) in ("isinstance", "callable") and bool(said(node))
    return node.kind() in COMPARISONS or (node.kind() == "binary_expression" and _sign(node) in SIGNS)


def _sign(node: "SgNode") -> str:
    return next((c.text() for c in node.children() if not c.is_named()), "")


def _named(node: "SgNode", origin: Origin, depth: int) -> str:
    name = node.text()
    if name in ("self", "this"):
        return "the object itself"
    if name in ("NotImplemented",):
        return "`NotImplemented`"
    if name in origin.functions:
        called = origin.functions[name]
        return f"a function that calls `{called}`" if called else "a function"
    if name in origin.parameters:
        return f"`{name}`"
    gathered = origin.gathered.get(name)
    if gathered is not None:
        return gathered
    value = origin.values.get(name)
    if value is not None and depth < DEPTH:
        words = described(value, origin, depth + 1)
        keys = origin.keys.get(name, ())
        if words and keys:
            return f"{words}, with {listed(keys)} set"
        return words
    of = origin.items.get(name)
    return f"an item of {of}" if of else ""


def _called(node: "SgNode", origin: Origin) -> str:
    name, given = callee(node), positional(node)
    last = name.rsplit(".", 1)[-1]
    if name in ("json.load", "yaml.safe_load", "tomllib.load", "csv.reader", "pickle.load") and given:
        form = {"json": "JSON", "yaml": "YAML", "tomllib": "TOML", "csv": "CSV rows", "pickle": "pickle"}[
            name.split(".")[0]
        ]
        source = origin.opened.get(given[0].text()) or code(given[0].text())
        return f"the {form} of {source}" if source else ""
    opened = origin.opened.get(name.rpartition(".")[0])
    if opened and last in ("read", "readlines", "readline"):
        return f"the {'lines' if last == 'readlines' else 'text' if last == 'read' else 'first line'} of {opened}"
    template = COUNTED.get(name)
    if template is not None and len(given) == 1:
        what = code(given[0].text(), 44)
        if given[0].kind() == "generator_expression":
            inner = _comprehension(given[0], origin, 0).removeprefix("an iterator over ")
            return f"a {name} of {inner}" if inner and name in ("list", "set", "tuple") else ""
        return template.format(what) if what else ""
    if name.endswith(('".format', "'.format")):
        form = code(name.removesuffix(".format"))
        return f"text of the form {form}" if form else "a string"
    if "(" in name.removeprefix("super()"):
        return f"the result of {code(node.text(), 44)}" if code(node.text(), 44) else ""
    if name.endswith(".join") and len(given) == 1 and code(given[0].text()):
        separator = code(name.removesuffix(".join"))
        return f"the items of {code(given[0].text())} joined by {separator}" if separator else ""
    if name == "this":
        return "a new object of this class"
    if node.kind() in NEW or (last[:1].isupper() and not last.isupper() and name.isidentifier()):
        return f"a new `{name}`" if code(name) else ""
    if name in ("cls", "type(self)"):
        return "a new object of this class"
    if name.startswith("super()"):
        return f"the result of the base class's `{last}`" if code(last) else ""
    whole = local_free(code(node.text(), 44), origin)
    if whole:
        return f"the result of {whole}"
    # With what it is called, only the body knows.
    return f"the result of `{name}`" if local_free(code(name), origin) else ""


def _text(node: "SgNode", origin: Origin, depth: int) -> str:
    del origin, depth
    if string_value(node) == "":
        return "an empty string"
    whole = code(node.text())
    if whole and (string_value(node) is None) and ("{" in whole):
        return f"text of the form {whole}"
    return whole or "a string"


def _items(node: "SgNode", origin: Origin, depth: int) -> str:
    del origin, depth
    word = "dict" if node.kind() == "dictionary" else "object" if node.kind() == "object" else "list"
    children = [c for c in node.named_children() if c.kind() != "comment"]
    if not children:
        return f"an empty {word}"
    if word == "list":
        return code(node.text()) or f"a list of {len(children)} items"
    keys = [c.field("key") if c.kind() == "pair" else c for c in children]
    names = [
        code(k.text())
        for k in keys
        if k is not None and k.kind() not in ("dictionary_splat", "spread_element")
    ]
    if len(names) != len(children) or not all(names) or len(names) > 8:
        return (
            f"a dict with {len(children)} keys"
            if word == "dict" and len(names) == len(children)
            else f"a {word}".replace("a o", "an o")
        )
    plural = "s" if len(names) > 1 else ""
    return f"{'an' if word == 'object' else 'a'} {word} with the key{plural} {listed(names)}"


def _comprehension(node: "SgNode", origin: Origin, depth: int) -> str:
    del origin, depth
    word = {"list_comprehension": "a list of", "set_comprehension": "the set of"}.get(
        node.kind(), "an iterator over"
    )
    element = node.field("body")
    clauses = [c for c in node.named_children() if c.kind() == "for_in_clause"]
    filters = [c for c in node.named_children() if c.kind() == "if_clause"]
    if element is None or len(clauses) != 1 or len(filters) > 1:
        return ""
    left, right = clauses[0].field("left"), clauses[0].field("right")
    if left is None or right is None or not code(right.text()):
        return ""
    if element.kind() == "pair":
        key, value = element.field("key"), element.field("value")
        if key is None or value is None or not code(key.text()) or not code(value.text()):
            return ""
        pair = f"{code(key.text())} to {code(value.text())}"
        text = f"a dict from {pair} for each {code(left.text())} in {code(right.text())}"
    elif element.text() == left.text():
        text = f"{word} the items of {code(right.text())}"
    elif code(element.text()):
        text = f"{word} {code(element.text())} for each {code(left.text())} in {code(right.text())}"
    else:
        return ""
    condition = filters[0].named_children()[0] if filters and filters[0].named_children() else None
    if condition is None:
        return text
    words = said(condition)
    if not words:
        return ""
    if element.text() == left.text() and words.startswith(f"`{left.text()}"):
        return f"{text} for which {words}"
    return f"{text} where {words}"


def _either(node: "SgNode", origin: Origin, depth: int) -> str:
    parts = node.named_children()
    if len(parts) != 3 or depth >= DEPTH:
        return code(node.text())
    then, condition, other = (
        parts if node.kind() == "conditional_expression" else (parts[1], parts[0], parts[2])
    )
    words, first, second = said(condition), described(then, origin, DEPTH), described(other, origin, DEPTH)
    return f"{first} if {words}, otherwise {second}" if words and first and second else ""


def _function(node: "SgNode", origin: Origin, depth: int) -> str:
    del node, origin, depth
    return "a function"


LITERALS = {
    **dict.fromkeys(STRINGS, _text),
    **dict.fromkeys(("dictionary", "list", "object", "array"), _items),
    **dict.fromkeys(
        ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"),
        _comprehension,
    ),
    **dict.fromkeys(NESTED, _function),
}
