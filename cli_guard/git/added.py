"""What many commits add, as raw patches in few calls of Git: to search them, not to judge them."""

from collections.abc import Iterator, Sequence

from cli_guard.git.prefetch import USUAL_FILE_BYTES
from cli_guard.repository.protocol import Commands, as_lines

# A merge shows what none of its parents has; the objects themselves stand before each patch.
OPTIONS = (
    *(
        "--stdin",
        "--always",
        "--root",
        "-r",
        "-c",
        "-p",
        "-U1",
        "--no-renames",
        "--pretty=raw",
    ),
    *(
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-relative",
        "--ignore-submodules=all",
    ),
)
COMMITS_AT_ONCE = 500
BYTES_AT_ONCE = 10_000_000


def split_evenly(commits: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield commits in the groups in which `read_patches` reads them."""
    for start in range(0, len(commits), COMMITS_AT_ONCE):
        yield tuple(commits[start : start + COMMITS_AT_ONCE])


def read_patches(
    git: Commands, commits: Sequence[str]
) -> Iterator[tuple[Sequence[str], bytes | None]]:
    """Yield the patches of some commits; None with a single one whose patch is too long. Raises GitError."""
    patches, is_cut = git.run_bounded(
        *("-c", f"core.bigFileThreshold={USUAL_FILE_BYTES}", "diff-tree", *OPTIONS),
        stdin=as_lines(commits),
        limit=BYTES_AT_ONCE,
    )
    if not is_cut:
        yield commits, patches
    elif len(commits) == 1:
        yield commits, None
    else:
        middle = len(commits) // 2
        yield from read_patches(git, commits[:middle])
        yield from read_patches(git, commits[middle:])
