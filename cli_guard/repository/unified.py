"""Write the unified diff between two states of some files, as `git apply` reads it (git-apply(1), diff(1)).

And apply it to files held in memory.
"""

import difflib
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

CONTEXT_LINES = 3
# Comparing takes time by the pairs of equal lines, and by the product of the lengths: beyond these a block counts as
# rewritten. Lines that are unique in both texts are matched before, in any number.
MOST_PAIRS = 20_000
MOST_PRODUCT = 400_000
NO_NEWLINE = "\\ No newline at end of file"
# What a name in a header must not hold bare (git-config(1), core.quotePath).
SPECIAL = {
    "\a": "a",
    "\b": "b",
    "\t": "t",
    "\n": "n",
    "\v": "v",
    "\f": "f",
    "\r": "r",
    '"': '"',
    "\\": "\\",
}
PLAIN = {letter: sign for sign, letter in SPECIAL.items()}
ESCAPED = re.compile(r"(?s)\\([0-7]{3}|.?)")
HUNK = re.compile(r"@@ -([0-9]{1,9}),([0-9]{1,9}) \+([0-9]{1,9}),([0-9]{1,9}) @@")

Opcode = tuple[str, int, int, int, int]
Mask = Callable[[str, str], str]


def as_it_is(text: str, path: str) -> str:
    return text


def unified_diff(
    old: Mapping[str, str], new: Mapping[str, str], mask: Mask = as_it_is
) -> str:
    """Return the patch that turns `old` into `new`, both path -> text; a path in only one is added or removed.

    Line ends other than LF are part of their line, so a file with CRLF keeps them. `mask` returns a text as it is
    shown, line for line, by its path.
    """
    paths = sorted({*old, *new})
    return "".join(file_diff(path, old.get(path), new.get(path), mask) for path in paths)


def file_diff(
    path: str, before: str | None, after: str | None, mask: Mask = as_it_is
) -> str:
    """Return the patch of one file, "" if nothing changes; None is no file."""
    if before == after:
        return ""
    a = quote_name(f"a/{path}")
    b = quote_name(f"b/{path}")
    head = [f"diff --git {a} {b}"]
    if before is None:
        head.append("new file mode 100644")
    if after is None:
        head.append("deleted file mode 100644")
    if before or after:
        head.append("--- " + ("/dev/null" if before is None else a))
        head.append("+++ " + ("/dev/null" if after is None else b))
    sides = [lines_of(text or "") for text in (before, after)]
    shown = [lines_of(mask(text or "", path)) for text in (before, after)]
    return "\n".join((*head, *hunks(*sides, *shown))) + "\n"


def lines_of(text: str) -> list[str]:
    """Return the lines with their LF; the last may have none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def hunks(
    before: list[str], after: list[str], old: list[str], new: list[str]
) -> Iterator[str]:
    """Yield the hunks of two texts; `old` and `new` are their lines as they are shown."""
    for group in Edits(opcodes(before, after)).get_grouped_opcodes(CONTEXT_LINES):
        first = group[0]
        last = group[-1]
        yield f"@@ -{span(first[1], last[2])} +{span(first[3], last[4])} @@"
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                # A line of both sides may be part of a secret in one of them alone.
                sides = zip(before[a:a_end], old[a:a_end], new[b:b_end], strict=True)
                shown = [
                    new_line if line == old_line else old_line
                    for line, old_line, new_line in sides
                ]
                yield from marked_lines(" ", shown)
                continue
            yield from marked_lines("-", old[a:a_end])
            yield from marked_lines("+", new[b:b_end])


class Edits(difflib.SequenceMatcher[str]):
    """Precomputed opcodes for difflib's grouping."""

    def __init__(self, codes: list[Opcode]) -> None:
        super().__init__()
        self._codes = codes

    def get_opcodes(self) -> list[Opcode]:  # type: ignore[override]
        return self._codes


def unchanged_lines(old: str, new: str) -> list[range]:
    """Return the numbers of the lines of a text that another one has too, in runs."""
    return [
        range(first + 1, end + 1)
        for tag, first, end, _, _ in opcodes(lines_of(old), lines_of(new))
        if tag == "equal"
    ]


def opcodes(old: list[str], new: list[str]) -> list[Opcode]:
    """Return difflib's opcodes from `old` to `new`, in a time that is bounded for any text."""
    found: list[Opcode] = []
    at_a = at_b = 0
    for a, b in (*anchors(old, new), (len(old), len(new))):
        found += between(old, new, at_a, a, at_b, b)
        at_a = a
        at_b = b
    merged: list[Opcode] = []
    for tag, a, a_end, b, b_end in found:
        if merged and merged[-1][0] == tag:
            _, first_a, _, first_b, _ = merged.pop()
            merged.append((tag, first_a, a_end, first_b, b_end))
        else:
            merged.append((tag, a, a_end, b, b_end))
    return merged


def anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the most lines that are unique in both texts, in the same order (B. Cohen's patience diff)."""
    once = {line for line, count in Counter(old).items() if count == 1}
    once &= {line for line, count in Counter(new).items() if count == 1}
    where = {line: number for number, line in enumerate(new) if line in once}
    pairs = [(number, where[line]) for number, line in enumerate(old) if line in once]
    # The longest rising sequence: the lowest end of one of each length, and the pair before each pair.
    ends: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for number, (_, b) in enumerate(pairs):
        place = bisect_left(ends, b)
        before.append(tops[place - 1] if place else -1)
        ends[place : place + 1] = [b]
        tops[place : place + 1] = [number]
    chosen = []
    number = tops[-1] if tops else -1
    while number >= 0:
        chosen.append(pairs[number])
        number = before[number]
    return chosen[::-1]


def between(
    old: list[str], new: list[str], a: int, a_end: int, b: int, b_end: int
) -> Iterator[Opcode]:
    """Yield the opcodes of one part: equal at both ends, and compared or rewritten between them."""
    head = 0
    while head < min(a_end - a, b_end - b) and old[a + head] == new[b + head]:
        head += 1
    tail = 0
    while (
        tail < min(a_end - a, b_end - b) - head
        and old[a_end - 1 - tail] == new[b_end - 1 - tail]
    ):
        tail += 1
    if head:
        yield "equal", a, a + head, b, b + head
    left = old[a + head : a_end - tail]
    right = new[b + head : b_end - tail]
    counts = Counter(left)
    pairs = sum(counts[line] for line in right)
    if not pairs or pairs > MOST_PAIRS or len(left) * len(right) > MOST_PRODUCT:
        if left or right:
            tag = "replace" if right else "delete"
            if not left:
                tag = "insert"
            yield tag, a + head, a_end - tail, b + head, b_end - tail
    else:
        matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
        for tag, i, i_end, j, j_end in matcher.get_opcodes():
            yield tag, a + head + i, a + head + i_end, b + head + j, b + head + j_end
    if tail:
        yield "equal", a_end - tail, a_end, b_end - tail, b_end


def marked_lines(sign: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def span(start: int, end: int) -> str:
    """Format a range of lines for a hunk header; an empty one names the line before it."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def is_control(sign: str) -> bool:
    return ord(sign) < 32 or ord(sign) == 127


def quote_name(name: str) -> str:
    """Quote a name for a header in C style if it needs quotes."""
    if not any(sign in SPECIAL or is_control(sign) for sign in name):
        return name
    return '"' + "".join(map(quote_sign, name)) + '"'


def quote_sign(sign: str) -> str:
    if sign in SPECIAL:
        return f"\\{SPECIAL[sign]}"
    return f"\\{ord(sign):03o}" if is_control(sign) else sign


def apply_in_memory(patch: str, texts: Mapping[str, str]) -> dict[str, str | None]:
    """Apply a patch of `unified_diff` to `texts`; return path -> new text, None for a removed file.

    Raises ValueError if any part does not fit. A patch from anywhere else is for `git apply`.
    """
    made: dict[str, str | None] = {}
    lines = patch.split("\n")
    at = 0
    while at < len(lines) and lines[at]:
        old_name, new_name, at = header(lines, at)
        name = new_name if new_name is not None else old_name
        if name is None:
            raise ValueError("a patch names no file")
        before = (
            lines_of(texts[old_name]) if old_name is not None and old_name in texts else []
        )
        after, at = apply_hunks(lines, at, before)
        made[name] = None if new_name is None else "".join(after)
    return made


def header(lines: list[str], at: int) -> tuple[str | None, str | None, int]:
    """Return old and new name of a file's patch, None for no file, and the line after its header."""
    words = lines[at].removeprefix("diff --git ")
    if words == lines[at]:
        raise ValueError(f"line {at + 1} begins no file")
    old: str | None = unquote_name(words[: len(words) // 2])[2:]
    new: str | None = unquote_name(words[len(words) // 2 + 1 :])[2:]
    at += 1
    while (
        at < len(lines) and not lines[at].startswith(("@@ ", "diff --git ")) and lines[at]
    ):
        old = None if lines[at].startswith("new file mode") else old
        new = None if lines[at].startswith("deleted file mode") else new
        at += 1
    return old, new, at


def apply_hunks(lines: list[str], at: int, before: list[str]) -> tuple[list[str], int]:
    """Return the lines of a file after its hunks, and the line after them."""
    after: list[str] = []
    done = 0
    while at < len(lines) and (found := HUNK.match(lines[at])):
        start = int(found[1]) - (1 if int(found[2]) else 0)
        after += before[done:start]
        done = start
        at += 1
        while at < len(lines) and lines[at][:1] in (" ", "-", "+"):
            sign = lines[at][0]
            text = lines[at][1:]
            bare = at + 1 < len(lines) and lines[at + 1] == NO_NEWLINE
            line = text if bare else text + "\n"
            at += 2 if bare else 1
            if sign in " -":
                if done >= len(before) or before[done] != line:
                    raise ValueError(f"line {done + 1} is not what the patch expects")
                done += 1
            if sign in " +":
                after.append(line)
    return after + before[done:], at


def unquote_name(name: str) -> str:
    """Unquote a name in Git's C style, in which three digits are a byte (git-config(1), core.quotePath)."""
    if len(name) < 2 or name[0] != '"' or name[-1] != '"':
        return name
    plain = ESCAPED.sub(lambda match: unescape(match[1]), name[1:-1])
    # Bytes that are UTF-8 together stand alone so far.
    return plain.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def unescape(word: str) -> str:
    """Return what follows a backslash as it was before, "" for what Git does not write."""
    if len(word) < 3:
        return PLAIN.get(word, "")
    return bytes([int(word, 8) & 0xFF]).decode("utf-8", "surrogateescape")
