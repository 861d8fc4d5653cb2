"""What may be taken from a model's answer: clean text, data of a schema, lines and names that exist, no address."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cli_guard.lazy import dataclass
from cli_guard.llm.prompts import strip_controls
from cli_guard.llm.providers import ModelError
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

Schema = TypeVar("Schema", bound=BaseModel)

TEXT_CHARS = 100_000
# The same piece of text, this often in a row and over so many characters, is a model that cannot stop; the line below a
# heading and the border of a table are shorter.
REPEATS = 10
REPEATED_CHARS = 1_000
LONGEST_REPEATED = 500
# A name without a letter is a time or a ratio.
# The run is possessive: a long one without a colon is read once.
CITED = re.compile(
    r"(?<![\w@+./-])(?!/)(?=[\w@+./-]*[^\W\d])([\w@+./-]++)(?<=[\w@+.-][\w-]):(\d{1,7})(?:-(\d{1,7}))?"
)
FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
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


def clean(text: str) -> str:
    """Return the text of an answer as it may be shown: no control or bidirectional character, no secret."""
    kept = strip_controls(text[:TEXT_CHARS]).replace("\r\n", "\n").replace("\r", "\n")
    return redact(printable(kept.expandtabs(4), keep_newlines=True)).strip()


def is_endless(text: str) -> bool:
    """Return whether the end of a text repeats itself so often that nothing more will come."""
    for period in range(1, LONGEST_REPEATED + 1):
        size = max(REPEATS * period, REPEATED_CHARS)
        tail = text[-size:]
        if len(tail) == size and tail.startswith(tail[period:]):
            return True
    return False


def parse_answer(text: str, schema: type[Schema]) -> Schema:
    """Return an answer as data of a schema. Raises ModelError."""
    fenced = FENCED.match(text)
    try:
        return schema.model_validate(json.loads(fenced[1] if fenced else text))
    except (ValueError, RecursionError) as error:
        why = (
            "not the data that was asked for"
            if isinstance(error, ValidationError)
            else "no JSON"
        )
        raise ModelError(f"the model's answer is {why}") from None


def cited_lines(text: str) -> list[tuple[str, int]]:
    """Return the places that a text names as path:line."""
    return [(found[1], int(found[3] or found[2])) for found in CITED.finditer(text)]


def missing_citations(text: str, texts: Mapping[str, str]) -> list[str]:
    """Return the places that a text cites and that do not exist in some files (text by path)."""
    return [
        f"{path}:{line}"
        for path, line in cited_lines(text)
        # `localhost:8080` is no place in a file.
        if path in texts or "." in path or "/" in path
        if not 1 <= line <= texts.get(path, "").count("\n") + (path in texts)
    ]


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
