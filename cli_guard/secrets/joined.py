"""Secrets in pieces: joined literals, continued lines, hidden characters, look-alikes of letters.

A text is read as its program or its reader would have it: there are stretches that stand for something else, such as
for nothing between two joined literals or for `a` in fullwidth. Only the lines that hold one are read again.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from cli_guard.secrets.candidates import SecretHit
from cli_guard.secrets.keyblocks import BLOCK_LIMIT
from cli_guard.secrets.names import compile_once

Stretch = tuple[int, int, str]

INSIDE = r"[\w\-.+/=]"  # a token consists of
BASE64 = r"[A-Za-z0-9+/]"
# From the quote that ends one literal to that which begins the next: operators of any language, a line end, a comment.
# What is between may be a literal of its own: skipping it is safe, since only providers' formats count.
OPERATORS = r"[\s\\()+.&~^|<>#*/]{0,60}+"
COMMENT = rf"(?:(?:(?<=[#/*])|(?<=[#/*] ))[^\n\"'`]{{1,80}}+{OPERATORS})?"
OPEN = r"[fFbBrRuU]{0,2}+[\"'`]"
LITERALS = rf"""["'`](?<={INSIDE}.)(?:\)?\.concat\(|\}}[$#]?\{{|{OPERATORS}{COMMENT}){OPEN}(?={INSIDE})"""
# A template holds a literal: `a{"b"}c`, `a${"b"}c`, `a#{"b"}c`, `a${""}c`.
HOLE = rf"""\{{["'`]({INSIDE}{{0,200}}+)["'`]\}}"""
# A line goes on after a backslash, after the caret of a batch file, in quoted-printable and in base64.
LINE_END = (
    rf"\n(?:(?<={INSIDE}[\\^=]\n)|(?<={INSIDE}[\\^=]\r\n)|(?<={BASE64}{{40}}\n)|(?<={BASE64}{{40}}\r\n))"
    rf"[ \t]{{0,40}}+\\?(?={INSIDE})"
)
# Markdown needs a backslash before an underscore.
UNDERSCORE = rf"\\_(?<={INSIDE}..)(?={INSIDE})"
CONTROL = r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f]"
CONTROLS = rf"{CONTROL}(?<={INSIDE}.)(?:\[[\d;]{{0,20}}m)?(?:{CONTROL}(?:\[[\d;]{{0,20}}m)?)*+(?={INSIDE})"
SIGNS_OF_CONTROLS = tuple(map(chr, (*range(9), 11, 12, *range(14, 32), 127)))
# They show nothing, although Unicode counts them as letters or symbols. U+FFFD is a NUL or a byte that is not UTF-8.
BLANK_LETTERS = "\u115f\u1160\u2800\ufffd"
# The capitals and small letters that look like Latin ones (Unicode Technical Standard 39, confusables).
LOOK_ALIKES = str.maketrans(
    "АВСЕНІЈКМОРЅТХУаеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονі",
    "ABCEHIJKMOPSTXYaeopcyxijsdhqwABEZHIKMNOPTYXovi",
)
AROUND = 1_000
# Joined lines of a literal with such a mark may be the first of a private key.
BLOCK = "-----"
# A list of literals is one text if it is joined without a separator, or fills a format of nothing but places.
LISTED = (
    rf"""[\[(,]\s{{0,40}}+{OPEN}{INSIDE}{{1,200}}+"""
    rf"""(?>(?:["'`]\s{{0,40}}+[,+]\s{{0,40}}+{OPEN}{INSIDE}{{1,200}}+){{1,400}})["'`]"""
)
NEXT = r"""["'`]\s*[,+]\s*[fFbBrRuU]*["'`]"""
EMPTY = "(?:\"\"|'')"
BEFORE_LIST = (
    rf"(?i)(?:{EMPTY}\.join\W{{1,3}}|(?:join|implode)\W{{1,5}}{EMPTY},\s*\W?|(?:concat|paste0)\W"
    r"|(?:%[sv]|\{\d?\}){2,}[\"'](?:\W{1,4}|\.format\W))\s*$"
)
AFTER_LIST = rf"\s{{0,40}}+,?\s{{0,40}}[\])]\s{{0,40}}\.join(?:\({EMPTY}|\b(?!\())"
QUOTED_PRINTABLE = rf"=[2-7][0-9A-F](?:(?:=[2-7][0-9A-F])++|(?={INSIDE}))"
SIGNS_OF_LISTS = (
    "oin",
    "mplode",
    "oncat",
    "ONCAT",
    "aste0",
    "%s%s",
    "%v%v",
    "{}{}",
    "{0}{1}",
)


def find_joined(
    text: str, scan: Callable[[str], Sequence[SecretHit]]
) -> Iterator[tuple[int, int, SecretHit]]:
    """Yield the hits of `scan` over such stretches, with their places in the text."""
    stretches = sorted(_stretches(text))
    if not stretches:
        return
    parts: list[str] = []
    starts = [0]
    places = []
    for first, last, clear in _lines(text, stretches):
        parts.append(clear)
        starts.append(starts[-1] + len(clear))
        places.append((first, last))
    read = "".join(parts)
    for hit in scan(read):
        begins, ends = (
            bisect_right(starts, offset) - 1 for offset in (hit.start, hit.end - 1)
        )
        start = places[begins][0]
        end = places[ends][1]
        # What stands for something else is part of the secret as a whole.
        if text.startswith(parts[begins], start):
            start += hit.start - starts[begins]
        if text.startswith(parts[ends], places[ends][0]):
            end = places[ends][0] + hit.end - starts[ends]
        if text[start:end] != read[hit.start : hit.end]:
            yield start, end, hit


def _lines(text: str, stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """Yield the pieces of the lines that have a stretch, or of its surroundings in a long one, as they are read."""
    position = end = 0
    for first, last, clear in stretches:
        if first < position:  # inside the one before
            continue
        if first >= end:
            yield position, end, text[position:end]
            yield end, end, "\n"
            position = max(text.rfind("\n", end, first) + 1, first - AROUND, end)
        if (
            last + AROUND > end
        ):  # the next stretch of a literal over several lines begins before this end
            line_end = text.find("\n", last, last + AROUND) + 1 or last + AROUND
            reach = BLOCK_LIMIT if BLOCK in text[position:line_end] else 0
            end = min(max(end, line_end + reach), len(text))
        yield position, first, text[position:first]
        yield first, last, clear
        position = last
    yield position, end, text[position:end]


def _stretches(text: str) -> Iterator[Stretch]:
    for match in compile_once(LITERALS).finditer(text):
        yield *match.span(), ""
    for match in compile_once(LINE_END).finditer(text):
        before = text[max(match.start() - 2, 0) : match.start()]
        yield match.start() - len(before) + len(before.rstrip("\\^=\r")), match.end(), ""
    for match in compile_once(UNDERSCORE).finditer(text):
        yield *match.span(), "_"
    for match in compile_once(QUOTED_PRINTABLE).finditer(text):
        yield *match.span(), bytes.fromhex(match[0].replace("=", "")).decode("ascii")
    for match in compile_once(HOLE).finditer(text):
        start = match.start() - (text[match.start() - 1 : match.start()] in ("$", "#"))
        beside = (text[start - 1 : start], text[match.end() : match.end() + 1])
        if any(map(compile_once(INSIDE).match, beside)):
            yield start, match.end(), match[1]
    if any(map(text.__contains__, SIGNS_OF_LISTS)):
        yield from _joined_lists(text)
    if any(map(text.__contains__, SIGNS_OF_CONTROLS)):
        for match in compile_once(CONTROLS).finditer(text):
            yield *match.span(), ""
    if not text.isascii():
        yield from _unclear_letters(text)


def _joined_lists(text: str) -> Iterator[Stretch]:
    for match in compile_once(LISTED).finditer(text):
        before = text[max(match.start() - 40, 0) : match.start() + 1]
        if compile_once(BEFORE_LIST).search(before) or compile_once(AFTER_LIST).match(
            text, match.end()
        ):
            for between in compile_once(NEXT).finditer(text, *match.span()):
                yield *between.span(), ""


def _unclear_letters(text: str) -> Iterator[Stretch]:
    """Yield what stands for ASCII letters or, beside one, for nothing: compatibility forms, look-alikes, unseen."""
    from unicodedata import category, normalize  # most texts are ASCII

    token = compile_once(r"(?a)\w")
    beside = compile_once(rf"(?a){INSIDE}")
    for match in compile_once(r"[^\0-\x7f]+").finditer(text):
        start, end = match.span()
        usual = normalize("NFKC", match[0])
        if beside.match(text[start - 1 : start]) or beside.match(text, end):
            seen = "".join(
                each
                for each in usual
                if category(each)[0] not in "CM" and each not in BLANK_LETTERS
            )
            clear = seen.translate(LOOK_ALIKES)
            if len(seen) < len(usual) or token.search(clear):
                yield start, end, clear
        elif usual != match[0] and token.search(usual):
            yield start, end, usual
