"""Documentation ready to paste: what the code shows, real names, written types, the file's own style."""

import re

from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.reviewers.docs.styles import Style

LONGEST_TYPE = 60


def suggestion(
    language: str, symbol: Symbol, style: Style, lines: list[str], sentences: list[str]
) -> str:
    """Return the comment for a symbol that says these, indented for its place in the file with these `lines`."""
    if language == "python":
        said = [
            re.sub(r"^([A-Z][a-z]+)s\b", r"\1", sentence) for sentence in sentences
        ]  # PEP 257: "Return"
        indent = indent_of(lines[symbol.body - 1])
        quotes = style.quotes
        if len(said) == 1:
            return f"{indent}{quotes}{said[0]}{quotes}"
        head = [quotes, said[0]] if style.below else [quotes + said[0]]
        return "\n".join(
            (indent + line).rstrip() for line in [*head, "", *said[1:], quotes]
        )
    indent = indent_of(lines[symbol.top - 1])
    if language == "go":
        first, *more = (
            f"{sentence[0].lower()}{sentence[1:]}".replace("`", "")
            for sentence in sentences
        )
        return "\n".join(
            (
                f"{indent}// {symbol.name} {first}",
                *(f"{indent}// It {text}" for text in more),
            )
        )
    if len(sentences) == 1:
        return f"{indent}/** {sentences[0]} */"
    return "\n".join(
        (
            f"{indent}/**",
            *(f"{indent} * {sentence}" for sentence in sentences),
            f"{indent} */",
        )
    )


def place(language: str, symbol: Symbol) -> str:
    return (
        f"below line {symbol.head_end}"
        if language == "python"
        else f"above line {symbol.top}"
    )


def python_entry(
    parameter: Parameter, sections: str, typed: bool, unit: str, words: str
) -> list[str]:
    """Return the lines for one parameter, indented for its section; `words` describe it beyond its name."""
    kind = safe_type(parameter.annotation)
    if sections == "sphinx":
        middle = f"{kind} " if typed and kind and " " not in kind else ""
        return [f":param {middle}{parameter.name}: {words}"]
    name = parameter.star + parameter.name
    if sections == "numpy":
        return [f"{name} : {kind}" if kind else name, unit + words]
    return [f"{name} ({kind}): {words}" if typed and kind else f"{name}: {words}"]


def tag_entry(language: str, parameter: Parameter, style: Style, words: str) -> str:
    """Return the `@param` line of one parameter."""
    dash = "- " if style.dash and language != "java" else ""
    return f"@param {parameter.name} {dash}{words}"


def safe_type(annotation: str) -> str:
    """Return a type for a comment, empty if it is too long, or would end or alter the comment."""
    text = annotation.strip("\"'")
    if len(text) > LONGEST_TYPE or not text.isprintable():
        return ""
    return "" if any(bad in text for bad in ("\\", '"""', "'''", "*/", "):")) else text


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
