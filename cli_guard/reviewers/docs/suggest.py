"""Documentation ready to paste: real names, written types, the file's own style, nothing invented."""

import re

from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.styles import Style
from cli_guard.reviewers.docs.wording import NOTHING, about, go_summary, result, summary, third_person

INDENT = re.compile(r"[ \t]*")
LONGEST_TYPE = 60


def suggestion(language: str, symbol: Symbol, style: Style, lines: list[str]) -> str:
    """Return the comment for a symbol, indented for its place in the file with these `lines`."""
    if language == "python":
        return _docstring(symbol, style, _indent(lines[symbol.body - 1]))
    indent = _indent(lines[symbol.top - 1])
    if language == "go":
        return f"{indent}// {go_summary(symbol)}"
    return _block(language, symbol, style, indent)


def place(language: str, symbol: Symbol) -> str:
    return f"below line {symbol.head_end}" if language == "python" else f"above line {symbol.top}"


def python_entry(
    parameter: Parameter, sections: str, typed: bool, unit: str = "    ", words: str = ""
) -> list[str]:
    """Return the lines for one parameter, indented for its section; `words` describe it beyond its name."""
    text = words or about(parameter)
    kind = safe_type(parameter.annotation)
    if sections == "sphinx":
        middle = f"{kind} " if typed and kind and " " not in kind else ""
        return [f":param {middle}{parameter.name}: {text}"]
    name = parameter.star + parameter.name
    if sections == "numpy":
        return [f"{name} : {kind}" if kind else name, unit + text]
    return [f"{name} ({kind}): {text}" if typed and kind else f"{name}: {text}"]


def tag_entry(language: str, parameter: Parameter, style: Style, words: str = "") -> str:
    """Return the `@param` line of one parameter."""
    if language == "java":
        text = about(parameter).rstrip(".")
        return f"@param {parameter.name} {words or text[0].lower() + text[1:]}"
    dash = "- " if style.dash else ""
    return f"@param {parameter.name} {dash}{words or about(parameter)}"


def safe_type(annotation: str) -> str:
    """Return a type for a comment, empty if it is too long, or would end or alter the comment."""
    text = annotation.strip("\"'")
    if len(text) > LONGEST_TYPE or not text.isprintable():
        return ""
    return "" if any(bad in text for bad in ("\\", '"""', "'''", "*/", "):")) else text


def _indent(line: str) -> str:
    match = INDENT.match(line)
    return match[0] if match else ""


def _docstring(symbol: Symbol, style: Style, indent: str) -> str:
    first, quotes = summary(symbol), style.quotes
    unit = "\t" if indent.endswith("\t") else "    "
    body = [] if style.sections == "plain" or not symbol.is_function else _sections(symbol, style, unit)
    if not body:
        return f"{indent}{quotes}{first}{quotes}"
    head = [quotes, first] if style.below else [quotes + first]
    return "\n".join((indent + line).rstrip() for line in [*head, *body, quotes])


def _sections(symbol: Symbol, style: Style, unit: str) -> list[str]:
    listed = [p for p in symbol.parameters if p.name]
    entries = [python_entry(p, style.sections, style.typed, unit) for p in listed]
    kind = "" if symbol.returns in NOTHING or "property" in symbol.decorators else safe_type(symbol.returns)
    if "Iterator" in kind or "Generator" in kind or "Iterable" in kind:
        kind = ""  # the annotation does not say whether it yields or returns
    flat = [line for entry in entries for line in entry]
    if style.sections == "sphinx":
        return ["", *flat, *([f":returns: {result(symbol)}"] if kind else [])] if flat or kind else []
    if style.sections == "numpy":
        returns = ["", "Returns", "-------", kind, unit + result(symbol)] if kind else []
        return [*(["", "Parameters", "----------", *flat] if flat else []), *returns]
    answer = f"{kind}: {result(symbol)}" if style.typed else result(symbol)
    returns = ["", "Returns:", unit + answer] if kind else []
    return [*(["", "Args:", *(unit + line for line in flat)] if flat else []), *returns]


def _block(language: str, symbol: Symbol, style: Style, indent: str) -> str:
    first = summary(symbol)
    if language == "java":
        first = third_person(first)
    tags = [tag_entry(language, p, style) for p in symbol.parameters if p.name]
    bare = symbol.returns.removeprefix("Promise<").removesuffix(">")
    if symbol.returns and bare not in NOTHING:
        text = result(symbol)
        java = f"@return {text[0].lower()}{text[1:-1]}"
        tags.append(java if language == "java" else f"{style.returns_tag} {text}")
    if style.sections == "plain" or not symbol.is_function or not tags:
        return f"{indent}/** {first} */"
    body = ["", *tags]
    return "\n".join(
        [f"{indent}/**", f"{indent} * {first}", *(f"{indent} * {t}".rstrip() for t in body), f"{indent} */"]
    )
