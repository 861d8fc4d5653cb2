"""Skeletons of Python docstrings: what griffe reads from a signature, as docstring_parser writes it in each style."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.bodies import (
    NOTHING,
    find_raised_errors,
    returns_value,
    yields_value,
)
from cli_guard.assistant.documenting.source import TODO, Edit, Source
from cli_guard.code.symbols import Symbol
from cli_guard.reviewers.docs.styles import Style
from cli_guard.reviewers.docs.suggest import safe_type
from cli_guard.secrets.names import kind_of
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from ast_grep_py import SgNode
    from docstring_parser.common import DocstringMeta, DocstringStyle
    from griffe import Attribute, Class, Expr, Function, Parameter

    Signature = Attribute | Class | Function

LONGEST_DEFAULT = 30
# An entry longer than this has its default on a line of its own.
LONGEST_ENTRY = 72
# NumPy's style has a type wherever there is a result.
NO_TYPE = "TODO: type"
STARS = {"variadic positional": "*", "variadic keyword": "**"}
HEADS = (
    "#!",
    "# -*-",
    "# vim",
    "# coding",
    "# copyright",
    "# spdx",
    "# license",
    "# (c)",
    "# author",
)
ITERATES = frozenset({"Iterator", "Iterable", "AsyncIterator", "AsyncIterable"})
GENERATES = frozenset({"Generator", "AsyncGenerator"})


def read_signatures(source: Source) -> Mapping[int, "Signature"]:
    """Read what a module and its classes define, by line.

    griffe counts a property from its `def`, anything else from its first decorator. Of definitions that share a name
    it knows the last, and none within a function.
    """
    from griffe import Attribute, Class, Function, Module, visit

    with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
        left: list[Module | Class] = [visit("module", Path("module.py"), source.text)]
    found: dict[int, Signature] = {}
    while left:
        for member in left.pop().members.values():
            if (
                isinstance(member, Attribute | Class | Function)
                and member.lineno is not None
            ):
                found.setdefault(member.lineno, member)
            if isinstance(member, Class):
                left.append(member)
    return found


def find_parser_style(style: str) -> "DocstringStyle":
    """Map a style to the one of docstring_parser."""
    from docstring_parser import DocstringStyle

    names = {"google": "GOOGLE", "numpy": "NUMPYDOC", "sphinx": "REST"}
    return DocstringStyle[names.get(style, "AUTO")]


def write_module_doc(source: Source, style: Style) -> Edit:
    """Write the docstring of a module, below the comments at its head."""
    at = 0
    if source.lines[0].lower().startswith(HEADS):
        while at < len(source.lines) and source.lines[at].startswith("#"):
            at += 1
    following = source.lines[at].strip() if at < len(source.lines) else ""
    lines = [
        *([""] if at > 1 else []),
        style.quotes + TODO + style.quotes,
        *([""] if following else []),
    ]
    return Edit(at + 1, tuple(lines), module=True)


def write_docstring(
    source: Source, symbol: Symbol, style: Style, signatures: Mapping[int, "Signature"]
) -> Edit | None:
    """Write the docstring of a definition that has lines of its own; None if griffe does not know it."""
    signature = signatures.get(symbol.top) or signatures.get(symbol.line)
    if signature is None or signature.name != symbol.name:
        return None
    indent = source.indent_of(symbol.body)
    lines = _compose_docstring(
        symbol, signature, style, "\t" if indent.endswith("\t") else "    "
    )
    following = (
        source.lines[symbol.head_end].strip() if symbol.head_end < len(source.lines) else ""
    )
    if symbol.kind == "class" and following:
        lines.append("")
    return Edit(symbol.head_end + 1, tuple((indent + line).rstrip() for line in lines))


def _compose_docstring(
    symbol: Symbol, signature: "Signature", style: Style, unit: str
) -> list[str]:
    from docstring_parser import Docstring, RenderingStyle, compose

    parsed = Docstring()
    parsed.short_description = TODO
    if style.sections != "plain":
        parsed.meta = list(_list_entries(symbol, signature, style))
    if not parsed.meta:
        return [style.quotes + TODO + style.quotes]
    # NumPy's composer begins each section with a blank line of its own.
    parsed.blank_after_short_description = style.sections != "numpy"
    text = compose(parsed, find_parser_style(style.sections), RenderingStyle.CLEAN, unit)
    # Google's composer leaves the colon of a type that is not there, Sphinx's a blank before that of an error.
    text = text.replace(f"{unit}: {TODO}", unit + TODO).replace(f" : {TODO}", f": {TODO}")
    lines = text.split("\n")
    opening = [style.quotes, lines[0]] if style.below else [style.quotes + lines[0]]
    return [*opening, *lines[1:], style.quotes]


def _list_entries(
    symbol: Symbol, signature: "Signature", style: Style
) -> Iterator["DocstringMeta"]:
    """List what the signature and the body say, an entry each, without the words."""
    from docstring_parser.common import DocstringParam, DocstringRaises
    from griffe import Attribute, Class, Function

    parameters: Iterable[Parameter] = ()
    if isinstance(signature, Class):
        members = signature.members
        constructor = signature.members.get("__init__")
        # The parameters of an undocumented constructor; without one, the annotated public attributes.
        if isinstance(constructor, Function) and constructor.docstring is None:
            parameters = list(constructor.parameters)[1:]
        for name, each in members.items() if constructor is None else ():
            public = (
                isinstance(each, Attribute)
                and "property" not in each.labels
                and not name.startswith("_")
            )
            if public and isinstance(each, Attribute) and each.annotation is not None:
                kind = _write_type(each.annotation, style)
                yield DocstringParam(["attribute", name], TODO, name, kind, False, None)
    elif isinstance(signature, Function) and symbol.node is not None:
        bound = symbol.kind == "method" and "staticmethod" not in symbol.decorators
        parameters = list(signature.parameters)[bound:]
    for parameter in parameters:
        star = STARS.get(parameter.kind.value, "") if parameter.kind is not None else ""
        name = parameter.name if style.sections == "sphinx" else star + parameter.name
        kind = _write_type(parameter.annotation, style)
        default = "" if star else _state_default(parameter)
        gap = "\n" if len(f"{name} ({kind}): {TODO} {default}") > LONGEST_ENTRY else " "
        words = f"{TODO}{gap}{default}" if default else TODO
        yield DocstringParam(["param", name], words, name, kind, False, None)
    if not isinstance(signature, Class) and symbol.node is not None:
        if isinstance(signature, Function):
            yield from _list_result(symbol.node, signature, style)
        for name in find_raised_errors(symbol.node, "python"):
            yield DocstringRaises(["raises", name], TODO, name)


def _state_default(parameter: "Parameter") -> str:
    """State the default; empty where it is long, would end the docstring, or may be a secret."""
    text = "" if parameter.default is None else str(parameter.default)
    # In brackets: `safe_type` takes the quotes of a whole type away.
    if not text or len(text) > LONGEST_DEFAULT or not safe_type(f"({text})"):
        return ""
    if ('"' in text or "'" in text) and (kind_of(parameter.name) or redact(text) != text):
        return ""
    return f"Defaults to {text}."


def _list_result(
    node: "SgNode", signature: "Function", style: Style
) -> Iterator["DocstringMeta"]:
    from docstring_parser.common import DocstringMeta, DocstringReturns

    declared = signature.returns
    is_generator = yields_value(node, "python")
    if is_generator:
        declared = _find_yielded_type(declared)
    elif str(declared) in NOTHING if declared is not None else not returns_value(node):
        return
    kind = _write_type(declared, style)
    word = "yields" if is_generator else "returns"
    beside = {"google": kind, "numpy": kind or NO_TYPE}.get(style.sections)
    yield DocstringReturns([word], TODO, beside, is_generator)
    if style.sections == "sphinx" and kind and not is_generator:
        yield DocstringMeta(["rtype"], kind)


def _find_yielded_type(declared: "str | Expr | None") -> "str | Expr | None":
    """Find the type that is yielded: `int` of `Iterator[int]` and of `Generator[int, None, str]`."""
    from griffe import ExprSubscript, ExprTuple

    if not isinstance(declared, ExprSubscript):
        return None
    if declared.canonical_name in ITERATES:
        return declared.slice
    if declared.canonical_name in GENERATES and isinstance(declared.slice, ExprTuple):
        return declared.slice.elements[0]
    return None


def _write_type(annotation: "str | Expr | None", style: Style) -> str | None:
    """Write a type as it is put beside a name, None where the style has none; NumPy's always has."""
    if annotation is None or not (style.typed or style.sections == "numpy"):
        return None
    text = safe_type(str(annotation))
    return None if ":" in text else text or None
