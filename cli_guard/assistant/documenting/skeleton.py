"""Skeletons of documentation: what a signature and its body say, in the style of the file, a TODO for each sentence."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli_guard.assistant.documenting.source import TODO, DocEdit, DocSource
from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.styles import Style, python_entry, safe_type, tag_entry
from cli_guard.secrets.names import kind_of
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from ast_grep_py import SgNode

LONGEST_DEFAULT = 30
# A comment that begins a file and is not about its code.
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
ERROR_NAME = re.compile(r"(?:\w{1,60}\.){0,4}[A-Z]\w{0,80}")
# A statement in one of these belongs to another function than the one that is documented.
SCOPES = frozenset(
    "function_definition lambda class_definition function_declaration function_expression arrow_function"
    " generator_function generator_function_declaration method_definition class_declaration class_body"
    " method_declaration constructor_declaration lambda_expression function_item closure_expression".split()
)
NOTHING = frozenset(("", "None", "void", "NoReturn", "Never", "never", "undefined", "null"))
CREATES = ("call", "new_expression", "object_creation_expression")


def write_skeleton(
    source: DocSource, symbol: Symbol | None, style: Style
) -> DocEdit | None:
    """Return the skeleton of a definition, of the module for None; None where it has no line of its own."""
    if symbol is None:
        return write_module_skeleton(source, style)
    if source.language != "python":
        return write_comment(source, symbol, style)
    if symbol.body <= symbol.head_end or symbol.quiet == "nested":
        return None
    indent = source.indent_of(symbol.body)
    lines = write_docstring(symbol, style, "\t" if indent.endswith("\t") else "    ")
    if symbol.kind == "class" and source.line(symbol.head_end + 1).strip():
        lines.append("")
    return DocEdit(symbol.head_end + 1, tuple((indent + line).rstrip() for line in lines))


def write_module_skeleton(source: DocSource, style: Style) -> DocEdit:
    """Return the docstring of a Python module, below the comments at its head."""
    at = 0
    if source.line(1).lower().startswith(HEADS):
        while source.line(at + 1).startswith("#"):
            at += 1
    lines = [style.quotes + TODO + style.quotes]
    if at > 1:
        lines.insert(0, "")
    if source.line(at + 1).strip():
        lines.append("")
    return DocEdit(at + 1, tuple(lines), module=True)


def write_docstring(symbol: Symbol, style: Style, unit: str) -> list[str]:
    lines: list[str] = []
    section = ""
    if symbol.is_function and style.sections != "plain":
        for heading, entry in list_entries(symbol, style, unit):
            if style.sections == "sphinx":
                lines += entry if lines else ["", *entry]
                continue
            if heading != section:
                lines += ["", *write_heading(heading, style)]
                section = heading
            lines += entry if style.sections == "numpy" else [unit + line for line in entry]
    if not lines:
        return [style.quotes + TODO + style.quotes]
    opening = [style.quotes, TODO] if style.below else [style.quotes + TODO]
    return [*opening, *lines, style.quotes]


def write_heading(heading: str, style: Style) -> list[str]:
    if style.sections != "numpy":
        return [f"{heading}:"]
    heading = {"Args": "Parameters"}.get(heading, heading)
    return [heading, "-" * len(heading)]


def list_entries(
    symbol: Symbol, style: Style, unit: str
) -> Iterator[tuple[str, list[str]]]:
    """Yield what a Python docstring describes: a heading of Google's style, and the lines of one entry."""
    for each in symbol.parameters:
        words = f"{TODO} {state_default(each)}".rstrip()
        yield "Args", python_entry(each, style.sections, style.typed, unit, words)
    facts = [(name, "Raises") for name in find_raised_errors(symbol, "python")]
    if result := find_result(symbol, "python"):
        is_typed = style.typed or style.sections == "numpy"
        kind = safe_type(symbol.returns) if is_typed and result == "Returns" else ""
        facts.insert(0, (kind, result))
    for name, heading in facts:
        if style.sections == "sphinx":
            field = f"raises {name}" if heading == "Raises" else heading.lower()
            yield heading, [f":{field}: {TODO}"]
        elif style.sections == "numpy":
            yield heading, [name or "TODO: type", unit + TODO]
        else:
            yield heading, [f"{name}: {TODO}" if name else TODO]


def state_default(parameter: Parameter) -> str:
    """State the default; empty where it is long, would end the docstring, or may be a secret."""
    text = parameter.default
    # In brackets: `safe_type` takes the quotes of a whole type away.
    if not text or len(text) > LONGEST_DEFAULT or not safe_type(f"({text})"):
        return ""
    is_text = '"' in text or "'" in text
    if is_text and (kind_of(parameter.name) or redact(text) != text):
        return ""
    return f"Defaults to {text}."


def write_comment(source: DocSource, symbol: Symbol, style: Style) -> DocEdit:
    """Return the comment of a definition, right above it and its decorators: JSDoc, Javadoc, Go, Rust."""
    if source.language == "go":
        lines = [f"// {symbol.name} {TODO}"]
    elif source.language == "rust":
        lines = [f"/// {TODO}"]
        if symbol.returns.partition("<")[0].endswith("Result"):
            lines += ["///", "/// # Errors", "///", f"/// {TODO}"]
    else:
        tags = list_tags(source.language, symbol, style)
        lines = [f"/** {TODO} */"]
        if tags:
            lines = ["/**", f" * {TODO}", " *", *(f" * {tag}" for tag in tags), " */"]
    indent = source.indent_of(symbol.top)
    return DocEdit(symbol.top, tuple(indent + line for line in lines))


def list_tags(language: str, symbol: Symbol, style: Style) -> list[str]:
    """List the parameters, the result and the errors; none where the file documents without tags."""
    if style.sections == "plain" or not symbol.is_function:
        return []
    tags = [tag_entry(language, p, style, TODO) for p in symbol.parameters if p.name]
    returns = "@return" if language == "java" else style.returns_tag
    result = find_result(symbol, language)
    if result:
        tags.append(f"{'@yields' if result == 'Yields' else returns} {TODO}")
    for name in find_raised_errors(symbol, language):
        kind = name if language == "java" else f"{{{name}}}"
        tags.append(f"@throws {kind} {TODO}")
    return tags


def find_result(symbol: Symbol, language: str) -> str:
    """Return "Yields", "Returns", or "" for a function that does neither."""
    if symbol.node is None or "property" in symbol.decorators:
        return ""
    # A grammar refuses to be asked for a kind that it does not have.
    kind = "yield" if language == "python" else "yield_expression"
    if language != "java" and next(find_own_nodes(symbol.node, kind), None) is not None:
        return "Yields"
    declared = symbol.returns.removeprefix("Promise<").removesuffix(">")
    has_value = declared not in NOTHING if symbol.returns else returns_value(symbol.node)
    return "Returns" if has_value else ""


def returns_value(function: "SgNode") -> bool:
    """Return whether the function returns a value."""
    for statement in find_own_nodes(function, "return_statement"):
        value = find_value(statement)
        if value is not None and value.text() not in NOTHING:
            return True
    body = function.field("body")
    is_arrow = function.kind() == "arrow_function"
    return is_arrow and body is not None and body.kind() != "statement_block"


def find_raised_errors(symbol: Symbol, language: str) -> list[str]:
    """List the error types that a function raises by name and does not itself catch, in their order."""
    function = symbol.node
    found: dict[str, None] = {}
    kind = "raise_statement" if language == "python" else "throw_statement"
    for statement in find_own_nodes(function, kind) if function is not None else ():
        value = find_value(statement)
        if value is None or is_guarded(statement):
            continue
        if value.kind() in CREATES:
            fields = map(value.field, ("function", "constructor", "type"))
            value = next(filter(None, fields), value)
        name = value.text()
        if ERROR_NAME.fullmatch(name) and name != "NotImplementedError":
            found[name] = None
    return list(found)


def find_own_nodes(function: "SgNode", kind: str) -> Iterator["SgNode"]:
    """Yield the nodes of one kind that belong to a function itself and to none within it."""
    span = function.range()
    for node in function.find_all(kind=kind):
        around = next((a for a in node.ancestors() if a.kind() in SCOPES), None)
        if around is not None and around.range() == span:
            yield node


def is_guarded(statement: "SgNode") -> bool:
    """Return whether a statement is in the tried part of a try statement, whose handlers may catch what it raises."""
    for outer in statement.ancestors():
        if outer.kind() in SCOPES:
            return False
        tried = outer.field("body") if "try" in outer.kind() else None
        if tried is not None and statement.range().end.index <= tried.range().end.index:
            return True
    return False


def find_value(statement: "SgNode") -> "SgNode | None":
    return next((c for c in statement.named_children() if "comment" not in c.kind()), None)
