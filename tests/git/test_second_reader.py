"""A patch is read twice, by our reader and by unidiff; where they part, it is refused."""

import difflib
import random
from pathlib import Path

import pytest
from examples import table
from repositories import Repo
from unidiff import PatchSet

from cli_guard.errors import UsageError
from cli_guard.git.plumbing import read_sections
from cli_guard.repository.patch import read_patch
from cli_guard.repository.second_reader import FileReading, compare

DIFFS = 10_000
# Lines that look like parts of a patch, ends of lines, and characters that some readers take for an end of line.
PIECES = (
    "a",
    "b",
    "",
    " ",
    "-",
    "+",
    "-- x",
    "++ y",
    "@@ -1 +1 @@",
    "diff --git a/x b/x",
    "\\ No",
    "\f",
    "é\r",
    "\u2028",
)
NAMES = ("a.py", "b c.py", "d/e.txt", "x b/y", "ünï.txt")


def generated(random: random.Random) -> tuple[str, list[str], list[str]]:
    """A name and the lines of a file before and after."""
    old = random.choices(PIECES, k=random.randrange(12))
    new = list(old)
    for _ in range(random.randrange(1, 5)):
        at = random.randrange(len(new) + 1)
        new[at : at + random.randrange(3)] = random.choices(PIECES, k=random.randrange(3))
    return random.choice(NAMES), old, new


def test_both_read_the_same_in_ten_thousand_diffs() -> None:
    """No difference is left to explain in what difflib writes: each diff is read, and to the lines that it was made of.

    unidiff guesses names in `diff --git`; the two lines before the hunks say them too, and those are compared.
    """
    chance = random.Random(7)
    for number in range(DIFFS):
        name, old, new = generated(chance)
        context = chance.randrange(4)
        body = list(
            difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", lineterm="", n=context)
        )
        if not body:
            continue
        text = "\n".join(
            (*([f"diff --git a/{name} b/{name}"] if number % 2 else []), *body, "")
        )
        [change] = read_patch(text.encode(), "generated")
        assert change.path == name
        for line, added in change.added.items():
            assert new[line - 1] == added
        for line, removed in change.removed.items():
            assert old[line - 1] == removed
        if not context and number % 2:
            # The reader of what git prints itself, which has no context.
            [section] = read_sections(text.encode())
            compare(
                [FileReading((f"a/{name}", f"b/{name}"), section.hunks)],
                PatchSet("\n".join((*body, ""))),
            )


HEADER = "--- a/x\n+++ b/x\n"
PART = [
    (
        "a line that begins with a tab is context to one reader only",
        HEADER + "@@ -1 +1,2 @@\n\ta\n+b\n",
        4,
    ),
    (
        "names apart from each other",
        "--- a/x\nhidden\n+++ b/y\n@@ -0,0 +1 @@\n+a\n--- a/z\n+++ b/z\n@@ -0,0 +1 @@\n+a\n",
        3,
    ),
    (
        "a second name for one file",
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n+++ b/y\n@@ -0,0 +1 @@\n+a\n",
        4,
    ),
    (
        "a note where no file is",
        HEADER + "@@ -0,0 +1 @@\n+a\n-- \n\\ No newline at end of file\n",
        6,
    ),
    ("a hunk without any file", HEADER + "@@ -0,0 +1 @@\n+a\n-- \n@@ -5 +5 @@\n+b\n", None),
]


@table(("patch", "line"), [(p, n) for _, p, n in PART], ids=[why for why, _, _ in PART])
def test_where_two_readers_part_it_is_refused(patch: str, line: int | None) -> None:
    if line is None:
        assert [
            list(change.added.values()) for change in read_patch(patch.encode(), "x")
        ] == [["a"]]
        return
    with pytest.raises(UsageError, match=f"x is not a patch: two parsers .* line {line} "):
        read_patch(patch.encode(), "x")


def test_the_command_refuses_it_in_one_line(committed: Repo, tmp_path: Path) -> None:
    file = tmp_path / "two.patch"
    file.write_text(PART[0][1])
    done = committed.guard("review", "--patch", str(file))
    assert (done.code, done.out) == (2, "")
    assert (
        done.err.startswith("cli-guard: ")
        and "line 4" in done.err
        and len(done.err.splitlines()) == 1
    )
