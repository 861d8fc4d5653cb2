"""Tells a picture by its first bytes, and its size in pixels.

Sources: PNG (W3C), JPEG (ITU T.81), GIF89a, RFC 9649 (WebP), the BMP and ICO headers of Windows, SVG 2.
"""

import re
import struct
from dataclasses import dataclass

SVG = re.compile(
    rb"\A\s*+(?:<\?xml[^>]{0,500}+>\s*+|<!--(?:(?!-->).){0,2000}+-->\s*+|<!DOCTYPE[^>]{0,500}+>\s*+)*+<svg[\s>]",
    re.DOTALL,
)
SVG_TAG = re.compile(rb"<svg\b([^>]{0,4000})>", re.DOTALL)
NUMBER = rb"=\s*[\"']\s*([0-9]{1,7})(?:\.[0-9]*)?(?:px)?\s*[\"']"
VIEW_BOX = re.compile(rb"viewBox\s*=\s*[\"'][\s,]*[-0-9.]+[\s,]+[-0-9.]+[\s,]+([0-9]+)[0-9.]*[\s,]+([0-9]+)")
# Start-of-frame markers: all of C0..CF but the tables (C4), extensions (C8) and arithmetic coding (CC).
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class Picture:
    """What kind of picture, and its width and height in pixels where they can be told."""

    kind: str
    width: int | None = None
    height: int | None = None


def picture_of(raw: bytes) -> Picture | None:
    """The picture that some bytes are, None for anything else. Never raises; a cut file has no size."""
    for kind, begins, measure in KINDS:
        if begins.match(raw):
            try:
                width, height = measure(raw)
            except (struct.error, IndexError, ValueError):
                return Picture(kind)
            return Picture(kind, width, height)
    return None


def png(raw: bytes) -> tuple[int, int]:
    """IHDR is the first chunk."""
    width, height = struct.unpack(">II", raw[16:24])
    return width, height


def gif(raw: bytes) -> tuple[int, int]:
    """The logical screen."""
    width, height = struct.unpack("<HH", raw[6:10])
    return width, height


def bmp(raw: bytes) -> tuple[int, int]:
    """BITMAPINFOHEADER; a negative height means that the rows run downward."""
    width, height = struct.unpack("<ii", raw[18:26])
    return width, abs(height)


def jpeg(raw: bytes) -> tuple[int, int]:
    """The first start of frame, found from segment to segment."""
    at = 2
    while True:
        if raw[at] != 0xFF:
            raise ValueError("no marker")
        marker = raw[at + 1]
        if marker == 0xFF:
            at += 1
            continue
        if marker in FRAMES:
            height, width = struct.unpack(">HH", raw[at + 5 : at + 9])
            return width, height
        at += (
            2
            if marker == 0x01 or 0xD0 <= marker <= 0xD7
            else 2 + max(2, *struct.unpack(">H", raw[at + 2 : at + 4]))
        )


def webp(raw: bytes) -> tuple[int, int]:
    """The three forms: lossy, lossless, extended."""
    form = raw[12:16]
    if form == b"VP8X":
        return 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    if form == b"VP8L":
        bits = struct.unpack("<I", raw[21:25])[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if form == b"VP8 ":
        width, height = struct.unpack("<HH", raw[26:30])
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError("unknown form")


def ico(raw: bytes) -> tuple[int, int]:
    """The first picture of the file; 0 means 256."""
    return raw[6] or 256, raw[7] or 256


def svg(raw: bytes) -> tuple[int, int]:
    """The attributes of the root, or its view box."""
    tag = SVG_TAG.search(raw[:10_000])
    if not tag:
        raise ValueError("no root")
    sides = [re.search(rb"\b" + side + NUMBER, tag[1]) for side in (b"width", b"height")]
    if sides[0] and sides[1]:
        return int(sides[0][1]), int(sides[1][1])
    box = VIEW_BOX.search(tag[1])
    if not box:
        raise ValueError("no size")
    return int(box[1]), int(box[2])


KINDS = (
    ("png", re.compile(rb"\x89PNG\r\n\x1a\n"), png),
    ("jpeg", re.compile(rb"\xff\xd8\xff"), jpeg),
    ("gif", re.compile(rb"GIF8[79]a"), gif),
    ("webp", re.compile(rb"RIFF....WEBP", re.DOTALL), webp),
    ("bmp", re.compile(rb"BM.{12}[\x0c\x28\x40\x6c\x7c]\x00\x00\x00", re.DOTALL), bmp),
    ("x-icon", re.compile(rb"\x00\x00\x01\x00[\x01-\x40]\x00"), ico),
    ("svg+xml", SVG, svg),
)
