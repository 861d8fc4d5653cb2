"""Put the comment that answers a finding into the text of its file.

A comment may be read as something else: in a string, a here-document, a block of YAML, between two halves of a command.
So a place is taken only if the grammar of the language reads the new words as a comment and the rest as before.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cli_guard.code.languages import comment, language_for, suffix_of
from cli_guard.code.syntax import Trees
from cli_guard.lazy import frozen
from cli_guard.policy.suppressions import MARK, answer_for

if TYPE_CHECKING:
    from ast_grep_py import SgNode

# A tree is compared node by node.
LONGEST_TEXT = 1_000_000
MARKUP = "<!--"
MARKDOWN = ".md"
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# These mean something only on the first line, and an interpreter takes the whole line.
FIRST_LINE = ("#!", "<?", "%YAML")
CODING = re.compile(r"^[ \t\f]*#.*?coding[:=]")


@frozen
class CommentPlace:
    """A place for a comment: at the end of a line, or on a line of its own above it; lines count from 1.

    `is_plain`: the language has no grammar here.
    """

    line: int
    above: bool
    is_plain: bool = False


def write_answer(
    path: str, text: str, lines: Sequence[int], rules: Sequence[str], reason: str
) -> str | None:
    """Return the text with a comment that answers findings on some lines, None if none would be read as one.

    `lines` are the first and the last line of the findings.
    """
    words = comment(path, f"{MARK}{', '.join(rules)}] {reason}")
    if words is None or len(text) > LONGEST_TEXT:
        return None
    for place in list_places(path, text, lines):
        after = insert(text, place, words)
        if not answers(after, place, rules, reason):
            continue
        if keeps_meaning(path, text, after) and is_read_by_php(path, after, words):
            return after
    return None


def list_places(path: str, text: str, lines: Sequence[int]) -> Iterator[CommentPlace]:
    """Yield the places that the language allows, the best first."""
    listed = text.split("\n")
    there = [
        number
        for number in dict.fromkeys(lines)
        if 1 <= number <= len(listed) and listed[number - 1].strip()
    ]
    if suffix_of(path) == MARKDOWN:
        # A line of its own would split a list or a table; in a fence the reader would see it.
        fenced = find_fenced(listed)
        yield from (CommentPlace(n, above=False) for n in there if n not in fenced)
        return
    grammar = grammar_of(path, text)
    if grammar:
        yield from (
            CommentPlace(n, above=False)
            for n in there
            if not is_bound_to_top(listed, n, "#!")
        )
    # Without a grammar only a whole line is certain: `A=1 # words` may be a value.
    yield from (
        CommentPlace(n, above=True, is_plain=not grammar)
        for n in there
        if not is_bound_to_top(listed, n, *FIRST_LINE)
        and not (n > 1 and listed[n - 2].rstrip("\r").endswith("\\"))
    )


def is_bound_to_top(lines: Sequence[str], number: int, *starts: str) -> bool:
    """Return whether a line counts only as the first one, or as one of the first two."""
    line = lines[number - 1]
    declares = number == 2 and CODING.match(line) is not None
    return declares or (number == 1 and line.startswith(starts))


def find_fenced(lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines in fenced and indented code (CommonMark 0.31, 4.4 and 4.5)."""
    found = set()
    fence = ""
    for number, line in enumerate(lines, 1):
        opened = FENCE.match(line)
        if fence:
            found.add(number)
            closes = opened and opened[1].startswith(fence)
            if closes and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            found.add(number)
            fence = opened[1]
        elif line.startswith(("    ", "\t")):
            found.add(number)
    return found


def insert(text: str, place: CommentPlace, words: str) -> str:
    """Return the text with the words of a comment at a place; line ends stay as they are."""
    lines = text.split("\n")
    at = place.line - 1
    line = lines[at]
    body = line.removesuffix("\r")
    if not place.above:
        gap = "" if body.endswith((" ", "\t")) else "  "
        lines[at] = f"{body}{gap}{words}{line[len(body) :]}"
        return "\n".join(lines)
    indent = body[: len(body) - len(body.lstrip())]
    if body.startswith("\t") and place.is_plain:
        # make hands a comment with a tab to the shell, which prints it.
        indent = ""
    # The last line may have no end: then the line before it shows what ends a line here.
    shown = line if at + 1 < len(lines) else lines[max(0, at - 1)]
    end = "\r" if shown.endswith("\r") else ""
    lines.insert(at, f"{indent}{words}{end}")
    return "\n".join(lines)


def answers(after: str, place: CommentPlace, rules: Sequence[str], reason: str) -> bool:
    """Return whether the line of a finding is answered now, for each rule and with exactly this reason."""
    lines = after.split("\n")
    at = place.line - 1 + place.above
    above = lines[at - 1] if at else ""
    found = [answer_for(rule, lines[at], above) for rule in rules]
    return all(each is not None and each.reason == reason for each in found)


def grammar_of(path: str, text: str) -> str | None:
    """Return the language in whose tree comments are seen, None without one."""
    language = language_for(path, text)
    if language is None and (comment(path, "") or "").startswith(MARKUP):
        return "html"
    return language


def keeps_meaning(path: str, before: str, after: str) -> bool:
    """Return whether two texts differ in comments only, as far as their language can be read."""
    if suffix_of(path) == MARKDOWN:
        return True
    if suffix_of(path) == ".toml":
        return read_toml(before) == read_toml(after) is not None
    language = grammar_of(path, before)
    if language is None:
        return True
    try:
        return code_in(language, before) == code_in(language, after)
    except ValueError:
        return False


def is_read_by_php(path: str, after: str, words: str) -> bool:
    """Return whether a comment stands in code, if it is in PHP: text outside of its tags is printed."""
    if suffix_of(path) != ".php":
        return True
    before = after[: after.index(words)]
    return before.rfind("<?") > before.rfind("?>") and "?>" not in words


def read_toml(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def code_in(language: str, text: str) -> tuple[list[tuple[int, str]], list[str]]:
    """Return the tree of a text without its comments, as depths and kinds, and the lines without them.

    The lines show where words went into a string, the tree where a comment divides what was one.
    """
    root = Trees().root(language, text)
    shape = []
    rest = []
    at = 0
    stack: list[tuple[SgNode, int]] = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if "comment" in node.kind():
            span = node.range()
            rest.append(text[at : span.start.index])
            at = span.end.index
            continue
        shape.append((depth, node.kind()))
        stack += ((child, depth + 1) for child in reversed(node.children()))
    rest.append(text[at:])
    lines = "".join(rest).split("\n")
    return shape, [line.rstrip() for line in lines if line.strip()]
