"""What is kept of an answer: text without secrets and without characters that act on a terminal, all of it bounded."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from cli_guard.lazy import frozen
from cli_guard.secrets.printable import clip, printable, printable_text
from cli_guard.secrets.redact import redact

if TYPE_CHECKING:
    from mcp import types

TEXT_CHARS = 100_000
# Looked through for secrets, times what is kept: one that the end of the kept text cuts in two is seen whole.
SCANNED = 2
LINE_SCANNED = 10_000
BLOCKS = 1_000

Hide = Callable[[str], str]


@frozen
class McpResult:
    """What a tool answered. `truncated` says that there was more, of whatever kind."""

    text: str
    is_error: bool = False
    truncated: bool = False


def clip_text(text: str, limit: int, hide: Hide) -> tuple[str, bool]:
    """The text as it may be shown, and whether it was cut."""
    kept = printable_text(redact(hide(text[: SCANNED * limit])).replace("\r\n", "\n"))
    cut = len(text) > SCANNED * limit
    if cut:
        # Masks make a text shorter: a secret that was cut in two may have come forward.
        kept = kept[: max(0, len(kept) - limit // 2)]
    return clip(kept, limit), cut or len(kept) > limit


def one_line(text: str, limit: int, hide: Hide) -> str:
    """The same as one short line."""
    return clip(printable(redact(hide(" ".join(text[:LINE_SCANNED].split())))), limit)


def result_of(answer: "types.CallToolResult", hide: Hide) -> McpResult:
    """The answer of a tool as a result; `hide` masks what only the caller knows to be secret."""
    blocks = answer.content[:BLOCKS]
    text, cut = clip_text("\n".join(texts(blocks)), TEXT_CHARS, hide)
    return McpResult(
        text,
        is_error=bool(answer.is_error),
        truncated=cut or len(blocks) < len(answer.content),
    )


def texts(blocks: "list[types.ContentBlock]") -> Iterator[str]:
    """The texts of an answer; what is none is named in brackets."""
    for block in blocks:
        if block.type == "text":
            yield block.text
        elif block.type == "image" or block.type == "audio":
            yield f"[{block.type}, {block.mime_type}]"
        elif block.type == "resource_link":
            yield f"[a link to {block.uri}]"
        else:
            resource = block.resource
            yield (
                getattr(resource, "text", None)
                or f"[the resource {resource.uri}, {resource.mime_type}]"
            )
