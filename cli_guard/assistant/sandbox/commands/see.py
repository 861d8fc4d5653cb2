"""`see`: what an image is, and the image itself for a model that can look.

Sources: PNG (W3C), JPEG (ITU T.81), GIF89a, RFC 9649 (WebP), the BMP and ICO headers of Windows.
"""

import re

from cli_guard.assistant.sandbox.commands.command import OwnCommand
from cli_guard.assistant.sandbox.model import (
    CommandCall,
    CommandFailure,
    CommandOutput,
    Image,
)

MOST_BYTES = 5_000_000
KINDS = {
    "png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "jpeg": re.compile(rb"\xff\xd8\xff"),
    "gif": re.compile(rb"GIF8[79]a"),
    "webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
    "bmp": re.compile(rb"BM.{12}[\x0c\x28\x40\x6c\x7c]\x00\x00\x00", re.DOTALL),
    "x-icon": re.compile(rb"\x00\x00\x01\x00[\x01-\x40]\x00"),
}


def identify_picture(raw: bytes) -> str | None:
    """Return the kind of picture that some bytes are (the media type after `image/`), None for anything else."""
    return next((kind for kind, begins in KINDS.items() if begins.match(raw)), None)


def see(call: CommandCall) -> CommandOutput:
    """Describe images, and attach them."""
    lines = []
    images = []
    for path in call.arguments:
        raw = call.read(path)
        kind = identify_picture(raw)
        if kind is None:
            is_binary = b"\0" in raw[:8000]
            advice = (
                "binary; use xxd to look at its bytes"
                if is_binary
                else "use cat to read text files"
            )
            raise CommandFailure(f"not an image file: {path} ({advice})")
        line = f"{path}: {kind} image, {len(raw):,} bytes"
        if len(raw) <= MOST_BYTES:
            images.append(Image(path, kind, raw))
        else:
            line += f"; not attached, over {MOST_BYTES:,} bytes"
        lines.append(line)
    return CommandOutput(
        CommandOutput.from_text("\n".join(lines)).stdout, images=tuple(images)
    )


SEE = OwnCommand(
    "see",
    "look at an image: its kind and bytes, and the picture itself",
    "IMAGE...",
    "png, jpeg, gif, webp, bmp and ico; for text (svg too) use cat.",
    run=see,
    needs=1,
)
