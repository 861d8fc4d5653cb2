"""`diff` over files of the sandbox, in the forms of GNU diff(1).

Of several ways to edit one text into the other GNU may take a shorter one; both are right.
"""

import posixpath
from collections.abc import Iterator

from cli_guard.assistant.sandbox.commands.command import Options, read_options
from cli_guard.assistant.sandbox.model import Answer, Call, CommandFailure, WrongUsage
from cli_guard.repository.unified import (
    Edits,
    Opcode,
    lines_of,
    marked_lines,
    opcodes,
)

CONTEXT_LINES = 3
KNOWN = {
    **dict.fromkeys((f"-{letter}" for letter in "uqriwa"), ""),
    "-U": "a number of lines",
}
LONG = {
    "--unified": "-u",
    "--brief": "-q",
    "--recursive": "-r",
    "--ignore-case": "-i",
    "--ignore-all-space": "-w",
    "--text": "-a",
    "--color": "-a",
}
SAME = 0
DIFFERENT = 1
TROUBLE = 2


def diff(call: Call) -> Answer:
    """Compare two files, or with -r two folders."""
    try:
        options = read_options(call.arguments, KNOWN, LONG)
        operands = (*options.words, *(options.paths or ()))
        if len(operands) != 2:
            raise WrongUsage(
                f"two files or folders are compared, not {len(operands)}; for changes: git diff"
            )
        if not options.values.get("-U", "0").isdecimal():
            raise WrongUsage(f"-U needs a number of lines, not {options.values['-U']!r}")
    except WrongUsage as wrong:
        return Answer.error("diff", str(wrong), TROUBLE)
    return Comparison(call, options).answer(*operands)


class Comparison:
    """One call of `diff`."""

    def __init__(self, call: Call, options: Options) -> None:
        self._call = call
        self._has = options.has
        self._context = int(options.values.get("-U", CONTEXT_LINES))

    def answer(self, a: str, b: str) -> Answer:
        """Return the comparison of two operands."""
        in_a = self._call.is_folder(a)
        in_b = self._call.is_folder(b)
        if in_a and in_b:
            return self._compare_folders(a, b)
        if in_a:
            a = f"{a.rstrip('/')}/{posixpath.basename(b)}"
        if in_b:
            b = f"{b.rstrip('/')}/{posixpath.basename(a)}"
        return self._compare_files(a, b)

    def _read_file(self, name: str) -> bytes | None:
        try:
            return self._call.stdin if name == "-" else self._call.read(name)
        except CommandFailure:
            return None

    def _compare_files(self, a: str, b: str, head: str = "") -> Answer:
        old = self._read_file(a)
        new = self._read_file(b)
        if old is None or new is None:
            missing = [name for name, raw in ((a, old), (b, new)) if raw is None]
            errors = "".join(
                f"diff: {name}: No such file or directory\n" for name in missing
            )
            return Answer(stderr=errors.encode(), exit_code=TROUBLE)
        if old == new:
            return Answer()
        if not self._has("-a") and b"\0" in old[:32_768] + new[:32_768]:
            # A difference of binary files is trouble for scripts, so GNU says 2.
            return Answer.from_text(f"Binary files {a} and {b} differ", TROUBLE)
        before, after = (
            lines_of(raw.decode("utf-8", "surrogateescape")) for raw in (old, new)
        )
        codes = opcodes([*map(self._key, before)], [*map(self._key, after)])
        if all(tag == "equal" for tag, *_ in codes):
            return Answer()
        if self._has("-q"):
            return Answer.from_text(f"Files {a} and {b} differ", DIFFERENT)
        if self._has("-u", "-U"):
            # Without times: a snapshot knows none, and patch(1) takes the epoch for a file that is not there.
            head += f"--- {a}\n+++ {b}\n"
            lines = write_unified(codes, before, after, self._context)
        else:
            lines = write_normal(codes, before, after)
        return Answer.from_text(head + "".join(f"{line}\n" for line in lines), DIFFERENT)

    def _key(self, line: str) -> str:
        """Return a line as it is compared."""
        if self._has("-w"):
            line = "".join(line.split())
        return line.lower() if self._has("-i") else line

    def _list(self, folder: str) -> set[str]:
        return {
            each["name"] for each in self._call.files.read_dir(self._call.absolute(folder))
        }

    def _compare_folders(self, a: str, b: str) -> Answer:
        out = []
        err = []
        code = SAME
        left = self._list(a)
        right = self._list(b)
        options = "".join(
            f" {word}" for word in self._call.arguments if word.startswith("-")
        )
        for name in sorted(left | right, key=lambda name: name.encode()):
            one = f"{a.rstrip('/')}/{name}"
            other = f"{b.rstrip('/')}/{name}"
            if name not in left & right:
                answer = Answer.from_text(
                    f"Only in {a if name in left else b}: {name}", DIFFERENT
                )
            elif not (self._call.is_folder(one) and self._call.is_folder(other)):
                answer = self._compare_files(one, other, f"diff{options} {one} {other}\n")
            elif self._has("-r"):
                answer = self._compare_folders(one, other)
            else:
                answer = Answer.from_text(f"Common subdirectories: {one} and {other}")
            out.append(answer.stdout)
            err.append(answer.stderr)
            code = max(code, answer.exit_code)
        return Answer(b"".join(out), b"".join(err), code)


def write_normal(codes: list[Opcode], before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the lines of the normal form: `2,3c4`."""
    for tag, a, a_end, b, b_end in codes:
        if tag != "equal":
            yield f"{normal_range(a, a_end)}{ {'insert': 'a', 'delete': 'd'}.get(tag, 'c') }{normal_range(b, b_end)}"
            yield from marked_lines("< ", before[a:a_end])
            if tag == "replace":
                yield "---"
            yield from marked_lines("> ", after[b:b_end])


def normal_range(start: int, end: int) -> str:
    """Return a range of lines; an empty one is the line before it."""
    return str(end) if end - start <= 1 else f"{start + 1},{end}"


def write_unified(
    codes: list[Opcode], before: list[str], after: list[str], context: int
) -> Iterator[str]:
    """Yield the lines of the unified form, hunk by hunk."""
    for group in Edits(codes).get_grouped_opcodes(context):
        first = group[0]
        last = group[-1]
        yield f"@@ -{unified_range(first[1], last[2])} +{unified_range(first[3], last[4])} @@"
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                yield from marked_lines(" ", before[a:a_end])
            else:
                yield from marked_lines("-", before[a:a_end])
                yield from marked_lines("+", after[b:b_end])


def unified_range(start: int, end: int) -> str:
    """Return a range as a hunk header has it; one line has no count."""
    count = end - start
    return f"{start + 1}" if count == 1 else f"{start + 1 if count else start},{count}"
