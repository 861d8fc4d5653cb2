"""Which files each of many merges has a content of its own for, and what is new in them: combined diffs of Git.

Most merges take every file from one of their parents, and nothing in them is new; yet against each parent they differ
by all that the other branches did. So only the other files are compared line by line (git-diff-tree(1), `-c`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cli_guard.errors import GitError
from cli_guard.model import FileChange, Hunk, Status
from cli_guard.repository.entries import DiffSection, RawEntry, change_of, decode_path
from cli_guard.repository.protocol import Commands, as_lines

COMBINED = (
    *("diff-tree", "--stdin", "-c", "-r", "-z", "--no-abbrev", "-O/dev/null"),
    *("--ignore-submodules=none", "--no-color", "--no-ext-diff", "--no-textconv"),
)
SUBMODULE = "160000"
# In a patch every line has marks of its own in front, so none begins like these.
COMMIT = re.compile(rb"^([0-9a-f]{40,64})\0", re.MULTILINE)
SECTION = re.compile("^diff --combined ", re.MULTILINE)
HUNK = re.compile(r"@(@+) -(\d+)[-,\d ]* \+(\d+)")

Parents = Mapping[str, Sequence[str]]


def own_files(git: Commands, parents: Parents) -> dict[str, list[RawEntry]]:
    """Return, of the commits with several parents, the files that differ from all parents, beside the first one.

    Left out are merges for which renames may count, as a file is new or gone, and those of submodules.
    """
    merges = [commit for commit, others in parents.items() if len(others) > 1]
    if not merges:
        return {}
    out = git.run(*COMBINED, "--raw", stdin=_with_parents(merges, parents))
    found: dict[str, list[RawEntry]] = {}
    tokens = iter(out.split(b"\0")[:-1])
    commit = ""
    for token in tokens:
        if not token.startswith(b":"):
            commit = token.decode("ascii")
            found[commit] = []
            continue
        path = decode_path(next(tokens, b""))
        *fields, letters = token.lstrip(b":").decode("ascii").split(" ")
        before = fields[: len(letters)]
        mode = fields[len(letters)]
        if set(letters) != {"M"} or SUBMODULE in (mode, *before):
            found.pop(commit, None)
        elif commit in found:
            old_mode = mode if mode in before else before[0]
            blobs = (fields[len(letters) + 1], fields[-1])
            found[commit].append(
                RawEntry(old_mode, mode, *blobs, Status.MODIFIED, path, None)
            )
    return found


def own_changes(
    git: Commands, merges: Mapping[str, list[RawEntry]], parents: Parents, limit: int
) -> dict[str, tuple[FileChange, ...]]:
    """Return what is new in these files of merges; left out are merges of binary files, and those beyond the limit."""
    found: dict[str, tuple[FileChange, ...]] = {}
    found |= {commit: () for commit, entries in merges.items() if not entries}
    with_files = [commit for commit, entries in merges.items() if entries]
    if not with_files:
        return found
    stdin = _with_parents(with_files, parents)
    try:
        # Without a line around it, what was removed in two places would look like one.
        out, is_cut = git.run_bounded(*COMBINED, "-U1", stdin=stdin, limit=limit)
    except GitError:  # Git 2.39 crashes where an object is missing; a usual diff says which
        return found
    if is_cut:
        every = list(merges.items())
        middle = len(every) // 2
        for half in (every[:middle], every[middle:]) if middle else ():
            found |= own_changes(git, dict(half), parents, limit)
        return found
    parts = COMMIT.split(out)[1:]
    for name, patch in zip(parts[::2], parts[1::2], strict=True):
        commit = name.decode("ascii")
        sections = SECTION.split(patch.decode("utf-8", "replace"))[1:]
        is_text = all("\n@@@" in each for each in sections)
        if is_text and len(sections) == len(merges[commit]):
            read = zip(merges[commit], map(_own_hunks, sections), strict=True)
            found[commit] = tuple(
                change_of(entry, [DiffSection(hunks, False)])
                for entry, hunks in read
                # Only the mode differs from the first parent.
                if hunks or entry.old_blob == entry.new_blob
            )
    return found


def _with_parents(merges: Iterable[str], parents: Parents) -> bytes:
    return as_lines(" ".join((each, *parents[each])) for each in merges)


def _own_hunks(section: str) -> tuple[Hunk, ...]:
    """Return what a combined patch of one file adds to all parents, and what it removes from the first one."""
    hunks: list[Hunk] = []
    removed: list[str] = []
    added: list[str] = []
    wanted: dict[int, str] = {}
    old = new = number = 0
    _, _, body = section.partition("\n@")
    # A last header ends the last hunk.
    for line in f"@{body}@@@ -0 +0".split("\n"):
        header = HUNK.match(line)
        marks = line[:number]
        text = line[number:]
        is_lost = "-" in marks
        if header or (marks.startswith(" ") and not is_lost):
            hunk = Hunk(old - len(removed), new - len(added), tuple(removed), tuple(added))
            if removed or added:
                hunks += keep_lines(hunk, wanted)
            removed = []
            added = []
        if header:
            number = len(header[1])
            old = int(header[2])
            new = int(header[3])
            continue
        if marks.startswith("+"):
            added.append(text)
        elif marks.startswith("-"):
            removed.append(text)
        # A line that only another parent lost was never in the first one.
        old += marks.startswith("-") or (marks.startswith(" ") and not is_lost)
        if not is_lost:
            if set(marks) == {"+"}:
                wanted[new] = text
            new += 1
    return tuple(hunks)


def keep_lines(hunk: Hunk, wanted: Mapping[int, str]) -> Iterator[Hunk]:
    """Return the runs of a hunk's added lines with these numbers; its removed lines stay with the first run."""
    if not hunk.added:
        yield hunk
        return
    removed = hunk.removed
    run: list[str] = []
    for number, text in enumerate((*hunk.added, ""), hunk.new_start):
        if number in wanted and number < hunk.new_start + len(hunk.added):
            run.append(text)
        elif run:
            yield Hunk(hunk.old_start, number - len(run), removed, tuple(run))
            run = []
            removed = ()
