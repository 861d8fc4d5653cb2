"""What a request wants changed: which kind of change, of what, to what, where."""

import re
from dataclasses import field
from functools import cache

from cli_guard.assistant.request_names import NO_NAMES, Names
from cli_guard.assistant.request_words import TABLES, pattern
from cli_guard.lazy import frozen

MOST_CHARS = 4_000
PART = re.compile(r"(?<!\?P)<(\w+):?(\w*)>")
# What a group of a pattern is called beside its word: how that is quoted, or that it is the second place for it.
FORM = re.compile(r"_[bdsp]$|2$")
OPENING = pattern("change_opening")
CLOSING = pattern("change_closing")
OF_A_TEST = pattern("of_a_test")
# A class that does not open the request: `split Order in two`.
CLASS_NAME = re.compile(r"(?<!^)(?<![\w$./-])[A-Z][\w$]{0,80}(?![\w$./])")
OPENINGS = {
    "swap": re.compile(r"(?:please )?(?:replace|swap|substitute)\b", re.IGNORECASE),
    "extract": re.compile(
        r"(?:please )?(?:extract|pull|factor|lift|move|hoist)\b", re.IGNORECASE
    ),
    "split": re.compile(
        r"(?:(?:please|can you|could you|plan|show|propose|suggest|how|to|should|we|i|would|you) )*"
        r"(?:(?:a |the )?split(?:ting)? of\b|(?:split|divide|decompose)\b"
        r"|(?:cut|break|carve|chop|take|pull)\b.{1,200}\b(?:into|up|apart|in (?:two|three|four|half))\b)",
        re.IGNORECASE,
    ),
    "delete": re.compile(
        r"(?:please )?(?:delete|drop|remove) (?:the )?(?:file |module )?\S+$", re.IGNORECASE
    ),
}


@frozen
class Change:
    """A wanted change: its kind, the words that matter by name, and the request on one line.

    `unknown` is a change that no pattern fits. `names` are the paths and the code that the request names, `classes`
    words that may be the name of a class. `only_tests` says that only tests are to be written.
    """

    kind: str
    request: str
    words: dict[str, str] = field(default_factory=dict)
    names: Names = NO_NAMES
    classes: tuple[str, ...] = ()
    only_tests: bool = False

    def opens_as(self, form: str) -> bool:
        """Return whether the request begins like one to `swap`, `extract`, `split` or `delete`."""
        return OPENINGS[form].match(self.request) is not None

    def get(self, name: str) -> str:
        """Return a word of the request, "" where it names none."""
        return self.words.get(name, "")


@cache
def change_patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the kinds of change with their patterns, each `<part>` of them filled in."""
    parts = {name: "".join(part) for name, part in TABLES["change"]["parts"].items()}
    filled = (
        (kind, PART.sub(lambda m: parts[m[1]].replace("GROUP", m[2]), "".join(text)))
        for kind, text in TABLES["change"]["kinds"]
    )
    return tuple((kind, re.compile(text, re.IGNORECASE)) for kind, text in filled)


def read_change(request: str, names: Names = NO_NAMES) -> Change:
    """Read the change that a request wants, by the first pattern that fits its first 4,000 characters."""
    line = " ".join(request[:MOST_CHARS].split())
    wanted = line
    before = ""
    while wanted != before:
        before = wanted
        wanted = OPENING.sub("", wanted, count=1)
    kind, words = read_kind(CLOSING.sub("", wanted)) or read_kind(wanted) or ("unknown", {})
    return Change(
        kind,
        line,
        words,
        names,
        tuple(CLASS_NAME.findall(line)),
        bool(OF_A_TEST.search(line)),
    )


def read_kind(text: str) -> tuple[str, dict[str, str]] | None:
    """Return the first kind of change that all of a text is, with the words that matter by name."""
    for kind, form in change_patterns():
        match = form.fullmatch(text)
        if match:
            found = match.groupdict().items()
            return kind, {
                FORM.sub("", name): word for name, word in found if word is not None
            }
    return None
