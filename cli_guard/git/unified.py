"""Writes the unified diff between two states of some files, as `git apply` reads it (git-apply(1), diff(1))."""

import difflib
from collections.abc import Iterator, Mapping

CONTEXT_LINES = 3
NO_NEWLINE = "\\ No newline at end of file"
# What a name in a header must not hold bare (git-config(1), core.quotePath).
SPECIAL = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"', "\\": "\\"}


def unified_diff(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """The patch that turns `old` into `new`, both path -> text; a path that one of them lacks is made or removed.

    Line ends other than LF are part of their line, so a file with CRLF keeps them.
    """
    paths = sorted({*old, *new})
    return "".join(file_diff(path, old.get(path), new.get(path)) for path in paths)


def file_diff(path: str, before: str | None, after: str | None) -> str:
    """The patch of one file, "" where nothing changes; None is no file."""
    if before == after:
        return ""
    a, b = quoted(f"a/{path}"), quoted(f"b/{path}")
    head = [f"diff --git {a} {b}"]
    if before is None:
        head += ["new file mode 100644"]
    if after is None:
        head += ["deleted file mode 100644"]
    if before or after:
        head += [f"--- {'/dev/null' if before is None else a}", f"+++ {'/dev/null' if after is None else b}"]
    return "\n".join((*head, *hunks(lines_of(before or ""), lines_of(after or "")))) + "\n"


def lines_of(text: str) -> list[str]:
    """The lines with their LF; the last may have none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def hunks(before: list[str], after: list[str]) -> Iterator[str]:
    """The lines of all hunks."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(CONTEXT_LINES):
        first, last = group[0], group[-1]
        yield f"@@ -{span(first[1], last[2])} +{span(first[3], last[4])} @@"
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                yield from shown(" ", before[a:a_end])
                continue
            yield from shown("-", before[a:a_end])
            yield from shown("+", after[b:b_end])


def shown(sign: str, lines: list[str]) -> Iterator[str]:
    """Lines under a sign."""
    for line in lines:
        yield sign + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def span(start: int, end: int) -> str:
    """A range of lines as a hunk header gives it; an empty one names the line before it."""
    count = end - start
    return f"{start + 1 if count else start},{count}"


def quoted(name: str) -> str:
    """A name for a header, in C quotes where it holds what would end it."""
    if not any(sign in SPECIAL or ord(sign) < 32 or ord(sign) == 127 for sign in name):
        return name
    parts = [
        f"\\{SPECIAL[s]}" if s in SPECIAL else s if ord(s) >= 32 and ord(s) != 127 else f"\\{ord(s):03o}"
        for s in name
    ]
    return '"' + "".join(parts) + '"'
