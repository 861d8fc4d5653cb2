"""Find the commits with keys in raw patches: quickly, because a push to a new place may bring thousands of commits.

Most lines of code cannot hold a key: each certain format has a run of sixteen characters of an identifier or of base64
in its line. Only such lines are given to the rules, with those that begin and end a private key. So what certain rules
find in a structure of several lines (a JSON Web Key) is not found here.
"""

import re
from collections.abc import Iterator

from cli_guard.secrets.engine import scan_keys

# What a patch adds, and the line before: that of a key that replaces another one stays the same. Message and people.
NEW_LINE = re.compile(rb"(?m)^[+ ac].*")
MAY_HOLD_KEY = re.compile(rb"[A-Za-z0-9_+/=~-]{16}|PRIVATE KEY|Private-Lines")
# No line of a file begins so in a patch: it has a sign before it.
COMMIT = re.compile(rb"(?m)^commit ([0-9a-f]{40,64})$")


def commits_with_keys(patches: bytes) -> Iterator[str]:
    """Yield the commits whose patches, with their messages, may add a key.

    The patches are those of git-diff-tree(1) with `--pretty=raw`.
    """
    if not may_add_key(patches):
        return
    parts = COMMIT.split(patches)
    for commit, patch in zip(parts[1::2], parts[2::2], strict=True):
        if may_add_key(patch):
            yield commit.decode("ascii")


def may_add_key(patch: bytes) -> bool:
    """Return whether a patch adds what looks like a key, or is too much to tell."""
    found = scan_keys(text_to_search(patch))
    return bool(found.hits) or found.stopped_at is not None


def text_to_search(patch: bytes) -> str:
    """Return the lines of a patch that may hold a key, without the signs before them."""
    lines = [line for line in NEW_LINE.findall(patch) if MAY_HOLD_KEY.search(line)]
    text = b"\n".join(lines).replace(b"\n+", b"\n")
    return text.decode("utf-8", "replace")
