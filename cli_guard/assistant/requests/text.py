"""The text of a request: cleaned, bounded, and cut into the pieces that the other modules read."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from cli_guard.graph.state import CONTROL
from cli_guard.graph.state import REQUEST_CHARS as LIMIT

# Each alternative begins with another character or is bounded, so that a scan stays linear.
PIECE = re.compile(
    r"""
      ```(?P<fence>[^`]{1,4000})```
    | `(?P<code>[^`\n]{1,300})`
    | "(?P<double>[^"\n]{1,300})" | “(?P<curly>[^”\n]{1,300})” | «(?P<angle>[^»\n]{1,300})»
    | 「(?P<corner>[^」\n]{1,300})」 | „(?P<low>[^“”"\n]{1,300})[“”"]
    | (?<![\w])'(?P<single>[^'\n]{1,300})'(?!\w)
    | (?P<url>[A-Za-z][A-Za-z+]{1,9}://[^\s"'<>`]{1,2000})
    | (?P<path>[~$@.\w{}%\\-][\w.@+\-{}%:]{0,200}(?:[/\\][\w.@+\-*]{0,200}){1,60} | /[\w.@+\-/]{1,1000})
    | (?P<call>[^\W\d][\w.]{0,200}\([^()\n]{0,80}\))
    | (?P<dotted>\.?[^\W\d][\w-]{0,100}(?:(?:\.|::|\#|->)[A-Za-z_][\w-]{0,100}){1,12} | (?<!\w)\.[A-Za-z][\w-]{0,40})
    | (?P<flag>(?<!\w)--?[A-Za-z][\w-]{0,60})
    | (?P<number>(?<!\w)v?\d+(?:\.\d+){0,6}[\w-]{0,20}(?!\w))
    | (?P<word>[^\W_](?:\w{0,200}(?:['’-](?=\w))?){0,20})
    | (?P<arrow>[-=]+>|→|⇒) | (?P<stop>(?:[.?!;,\n。？！；：，、]|:(?=\s|$))+)
    """,
    re.VERBOSE,
)
TICKET = re.compile(r"\[?(?:[A-Z][A-Z0-9]{1,9}-\d{1,6}|\#\d{1,6})(?:\]|:)?[ \t]*[:-]?[ \t]+(?=\S+\s+\S)")
SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
# Where scripts without spaces meet Latin letters.
SEAM = re.compile(
    "(?<=[\u3040-\u30ff\u3400-\u9fff])(?=[A-Za-z0-9_~`])|(?<=[A-Za-z0-9_`)])(?=[\u3040-\u30ff\u3400-\u9fff])"
)
QUOTES = ("fence", "code", "double", "curly", "angle", "corner", "low", "single")


def folded(text: str) -> str:
    """A request as it is classified: bounded, compatible characters made one, lines kept."""
    return unicodedata.normalize("NFKC", CONTROL.sub("", text[: 4 * LIMIT]).strip()[:LIMIT]).replace(
        "\r", "\n"
    )


def untitled(text: str) -> str:
    """A request without the number of a ticket in front: `TECH-889 Replace ...`, `[ABC-1] Fix ...`, `#12: add ...`."""
    return TICKET.sub("", text, count=1)


def spaced(text: str) -> str:
    """A text with a space where scripts that use none meet Latin letters."""
    return SEAM.sub(" ", text)


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, path, quotation or stop of a request, and the name of the form that it has."""

    form: str
    text: str


def pieces(text: str) -> Iterator[Piece]:
    """The pieces of a text, in order; what is none of them is passed over."""
    for match in PIECE.finditer(text):
        form = match.lastgroup or ""
        yield Piece(form, match[form])
