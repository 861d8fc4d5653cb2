"""Words as a program receives them, as far as they are known before it runs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cli_guard.commands.model import Span
from cli_guard.commands.parse.tree import Script
from cli_guard.commands.scope import LONGEST_TEXT, Stream, narrowest, origin_of, taints_of
from cli_guard.lazy import frozen


@frozen
class Field:
    """One word as a program receives it.

    `text` is None if a part is unknown before the command runs; `start` is its known beginning. `many`: it may expand
    to several words or none. `pattern`: it holds an unquoted glob. `shape`: the word with a letter in place of each
    unknown part. `perhaps`: it is missing if a branch has not run.
    """

    text: str | None
    start: str
    span: Span
    taints: frozenset[str] = frozenset()
    origin: str = ""
    pattern: bool = False
    many: bool = False
    assumed: bool = False
    perhaps: bool = False
    script: Script | None = None
    stream: Stream | None = None
    shape: str = ""

    @property
    def is_open(self) -> bool:
        """Return whether its first character, or that of a word it is split into, is not fixed: it may be an option."""
        if self.pattern:
            return self.many or self.start[:1] in ("*", "?", "[")
        if self.assumed and self.text:
            return True
        is_split = self.many and self.origin != "ref"
        return (
            self.text is None
            and self.origin not in ("value", "number")
            and (is_split or not self.start)
        )

    @property
    def dynamic(self) -> bool:
        """Return whether it is neither known nor of a harmless origin."""
        return self.text is None and not self.origin

    @property
    def known(self) -> bool:
        """Return whether it is certainly this one word before the command runs."""
        return self.text is not None and not (self.assumed or self.pattern or self.many)

    @property
    def shown(self) -> str:
        return self.text if self.text is not None else f"{self.start}(...)"


def literal(text: str, span: Span, *, like: Field | None = None) -> Field:
    """Build a field of known text with the taints of the field it was cut from."""
    if like is None:
        return Field(text, text, span)
    return replace(like, text=text, start=text, span=span, script=None, stream=None)


def field_of(stream: Stream, span: Span) -> Field:
    start = stream.text or ""
    return Field(
        stream.text,
        start,
        span,
        stream.taints,
        stream.origin,
        stream.glob,
        assumed=stream.assumed,
    )


def stream_of(given: Field) -> Stream:
    """Return a field as the value of a variable; a pattern stands for paths of the project."""
    if given.stream is not None:
        return given.stream
    return Stream(
        given.text, given.taints, given.origin, given.assumed, given.perhaps, given.pattern
    )


def assemble(pieces: Sequence[Stream], span: Span, *, glob: bool = False) -> Field:
    """Join the pieces of a word into one field, which is known as far as all of them are."""
    taints = taints_of(pieces)
    start = "".join(known_beginning(pieces))
    if len(start) > LONGEST_TEXT:
        return Field(None, start[:LONGEST_TEXT], span, taints, "", glob)
    joined = Field(
        start,
        start,
        span,
        taints,
        pattern=glob or any(piece.glob for piece in pieces),
        assumed=any(piece.assumed for piece in pieces),
        perhaps=any(piece.perhaps for piece in pieces),
    )
    unknown = {piece.origin for piece in pieces if piece.text is None}
    if not unknown:
        return joined
    origin = narrowest({origin_of(piece) for piece in pieces if piece.text != ""})
    if start.startswith("-") and origin == "":
        # An option with its value: what is in the value is not seen as another word.
        origin = narrowest(unknown)
    shape = "".join("x" if piece.text is None else piece.text for piece in pieces)
    return replace(joined, text=None, origin=origin, shape=shape)


def known_beginning(pieces: Sequence[Stream]) -> Iterator[str]:
    """Yield the texts up to the first piece that is not known, none much longer than is judged."""
    for piece in pieces:
        if piece.text is None:
            return
        yield piece.text[: LONGEST_TEXT + 1]
