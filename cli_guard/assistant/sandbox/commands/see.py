"""`see`: what an image is, and the image itself for a model that can look.

Sources: PNG (W3C), JPEG (ITU T.81), GIF89a, RFC 9649 (WebP), the BMP and ICO headers of Windows.
"""

import re
import struct
from dataclasses import dataclass

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, Image

MOST_BYTES = 5_000_000
KINDS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "bmp": re.compile(rb"BM.{12}[\x0c\x28\x40\x6c\x7c]\x00\x00\x00", re.DOTALL),
    "x-icon": re.compile(rb"\x00\x00\x01\x00[\x01-\x40]\x00"),
}
# Start-of-frame markers: all of C0..CF but the tables (C4), extensions (C8) and arithmetic coding (CC).
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class Picture:
    """A kind of picture (the media type after `image/`), and width and height in pixels where they are known."""

    kind: str
    width: int | None = None
    height: int | None = None


def identify_picture(raw: bytes) -> Picture | None:
    """Return the picture that some bytes are, None for anything else. Never raises; a cut file has no size."""
    kind = next((kind for kind, begins in KINDS.items() if begins.match(raw)), None)
    if kind is None:
        return None
    try:
        width, height = measure(kind, raw)
    except (struct.error, IndexError, ValueError):
        return Picture(kind)
    return Picture(kind, width, height)


def measure(kind: str, raw: bytes) -> tuple[int, int]:
    """Return width and height. Raises ValueError, IndexError or struct.error where they are not to be found."""
    form = raw[12:16] if kind == "webp" else b""
    if kind == "png":
        width, height = struct.unpack(">II", raw[16:24])
    elif kind == "gif":
        width, height = struct.unpack("<HH", raw[6:10])
    elif kind == "jpeg":
        height, width = struct.unpack(">HH", find_frame(raw))
    elif form == b"VP8X":
        width, height = 1 + int.from_bytes(raw[24:27], "little"), 1 + int.from_bytes(raw[27:30], "little")
    elif form == b"VP8L":
        bits = struct.unpack("<I", raw[21:25])[0]
        width, height = 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    elif form == b"VP8 ":
        width, height = (side & 0x3FFF for side in struct.unpack("<HH", raw[26:30]))
    else:
        raise ValueError("size unknown")
    return width, height


def find_frame(raw: bytes) -> bytes:
    """Return height and width of the first start of frame of a JPEG, found from segment to segment."""
    at = 2
    while True:
        if raw[at] != 0xFF:
            raise ValueError("no marker")
        marker = raw[at + 1]
        if marker in FRAMES:
            return raw[at + 5 : at + 9]
        if marker == 0xFF:
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD7:
            at += 2
        else:
            at += 2 + max(2, *struct.unpack(">H", raw[at + 2 : at + 4]))


def see(call: Call) -> Answer:
    """Describe images, and attach them."""
    lines, images = [], []
    for path in call.arguments:
        raw = call.read(path)
        picture = identify_picture(raw)
        if picture is None:
            is_binary = b"\0" in raw[:8000]
            advice = "binary; use xxd to look at its bytes" if is_binary else "use cat to read text files"
            raise CommandFailure(f"not an image file: {path} ({advice})")
        sides = f"{picture.width} x {picture.height} pixels" if picture.width else "size in pixels unknown"
        line = f"{path}: {picture.kind} image, {len(raw):,} bytes, {sides}"
        if len(raw) <= MOST_BYTES:
            images.append(Image(path, picture.kind, picture.width, picture.height, raw))
        else:
            line += f"; not attached, over {MOST_BYTES:,} bytes"
        lines.append(line)
    return Answer(Answer.from_text("\n".join(lines)).stdout, images=tuple(images))


SEE = OwnCommand(
    "see",
    "look at an image: its kind, bytes and pixels, and the picture itself",
    "IMAGE...",
    "png, jpeg, gif, webp, bmp and ico; for text (svg too) use cat.",
    run=see,
    needs=1,
)
