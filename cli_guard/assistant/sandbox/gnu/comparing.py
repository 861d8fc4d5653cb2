"""`diff` and `cmp` over files of the sandbox, as GNU prints them (diff(1), cmp(1))."""

import posixpath
import re
from collections.abc import Iterator

from cli_guard.assistant.sandbox.commands.model import Answer, Call, CommandFailure
from cli_guard.assistant.sandbox.gnu.edits import Change, changes_between
from cli_guard.assistant.sandbox.gnu.words import BadOption, Words, read_words

LETTERS = "uU:qriwbBsNaZE"
LONG = {
    "unified": "u",
    "brief": "q",
    "recursive": "r",
    "ignore-case": "i",
    "ignore-all-space": "w",
    "ignore-space-change": "b",
    "ignore-blank-lines": "B",
    "ignore-trailing-space": "Z",
    "report-identical-files": "s",
    "new-file": "N",
    "text": "a",
    "color": "a",
}
SAME, DIFFERENT, TROUBLE = 0, 1, 2
CONTEXT = 3
NUMBER = re.compile(r"[0-9]{1,9}")
NO_NEWLINE = b"\\ No newline at end of file\n"
EPOCH = "1970-01-01 00:00:00.000000000 +0000"


def diff(call: Call) -> Answer:
    """Compares two files, or with -r two folders."""
    try:
        words = read_words(call.arguments, LETTERS, LONG)
    except BadOption as bad:
        return trouble(f"{bad}\ndiff: Try 'diff --help' for more information.")
    if len(words.operands) != 2:
        what = "missing operand after" if len(words.operands) < 2 else "extra operand"
        return trouble(f"{what} '{words.operands[-1] if words.operands else 'diff'}'")
    return Comparison(call, words).answer(*words.operands)


def trouble(words: str) -> Answer:
    """An error."""
    return Answer(stderr=f"diff: {words}\n".encode("utf-8", "surrogateescape"), exit_code=TROUBLE)


class Comparison:
    """One call of `diff`."""

    def __init__(self, call: Call, words: Words) -> None:
        self._call = call
        self._words = words
        self._context = int(words.values["U"]) if NUMBER.fullmatch(words.values.get("U", "")) else CONTEXT
        self._unified = words.has("u", "U")

    def answer(self, a: str, b: str) -> Answer:
        """The comparison of two operands."""
        in_a, in_b = self._is_folder(a), self._is_folder(b)
        if in_a and in_b:
            return self._folders(a, b)
        if in_a:
            a = f"{a.rstrip('/')}/{posixpath.basename(b)}"
        if in_b:
            b = f"{b.rstrip('/')}/{posixpath.basename(a)}"
        return self._files(a, b)

    def _is_folder(self, name: str) -> bool:
        try:
            return (
                name != "-" and self._call.files.stat(self._call.absolute(name))["file_type"] == "directory"
            )
        except (RuntimeError, OSError):
            return False

    def _read(self, name: str) -> bytes | None:
        try:
            return self._call.stdin if name == "-" else self._call.read(name)
        except CommandFailure:
            return None

    def _files(self, a: str, b: str, head: bytes = b"") -> Answer:
        old, new = self._read(a), self._read(b)
        if self._words.has("N") and (old is None) != (new is None):
            old, new = old or b"", new or b""
        gone = [name for name, raw in ((a, old), (b, new)) if raw is None]
        if old is None or new is None:
            return trouble("\ndiff: ".join(f"{name}: No such file or directory" for name in gone))
        if old == new:
            return Answer(f"Files {a} and {b} are identical\n".encode() if self._words.has("s") else b"")
        if not self._words.has("a") and (b"\0" in old[:32_768] or b"\0" in new[:32_768]):
            # A difference of binary files is trouble for scripts, so GNU says 2.
            return Answer(f"Binary files {a} and {b} differ\n".encode(), exit_code=TROUBLE)
        lines, others = lines_of(old), lines_of(new)
        found = changes_between([*map(self._seen, lines)], [*map(self._seen, others)])
        if self._words.has("B"):
            found = [
                c
                for c in found
                if any(line.strip() for line in (*lines[c.a : c.a_end], *others[c.b : c.b_end]))
            ]
        if not found:
            return Answer()
        if self._words.has("q"):
            return Answer(f"Files {a} and {b} differ\n".encode(), exit_code=DIFFERENT)
        if self._unified:
            names = f"--- {a}\t{EPOCH}\n+++ {b}\t{EPOCH}\n".encode()
            return Answer(
                head + names + b"".join(unified(found, lines, others, self._context)), exit_code=DIFFERENT
            )
        return Answer(head + b"".join(normal(found, lines, others)), exit_code=DIFFERENT)

    def _seen(self, line: bytes) -> bytes:
        """A line as it is compared."""
        if self._words.has("w"):
            line = re.sub(rb"\s+", b"", line)
        elif self._words.has("b"):
            line = re.sub(rb"[ \t]+", b" ", line.rstrip())
        elif self._words.has("Z"):
            line = line.rstrip()
        return line.lower() if self._words.has("i") else line

    def _names(self, folder: str) -> dict[str, bool]:
        listed = self._call.files.read_dir(self._call.absolute(folder))
        return {each["name"]: each["metadata"]["file_type"] == "directory" for each in listed}

    def _folders(self, a: str, b: str) -> Answer:
        """What differs between two folders; below them only with -r."""
        out, err, code = [], [], SAME
        left, right = self._names(a), self._names(b)
        for name in sorted({*left, *right}, key=lambda name: name.encode("utf-8")):
            one, other = f"{a.rstrip('/')}/{name}", f"{b.rstrip('/')}/{name}"
            if (name not in left or name not in right) and not self._words.has("N"):
                out.append(f"Only in {a if name in left else b}: {name}\n".encode())
                code = max(code, DIFFERENT)
                continue
            if left.get(name) and right.get(name):
                if not self._words.has("r"):
                    out.append(f"Common subdirectories: {one} and {other}\n".encode())
                    continue
                answer = self._folders(one, other)
            else:
                given = " ".join(word for word in self._call.arguments if word.startswith("-"))
                answer = self._files(one, other, f"diff {given} {one} {other}\n".replace("  ", " ").encode())
            out.append(answer.stdout)
            err.append(answer.stderr)
            code = max(code, answer.exit_code)
        return Answer(b"".join(out), b"".join(err), code)


def lines_of(raw: bytes) -> list[bytes]:
    """The lines with their LF; the last may have none."""
    lines = raw.split(b"\n")
    last = lines.pop()
    return [line + b"\n" for line in lines] + ([last] if last else [])


def shown(sign: bytes, lines: list[bytes]) -> Iterator[bytes]:
    """Lines under a sign."""
    for line in lines:
        yield sign + line
        if not line.endswith(b"\n"):
            yield b"\n" + NO_NEWLINE


def normal(found: list[Change], old: list[bytes], new: list[bytes]) -> Iterator[bytes]:
    """The normal form: `2,3c4`."""
    for each in found:
        letter = "a" if each.a == each.a_end else "d" if each.b == each.b_end else "c"
        yield f"{span(each.a, each.a_end)}{letter}{span(each.b, each.b_end)}\n".encode()
        yield from shown(b"< ", old[each.a : each.a_end])
        if letter == "c":
            yield b"---\n"
        yield from shown(b"> ", new[each.b : each.b_end])


def span(start: int, end: int) -> str:
    """A range of lines in the normal form; an empty one is the line before it."""
    return str(start) if start == end else str(end) if end - start == 1 else f"{start + 1},{end}"


def unified(found: list[Change], old: list[bytes], new: list[bytes], context: int) -> Iterator[bytes]:
    """The unified form, hunk by hunk."""
    group: list[Change] = []
    for each in [*found, None]:
        if group and (each is None or each.a - group[-1].a_end > 2 * context):
            yield from hunk(group, old, new, context)
            group = []
        if each is not None:
            group.append(each)


def hunk(group: list[Change], old: list[bytes], new: list[bytes], context: int) -> Iterator[bytes]:
    """One hunk with the lines around it."""
    before = min(context, group[0].a)
    after = min(context, len(old) - group[-1].a_end)
    a, a_end = group[0].a - before, group[-1].a_end + after
    b, b_end = group[0].b - before, group[-1].b_end + after
    yield f"@@ -{place(a, a_end)} +{place(b, b_end)} @@\n".encode()
    at = a
    for each in group:
        yield from shown(b" ", old[at : each.a])
        yield from shown(b"-", old[each.a : each.a_end])
        yield from shown(b"+", new[each.b : each.b_end])
        at = each.a_end
    yield from shown(b" ", old[at:a_end])


def place(start: int, end: int) -> str:
    """A range in the head of a hunk; one line has no count."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"


def cmp(call: Call) -> Answer:
    """Says where two files differ first."""
    words = [word for word in call.arguments if word == "-" or not word.startswith("-")]
    quiet = any(word in ("-s", "--quiet", "--silent") for word in call.arguments)
    if len(words) != 2:
        return Answer(stderr=b"cmp: two files are compared: cmp [-s] FILE FILE\n", exit_code=TROUBLE)
    raws = []
    for word in words:
        try:
            raws.append(call.stdin if word == "-" else call.read(word))
        except CommandFailure:
            return Answer(stderr=f"cmp: {word}: No such file or directory\n".encode(), exit_code=TROUBLE)
    old, new = raws
    if old == new:
        return Answer()
    at = next((at for at, (x, y) in enumerate(zip(old, new, strict=False)) if x != y), None)
    if quiet:
        return Answer(exit_code=DIFFERENT)
    if at is None:
        short, size = (words[0], len(old)) if len(old) < len(new) else (words[1], len(new))
        line = (old if len(old) < len(new) else new).count(b"\n")
        return Answer(
            stderr=f"cmp: EOF on {short} after byte {size}, line {line}\n".encode(), exit_code=DIFFERENT
        )
    line = old.count(b"\n", 0, at) + 1
    return Answer(f"{words[0]} {words[1]} differ: byte {at + 1}, line {line}\n".encode(), exit_code=DIFFERENT)
