"""Brace expansion (bash(1), Brace Expansion): `{a,b}` and `{1..3}` in the unquoted parts of a word."""

import re
from collections.abc import Iterator
from itertools import pairwise, product, zip_longest

from cli_guard.commands.parse.tree import Parameter, Part, Text

MOST_BRACES = 100
LONGEST_BRACES = 1_000
_RANGE = re.compile(
    r"(-?\d{1,4})\.\.(-?\d{1,4})(?:\.\.(-?\d{1,3}))?\Z|([a-zA-Z])\.\.([a-zA-Z])(?:\.\.(-?\d{1,3}))?\Z"
)


def expand_braces(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Return the words that a word with braces expands to, in order; one without braces is returned as it is."""
    if not any(isinstance(part, Text) and not part.quoted and "{" in part.text for part in parts):
        yield parts
        return
    if sum(len(part.text) for part in parts if isinstance(part, Text)) > LONGEST_BRACES:
        yield parts
        return
    # What is quoted or expanded is replaced by one private-use character while braces are matched.
    plain = "".join(
        part.text if isinstance(part, Text) and not part.quoted else chr(0xE000 + at)
        for at, part in enumerate(parts)
    )
    for text in list(brace_words(plain))[:MOST_BRACES]:
        pieces = [piece for piece in re.split("([\ue000-\uf8ff])", text) if piece]
        word = [
            parts[ord(piece) - 0xE000]
            if len(piece) == 1 and 0xE000 <= ord(piece) < 0xE000 + len(parts)
            else Text(piece)
            for piece in pieces
        ]
        yield tuple(extend_names(word)) or (Text(""),)


def extend_names(word: list[Part]) -> Iterator[Part]:
    """Let braces extend a variable's name: `$x{o,x}` is `$xo` and `$xx`, because braces are expanded first."""
    for part, after in zip_longest(word, word[1:]):
        grows = isinstance(after, Text) and not after.quoted and re.match(r"\w", after.text)
        if (
            part is not None
            and isinstance(part, Parameter)
            and not part.quoted
            and not part.operator
            and not part.braced
            and grows
        ):
            yield Parameter("", False)
        elif part is not None:
            yield part


def brace_words(text: str, depth: int = 0) -> Iterator[str]:
    """Expand `a{b,c}{1..2}` to ab1 ab2 ac1 ac2."""
    found = brace_group(text)
    if found is None or depth > 8:
        yield text
        return
    before, choices, after = found
    rest = list(brace_words(after, depth + 1))
    inner = [word for choice in choices for word in brace_words(choice, depth + 1)]
    for count, (middle, tail) in enumerate(product(inner, rest)):
        if count >= MOST_BRACES:
            return
        yield before + middle + tail


def brace_group(text: str) -> tuple[str, list[str], str] | None:
    """Find the first group of braces that expands: the text before it, its choices, the text after it."""
    for start in (at for at, char in enumerate(text) if char == "{"):
        if start and text[start - 1] == "$":
            continue
        depth, commas = 0, [start]
        for at in range(start, len(text)):
            if text[at] == "{":
                depth += 1
            elif text[at] == "}":
                depth -= 1
            elif text[at] == "," and depth == 1:
                commas.append(at)
            if depth == 0:
                edges = [*commas, at]
                choices = [text[a + 1 : b] for a, b in pairwise(edges)]
                if len(choices) == 1:
                    choices = brace_range(choices[0])
                if choices:
                    return text[:start], choices, text[at + 1 :]
                break
    return None


def brace_range(text: str) -> list[str]:
    """Expand `1..3` to 1 2 3, `01..03` with its zeros, `a..e..2` in steps; return nothing for other text."""
    found = _RANGE.match(text)
    if not found:
        return []
    if found[4]:
        return [chr(code) for code in step_range(ord(found[4]), ord(found[5]), found[6])]
    padded = any(re.match(r"-?0\d", end) for end in (found[1], found[2]))
    width = max(len(found[1]), len(found[2])) if padded else 0
    return [
        f"{number:0{width}d}" if width else str(number)
        for number in step_range(int(found[1]), int(found[2]), found[3])
    ]


def step_range(first: int, last: int, step: str | None) -> range:
    """Yield from first to last, both included, up or down, up to a bound."""
    size = abs(int(step or 1)) or 1
    edge = max(min(last, first + MOST_BRACES * size), first - MOST_BRACES * size)
    return range(first, edge + 1, size) if last >= first else range(first, edge - 1, -size)
