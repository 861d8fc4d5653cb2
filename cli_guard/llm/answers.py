"""What may be taken from a model's answer: text without control characters, data of a schema, lines that exist."""

import json
import re
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from cli_guard.llm.prompts import strip_controls
from cli_guard.llm.providers import ModelError
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import redact

Schema = TypeVar("Schema", bound=BaseModel)

TEXT_CHARS = 100_000
# The same piece of text, this often in a row and over so many characters, is a model that cannot stop; the line below a
# heading and the border of a table are shorter.
REPEATS = 10
REPEATED_CHARS = 1_000
LONGEST_REPEATED = 500
# A name without a letter is a time or a ratio.
# The run is possessive: a long one without a colon is read once.
CITED = re.compile(
    r"(?<![\w@+./-])(?!/)(?=[\w@+./-]*[^\W\d])([\w@+./-]++)(?<=[\w@+.-][\w-]):(\d{1,7})(?:-(\d{1,7}))?"
)
FENCED = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def clean(text: str) -> str:
    """Return the text of an answer as it may be shown: no control or bidirectional character, no secret."""
    kept = strip_controls(text[:TEXT_CHARS]).replace("\r\n", "\n").replace("\r", "\n")
    return redact(printable(kept.expandtabs(4), keep_newlines=True)).strip()


def is_endless(text: str) -> bool:
    """Return whether the end of a text repeats itself so often that nothing more will come."""
    for period in range(1, LONGEST_REPEATED + 1):
        size = max(REPEATS * period, REPEATED_CHARS)
        tail = text[-size:]
        if len(tail) == size and tail.startswith(tail[period:]):
            return True
    return False


def parse_answer(text: str, schema: type[Schema]) -> Schema:
    """Return an answer as data of a schema. Raises ModelError."""
    fenced = FENCED.match(text)
    try:
        return schema.model_validate(json.loads(fenced[1] if fenced else text))
    except (ValueError, RecursionError) as error:
        why = (
            "not the data that was asked for"
            if isinstance(error, ValidationError)
            else "no JSON"
        )
        raise ModelError(f"the model's answer is {why}") from None


def cited_lines(text: str) -> list[tuple[str, int]]:
    """Return the places that a text names as path:line."""
    return [(found[1], int(found[3] or found[2])) for found in CITED.finditer(text)]


def missing_citations(text: str, texts: Mapping[str, str]) -> list[str]:
    """Return the places that a text cites and that do not exist in some files (text by path)."""
    return [
        f"{path}:{line}"
        for path, line in cited_lines(text)
        # `localhost:8080` is no place in a file.
        if path in texts or "." in path or "/" in path
        if not 1 <= line <= texts.get(path, "").count("\n") + (path in texts)
    ]
