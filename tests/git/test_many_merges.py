"""Many merges read at once: of each what no parent has, whatever the others changed."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_guard.git.repository import GitRepository
from cli_guard.model import ChangeSet
from cli_guard.repository.protocol import Bounds

MERGES = 17
FILES = 5
# A file before two branches changed it, as each left it, and as the merge of them has it.
SETTLED = {
    "no last line end": ("a\n", "a\nours", "a\ntheirs", "a\nours\ntheirs"),
    "a last line end": ("a", "b", "c", "a\n"),
    "removed in two places": (
        "a\nb\nc\nd\n",
        "a\nb\nc\nx\n",
        "a\nb\nc\ny\n",
        "b\nz\n",
    ),
    "only removed": ("a\nb\nc\n", "a\nb\nx\nc\n", "a\nb\ny\nc\n", "a\nc\n"),
    "carriage returns": ("a\r\n", "b\r\n", "c\r\n", "b\r\nc\r\nd\rd\r\n"),
    "marks": (
        "a\n",
        "-- a/x\n",
        "++ b/x\n",
        "diff --combined x\n@@@ -1 -1 +1 @@@\n-- a/x\n++ b/x\n\\ x\n",
    ),
    "binary": ("a\n", "b\0\n", "c\n", "d\0\n"),
    "empty": ("a\n", "b\n", "c\n", ""),
    "no UTF-8": ("a\n", "b\n", "c\n", "\ufffd\x85\u2028\n"),
}
BOUNDS = Bounds(1_000, 1_000_000, 1_000_000)


def merges_in_conflict() -> Iterator[str]:
    """Yield the stream of a history in which each merge settles a conflict by a line of its own."""
    mark = 0

    def commit(text: str, parents: str, files: dict[str, str]) -> str:
        nonlocal mark
        mark += 1
        written = "".join(
            f"M 100644 inline {path}\ndata {len(data.encode())}\n{data}\n"
            for path, data in files.items()
        )
        return (
            f"commit refs/heads/main\nmark :{mark}\ncommitter A <a@example.org> {1_700_000_000 + mark} +0000\n"
            f"data {len(text)}\n{text}\n{parents}{written}\n"
        )

    yield commit("Start", "", {f"f{at}.py": "a\nb\nc\n" for at in range(FILES)})
    base = mark
    for number in range(MERGES):
        path = f"f{number % FILES}.py"
        yield commit("Ours", f"from :{base}\n", {path: f"a\nours {number}\nc\n"})
        yield commit("Theirs", f"from :{base}\n", {path: f"a\ntheirs {number}\nc\n"})
        parents = f"from :{mark - 1}\nmerge :{mark}\n"
        both = f"a\nours {number}\ntheirs {number}\nnew {number}\nc\n"
        yield commit("Merge", parents, {path: both})
        base = mark
    for number, (before, ours, theirs, both) in enumerate(SETTLED.values()):
        path = f"settled {number}"
        yield commit("Before", f"from :{base}\n", {path: before})
        base = mark
        yield commit("Ours", f"from :{base}\n", {path: ours})
        yield commit("Theirs", f"from :{base}\n", {path: theirs})
        yield commit("Merge", f"from :{mark - 1}\nmerge :{mark}\n", {path: both})
        base = mark


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A bare repository with many merges."""
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", tmp_path), check=True)
    subprocess.run(
        ("git", "-C", tmp_path, "fast-import", "--quiet"),
        input="".join(merges_in_conflict()),
        encoding="utf-8",
        check=True,
    )
    return GitRepository.discover(tmp_path, {})


def lines_of(changes: ChangeSet) -> list[tuple[str, dict[int, str], list[str]]]:
    return [
        (each.path, each.added, sorted(each.removed.values()))
        for each in changes
        if each.hunks
    ]


def test_a_merge_read_with_others_adds_what_it_adds_alone(
    repository: GitRepository,
) -> None:
    merges = repository.git.text("rev-list", "--merges", "--reverse", "main").split()
    with repository.blobs(BOUNDS.file_bytes) as blobs:
        reader = repository.changes(blobs, BOUNDS)
        together = [lines_of(each) for each in reader.commits(merges, identified=False)]
        alone = [lines_of(each) for each in reader.commits(merges)]
    assert together == alone
    assert together[:MERGES] == [
        [(f"f{number % FILES}.py", {4: f"new {number}"}, [])] for number in range(MERGES)
    ]
