"""Takes secrets out of text before it is shown, logged or sent anywhere."""

from cli_guard.secrets import scan
from cli_guard.secrets.masking import mask, mask_hits

__all__ = ["mask", "redact"]


def redact(text: str, path: str = "") -> str:
    """The text with every secret the rules recognise masked; `path` tells what kind of text it is, if known."""
    hits = scan(text, path).hits
    return mask_hits(text, hits) if hits else text
