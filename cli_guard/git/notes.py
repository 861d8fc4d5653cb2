"""The notes of signed approvals between repositories: fetched from a remote, merged and pushed (git-notes(1)).

One line an approval, so that two histories of the notes merge by sorting the lines (`cat_sort_uniq`).
"""

import os
import subprocess
import tempfile
from pathlib import Path

from cli_guard.errors import GitError
from cli_guard.git.process import refusal
from cli_guard.repository.protocol import Commands, Repository
from cli_guard.runtime import Env

REF = "refs/notes/cli-guard"
FETCHED = "refs/notes/cli-guard-fetched"
MERGE = ("notes.cli-guard.mergeStrategy", "cat_sort_uniq")
PACK_BYTES = 200_000_000
FETCH = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc")
# What says where a repository is (git(1)).
PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
)
ATTEMPTS = 3
SECONDS = 60


def has_notes(repository: Repository) -> bool:
    """Return whether there are any. Raises GitError."""
    return repository.git.optional("rev-parse", "--quiet", "--verify", REF) is not None


def fetch_as_user(repository: Repository, remote: str, env: Env) -> bool:
    """Fetch the notes of a remote, and merge them with ours; return whether it has any.

    With the user's own settings: those of the repository name programs, and none of them is run.

    The notes come through a repository without a configuration, inside the state folder so that what the user's
    settings include for folders (`includeIf`) counts there too. Raises GitError.
    """
    url = repository.git.text("ls-remote", "--get-url", "--", remote)
    with tempfile.TemporaryDirectory(
        prefix="fetch-", dir=repository.state_folder
    ) as folder:
        kept = {name: value for name, value in env.items() if name not in PLACES}
        own = repository.git.at(git_of(repository, env).cwd, {**kept, "GIT_DIR": folder})
        own.run(
            "init",
            "--quiet",
            "--bare",
            "--template=",
            f"--object-format={repository.object_format}",
        )
        if not receive(own, url):
            return False
        asked = f"{FETCHED}\n".encode("ascii")
        pack, is_cut = own.run_bounded(
            "pack-objects", "--revs", "--stdout", "-q", limit=PACK_BYTES, stdin=asked
        )
        if is_cut:
            raise GitError(
                f"the approvals of the remote are more than {PACK_BYTES:,} bytes"
            )
        repository.git.run("unpack-objects", "-q", stdin=pack)
        repository.git.run("update-ref", FETCHED, own.text("rev-parse", FETCHED))
    return merge_fetched(repository)


def receive(git: Commands, remote: str) -> bool:
    """Fetch the notes of a remote, unmerged; return whether it has any. Raises GitError."""
    if not talk(git, "ls-remote", "--", remote, REF).strip():
        return False
    talk(git, *FETCH, "--", remote, f"+{REF}:{FETCHED}")
    return True


def merge_fetched(repository: Repository) -> bool:
    """Merge the fetched notes with ours. Raises GitError."""
    if not has_notes(repository):
        repository.git.run("update-ref", REF, FETCHED)
    else:
        repository.git.run(
            "-c", "=".join(MERGE), "notes", f"--ref={REF}", "merge", "--quiet", FETCHED
        )
    repository.git.run("update-ref", "-d", FETCHED)
    return True


def push_notes(repository: Repository, remote: str, env: Env) -> bool:
    """Push the notes, after merging those that others have pushed; False if there are none. Raises GitError."""
    if not has_notes(repository):
        return False
    git = git_of(repository, env)
    for attempt in range(ATTEMPTS):
        # With the settings of the repository, as the push itself.
        if receive(git, remote):
            merge_fetched(repository)
        try:
            # --no-verify: this push runs inside a hook that reviews one, and carries no code.
            talk(git, "push", "--quiet", "--no-verify", "--", remote, f"{REF}:{REF}")
        except GitError:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return True
    return True


def git_of(repository: Repository, env: Env) -> Commands:
    """Return a Git in a repository, for an environment in which it is not the one that Git finds."""
    where: Path = repository.git_dir if repository.bare else repository.root
    return repository.git.at(where, {**env, "GIT_DIR": str(repository.git_dir)})


def talk(git: Commands, *arguments: str) -> str:
    """Run a call that speaks to a remote, with all settings that Git finds. Raises GitError."""
    try:
        done = subprocess.run(
            ("git", *arguments),
            cwd=git.cwd,
            env={**git.env, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise GitError(f"the remote did not answer within {SECONDS} s") from error
    except OSError as error:
        raise GitError(
            f"git cannot be run: {error.strerror or os.strerror(error.errno or 0)}"
        ) from error
    if done.returncode:
        # What follows the first line repeats it in other words.
        raise refusal(done.stderr.strip().partition(b"\n")[0], done.returncode)
    return done.stdout.decode("utf-8", "replace")
