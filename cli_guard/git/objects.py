"""Read commit and tag objects: header lines, each continued by lines that begin with a blank, an empty line, a message.

An object is hostile: its `encoding` header may name any codec of Python's, or one that iconv alone knows.
"""

import re

from cli_guard.lazy import frozen
from cli_guard.repository.texts import KINDS, wide_runs

# The encodings of text that both iconv, by which Git shows a message, and Python know.
ENCODING = re.compile(
    r"(?i)(?:us-?)?ascii|utf-?[78]|(?:iso-?8859-?|latin-?|windows-?125|cp-?125)\d{1,2}|cp(?:437|85[0258]|866|93[26]|949)"
    r"|koi8-?[ru]|(?:shift[-_]?|s)jis|euc-?(?:jp|kr|cn)|iso-2022-(?:jp|kr)|gb(?:k|2312|18030)|big5"
)
# Of every object; author and committer are searched as names.
PLAIN_HEADER = re.compile(
    rb"(?m)^(?:(?:tree|parent|object) [0-9a-f]{40,64}|type (?:commit|tree|blob|tag)|(?:author|committer) .*)$\n?"
)
PEOPLE = re.compile(rb"(?m)^(?:author|committer) .*")
LINKS = re.compile(rb"tree ([0-9a-f]{40,64})\n((?:parent [0-9a-f]{40,64}\n)*)")
NESTED_TAG = re.compile(rb"object ([0-9a-f]{40,64})\ntype tag\n")


@frozen
class RecordedText:
    """What an object says: its message as Git shows it, author and committer, and all other text.

    `others` are the headers, and the message in readings other than that of its encoding. `unread` is whether the
    encoding is none of those that are read. `tagged` is the tag that a tag points to.
    """

    message: str
    people: tuple[str, ...]
    others: str
    unread: bool
    tagged: str | None = None


def read_object(raw: bytes) -> RecordedText:
    """Return the text of a commit or a tag (git-mktag(1))."""
    head, _, body = raw.partition(b"\n\n")
    plain = body.decode("utf-8", "replace")
    named = next(
        (line[9:] for line in head.split(b"\n") if line.startswith(b"encoding ")), b"utf-8"
    )
    message = decode_message(body, named.decode("utf-8", "replace"))
    headers = PLAIN_HEADER.sub(b"", head).replace(b"\n ", b"\n").decode("utf-8", "replace")
    others = [
        headers,
        *(() if message in (None, plain) else (plain,)),
        *wide_runs(raw, raw.translate(KINDS)),
    ]
    people = tuple(line.decode("utf-8", "replace") for line in PEOPLE.findall(head))
    text = plain if message is None else message
    nested = NESTED_TAG.match(raw)
    tagged = nested[1].decode("ascii") if nested else None
    return RecordedText(
        text, people, "\n".join(filter(None, others)), message is None, tagged
    )


def read_links(raw: bytes) -> tuple[str, tuple[str, ...]] | None:
    """Return the tree and the parents of a commit, None for any other object (gitformat-commit, commit.c of Git)."""
    found = LINKS.match(raw)
    if not found:
        return None
    parents = found[2].decode("ascii").replace("parent ", "").split()
    return found[1].decode("ascii"), tuple(parents)


def decode_message(raw: bytes, encoding: str) -> str | None:
    """Decode a message, None if the encoding is none that is read here."""
    if not ENCODING.fullmatch(encoding):
        return None
    try:
        return raw.decode(encoding, "replace")
    except LookupError:
        return None
