"""The configuration that a repository itself brings: it may name programs that Git runs while it only reads."""

from cli_guard.errors import GitError
from cli_guard.git.process import Git

# git-config(1): the scopes that are files of the repository; the others are the user's own.
OWN_SCOPES = (b"local", b"worktree")
UNREADABLE: dict[str, tuple[str, ...]] = {"include.path": ("a configuration that cannot be read",)}


def own_configuration(git: Git) -> dict[str, tuple[str, ...]]:
    """Key (section and name in lower case) -> values, those of included files among them; empty outside a repository.

    A configuration that Git cannot read names a file nobody has seen: no read of Git counts as harmless then.
    """
    try:
        code, out, _ = git.attempt("config", "--list", "-z", "--show-scope", "--includes")
    except GitError:
        return UNREADABLE
    if code != 0:
        return UNREADABLE
    found: dict[str, tuple[str, ...]] = {}
    words = out.split(b"\0")
    for scope, entry in zip(words[::2], words[1::2], strict=False):
        key, given, value = entry.decode("utf-8", "surrogateescape").partition("\n")
        # What an include brings stands in the list itself.
        if scope not in OWN_SCOPES or key == "include.path" or key.startswith("includeif."):
            continue
        # A key without a value is true.
        found[key] = (*found.get(key, ()), value if given else "true")
    return found
