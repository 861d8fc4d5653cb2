"""Make text readable for a grammar or a rule before it is parsed; every line keeps its number.

What a template would fill in is replaced in Helm charts, and what the same file says it is in Terraform and workflows.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

# Each alternative stops at the next opening, so that text made of openings takes linear time.
ACTION = re.compile(
    r"\{\{-?\s*/\*(?:[^*{]|\*(?!/)|\{(?!\{))*\*/\s*-?\}\}"
    r"|\{\{(?:[^{}]|\}(?!\})|\{(?!\{))*\}\}|\{%(?:[^{}%]|%(?!\})|\{(?!%)|\})*%\}"
)
STATEMENT = re.compile(
    r"\{%|\{\{-?\s*(?:/\*|\$\w*\s*:?=|(?:if|else|end|range|with|define|block|template|break|continue)\b)"
)
# While a text is worked on, "\0" stands for what only controls and "\1" for a value.
ALONE = re.compile(r"^[ \t]*[\0\1][ \t\0\1]*$", re.MULTILINE)

VALUE = r'"[^"$%\n]*"|true|false|-?\d+|\[(?:\s*"[^"$%\n]*"\s*,?)*\s*\]'
SETTING = re.compile(rf"^\s{{1,8}}(\w+)\s*=\s*({VALUE})\s*(?:(?:#|//).*)?$")
VARIABLE = re.compile(r'^variable\s+"?(\w+)"?\s*\{')
REFERENCE = re.compile(r'"\$\{(var|local)\.(\w+)\}"|\b(var|local)\.(\w+)\b(?!\s*[\[.])')
JSON_START = re.compile(r"<<[-~]?\s*\"?(\w+)\"?\s*$")
ENV_SETTING = re.compile(r"^\s+(?:- )?(\w+):\s*['\"]?(\$\{\{[^{}]*\}\})['\"]?\s*$")
ENV_USE = re.compile(r"\$\{\{\s*env\.(\w+)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Readable:
    """A text to parse, and for a line in which a value was filled in, the line that gives the value."""

    text: str
    given_at: Mapping[int, int] = field(default_factory=dict)


def readable(topic: str, text: str) -> Readable:
    """Return what to parse of a text of this topic: a language, or a kind of YAML."""
    if topic == "hcl":
        return _fill_in(_open_json(text), dict(_hcl_values(text)), REFERENCE)
    if topic == "workflow":
        values = {
            found[1]: (number, found[2])
            for number, line in enumerate(text.split("\n"), 1)
            if "${{" in line and (found := ENV_SETTING.match(line))
        }
        return _fill_in(text, values, ENV_USE)
    if topic in ("kubernetes", "yaml", "compose") and ("{{" in text or "{%" in text):
        return Readable(without_actions(text))
    return Readable(text)


def without_actions(text: str) -> str:
    """Replace the actions of a Go or Jinja template: a value by letters, and what only controls by blanks.

    A line of nothing but actions becomes empty: how what it fills in would be indented is not known.
    """
    return ALONE.sub("", ACTION.sub(_mark, text)).replace("\0", " ").replace("\1", "x")


def _mark(action: re.Match[str]) -> str:
    controls = STATEMENT.match(action[0]) or "nindent" in action[0] or "toYaml" in action[0]
    first, *others = action[0].split("\n")
    return "\n".join((("\0" if controls else "\1") * len(first), *("\0" * len(line) for line in others)))


def _hcl_values(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield the names of locals and of variables with a default on one line: the line, and the value as written."""
    block = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line[:1].isalpha():
            variable = VARIABLE.match(line)
            block = f"var.{variable[1]}" if variable else "local" if line.startswith("locals") else ""
        elif block and len(line) < 500 and (found := SETTING.match(line)):
            if block == "local":
                yield f"local.{found[1]}", (number, found[2])
            elif found[1] == "default":
                yield block, (number, found[2])


def _open_json(text: str) -> str:
    """Make the object of a here-document that holds JSON part of the tree."""
    if "<<" not in text:
        return text
    lines = text.split("\n")
    end = ""
    for at, line in enumerate(lines):
        if end:
            if line.strip() == end:
                lines[at], end = ")", ""
        elif (
            (found := JSON_START.search(line))
            and at + 1 < len(lines)
            and lines[at + 1].strip()[:1] in ("{", "[")
        ):
            lines[at], end = f"{line[: found.start()]}jsonencode(", found[1]
    return text if end else "\n".join(lines)


def _fill_in(text: str, values: Mapping[str, tuple[int, str]], use: re.Pattern[str]) -> Readable:
    given_at: dict[int, int] = {}
    if not values:
        return Readable(text)
    lines = text.split("\n")

    def value(number: int) -> Callable[[re.Match[str]], str]:
        def fill(found: re.Match[str]) -> str:
            known = values.get(".".join(filter(None, found.groups())))
            if known is None or known[0] == number:
                return found[0]
            given_at[number] = known[0]
            return known[1]

        return fill

    for number, line in enumerate(lines, 1):
        if "." in line and len(line) < 10_000:
            lines[number - 1] = use.sub(value(number), line)
    return Readable("\n".join(lines), given_at)
