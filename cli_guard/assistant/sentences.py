"""Checks a sentence that a model has written: what it may not hold, and the names of code in it, which must exist."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from cli_guard.lazy import dataclass
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

LONGEST = 200
# A word that is not in the text at hand is looked up in the other files, up to so many words.
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
# What ends a comment or acts in it: markup of documentation, doctests, escapes; and words that programs obey.
REFUSED = {
    "an address": re.compile(r"\w://|\bwww\.|\bmailto:", re.I),
    "a masked secret": re.compile(r"\*{4}"),
    "a mention or a tag": re.compile(r"@\w"),
    "markup": re.compile(
        r"\"\"\"|'''|\*/|/\*|```|>>>|\\|<[A-Za-z/!]|(?:^|\s):[a-z]+(?: [\w*.]+)*:(?!\w)"
    ),
    "a directive to a program": re.compile(
        r"cli-guard\s*:|\bno(?:qa|sec|lint|semgrep)\b|\b(?:es|ts)lint-|prettier-ignore|\bts-(?:ignore|nocheck|expect)"
        r"|\b(?:pylint|type|mypy|ruff|gitleaks)\s*:\s*\w|pragma:"
        r"|\[(?:skip|no)[ -]?\w*ci\]|\[\w*ci[ -]skip\]|\bno_ci\b|skip-checks",
        re.I,
    ),
}


@dataclass
class KnownNames:
    """The words of code that exist: those of `text`, and those of `others` (path -> text), read as far as needed.

    `elsewhere` keeps which words the others have; several texts may share it.
    """

    text: str
    others: Mapping[str, str] = field(default_factory=dict)
    elsewhere: dict[str, bool] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        """Return whether the text has a name, or each part of one with dots; of the name of a file, the whole."""
        if name in COMMON or self.has(name):
            return True
        parts = re.findall(r"[\w$]+", name)
        return len(parts) > 1 and not FILE_NAME.search(name) and all(map(self.has, parts))

    def has(self, name: str) -> bool:
        if is_in(name, self.text):
            return True
        if name not in self.elsewhere:
            others = self.others if len(self.elsewhere) < LOOKED_UP else ()
            self.elsewhere[name] = any(
                is_in(name, path) or is_in(name, self.others[path]) for path in others
            )
        return self.elsewhere[name]


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
    """Return why a sentence cannot be taken, "" if it can; the reason holds nothing that may not be shown."""
    if len(sentence) > LONGEST:
        return f"longer than {LONGEST} characters"
    if len(sentence.splitlines()) > 1:
        return "several lines"
    if printable(sentence) != sentence:
        return "a control character"
    if redact(sentence) != sentence:
        return "a secret"
    if refused := next(
        (what for what, pattern in REFUSED.items() if pattern.search(sentence)), ""
    ):
        return refused
    unknown = next((name for name in names_in(sentence) if name not in known), "")
    return f"names {unknown[:60]}, which is not in the code" if unknown else ""


def list_dropped(reasons: Iterable[str]) -> str:
    """Return the one line about what was not taken, "" if all was."""
    every = list(reasons)
    shown = "; ".join(list(dict.fromkeys(every))[:5])
    return f"Not taken from the model: {len(every)} (reasons: {shown})." if every else ""
