"""Find where a file shows values rather than uses them: docstrings, doc comments, inline tests, recordings.

A value there is an example unless a checksum shows that its provider issued it. The forms are in
`cli_guard/rules/secrets/examples.toml`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from cli_guard.model import Confidence, Severity
from cli_guard.rules.catalog import read_patterns, read_table
from cli_guard.secrets.candidates import EXAMPLE, SecretHit
from cli_guard.secrets.detectors import for_blocks
from cli_guard.secrets.places import ending

TABLE = "secrets/examples.toml"
MOST_READ = 3_000_000
HEAD = 4_000
BEFORE = 100
LINE = 300
PARENTS = 20_000
# The keys that the documentation of AWS prints, and most people try first.
PRINTED_KEY = re.compile(r"\b(?:A[KS]IA[0-9A-Z]{9}EXAMPLE|[\w/+]{30}EXAMPLEKEY)\b")
# A string after one of these is an argument or an operand, though it begins a line.
JOINS = ("(", ",", "=", "[", "{", "+", "\\", "%", "&", "|", ".", "?")


def count_printed_keys(texts: Iterable[str]) -> int:
    """Count the different keys of a provider's documentation in some texts: they are known, and no secrets."""
    marked = (text for text in texts if "EXAMPLE" in text)
    return len({key for text in marked for key in PRINTED_KEY.findall(text)})


def find_shown(text: str, path: str, places: Iterable[int]) -> set[int]:
    """Return which of some offsets are in a part of the file that shows values; what is over 3 MB is not read."""
    text = text[:MOST_READ]
    kinds = _kinds_of(ending(path))
    forms = _forms("patterns")
    wanted = sorted({place for place in places if 0 <= place < len(text)})
    # Code in a folder of recordings, or with words like theirs, is no recording.
    if "recorded" in kinds and (
        forms["path"].search(path) or forms["head"].search(text[:HEAD])
    ):
        return set(wanted)
    starts = {at: max(text.rfind("\n", 0, at) + 1, at - LINE) for at in wanted}
    shown = {at for at in wanted if forms["line"].search(text, starts[at], at)}
    if "data" in kinds:
        shown.update(
            at for at in wanted if any(map(forms["parent"].match, parents(text, at)))
        )

    def places_in(start: int, end: int) -> list[int]:
        return wanted[bisect_left(wanted, start) : bisect_left(wanted, end)]

    for kind in kinds & _forms("tests").keys():
        shown.update(chain.from_iterable(places_in(*span) for span in _tests(text, kind)))
    for kind in kinds & _forms("tokens").keys():
        for token in _forms("tokens")[kind].finditer(text):
            if (inside := places_in(*token.span())) and _is_documentation(text, token):
                shown.update(inside)
    return shown


def parents(text: str, at: int) -> Iterator[str]:
    """Yield the lines that a line of YAML or JSON is under, by their indentation, the nearest first."""
    indent = LINE
    for line in reversed(text[max(at - PARENTS, 0) : at].split("\n")):
        inner = line.lstrip(" \t-")
        if inner and len(line) - len(inner) < indent:
            indent = len(line) - len(inner)
            yield inner


def weaken(hit: SecretHit, *, is_new: bool) -> SecretHit:
    """Make a finding advice; a new private key, which no one makes up, still needs a look."""
    rule = for_blocks().get(hit.rule)
    severity = Severity.MEDIUM
    if is_new and rule and rule.block in ("pem", "putty"):
        severity = Severity.HIGH
    return replace(hit, severity=severity, confidence=Confidence.LOW, doubt=EXAMPLE)


def _is_documentation(text: str, token: re.Match[str]) -> bool:
    forms = _forms("patterns")
    if comment := token["comment"]:
        return bool(forms["comment"].search(comment))
    before = text[max(token.start() - BEFORE, 0) : token.start()]
    above, _, line = before.rpartition("\n")
    is_block = (token["string"] or "").startswith(('"' * 3, "'" * 3))
    is_statement = line.strip().lower() in (
        "",
        "r",
        "u",
        "b",
        "f",
    ) and not above.rstrip().endswith(JOINS)
    return bool(token["string"]) and (
        (is_block and is_statement) or bool(forms["named"].search(before))
    )


def _tests(text: str, kind: str) -> Iterator[tuple[int, int]]:
    """Yield the blocks of tests: those of Python are whole matches, others end with their braces."""
    end = 0
    for start in _forms("tests")[kind].finditer(text):
        if start.start() >= end:
            end = start.end() if kind == "py" else _block_end(text, start.end())
            yield start.start(), end


def _block_end(text: str, position: int) -> int:
    depth = 0
    for token in _forms("tokens")["slash"].finditer(text, position):
        brace = token["brace"]
        depth += {"{": 1, "}": -1}.get(brace, 0)
        if brace and depth <= 0:
            return token.end()
    return len(text)


def _forms(section: str) -> Mapping[str, re.Pattern[str]]:
    return read_patterns(TABLE, section)


def _kinds_of(suffix: str) -> set[str]:
    return {
        kind
        for kind, endings in read_table(TABLE)["endings"].items()
        if suffix in endings.split()
    }
