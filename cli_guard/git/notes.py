"""Signed approvals in Git: a note on the tree that is recorded, and on each file with a finding (git-notes(1)).

A commit changes its id when it is reworded, amended or rebased; a tree and a file keep theirs. One line an approval,
so that two histories of the notes merge by sorting the lines (`cat_sort_uniq`).
"""

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from cli_guard.errors import GitError
from cli_guard.git.process import refusal
from cli_guard.git.repository import Repository, as_lines

REF = "refs/notes/cli-guard"
FETCHED = "refs/notes/cli-guard-fetched"
MERGE = ("notes.cli-guard.mergeStrategy", "cat_sort_uniq")
MOST_BYTES = 2_000_000
MOST_KEYS = 5_000
ATTEMPTS = 3
SECONDS = 60


def read_notes(
    repository: Repository, keys: Iterable[str], refs: Iterable[str] = (REF,)
) -> tuple[set[str], list[str]]:
    """Return the lines of the notes on some objects, and a remark for each note that is too long to read.

    `refs` are refs or commits of notes. The time depends on the number of keys, not of notes. Raises GitError.
    """
    paths = [path for key in list(dict.fromkeys(keys))[:MOST_KEYS] for path in fan_out(key)]
    names = [f"{ref}:{path}" for ref in refs for path in paths]
    if not names:
        return set(), []
    form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
    lines = (
        repository.git.run("cat-file", form, stdin=as_lines(names)).decode("ascii", "replace").splitlines()
    )
    blobs = {
        words[0]: int(words[2]) for words in map(str.split, lines) if len(words) == 3 and words[1] == "blob"
    }
    long = [
        f"a note of {size:,} bytes was not read: {oid[:10]}"
        for oid, size in blobs.items()
        if size > MOST_BYTES
    ]
    found: set[str] = set()
    for oid, size in blobs.items():
        if size <= MOST_BYTES:
            found.update(repository.git.run("cat-file", "blob", oid).decode("utf-8", "replace").splitlines())
    return {line for line in found if line.strip()}, long


def fan_out(key: str) -> list[str]:
    """Return the paths that a note on an object may have: Git adds folders as the number of notes grows."""
    return [
        "/".join((*(key[2 * at : 2 * at + 2] for at in range(deep)), key[2 * deep :])) for deep in range(4)
    ]


def add_note(repository: Repository, keys: Iterable[str], line: str) -> None:
    """Append a line to the notes on some objects. The caller holds a lock. Raises GitError."""
    for key in dict.fromkeys(keys):
        repository.git.run(
            "notes", f"--ref={REF}", "append", "-F", "-", key, stdin=f"{line}\n".encode("ascii")
        )


def fetch_notes(repository: Repository, remote: str, env: Mapping[str, str]) -> bool:
    """Fetch the notes of a remote and merge them with ours; return whether it has any. Raises GitError."""
    listed = talk(repository, env, "ls-remote", "--", remote, REF)
    if not listed.strip():
        return False
    talk(
        repository,
        env,
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--",
        remote,
        f"+{REF}:{FETCHED}",
    )
    if repository.git.optional("rev-parse", "--quiet", "--verify", REF) is None:
        repository.git.run("update-ref", REF, FETCHED)
    else:
        repository.git.run("-c", "=".join(MERGE), "notes", f"--ref={REF}", "merge", "--quiet", FETCHED)
    repository.git.run("update-ref", "-d", FETCHED)
    return True


def push_notes(repository: Repository, remote: str, env: Mapping[str, str]) -> bool:
    """Push the notes, after merging those that others have pushed; False if there are none. Raises GitError."""
    if repository.git.optional("rev-parse", "--quiet", "--verify", REF) is None:
        return False
    for attempt in range(ATTEMPTS):
        fetch_notes(repository, remote, env)
        try:
            # --no-verify: this push runs inside a hook that reviews one, and carries no code.
            talk(repository, env, "push", "--quiet", "--no-verify", "--", remote, f"{REF}:{REF}")
        except GitError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return True
    return True


def talk(repository: Repository, env: Mapping[str, str], *arguments: str) -> str:
    """Run a call of Git that speaks to a remote, with the user's own settings. Raises GitError."""
    where: Path = repository.git_dir if repository.bare else repository.root
    try:
        done = subprocess.run(
            ("git", *arguments),
            cwd=where,
            env={**env, "GIT_DIR": str(repository.git_dir), "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"the remote did not answer within {SECONDS} s") from error
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or os.strerror(error.errno or 0)}") from error
    if done.returncode:
        raise refusal(done.stderr, done.returncode)
    return done.stdout.decode("utf-8", "replace")
