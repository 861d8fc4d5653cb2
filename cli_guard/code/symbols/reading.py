"""What is read alike in all languages: the lines of a symbol, its parameters and its result."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from cli_guard.code.symbols.model import Parameter, Symbol
from cli_guard.code.symbols.nesting import (
    field_text,
    first_line,
    last_line,
    nodes_in,
    squeeze,
)

if TYPE_CHECKING:
    from ast_grep_py import SgNode

WORD = re.compile(r"[\w$]+")
# The fields with the type of a result: Python and others, Go, Java.
RESULTS = ("return_type", "result", "type")
# Variadic parameters of Go and Java, whose sign is not part of the name.
VARIADIC = ("variadic_parameter_declaration", "spread_parameter")
# What stands among parameters and is none.
OTHERS = frozenset(
    """comment line_comment block_comment decorator attribute_item self_parameter receiver_parameter
    positional_separator keyword_separator ERROR""".split()
)


def symbol_of(node: "SgNode", name: str, owner: str, kind: str, /, **given: Any) -> Symbol:
    """Build the symbol of a node; `owner` is the qualified name of what it belongs to, `given` what differs.

    The head ends where the body begins, or without a body where the definition ends. A `node` that is given is the
    function with the parameters.
    """
    body = node.field("body")
    begin = first_line(body) if body is not None else last_line(node)
    known: dict[str, Any] = {
        "kind": kind,
        "name": name,
        "qualname": f"{owner}.{name}" if owner else name,
        "owner": owner.rpartition(".")[2],
        "top": first_line(node),
        "line": first_line(node),
        "head_end": begin,
        "body": begin,
        "end_line": last_line(node),
        "node": node,
    }
    function = given.get("node", node)
    if kind != "class":
        results = (field_text(function, field) for field in RESULTS)
        known["parameters"] = tuple(parameters_of(function))
        known["returns"] = squeeze("".join(results).lstrip(":"))
    return Symbol(**known | given)


def parameters_of(function: "SgNode") -> Iterator[Parameter]:
    """Yield the parameters of a function in their order; one without a name, or taken apart, has an empty one."""
    single = function.field("parameter")
    if single is not None:
        yield Parameter(single.text())
        return
    keyword_only = False
    for child in nodes_in(function, "parameters"):
        keyword_only = keyword_only or child.kind() == "keyword_separator"
        if child.kind() in OTHERS:
            continue
        for written in _names_in(child):
            parameter = _parameter(child, written, keyword_only)
            keyword_only = keyword_only or parameter.star == "*"
            yield parameter


def _names_in(child: "SgNode") -> list[str]:
    """Return the names that share a type, as they are written: `a, b int` of Go has two, `int` none."""
    names = [each.text() for each in child.field_children("name") if each.is_named()]
    pattern = child.field("pattern") or child.field("left")
    if pattern is not None:
        names = [] if pattern.kind() == "this" else [pattern.text()]
    elif child.kind() == "spread_parameter":
        names = [field_text(child.named_children()[-1], "name")]
    elif not names and child.field("type") is None:
        names = [child.text()]
    elif not names:
        # `a: int` of Python
        names = [child.text().removesuffix(field_text(child, "type")).rstrip(": ")]
    return names


def _parameter(child: "SgNode", written: str, keyword_only: bool) -> Parameter:
    name = written.lstrip(".* ")
    is_variadic = child.kind() in VARIADIC or written[:1] in (".", "*")
    star = "*" if is_variadic else ""
    if written.startswith("**"):
        star = "**"
    default = field_text(child, "value") or field_text(child, "right")
    return Parameter(
        name if WORD.fullmatch(name) else "",
        squeeze(_type_text(child).lstrip(":")),
        star=star,
        optional=bool(star or default) or child.kind() == "optional_parameter",
        keyword_only=keyword_only or star == "**",
        default=default,
    )


def _type_text(child: "SgNode") -> str:
    if child.kind() != "spread_parameter":
        return field_text(child, "type")
    types = (each for each in child.named_children() if each.kind() != "modifiers")
    return next(types).text()
