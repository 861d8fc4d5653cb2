"""Make a program's output safe to show while it runs: mask secrets, show terminal control characters.

Whole lines are shown. A line without an end (a question, a progress bar) is shown by `idle`, to be called while no
output comes; a private key is held back until its last line, so that it is masked whole.
"""

import codecs
import re

from cli_guard.secrets import scan
from cli_guard.secrets.keyblocks import BLOCK_LIMIT, FOOTER, HEADER, PUTTY
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import mask_hits

# Longer lines are shown in pieces of this size, in characters.
LONGEST = 65_536
# A last word of so many characters may be the beginning of a key.
SHORT_WORD = 16
# Colours, "erase to the end of the line" (ECMA-48, SGR and EL) and the bracketed paste of readline: dropped,
# because as visible escapes they would only be noise.
STYLE = re.compile(r"\x1b\[(?:[0-9;:]*m|[0-2]?K|\?2004[hl])")
HALF_ESCAPE = re.compile(r"\x1b\[?[0-9;:?]*\Z")
OPENS = (
    (re.compile(HEADER), re.compile(FOOTER)),
    (re.compile(re.escape(PUTTY)), re.compile("Private-MAC")),
)
KEY_MARKS = ("PRIVATE KEY", PUTTY)
KEY_LINE = re.compile(r"[A-Za-z0-9+/]{16}|^[A-Z][A-Za-z-]+: ")
LAST_WORD = re.compile(r"\S*\Z")


class MaskedStream:
    """One stream. `feed` takes bytes cut anywhere, and returns what may be shown by now; `end` the rest."""

    def __init__(self) -> None:
        # A character may be cut in two; a byte that is not UTF-8 is kept as it is.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        self._parts: list[str] = []
        self._size = 0
        self._shown = 0

    def feed(self, data: bytes) -> str:
        """Return what may be shown after these bytes."""
        text = self._decoder.decode(data)
        self._parts.append(text)
        self._size += len(text)
        # Joined only at a line end: a line of a gigabyte comes in many parts.
        if "\n" not in text and self._size < LONGEST + self._shown:
            return ""
        text = self._join_parts()
        return self._emit(text, cut_at(text))

    def idle(self) -> str:
        """Return the start of a line without an end, when no output comes at the moment."""
        text = self._join_parts()
        new = text[self._shown :]
        word = LAST_WORD.search(text[-2 * SHORT_WORD :])
        if not new or "\r" in text or (word and len(word[0]) > SHORT_WORD):
            return ""
        if HALF_ESCAPE.search(text[-2 * SHORT_WORD :]):
            return ""
        if open_key(text) is not None or scan(text).hits:
            return ""
        self._shown = len(text)
        return visible(new)

    def end(self) -> str:
        """Return the rest."""
        self._parts.append(self._decoder.decode(b"", True))
        text = self._join_parts()
        return self._emit(text, len(text))

    def _join_parts(self) -> str:
        # Without colours, which could stand inside a key.
        text = drop_style("".join(self._parts))
        self._parts = [text]
        self._size = len(text)
        return text

    def _emit(self, text: str, end: int) -> str:
        if not end:
            return ""
        piece = text[:end]
        rest = text[end:]
        new = mask_hits(piece, scan(piece).hits, min(self._shown, end))
        # What would overwrite a line already shown comes below it.
        shown = "\n" * ("\r" in new.rstrip("\r\n") and 0 < self._shown < end) + visible(new)
        self._parts = [rest]
        self._size = len(rest)
        self._shown = max(self._shown - end, 0)
        return shown


def cut_at(text: str) -> int:
    """Return up to where a text may be shown: the end of its last whole line, or a blank in one too long."""
    end = text.rfind("\n") + 1
    if len(text) - end >= LONGEST:
        end = (
            max(
                text.rfind(" ", len(text) - LONGEST // 2),
                text.rfind("\t", len(text) - LONGEST // 2),
            )
            + 1
        )
        end = end or len(text)
    begins = open_key(text)
    return end if begins is None else min(end, begins)


def open_key(text: str) -> int | None:
    """Return where an unfinished private key begins, None if there is none."""
    if not any(mark in text for mark in KEY_MARKS):
        return None
    low = max(len(text) - BLOCK_LIMIT, 0)
    for header, footer in OPENS:
        *_, last = [None, *header.finditer(text, low)]
        if last and not footer.search(text, last.end()) and may_go_on(text[last.end() :]):
            return last.start()
    return None


def may_go_on(body: str) -> bool:
    """Return whether the lines after a header may be those of a key: two wrong ones in a row end it."""
    wrong = 0
    for line in body.split("\n")[1:-1]:
        wrong = 0 if KEY_LINE.search(line) or not line.strip() else wrong + 1
        if wrong > 1:
            return False
    return True


def drop_style(text: str) -> str:
    """Return the text without colours: to be called before a search for secrets, which colours would cut."""
    return STYLE.sub("", text)


def visible(text: str) -> str:
    """Return the text as a terminal would leave it: overwritten parts are dropped, tabs kept."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = drop_style(text.replace("\r\n", "\n"))
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return "\t".join(printable(part, keep_newlines=True) for part in text.split("\t"))
