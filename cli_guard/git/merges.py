"""Which files each of many merges has a content of its own for, by one combined diff (git-diff-tree(1), `-c`).

Most merges take every file from one of their parents, and nothing in them is new; yet against each parent they differ
by all that the other branches did. So only the other files are compared line by line.
"""

from collections.abc import Iterator, Mapping, Sequence

from cli_guard.repository.entries import decode_path
from cli_guard.repository.protocol import Commands, as_lines

COMBINED = (
    *("diff-tree", "--stdin", "-c", "-r", "--raw", "-z", "--no-abbrev"),
    "--ignore-submodules=none",
)
MODIFIED = {ord("M")}
# Paths are arguments of one call; a command line on Windows has 32,767 characters.
PATH_BYTES = 20_000


def own_paths(
    git: Commands, parents: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """Return, of the commits with several parents, the paths that differ from all parents.

    Left out are merges for which renames may count, as a file is new or gone, and those beyond so many paths.
    """
    merges = [commit for commit, others in parents.items() if len(others) > 1]
    if not merges:
        return {}
    out = git.run(
        *COMBINED, stdin=as_lines(" ".join((each, *parents[each])) for each in merges)
    )
    found: dict[str, tuple[str, ...]] = {}
    left = PATH_BYTES
    for commit, paths in parse_combined(out):
        left -= sum(len(path) + 1 for path in paths or ())
        if paths is not None and (left >= 0 or not paths):
            found[commit] = tuple(map(decode_path, paths))
    return found


def parse_combined(output: bytes) -> Iterator[tuple[str, list[bytes] | None]]:
    """Yield each merge with its paths, None if not all of them are files that every parent has."""
    tokens = iter(output.split(b"\0")[:-1])
    commit = ""
    paths: list[bytes] | None = []
    for token in tokens:
        if not token.startswith(b":"):
            if commit:
                yield commit, paths
            commit = token.decode("ascii")
            paths = []
            continue
        path = next(tokens, b"")
        if set(token.rpartition(b" ")[2]) != MODIFIED:
            paths = None
        if paths is not None:
            paths.append(path)
    if commit:
        yield commit, paths
