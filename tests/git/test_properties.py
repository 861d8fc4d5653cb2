"""What holds for any content, checked against Git's own words and on bytes of every kind."""

import os
import re
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from repositories import Repo, isolated_environment

from cli_guard.errors import InternalError
from cli_guard.git.changes import ChangeReader, only_in_both
from cli_guard.git.contents import BlobReader
from cli_guard.git.plumbing import parse_pairs, parse_pieces, read_sections
from cli_guard.git.repository import GitRepository
from cli_guard.model import ChangeSet, FileChange, Kind, split_lines
from cli_guard.repository.between import changes_between
from cli_guard.repository.protocol import Bounds

BOUNDS = Bounds(1_000, 1_000_000, 10_000_000)
HEADER = re.compile(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@")
LINES = st.lists(
    st.sampled_from(
        ["a", "b", "", "-- x", "++ y", "@@ -1 +1 @@", "diff --git a/x b/x", "\f\r", "é"]
    ),
    max_size=8,
)
TEXTS = st.builds(
    lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"])
)
NAMES = st.sampled_from(["a.py", "b c.py", "x b/y", "d/e.txt", 'q"\n.txt', "\udcff\udcfe"])
TREES = st.dictionaries(NAMES, TEXTS, max_size=4)
REAL_GIT = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def fresh(folder: str) -> Repo:
    """A new repository in a folder of its own."""
    return Repo.create(Path(folder) / "repo", isolated_environment(Path(folder)))


def fill(repo: Repo, tree: dict[str, str]) -> None:
    """Makes the index and the work tree hold these files and no others."""
    repo.git("rm", "-r", "-f", "-q", "--ignore-unmatch", ".")
    for name, text in tree.items():
        repo.write(os.fsencode(name), text.encode())
    repo.git("add", "-A")


def staged(repo: Repo) -> ChangeSet:
    """The change set of what is staged."""
    repository = GitRepository.discover(repo.path, repo.env)
    with BlobReader(repository.git, blob_limit=BOUNDS.file_bytes) as blobs:
        return ChangeReader(repository, blobs, BOUNDS).index()


def numbers_by_git(repo: Repo, path: str) -> set[int]:
    """The added lines of a staged file, counted from the hunk headers that `git diff` prints for it alone."""
    out = repo.git(
        "diff", "--cached", "--no-renames", "-U0", "--no-color", "--", f":(literal){path}"
    )
    found: set[int] = set()
    old_left = new_left = 0
    for line in out.split("\n"):
        if old_left or new_left:
            old_left -= line.startswith("-")
            new_left -= line.startswith("+")
        elif header := re.match(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            old, start, new = header.groups()
            old_left = int(old or 1)
            new_left = int(new or 1)
            found.update(range(int(start), int(start) + new_left))
    return found


@REAL_GIT
@given(TREES, TREES)
def test_the_added_lines_are_those_of_git(old: dict[str, str], new: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = fresh(folder)
        fill(repo, old)
        repo.git("commit", "-q", "--allow-empty", "-m", "Old")
        fill(repo, new)
        changes = staged(repo)
        for change in changes:
            # Against what it was renamed from, Git's own diff by path would be another one.
            if change.old_path is None:
                assert set(change.added) == numbers_by_git(repo, change.path), change.path
            after = split_lines(new.get(change.path, ""))
            assert all(after[number - 1] == text for number, text in change.added.items())
        touched = {change.path for change in changes} | {
            change.old_path for change in changes
        } - {None}
        assert touched == {name for name in {*old, *new} if old.get(name) != new.get(name)}


@REAL_GIT
@given(
    st.lists(
        st.tuples(st.binary(min_size=1, max_size=12), st.binary(max_size=60)), max_size=5
    )
)
def test_any_bytes_and_names_can_be_read(files: list[tuple[bytes, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = fresh(folder)
        written = []
        for name, content in files:
            safe = name.replace(b"/", b"_").replace(b"\0", b"_").replace(b".", b"_")
            repo.write(safe, content)
            written.append(safe.decode("utf-8", "surrogateescape"))
        repo.git("add", "-A")
        changes = staged(repo)
        assert {change.path for change in changes} == set(written)
        repo.git("commit", "-q", "--allow-empty", "-m", "All")
        repository = GitRepository.discover(repo.path, repo.env)
        with BlobReader(repository.git, blob_limit=BOUNDS.file_bytes) as blobs:
            (recorded,) = ChangeReader(repository, blobs, BOUNDS).commits(
                [repository.head or ""]
            )
        assert recorded.files == changes.files
        assert recorded.identity == changes.identity


RAW = b":100644 100644 " + b"1" * 40 + b" " + b"2" * 40 + b" M\0a\0"
PIECES = st.lists(
    st.sampled_from(
        [
            *(
                b"diff --git a/a b/a\n",
                b"--- a/a\n",
                b"+++ b/a\n",
                b"@@ -1 +1 @@\n",
                b"@@ -1,0 +2,3 @@ f\n",
            ),
            *(
                b"-a\n",
                b"+b\n",
                b"\\ No newline at end of file\n",
                b"Binary files a/a and b/a differ\n",
            ),
            *(b"\xff\n", b"\n", b"+", b"@@ -9"),
        ]
    ),
    max_size=12,
).map(b"".join)


@given(PIECES | st.binary(max_size=200), st.booleans())
def test_any_patch_text_is_read_or_refused_as_ours(patch: bytes, cut: bool) -> None:
    with suppress(InternalError):
        read_sections(patch, cut=cut)
    with suppress(InternalError):
        whole = RAW + b"\0" + patch
        parse_pieces([whole, b"more" if cut else b""], len(whole))
    with suppress(InternalError):
        list(parse_pairs(b"3" * 40 + b" " + b"4" * 40 + b"\n" + RAW + b"\0" + patch))


@given(PIECES, st.integers(0, 200))
def test_a_text_that_was_cut_gives_the_first_patches_of_the_whole(
    patch: bytes, length: int
) -> None:
    try:
        whole = read_sections(patch)
    except InternalError:
        return
    part = read_sections(patch[:length], cut=True)
    assert part == whole[: len(part)]


def with_lines(name: str, old: str, new: str) -> FileChange | None:
    """The change of one file between two texts."""
    return next(iter(changes_between({name: old}, {name: new})), None)


@given(TEXTS, TEXTS, TEXTS)
def test_only_in_both_keeps_what_neither_side_had(
    ours: str, theirs: str, merged: str
) -> None:
    first = with_lines("f", ours, merged)
    second = with_lines("f", theirs, merged)
    kept = only_in_both([first] if first else [], [second] if second else [])
    wanted = set(first.added if first else {}) & set(second.added if second else {})
    assert {number for change in kept for number in change.added} == wanted
    after = split_lines(merged)
    assert all(
        after[number - 1] == text
        for change in kept
        for number, text in change.added.items()
    )


@given(TEXTS, TEXTS)
def test_only_in_both_drops_nothing_that_could_not_be_read(ours: str, merged: str) -> None:
    first = with_lines("f", ours, merged)
    if first is None:
        return
    blind = FileChange("f", first.status, Kind.BINARY)
    assert only_in_both([first], [blind]) == [first]
    assert only_in_both([first], [], unread=[blind]) == [first]
    assert only_in_both([first], []) == []
