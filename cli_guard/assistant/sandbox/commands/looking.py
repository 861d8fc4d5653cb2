"""`see`: what an image is, and the image itself for a model that can look."""

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure, OwnCommand
from cli_guard.assistant.sandbox.model import Image
from cli_guard.assistant.sandbox.pictures import picture_of

MOST_BYTES = 5_000_000


def see(call: Call) -> Answer:
    """Describes images, and attaches them."""
    lines, images = [], []
    for path in call.arguments:
        raw = call.read(path)
        picture = picture_of(raw)
        if picture is None:
            kind = (
                "binary; use xxd to look at its bytes"
                if b"\0" in raw[:8000]
                else "use cat to read text files"
            )
            raise CommandFailure(f"not an image file: {path} ({kind})")
        sides = f"{picture.width} x {picture.height} pixels" if picture.width else "size in pixels not told"
        attached = len(raw) <= MOST_BYTES
        lines.append(
            f"{path}: {picture.kind} image, {len(raw):,} bytes, {sides}"
            + ("" if attached else f"; not attached, over {MOST_BYTES:,} bytes")
        )
        if attached:
            images.append(Image(path, picture.kind, picture.width, picture.height, raw))
    answer = Answer.of("\n".join(lines))
    return Answer(answer.stdout, images=tuple(images))


SEE = OwnCommand(
    "see",
    "look at an image: its kind, bytes and pixels, and the picture itself",
    "IMAGE...",
    ("png, jpeg, gif, webp, bmp, ico and svg; for text use cat.",),
    run=see,
    bare=False,
)
