"""Detect how a file documents, from its own comments first, then from the rest of the change; and write in that style.

What is written is ready to paste: what the code shows, real names, written types.
"""

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from cli_guard.code.symbols import Parameter, Symbol
from cli_guard.lazy import dataclass
from cli_guard.reviewers.docs.documented import read_docstring

ENOUGH = 4
SAMPLE = 40
LONGEST_TYPE = 60


@dataclass(frozen=True, slots=True)
class Style:
    """The form of documentation in one file.

    `sections` is "google", "numpy" or "sphinx" (Python), and "plain" if functions with parameters are documented
    without naming them. `below` puts the first line under the opening quotes, `typed` writes types beside names, `dash`
    a hyphen before a JSDoc description.
    """

    sections: str = "google"
    quotes: str = '"""'
    below: bool = False
    typed: bool = True
    dash: bool = True


def style_of(language: str, own: Iterable[Symbol], others: Iterable[Symbol]) -> Style:
    """Return the style of a file with symbols `own`, in a change with the documented `others` elsewhere."""
    mine = list(islice((s for s in own if s.doc is not None), SAMPLE))
    if len(mine) < ENOUGH:
        mine += others
    if language == "python":
        return _python(mine)
    texts = [s.doc.text for s in mine if s.doc is not None]
    if not any("@param" in text or "@return" in text for text in texts):
        return Style(
            sections="tags" if sum(bool(s.parameters) for s in mine) < ENOUGH else "plain"
        )
    joined = "\n".join(texts)
    dashed = len(re.findall(r"@param.* - ", joined))
    return Style(
        sections="tags",
        typed="@param {" in joined,
        dash=dashed * 2 >= joined.count("@param"),
    )


def _python(symbols: list[Symbol]) -> Style:
    texts = [s.doc.text for s in symbols if s.doc is not None]
    read = [read_docstring(text) for text in texts]
    styles = Counter(documented.style for documented in read)
    pairs = zip(symbols, read, strict=True)
    plain = sum(bool(s.parameters) and s.is_function and not d.style for s, d in pairs)
    del styles[""]
    sections = max(styles, key=lambda name: (styles[name], name), default="google")
    if plain > 3 * sum(styles.values()) and (styles or plain >= ENOUGH):
        sections = "plain"
    single = sum(text.lstrip("rRuU").startswith("'''") for text in texts)
    below = sum(bool(re.match(r"\w{0,2}('''|\"\"\")\s*\n", text)) for text in texts)
    several = sum("\n" in text for text in texts)
    entries = [entry for documented in read for entry in documented.entries]
    return Style(
        sections=sections,
        quotes="'''" if single * 2 > len(texts) else '"""',
        below=below * 2 > several,
        typed=not entries or any(entry.type for entry in entries),
    )


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
