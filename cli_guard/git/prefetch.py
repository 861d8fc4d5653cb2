"""The Git calls of every hook, argument for argument, because a prefetched result is found by its arguments.

Imports next to nothing: most often nothing is staged.
"""

WHERE = (
    "rev-parse",
    "--absolute-git-dir",
    "--git-common-dir",
    "--show-object-format",
    "--is-bare-repository",
)
# Prints nothing of names that do not exist.
AT_HEAD = ("--revs-only", "HEAD^{commit}", "HEAD^{tree}")
# Fails in a bare repository.
IN_WORK_TREE = ("rev-parse", "--show-toplevel", *WHERE[1:], *AT_HEAD)
SETTINGS = ("config", "--list", "-z")
AUTHOR = ("var", "GIT_AUTHOR_IDENT")

INDEX = ("diff-index", "--cached", "--ita-invisible-in-index")
DIFF_OPTIONS = (
    *("--raw", "-z", "-p", "-U0", "-M", "--no-abbrev", "--full-index"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-relative"),
    *("--inter-hunk-context=0", "--ignore-submodules=none", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/", "-O/dev/null"),
)
RAW_OPTIONS = tuple(option for option in DIFF_OPTIONS if option != "-p")
# The usual bound, `limits.file_chars`: the policy's own is not known yet at this point.
USUAL_FILE_BYTES = 5_000_000


def any_staged(tree: str) -> tuple[str, ...]:
    """Ask whether the index differs from a tree: exit code 0 if not, 1 if so."""
    return (*INDEX, "--quiet", "--ignore-submodules=none", tree, "--")


def hooks_path(*options: str) -> tuple[str, ...]:
    """Ask for all values of core.hooksPath with their scopes and files, the effective one last (git-config(1))."""
    described = ("--show-scope", "--show-origin", "--type=path", "-z")
    return ("config", *described, "--get-all", *options, "core.hooksPath")


def difference(
    *command: str,
    file_bytes: int,
    compared: tuple[str, ...],
    options: tuple[str, ...] = DIFF_OPTIONS,
) -> tuple[str, ...]:
    """Ask what differs, with the lines of files up to a size."""
    return (
        "-c",
        f"core.bigFileThreshold={file_bytes}",
        *command,
        *options,
        *compared,
        "--",
    )


# Answers while it runs: the policy at HEAD is read by it, and then the texts of the change.
OBJECTS = ("cat-file", "--batch")
# What is staged, against HEAD.
STAGED = difference(*INDEX, file_bytes=USUAL_FILE_BYTES, compared=("HEAD",))
BEFORE_COMMIT = (STAGED, OBJECTS)
