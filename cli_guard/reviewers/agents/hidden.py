"""Hidden text in files that agents obey: characters that are not shown, words behind blanks, images that carry data.

What is hidden is decoded where that is possible. Emoji, flags, variants of ideographs, joiners of scripts that need
them, spaces of Thai and Khmer and right-to-left text are left alone: only a run, or a place where no script has use for
such a character, counts.
"""

import re
from collections.abc import Callable, Iterator

from cli_guard.lazy import frozen
from cli_guard.rules import catalog
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

TAGS = re.compile("[\U000e0000-\U000e007f]+")
# The flag of a part of a country: a black flag, a few letters, an end.
FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a\U000e0030-\U000e0039]{2,6}\U000e007f")
SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
ZERO = "\u200b-\u200f\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164"
# Letters of scripts that have no use for a joiner or a space that is not shown.
LETTER = "A-Za-z0-9\u00c0-\u024f\u0370-\u03ff\u0400-\u052f"
IN_WORD = re.compile(f"(?<=[{LETTER}])[{ZERO}\ufe00-\ufe0f]+(?=[{LETTER}])")
RUN = re.compile(f"[{ZERO}]{{8,}}")
WORD_BEFORE = re.compile(r"\S{1,40}\Z")
WORD_BEHIND = re.compile(r"\S{1,40}")
UNSEEN = re.compile(f"[{ZERO}\ufe00-\ufe0f]")
RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
OVERRIDE = re.compile("[\u202d\u202e]")
FAR = re.compile(r"(?:^|\S)([ \t\u00a0\u2000-\u200a\u3000]{100,})(\S[^\n]{0,400})", re.M)
MANY_LINES = re.compile(r"\n(?:[ \t\r]*\n){40,}")
IMAGE = re.compile(
    r"!\[[^\]\n]{0,200}\]\(\s*<?([^)\s>]{1,2000})|<img\b[^>]{0,400}\bsrc=[\"']?([^\"'\s>]{1,2000})"
)
# A place that is to be filled in, behind the question mark or in the path.
PLACE = re.compile(
    r"^https?://[^/\s]+/.*?(?:\$\{?\w|\{\{?\s*[\w.]|<\w|%7B|\[[A-Za-z_]|\b[A-Z]+_(?:HERE|DATA)\b|=(?:BASE64|DATA|CONTENTS?|SECRETS?)\b)",
    re.I,
)
SHOWN = 120


@frozen
class HiddenText:
    """Something that a reader does not see: how it is hidden, what it says, where."""

    how: str
    said: str
    line: int

    @property
    def shown(self) -> str:
        """Return what it says as it may be shown: secrets masked, on one line, no character that is not seen."""
        return printable(redact(" ".join(self.said.split())))[:SHOWN]


def find_hidden(text: str) -> Iterator[HiddenText]:
    """Yield what is hidden in a text, decoded; no secret and no control character is in it."""
    if not text.isascii():
        clear = FLAG.sub(lambda found: " " * len(found[0]), text)
        yield from found_as("Unicode tags", TAGS, clear, decode_tags)
        yield from found_as("variation selectors", SELECTORS, clear, decode_selectors)
        yield from find_split_words(text)
        yield from found_as("a run of characters without width", RUN, clear, decode_bits)
        yield from find_reordered(text)
    yield from find_far(text)
    yield from find_carried(text)


def found_as(
    how: str, pattern: re.Pattern[str], text: str, decode: Callable[[str], str]
) -> Iterator[HiddenText]:
    """Yield each run of a pattern, decoded."""
    for found in pattern.finditer(text):
        yield HiddenText(how, decode(found[0]), line_at(text, found.start()))


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def decode_tags(run: str) -> str:
    """Return what tags say: each stands for the ASCII character of its low bits."""
    return "".join(chr(ord(each) - 0xE0000) for each in run if ord(each) >= 0xE0020)


def decode_selectors(run: str) -> str:
    """Return what variation selectors say: the 256 of them stand for bytes."""
    codes = (ord(each) for each in run)
    values = (code - 0xFE00 if code < 0xE0100 else code - 0xE0100 + 16 for code in codes)
    return bytes(values).decode("utf-8", "replace")


def find_split_words(text: str) -> Iterator[HiddenText]:
    """Yield the first word of each line that holds characters without width, as it is read without them."""
    for number, line in enumerate(text.split("\n"), 1):
        found = IN_WORD.search(line)
        if found is None:
            continue
        before = WORD_BEFORE.search(line[max(found.start() - 40, 0) : found.start()])
        behind = WORD_BEHIND.match(line, found.end())
        word = "".join(part[0] for part in (before, behind) if part)
        yield HiddenText(
            "characters without width inside a word", UNSEEN.sub("", word), number
        )


def decode_bits(run: str) -> str:
    """Return what a run of two characters says, as the bits of bytes; "" if that is no text."""
    kinds = sorted(set(run))
    if len(kinds) != 2:
        return ""
    bits = "".join("01"[kinds.index(each)] for each in run)
    values = bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8))
    said = values.decode("utf-8", "replace")
    return said if said.isprintable() else ""


def find_reordered(text: str) -> Iterator[HiddenText]:
    """Yield lines that are shown in another order; text from right to left may hold what does that, but no override."""
    pattern = re.compile(catalog.one("code", "code-bidi").extra["pattern"])
    for number, line in enumerate(text.split("\n"), 1):
        is_needed = RIGHT_TO_LEFT.search(line) and not OVERRIDE.search(line)
        if pattern.search(line) and not is_needed:
            yield HiddenText("characters that reorder the line", line, number)


def find_far(text: str) -> Iterator[HiddenText]:
    """Yield what stands so far behind blanks or empty lines that nobody scrolls there; a padded table is none."""
    for found in FAR.finditer(text):
        start = text.rfind("\n", 0, found.start(1)) + 1
        end = text.find("\n", start)
        line = text[start:] if end < 0 else text[start:end]
        if not is_row(line):
            yield HiddenText("blanks before it", found[2], line_at(text, found.start(1)))
    for found in MANY_LINES.finditer(text):
        rest = text[found.end() :]
        if rest.strip() and text[: found.start()].strip():
            words = rest.strip().partition("\n")[0]
            yield HiddenText("empty lines before it", words, line_at(text, found.end()))


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table."""
    cells = line.strip().split("|")
    return len(cells) > 2 and not cells[0].strip() and not cells[-1].strip()


def find_carried(text: str) -> Iterator[HiddenText]:
    """Yield images whose address is to be filled in: showing one sends what was filled in."""
    for found in IMAGE.finditer(text):
        address = found[1] or found[2]
        if PLACE.search(address):
            yield HiddenText(
                "an image whose address carries data", address, line_at(text, found.start())
            )
