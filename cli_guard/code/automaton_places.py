"""Find the regular expressions of a program, see `rules/languages/regexes.toml`."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from cli_guard.code.languages import FAMILY
from cli_guard.lazy import frozen
from cli_guard.rules.catalog import read_table

if TYPE_CHECKING:
    from ast_grep_py import Rule, SgNode

LITERAL = re.compile(r"(?:%r)?(\W)(.*)\W([a-z]*)\Z", re.DOTALL)
STRING = re.compile(r"([A-Za-z.@$]*)(\"\"\"|'''|\"|'|`)(.*)\2\Z", re.DOTALL)
ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "0": "\0"}
QUOTED = "\\'\"`"
JOINS = re.compile(r"[\s+()]*")
FLAGS = {
    "i": re.compile(r"\b(?:I|IGNORECASE|IgnoreCase|CASE_INSENSITIVE|IGNORE_CASE)\b"),
    "m": re.compile(r"\b(?:M|MULTILINE|Multiline)\b"),
    "s": re.compile(r"\b(?:S|DOTALL|Singleline|DOT_MATCHES_ALL)\b"),
    "x": re.compile(r"\b(?:X|VERBOSE|IgnorePatternWhitespace|COMMENTS|EXTENDED)\b"),
}
# An engine, or a limit of time, that ends in time.
LIMITED = re.compile(r"NonBacktracking|TimeSpan|[tT]imeout")
CALLED = re.compile(r"[\w.]*?(\w+)\(")
CALLS = re.compile(r"\b([\w$]+)\.(?:matcher\([^()]*\)\.)?(\w+)\(")
JOINING = (
    "concatenated_string",
    "binary_operator",
    "binary_expression",
    "parenthesized_expression",
    "additive_expression",
)
NAMED = re.compile(r"([\w$.]+)\s*(?::[^=\n]{0,80})?=\s*\Z")


@frozen
class WrittenPattern:
    """A regular expression in a program: its text and flags, where it is written, and the name that it is given.

    `part` is what of a text it has to match: the whole, what is first, or "" for anything.
    """

    text: str
    flags: str
    node: "SgNode"
    name: str
    part: str


def may_hold_patterns(language: str, text: str) -> bool:
    """Return whether a program may hold a pattern that is judged."""
    table = read_table("languages/regexes.toml").get(FAMILY.get(language, language))
    return table is not None and re.search(table["sign"], text) is not None


def find_patterns(root: "SgNode", language: str) -> Iterator[WrittenPattern]:
    """Yield the regular expressions of a program that are written out."""
    table = read_table("languages/regexes.toml")[FAMILY.get(language, language)]
    text = root.text()
    literals = root.find_all(kind=table["literals"]) if "literals" in table else ()
    for node in literals:
        found = LITERAL.match(node.text())
        if found and not is_put_together(node):
            yield WrittenPattern(found[2], found[3], node, *_use(table, node, text))
    calls = (
        (node, _texts_of(node, table["strings"]))
        for kind, start in table["calls"].items()
        for node in root.find_all({"rule": {"kind": kind, "regex": start}})
    )
    # Of calls in a chain, which begin alike, the last that is found is the first one of the chain.
    written = {
        parts[0].range().start.index: (node, parts) for node, parts in calls if parts
    }
    for node, parts in written.values():
        pieces = [_value_of(part, table.get("raw", "(?!)")) for part in parts]
        rest = node.text().replace(parts[-1].text(), "", 1)
        if None not in pieces and not LIMITED.search(rest):
            flags = "".join(letter for letter, words in FLAGS.items() if words.search(rest))
            whole = "".join(filter(None, pieces))
            yield WrittenPattern(whole, flags, node, *_use(table, node, text))


def is_put_together(node: "SgNode") -> bool:
    """Return whether values are put into a literal."""
    return any(child.kind() == "interpolation" for child in node.children())


def _texts_of(node: "SgNode", kinds: list[str]) -> "list[SgNode]":
    """Return the texts that make up the first one in a call, none if something else is joined with them."""
    rule: Rule = {"any": [{"kind": kind} for kind in kinds]}
    first = node.find({"rule": rule})
    if first is None:
        return []
    whole = first
    while (parent := whole.parent()) is not None and parent.kind() in JOINING:
        whole = parent
    texts = [first] if whole is first else whole.find_all({"rule": rule})
    between = whole.text()
    for each in texts:
        between = between.replace(each.text(), "", 1)
    return list(texts) if JOINS.fullmatch(between) else []


def _value_of(node: "SgNode", raw: str) -> str | None:
    """Return the value of a text, None if other values are put into it."""
    text = node.text()
    found = STRING.match(text)
    if found is None or is_put_together(node) or "$" in found[1] or "f" in found[1].lower():
        return None
    if re.match(raw, text):
        return found[3].replace('""', '"') if found[1] == "@" else found[3]
    return ESCAPE.sub(_unescape, found[3])


def _unescape(match: re.Match[str]) -> str:
    if match[3] is None:
        return chr(int(match[1] or match[2], 16))
    return match[3] if match[3] in QUOTED else ESCAPED.get(match[3], match[0])


def _use(table: Mapping[str, Any], node: "SgNode", text: str) -> tuple[str, str]:
    """Return the name that a pattern is given, and what of a text it has to match."""
    parts = table.get("methods", {})
    called = CALLED.match(node.text())
    if called and called[1] in parts:
        return "", parts[called[1]]
    start = node.range().start.index
    named = NAMED.search(text[max(0, start - 160) : start])
    if named is None:
        return "", ""
    name = named[1].rpartition(".")[2]
    known = {parts.get(method, "") for method in methods_called(text).get(name, ())}
    return name, known.pop() if len(known) == 1 else ""


@lru_cache(maxsize=2)
def methods_called(text: str) -> Mapping[str, list[str]]:
    """Map names to the methods of them that a program calls; that of a matcher instead of `matcher`."""
    found: dict[str, list[str]] = {}
    for name, method in CALLS.findall(text):
        found.setdefault(name, []).append(method)
    return found
