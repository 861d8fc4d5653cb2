"""Other spellings of a script, for where bash understands a text and the grammar does not."""

import re

from cli_guard.commands.model import Span

BRACED = re.compile(r"(?<![\w$'\"}]){[^\s{}$`]{0,500},[^\s{}]{0,500}}")
TIMED = re.compile(r"((?:^|[;&|\n])\s*)time\s+(?:-p\s+)?(?=[({])")
BEFORE_HERE_STRING = re.compile(
    r"((?:\s+\d?>{1,2}&?\s*[\w./-]+){1,4})\s*<<<\s*(\"[^\"]*\"|'[^']*'|[^\s;|&<>]+)"
)


def separate_lines(text: str, line_ends: list[int], comments: list[Span]) -> str:
    """The text with a semicolon in the place of line ends that the grammar has read over; all offsets stay."""
    characters = list(text)
    for comment in comments:
        characters[comment.start : comment.end] = " " * (comment.end - comment.start)
    for at in line_ends:
        characters[at] = ";"
    return "".join(characters)


def respell(text: str) -> str:
    """The text in a spelling that the grammar understands where bash does and it does not.

    `{a,b}` as the name of a command is written out, `<>` opens a file for both, which is looked at as writing, and
    redirections in front of a here-string go behind it.
    """
    plain = BRACED.sub(lambda found: found[0].replace(",", " ").strip("{}"), text)
    plain = plain.replace("<>", "> ")
    plain = TIMED.sub(lambda found: found[1] + " " * (len(found[0]) - len(found[1])), plain)
    return BEFORE_HERE_STRING.sub(r" <<< \2\1", plain)
