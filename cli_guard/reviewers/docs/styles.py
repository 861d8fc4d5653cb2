"""Detect how a file documents, from its own comments first, then from the rest of the change; and write in that style.

What is written is ready to paste: what the code shows, real names, written types.
"""

import re
from collections.abc import Iterable
from itertools import islice

from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.lazy import frozen

ENOUGH = 4
SAMPLE = 40
LONGEST_TYPE = 60


@frozen
class Style:
    """The form of documentation in one file: of Python its quotes, and whether the first line is `below` them.

    `dash` puts a hyphen before a description in JSDoc.
    """

    quotes: str = '"""'
    below: bool = False
    dash: bool = True


def style_of(language: str, own: Iterable[Symbol], others: Iterable[Symbol]) -> Style:
    """Return the style of a file with symbols `own`, in a change with the documented `others` elsewhere."""
    mine = list(islice((s for s in own if s.doc is not None), SAMPLE))
    if len(mine) < ENOUGH:
        mine += others
    texts = [s.doc.text for s in mine if s.doc is not None]
    if language != "python":
        joined = "\n".join(texts)
        dashed = len(re.findall(r"@param.* - ", joined))
        return Style(dash=dashed * 2 >= joined.count("@param"))
    single = sum(text.lstrip("rRuU").startswith("'''") for text in texts)
    below = sum(bool(re.match(r"\w{0,2}('''|\"\"\")\s*\n", text)) for text in texts)
    several = sum("\n" in text for text in texts)
    quotes = "'''" if single * 2 > len(texts) else '"""'
    return Style(quotes, below * 2 > several)


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
