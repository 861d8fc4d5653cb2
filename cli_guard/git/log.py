"""The recorded history: commits with their files, and the commit of each line (git-log(1), git-blame(1)).

Nothing that a configuration names is run: no external diff, text conversion, signature program or pager.
"""

from collections.abc import Iterable, Sequence

from cli_guard.repository.entries import decode_path
from cli_guard.repository.protocol import OID, Commands, CommitFile, LoggedCommit

# NUL is the one character that no author, message or path holds.
FORMAT = "--format=%x00%H%x00%as%x00%aN%x00%P%x00%B%x00"
PLAIN = (
    "-z",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-show-signature",
    "--submodule=short",
)
WITH_FILES = ("--raw", "--find-renames", "--no-abbrev", "--ignore-submodules=dirty")
OUTPUT_BYTES = 8_000_000
SECONDS = 10.0


def read_log(
    git: Commands,
    *options: str,
    tips: Sequence[str],
    count: int,
    paths: Iterable[str] = (),
    files: bool = True,
) -> list[LoggedCommit]:
    """Return commits, the newest first, at most `count`; `tips` are ids, `options` are of git-log(1).

    Raises GitError, also if Git prints nothing for 10 s.
    """
    shape = WITH_FILES if files else ("--no-patch",)
    wanted = (*PLAIN, FORMAT, f"--max-count={count}", *options, *shape, *tips, "--", *paths)
    out, is_cut = git.run_bounded("log", *wanted, limit=OUTPUT_BYTES, seconds=SECONDS)
    commits = parse_log(out)
    return commits[:-1] if is_cut else commits


def parse_log(out: bytes) -> list[LoggedCommit]:
    """Parse the output of `read_log`: each field has its place, so no content is taken for another field."""
    tokens = iter(out.split(b"\0"))
    commits: list[LoggedCommit] = []
    for token in tokens:
        token = token.removeprefix(b"\n")
        if token.startswith(b":") and commits:
            status = token.rpartition(b" ")[2][:1].decode("ascii")
            if status in "RC":
                next(tokens, b"")  # the old path
            file = CommitFile(decode_path(next(tokens, b"")), status)
            commits[-1].files.append(file)
        elif OID.fullmatch(oid := token.decode("ascii", "replace")):
            date, author, parents, text = (
                next(tokens, b"").decode("utf-8", "replace") for _ in range(4)
            )
            subject, _, body = text.strip("\n").partition("\n")
            commits.append(
                LoggedCommit(
                    oid, date, author, tuple(parents.split()), subject, body.strip("\n")
                )
            )
    return commits


def blame_lines(git: Commands, commit: str, path: str, start: int, end: int) -> list[str]:
    """Return the id of the commit that last changed each line from `start` to `end`. Raises GitError."""
    # A configuration may name any file as a list of revisions to ignore.
    options = ("--porcelain", "--no-textconv", "--no-ignore-revs-file", f"-L{start},{end}")
    out, _ = git.run_bounded(
        "blame", *options, commit, "--", path, limit=OUTPUT_BYTES, seconds=SECONDS
    )
    heads = (
        line.split(b" ", 1)[0].decode("ascii", "replace")
        for line in out.split(b"\n")
        if line[:1] != b"\t"
    )
    return [word for word in heads if OID.fullmatch(word)]
