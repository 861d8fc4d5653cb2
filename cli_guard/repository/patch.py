"""Parse patches from anywhere: a file, standard input, a mail.

A patch begins with `diff --git`, or with the two lines `--- ` and `+++ `; text around patches is skipped. Names are
read only where they are unambiguous (git-diff(1), "GENERATING PATCH TEXT WITH -P").
"""

import hashlib
import re
from dataclasses import field

from cli_guard.errors import UsageError
from cli_guard.lazy import dataclass
from cli_guard.model import ChangeSet, FileChange, Hunk, Kind, Skipped, Status
from cli_guard.repository.entries import DiffSection, RawEntry, change_of
from cli_guard.repository.protocol import NoContents
from cli_guard.repository.second_reader import FileReading, check_second_reading
from cli_guard.repository.texts import decode
from cli_guard.repository.unified import unquote_name

NULL = "/dev/null"
ABSENT = "000000"
PREFIX = re.compile(r"[a-z0-9]/")
HUNK_HEADER = re.compile(r"@@ -(\d{1,10})(?:,(\d{1,10}))? \+(\d{1,10})(?:,(\d{1,10}))? @@")
EXTENDED = re.compile(
    r"(old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to) (.*)"
)
BINARY = re.compile(r"Binary files (.*) and (.*) differ$")
INDEX_MODE = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+ (\d{6})$")


@dataclass
class PatchSection:
    """A patch while it is parsed: `header` is what follows `diff --git`, names are as written."""

    header: str = ""
    old: str = ""
    new: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    binary: bool = False
    hunks: list[Hunk] = field(default_factory=list)

    def change(self) -> FileChange | None:
        """Return the section as a change, None if it names no file."""
        facts = self.facts
        header = names_in(self.header) or ("", "")
        names = (self.old, self.new) if self.old or self.new else header
        # A prefix is on both sides or on none; if one side is /dev/null, the first line shows it.
        plain = names[0] == names[1] or (NULL in names and header[0] == header[1] != "")
        old = side(names[0], plain)
        new = side(names[1], plain)
        before = facts.get("rename from", facts.get("copy from"))
        if before is not None:
            old = unquote_name(before)
            new = unquote_name(facts.get("rename to", facts.get("copy to", "")))
        added = old is None or "new file mode" in facts
        deleted = new is None or "deleted file mode" in facts
        path = (old if deleted else new) or old
        if not path:
            return None
        moved = not added and not deleted and old != new
        status = Status.MODIFIED
        if added:
            status = Status.ADDED
        elif deleted:
            status = Status.DELETED
        elif moved:
            status = Status.COPIED if "copy from" in facts else Status.RENAMED
        mode = facts.get("index", "100644")
        entry = RawEntry(
            ABSENT
            if added
            else facts.get("old mode", facts.get("deleted file mode", mode)),
            ABSENT if deleted else facts.get("new mode", facts.get("new file mode", mode)),
            "",
            "",
            status,
            path,
            old if moved else None,
        )
        return change_of(entry, [DiffSection(tuple(self.hunks), self.binary)])


def read_patch(raw: bytes, name: str) -> ChangeSet:
    """Return the changes of a unified diff. Raises UsageError for a text that holds none."""
    text = decode(raw)
    lines = (raw.decode("utf-8", "replace") if text is None else text).split("\n")
    try:
        outside: set[int] = set()
        sections = read_sections(lines, outside)
        files = [change for section in sections if (change := section.change())]
        if files:
            readings = [FileReading((each.old, each.new), each.hunks) for each in sections]
            check_second_reading(lines, outside, readings)
    except UsageError as error:
        raise UsageError(f"{name} is not a patch: {error}") from error
    if raw.strip() and not files:
        raise UsageError(
            f"{name} is not a patch: it contains no diff (`git diff` makes one)"
        )
    skipped = tuple(
        Skipped(change.path, "binary") for change in files if change.kind is Kind.BINARY
    )
    return ChangeSet(tuple(files), skipped, identity=hashlib.sha256(raw).hexdigest())


def read_sections(lines: list[str], outside: set[int] | None = None) -> list[PatchSection]:
    """Return the patches of a text; the lines between them, from 0, are added to `outside`.

    Raises UsageError for a hunk that does not fit its header.
    """
    sections: list[PatchSection] = []
    current: PatchSection | None = None
    position = 0
    while position < len(lines):
        line = lines[position].removesuffix("\r")
        position += 1
        if line.startswith("diff --git "):
            current = PatchSection(line.removeprefix("diff --git "))
            sections.append(current)
        elif (
            line.startswith("--- ")
            and lines[position : position + 1]
            and lines[position].startswith("+++ ")
        ):
            if current is None or current.old or current.hunks:
                current = PatchSection()
                sections.append(current)
            current.old = name_in(line)
            current.new = name_in(lines[position])
            position += 1
        elif both := BINARY.match(line):
            if current is None or current.binary or current.old:
                current = PatchSection(old=both[1], new=both[2])
                sections.append(current)
            current.binary = True
        elif line.startswith(("diff --cc ", "diff --combined ")):
            raise UsageError(
                f"line {position} begins the combined diff of a merge; `git diff A B` makes a plain one"
            )
        elif current is None:
            if outside is not None:
                outside.add(position - 1)
        elif line == "-- ":
            # The signature of a mail: the text of the next mail does not belong to this patch.
            current = None
        elif line.startswith("@@ -"):
            header = HUNK_HEADER.match(line)
            if header is None:
                raise UsageError(f"a hunk cannot be read, on line {position}")
            position = read_hunk(header, lines, position, current.hunks)
        elif not current.hunks:
            note(line, current)
    return sections


def note(line: str, section: PatchSection) -> None:
    """Parse a line between the header of a patch and its hunks."""
    if fact := EXTENDED.match(line):
        section.facts[fact[1]] = fact[2]
    elif mode := INDEX_MODE.match(line):
        section.facts["index"] = mode[1]
    elif line == "GIT binary patch":
        section.binary = True


def read_hunk(
    header: re.Match[str], lines: list[str], position: int, hunks: list[Hunk]
) -> int:
    """Parse a hunk as runs of changed lines, without context; return the position after it. Raises UsageError."""
    old, old_left, new, new_left = (
        1 if number is None else int(number) for number in header.groups()
    )
    removed: list[str] = []
    added: list[str] = []
    while old_left or new_left:
        line = lines[position] if position < len(lines) else None
        mark = "?" if line is None else line[:1].strip() or " "
        if line is None or mark not in "+- \\":
            raise UsageError(f"a hunk ends early, on line {position + 1}")
        position += 1
        if mark == "-":
            removed.append(line[1:])
            old_left -= 1
        elif mark == "+":
            added.append(line[1:])
            new_left -= 1
        elif mark == " ":
            old, new = flush(old, new, removed, added, hunks)
            old = old + 1
            new = new + 1
            old_left = old_left - 1
            new_left = new_left - 1
        if old_left < 0 or new_left < 0:
            raise UsageError(f"a hunk is longer than it says, on line {position}")
    flush(old, new, removed, added, hunks)
    return position


def flush(
    old: int, new: int, removed: list[str], added: list[str], hunks: list[Hunk]
) -> tuple[int, int]:
    """End a run of changed lines, if there is one; return the numbers of the lines after it."""
    if removed or added:
        hunks.append(Hunk(old, new, tuple(removed), tuple(added)))
    old = old + len(removed)
    new = new + len(added)
    removed.clear()
    added.clear()
    return old, new


def name_in(line: str) -> str:
    """Return the name in a line `--- name`, without the time that may follow a tab."""
    return line[4:].removesuffix("\r").split("\t")[0]


def names_in(header: str) -> tuple[str, str] | None:
    """Return the two names after `diff --git`, None if they are ambiguous."""
    if header.startswith('"'):
        end = re.match(r'"(?:[^"\\]|\\.)*"', header)
        return (end[0], header[end.end() + 1 :]) if end else None
    if header.endswith('"'):
        first, _, second = header.partition(' "')
        return first, '"' + second
    # A name that was neither quoted nor changed is there twice, but for the prefix.
    middle = len(header) // 2
    first = header[:middle]
    second = header[middle + 1 :]
    same = first == second or first.partition("/")[2] == second.partition("/")[2] != ""
    return (first, second) if same and header[middle : middle + 1] == " " else None


def side(name: str, plain: bool) -> str | None:
    """Return a path of a patch, None for /dev/null; the prefix is cut unless both names are equal (`plain`)."""
    name = unquote_name(name)
    if name == NULL:
        return None
    return name if plain or not PREFIX.match(name) else name[2:]


class PatchContents(NoContents):
    """`Contents` of a patch: an added file is there as a whole, of the others only the hunks are known."""

    def new(self, change: FileChange) -> str | None:
        """Return the text of an added file."""
        if change.status is not Status.ADDED or change.kind is not Kind.TEXT:
            return None
        return "".join(f"{line}\n" for line in change.added.values())
