"""Checks a sentence that a model says about code: it holds no address, and the names of code in it must exist."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from cli_guard.lazy import dataclass

# So many words are looked up in the files.
LOOKED_UP = 200
WORD = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*")
TICKS = re.compile(r"`([^`]*)`")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
CAMEL = re.compile(r"[a-z]\d*[A-Z]|[A-Z]{2}[a-z]{2}")
PLURAL = re.compile(r"\((?:s|es|ies)\)")
FILE_NAME = re.compile(r"\.[a-z]{1,4}\Z")
# Values and types that a language has without a definition, and products that are written like code.
COMMON = frozenset(
    "None True False null undefined nil true false NaN str int float bool list dict tuple set bytes string number"
    " boolean object array JavaScript TypeScript GitHub GitLab PostgreSQL MySQL SQLite GraphQL OAuth OpenAPI"
    " WebSocket LaTeX macOS iOS Node.js".split()
)
ADDRESS = re.compile(r"\w://|\bwww\.|\bmailto:", re.I)


@dataclass
class KnownNames:
    """The words of code that exist in some files (path -> text), read as far as needed; `known` are those looked up."""

    texts: Mapping[str, str]
    known: dict[str, bool] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        """Return whether a file has a name, or each part of one with dots; of the name of a file, the whole."""
        if name in COMMON or self.has(name):
            return True
        parts = re.findall(r"[\w$]+", name)
        return len(parts) > 1 and not FILE_NAME.search(name) and all(map(self.has, parts))

    def has(self, name: str) -> bool:
        if name not in self.known:
            texts = self.texts if len(self.known) < LOOKED_UP else {}
            self.known[name] = any(
                is_in(name, path) or is_in(name, text) for path, text in texts.items()
            )
        return self.known[name]


def is_in(name: str, text: str) -> bool:
    """Return whether a text has a name as a whole word."""
    return (
        name in text
        and re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", text) is not None
    )


def names_in(sentence: str) -> Iterator[str]:
    """Yield the names of code in a sentence: in backticks, snake_case, CamelCase, with dots, called, and options."""
    for quoted in TICKS.findall(sentence):
        yield from WORD.findall(quoted)
    plain = TICKS.sub(" ", sentence)
    yield from OPTION.findall(plain)
    for found in WORD.finditer(plain):
        name = found[0]
        called = plain[found.end() : found.end() + 1] == "(" and not PLURAL.match(
            plain, found.end()
        )
        dotted = max(map(len, re.split(r"\W+", name))) > 1 and re.search(r"\W", name)
        if called or dotted or "_" in name or "$" in name or CAMEL.search(name):
            yield name


def problem_with(sentence: str, known: KnownNames) -> str:
    """Return why a sentence cannot be taken, "" if it can. The text is clean: `llm.answers.clean`."""
    if ADDRESS.search(sentence):
        return "an address"
    unknown = next((name for name in names_in(sentence) if name not in known), "")
    return f"names {unknown[:60]}, which is not in the code" if unknown else ""


def list_dropped(reasons: Iterable[str]) -> str:
    """Return the one line about what was not taken, "" if all was."""
    every = list(reasons)
    shown = "; ".join(list(dict.fromkeys(every))[:5])
    return f"Not taken from the model: {len(every)} (reasons: {shown})." if every else ""
