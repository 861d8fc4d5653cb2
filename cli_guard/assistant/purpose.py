"""What a source file or a document says of itself: its docstring, the comment above its code, its heading."""

from collections.abc import Iterable, Sequence

from cli_guard.code.definitions import find_definitions
from cli_guard.code.languages import language_for
from cli_guard.rules.catalog import read_patterns

PATTERNS = read_patterns("languages/patterns.toml", "purpose")
OPENING_LINES = 120
LONGEST_LINE = 500
SENTENCE = 220
DOCUMENTS = (".md", ".rst", ".txt", ".adoc")


def read_purpose(path: str, text: str) -> str:
    """Return the first paragraph that a file says of itself, at most 440 characters; "" if it says nothing."""
    lines = [
        line[:LONGEST_LINE]
        for line in text[: OPENING_LINES * LONGEST_LINE].split("\n")[:OPENING_LINES]
    ]
    if path.lower().endswith(DOCUMENTS):
        return clip(read_document(path, lines), 2 * SENTENCE)
    comment: list[str] = []
    closing = ""
    for line in lines:
        bare = line.strip()
        begins = (
            PATTERNS["docstring"].match(bare)
            if not comment and language_for(path) == "python"
            else None
        )
        if closing or begins:
            mark = closing or (begins[1] if begins else "")
            behind = bare if closing else bare.partition(mark)[2]
            closing = "" if mark in behind else mark
            comment.append(bare)
            if not closing:
                break
        elif PATTERNS["comment"].match(bare):
            comment.append(bare)
        elif bare or comment:
            if first_paragraph(comment) or (bare and not PATTERNS["preamble"].match(bare)):
                break
            comment = []
    return clip(first_paragraph(comment), 2 * SENTENCE)


def read_document(path: str, lines: Sequence[str]) -> str:
    """Return the first heading of a document, and the first sentence of its text."""
    text = "\n".join(lines)
    headings = (
        each.name for each in find_definitions(path, text) if each.kind == "heading"
    )
    head = PATTERNS["markup"].sub("", next(headings, "")).strip()
    plain = (PATTERNS["markup"].sub("", line).strip() for line in lines)
    sentences = (
        line for line in plain if len(line.split()) > 3 and line[0] not in "#|:<[.=-"
    )
    prose = next((line for line in sentences if line != head), "")
    return ". ".join(filter(None, (head, first_sentence(prose))))


def first_paragraph(comment: Iterable[str]) -> str:
    """Return the first paragraph of a comment or docstring, without its marks and what is no word about the code."""
    words: list[str] = []
    for line in comment:
        plain = (
            PATTERNS["leader"]
            .sub("", PATTERNS["leader"].sub("", line[:LONGEST_LINE]))
            .strip()
        )
        if PATTERNS["boilerplate"].search(line) or not plain.strip("#/*-=~ "):
            if words:
                break
            continue
        words.append(PATTERNS["role"].sub(r"\1", plain))
    return " ".join(words)


def first_sentence(text: str) -> str:
    """Return the first sentence of a paragraph, at most 220 characters."""
    found = PATTERNS["sentence"].match(text)
    return clip(found[1] if found else text, SENTENCE)


def clip(text: str, most: int) -> str:
    """Cut a text between words."""
    return text if len(text) <= most else text[: most - 4].rpartition(" ")[0] + " ..."
