"""Make one patch of the fixes of a run, which `git apply` takes in the work tree as it is now.

The patch holds lines of the files as they are, so a file is left out if they hold what must not be printed.
"""

import unicodedata
from collections.abc import Iterable

from cli_guard.answering.ignoring import Moves, Reviewed
from cli_guard.answering.worktree_files import EditedFile, read_file
from cli_guard.errors import UsageError
from cli_guard.repository.protocol import Repository
from cli_guard.repository.unified import file_diff
from cli_guard.review.fixes import Fix, fixes_of
from cli_guard.secrets.printable import printable
from cli_guard.secrets.redact import masks_in

MASK = "****"
SHORTEST_SECRET = 6


def patch_of(repository: Repository, reviewed: Reviewed) -> tuple[str, list[str]]:
    """Return a patch of all fixes of a run, "" for none, and a line for each file or fix that it leaves out."""
    by_path: dict[str, list[Fix]] = {}
    for judged in reviewed.findings:
        for fix in fixes_of(judged.finding):
            by_path.setdefault(judged.finding.path, []).append(fix)
    patches = []
    notes = []
    for path in sorted(by_path):
        try:
            file = read_file(repository.root, path)
            after, left_out = apply_fixes(repository, reviewed, file, by_path[path])
            patches.append(diff_of(file, after))
        except UsageError as error:
            notes.append(f"left out: {error}")
            continue
        if left_out:
            notes.append(f"left out: {printable(path)} is not as it was reviewed")
    return "".join(patches), notes


def apply_fixes(
    repository: Repository,
    reviewed: Reviewed,
    file: EditedFile | None,
    fixes: Iterable[Fix],
) -> tuple[str, int]:
    """Return the text of a file with its fixes, and how many do not fit. Raises UsageError."""
    if file is None or file.encoding != "utf-8":
        raise UsageError("a file that is not UTF-8")
    moves = Moves(repository, reviewed, file)
    lines = file.after.split("\n")
    left_out = 0
    free = len(lines) + 1
    # From the last line up, so that no fix moves the lines of another.
    for fix in sorted(fixes, key=lambda each: (each.first, each.last), reverse=True):
        place = find_place(moves, fix)
        if place is None or place[1] >= free or not fits(lines, place, fix):
            left_out += 1
            continue
        first, last = place
        end = line_end(lines, first)
        lines[first - 1 : last] = [f"{line}{end}" for line in fix.new]
        free = first
    return "\n".join(lines), left_out


def find_place(moves: Moves, fix: Fix) -> tuple[int, int] | None:
    """Return the lines of a fix in the work tree, None if they are not there as they were."""
    try:
        if fix.last < fix.first:
            before = moves.find(fix.first - 1) if fix.first > 1 else 0
            return before + 1, before
        found = [moves.find(line) for line in range(fix.first, fix.last + 1)]
    except UsageError:
        return None
    together = found == list(range(found[0], found[0] + len(found)))
    return (found[0], found[-1]) if together else None


def fits(lines: list[str], place: tuple[int, int], fix: Fix) -> bool:
    """Return whether the lines of a place are those that a fix was made for, and none of its own is masked."""
    there = [line.rstrip("\r") for line in lines[place[0] - 1 : place[1]]]
    if fix.old is not None and there != [line.rstrip("\r") for line in fix.old]:
        return False
    return MASK not in "".join(fix.new) or MASK in "".join(there)


def line_end(lines: list[str], number: int) -> str:
    """Return the carriage return that ends the lines around a place, "" if none does."""
    near = lines[max(0, number - 2) : number]
    return "\r" if any(line.endswith("\r") for line in near) else ""


def diff_of(file: EditedFile | None, after: str) -> str:
    """Return the patch of one file. Raises UsageError if it would print what must not be printed."""
    if file is None or file.before is None:
        return ""
    mark = file.mark.decode("utf-8")
    diff = file_diff(file.path, mark + file.before, mark + after)
    secrets = {
        line.strip() for value in masks_in(file.before) for line in value.split("\n")
    }
    if any(len(each) >= SHORTEST_SECRET and each in diff for each in secrets):
        raise UsageError(f"{printable(file.path)} holds a secret near the lines to fix")
    if any(unicodedata.category(each) == "Cc" and each not in "\t\r\n" for each in diff):
        raise UsageError(f"{printable(file.path)} holds control characters near the lines")
    return diff
