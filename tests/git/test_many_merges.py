"""Many merges read at once: of each what no parent has, whatever the others changed."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli_guard.git.changes import MERGES_AT_ONCE
from cli_guard.git.repository import GitRepository
from cli_guard.model import ChangeSet
from cli_guard.repository.protocol import Bounds

MERGES = 2 * MERGES_AT_ONCE + 1
FILES = 5
BOUNDS = Bounds(1_000, 1_000_000, 1_000_000)


def merges_in_conflict() -> Iterator[str]:
    """Yield the stream of a history in which each merge settles a conflict by a line of its own."""
    mark = 0

    def commit(text: str, parents: str, files: dict[str, str]) -> str:
        nonlocal mark
        mark += 1
        written = "".join(
            f"M 100644 inline {path}\ndata {len(data)}\n{data}\n"
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


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """A bare repository with more merges than one group holds."""
    subprocess.run(("git", "init", "-q", "--bare", "-b", "main", tmp_path), check=True)
    subprocess.run(
        ("git", "-C", tmp_path, "fast-import", "--quiet"),
        input="".join(merges_in_conflict()),
        text=True,
        check=True,
    )
    return GitRepository.discover(tmp_path, {})


def added_in(changes: ChangeSet) -> list[tuple[str, dict[int, str]]]:
    return [(each.path, dict(each.added)) for each in changes]


def test_a_merge_read_with_others_adds_what_it_adds_alone(
    repository: GitRepository,
) -> None:
    merges = repository.git.text("rev-list", "--merges", "--reverse", "main").split()
    with repository.blobs(BOUNDS.file_bytes) as blobs:
        reader = repository.changes(blobs, BOUNDS)
        together = [added_in(each) for each in reader.commits(merges, identified=False)]
        alone = [added_in(each) for each in reader.commits(merges)]
    assert together == alone
    assert together == [
        [(f"f{number % FILES}.py", {4: f"new {number}"})] for number in range(MERGES)
    ]
