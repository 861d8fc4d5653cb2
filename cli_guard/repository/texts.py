"""The text of a file: decoded if it is text, else the runs of text in it; and files of the work tree."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cli_guard.model import Hunk
from cli_guard.runtime import read_plain

# Byte order marks; that of UTF-32 LE begins like that of UTF-16 LE.
MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
SNIFFED_BYTES = 8_000  # as many as Git itself looks at (buffer_is_binary)


# Text may hold a few bytes that are not text; with more of them, or of NUL, it is binary.
PRINTABLE = bytes((*b"\t\n\r\f\x1b", *range(0x20, 0x7F)))
CONTROLS = bytes(byte for byte in range(0x80) if byte not in PRINTABLE)
CONTROL = re.compile(rb"[" + re.escape(CONTROLS) + rb"]")
ODD_SHARE = 10
NUL_SHARE = 50
FEW_NULS = 4
BINARY = "binary: searched only for keys"
NUL_SHOWN = "\ufffd"
# Between runs that are not adjacent: no rule about secrets matches across a NUL.
RUN_GAP = "\n\0"
# The kind of each byte: `p` for printable ASCII and the ends of lines, NUL, `x` for any other.
SHOWN = frozenset((*b"\t\n\r", *range(0x20, 0x7F)))
KINDS = bytes(ord("p") if byte in SHOWN else byte and ord("x") for byte in range(256))
# How a run begins, and how it goes on: to find a fixed text takes a fraction of the time of a pattern.
RUN = (b"p" * 8, re.compile(b"p*+"))
# UTF-16 in either byte order: a printable byte, then NUL and a printable byte in turn. A text to be found is ruled out
# by its last byte, which few files have.
WIDE_RUN = (b"p\0" * 7, re.compile(b"p(?:\0p)*+"))


def decode(raw: bytes) -> str | None:
    """Decode a file, None if it is binary: UTF-16 or -32 by its mark, else UTF-8, replaced where invalid.

    A few NULs do not make text binary (they are replaced), nor does UTF-16 without a mark.
    """
    for mark, encoding in MARKS:
        if raw.startswith(mark):
            return raw.decode(encoding, "replace")
    if b"\0" not in raw[:SNIFFED_BYTES] or _nearly_text(raw):
        return raw.decode("utf-8-sig", "replace").replace("\0", NUL_SHOWN)
    for encoding, high in (("utf-16-le", 1), ("utf-16-be", 0)):
        # ASCII has a NUL for every other byte, and it is the higher one.
        if not text_before(raw) and raw[high::2].count(0) * 5 >= len(raw):
            text = raw.decode(encoding, "replace")
            return (
                text.replace("\0", NUL_SHOWN)
                if _nearly_text(text.encode("utf-8", "replace"))
                else None
            )
    return None


def text_before(raw: bytes) -> bytes:
    """Return the lines before the first that holds a control character.

    An interpreter runs the lines of a binary file up to the place where it is told to end.
    """
    found = CONTROL.search(raw)
    return raw[: raw.rfind(b"\n", 0, found.start()) + 1] if found else raw


def text_of(raw: bytes) -> tuple[str | None, bytes]:
    """Return the text of a file, of a binary one the lines that it begins with, and the bytes behind its text.

    The text is None if there is none at all.
    """
    text = decode(raw)
    if text is not None:
        return text, b""
    head = text_before(raw)
    return (head.decode("utf-8-sig", "replace"), raw[len(head) :]) if head else (None, raw)


def _nearly_text(raw: bytes) -> bool:
    """Return whether there are few NULs, and at most a tenth of control characters and invalid UTF-8."""
    if raw.count(0) > max(FEW_NULS, len(raw) // NUL_SHARE):
        return False
    rest = raw.translate(None, PRINTABLE)
    high = rest.translate(None, CONTROLS)
    controls = len(rest) - len(high)
    broken = raw.decode("utf-8", "replace").count("\ufffd") if high else 0
    return (controls + broken) * ODD_SHARE <= len(raw)


def printable_runs(raw: bytes) -> list[str]:
    """Return the runs of eight printable ASCII characters or more, line ends included, as bytes and as UTF-16."""
    kinds = raw.translate(KINDS)
    runs = [raw[start:end].decode("ascii") for start, end in find_runs(kinds, *RUN)]
    return runs + wide_runs(raw, kinds)


def wide_runs(raw: bytes, kinds: bytes) -> list[str]:
    """Return the runs of eight printable ASCII characters or more as UTF-16 in either byte order."""
    return [raw[start:end:2].decode("ascii") for start, end in find_runs(kinds, *WIDE_RUN)]


def find_runs(
    kinds: bytes, beginning: bytes, rest: re.Pattern[bytes]
) -> Iterator[tuple[int, int]]:
    """Yield where each run of such kinds of bytes starts and ends."""
    start = kinds.find(beginning)
    while start >= 0:
        more = rest.match(kinds, start + len(beginning))
        if more:
            yield start, more.end()
        start = kinds.find(beginning, more.end() if more else start + 1)


def runs_between(old: bytes, new: bytes) -> tuple[Hunk, ...]:
    """Return the runs of text that were added to and removed from a binary file, as one hunk.

    A line that begins a run begins with NUL; the line numbers mean nothing.
    """
    before = printable_runs(old)
    after = printable_runs(new)
    known = set(before)
    kept = set(after)
    gone = [run for run in dict.fromkeys(before) if run not in kept]
    fresh = [run for run in dict.fromkeys(after) if run not in known]
    if not fresh:
        return ()
    return (Hunk(1 if gone else 0, 1, _lines(gone), _lines(fresh)),)


def _lines(runs: list[str]) -> tuple[str, ...]:
    return tuple(RUN_GAP.join(runs).split("\n")) if runs else ()


def place_in(root: Path, path: str) -> bytes:
    """Return where a file of the work tree is, whose name may not be UTF-8."""
    return os.fsencode(root) + b"/" + path.encode("utf-8", "surrogateescape")


def read_worktree_file(root: Path, path: str, limit: int) -> bytes | None:
    """Read a regular file below `root`, None if there is none or it is over `limit` bytes."""
    try:
        data = read_plain(place_in(root, path), most=limit + 1)
    except OSError:
        return None
    return None if len(data) > limit else data
